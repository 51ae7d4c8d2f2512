import autocannon from 'autocannon';
import type { Load, LoadFigure } from './load.js';

/**
 * The same load from autocannon, which takes longer for a request than the servers here do: its figures are those of a client that
 * is busy, but anybody's own load test can be held against them.
 * @throws Error when any answer is not 2xx
 */
export async function autocannonLoad({ url, body, connections, seconds }: Load): Promise<LoadFigure> {
  if (typeof body === 'function') throw new Error('autocannon repeats one request here');
  const request = body === undefined ? {} : { method: 'POST' as const, body, headers: { 'Content-Type': 'application/json' } };
  const cpuBefore = process.cpuUsage();
  const startMs = performance.now();
  const { requests, latency, errors, non2xx } = await autocannon({ url, connections, duration: seconds, ...request });
  const { user, system } = process.cpuUsage(cpuBefore);
  if (errors > 0 || non2xx > 0) throw new Error(`${url}: ${errors} errors, ${non2xx} answers other than 2xx`);
  return {
    requests: requests.total,
    requestsPerSecond: Math.round(requests.average),
    p50Ms: latency.p50,
    p99Ms: latency.p99,
    clientLoad: (user + system) / 1000 / (performance.now() - startMs),
  };
}
