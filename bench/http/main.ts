import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { startDolmen } from '../server.js';

/**
 * Requests per second over loopback, 32 connections, contenders in turn: Dolmen against bare servers. The load comes
 * from this process, so that on two cores one is the server's.
 *   --seconds N (2) --rounds N (3) --connections N (32) --port-offset N (11100) --json FILE
 */
interface Target {
  readonly name: string;
  readonly url: string;
  readonly body?: string;
  /** What a right answer holds: a fast error is no result. */
  readonly expected: string;
}

interface Figure {
  readonly name: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const CONTENDERS = fileURLToPath(new URL('./contenders.js', import.meta.url));
const BODY = JSON.stringify({ query: 'SELECT 1 AS one', resultFormat: 'array' });

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    'port-offset': { type: 'string', default: '11100' },
    kernels: { type: 'string' },
    json: { type: 'string' },
  },
});
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-http-'));
const children: ChildProcess[] = [];
const flags = values.kernels === undefined ? [] : ['--kernels', values.kernels];
const dolmen = await startDolmen({ dataDir: folder, portOffset: Number(values['port-offset']), flags });
try {
  const targets: readonly Target[] = [
    { name: 'uWebSockets.js hello', url: await contender('hello'), expected: 'hello' },
    { name: 'uWebSockets.js JSON echo', url: await contender('echo'), body: BODY, expected: 'SELECT 1' },
    { name: 'node:http JSON echo', url: await contender('node-echo'), body: BODY, expected: 'SELECT 1' },
    { name: 'Dolmen HTTP layer, JSON echo', url: `${await contender('layer-echo')}/svc/v2/sql`, body: BODY, expected: 'SELECT 1' },
    { name: 'Dolmen /status/health', url: `${dolmen.url}/status/health`, expected: 'true' },
    { name: 'Dolmen SELECT 1, through the Router', url: `${dolmen.url}/svc/v2/sql`, body: BODY, expected: '[[1]]' },
  ];
  const figures = await measure(targets);
  print(figures);
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ connections: Number(values.connections), figures }, null, 2)}\n`);
} finally {
  for (const child of children) child.kill();
  await dolmen.stop();
  rmSync(folder, { recursive: true });
}

async function contender(name: string): Promise<string> {
  const child = spawn(process.execPath, [CONTENDERS, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) return `http://127.0.0.1:${line}`;
  throw new Error(`${name} ended before it listened`);
}

/** Rounds over all targets, the order turned every time; the median round of each. */
async function measure(targets: readonly Target[]): Promise<readonly Figure[]> {
  for (const target of targets) await check(target);
  const rounds = new Map<string, Figure[]>(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      process.stderr.write(`round ${round + 1}: ${target.name}\n`);
      rounds.get(target.name)?.push(await load(target));
    }
  }
  return [...rounds.values()].flatMap((figures) => {
    const median = figures.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)[figures.length >> 1];
    return median === undefined ? [] : [median];
  });
}

async function check({ name, url, body, expected }: Target): Promise<void> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  const text = await response.text();
  if (!response.ok || !text.includes(expected)) throw new Error(`${name}: ${response.status} ${text.slice(0, 200)}`);
}

async function load({ name, url, body }: Target): Promise<Figure> {
  const request = body === undefined ? {} : { method: 'POST' as const, body, headers: { 'Content-Type': 'application/json' } };
  const result = await autocannon({ url, connections: Number(values.connections), duration: Number(values.seconds), ...request });
  if (result.errors > 0 || result.non2xx > 0) throw new Error(`${name}: ${result.errors} errors, ${result.non2xx} answers other than 2xx`);
  return { name, requestsPerSecond: Math.round(result.requests.average), p50Ms: result.latency.p50, p99Ms: result.latency.p99 };
}

function print(figures: readonly Figure[]): void {
  const bare = figures.find(({ name }) => name === 'uWebSockets.js JSON echo')?.requestsPerSecond ?? Number.NaN;
  for (const { name, requestsPerSecond, p50Ms, p99Ms } of figures) {
    const part = `${((requestsPerSecond / bare) * 100).toFixed(0)} % of the bare echo`;
    process.stdout.write(
      `${name.padEnd(38)} ${String(requestsPerSecond).padStart(8)} requests/s  p50 ${p50Ms} ms  p99 ${p99Ms} ms  ${part}\n`,
    );
  }
}
