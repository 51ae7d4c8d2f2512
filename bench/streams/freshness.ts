import { setTimeout as wait } from 'node:timers/promises';
import type { TestKafka } from '../../test/ingestion/stream/kafka.js';
import { sqlRows } from '../server.js';
import { type Engine, shutDown, submit } from './engine.js';
import { narrowLine, type Shape } from './shapes.js';
import { streamTask } from './specs.js';

const BATCHES_PER_SECOND = 50;
const TABLE = 'fresh';

/** From the acknowledgement of messages to their rows in an answer, while a producer sends at an even rate and one client asks all the time. */
export async function freshness(
  kafka: TestKafka,
  engine: Engine,
  url: string,
  shape: Shape,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<ReadonlyMap<string, number>> {
  const maximum = async (): Promise<number> => {
    try {
      return Number((await sqlRows(url, `SELECT MAX(n) FROM "${TABLE}"`))[0]?.[0] ?? -1);
    } catch {
      return -1;
    }
  };
  await kafka.createTopic(TABLE, 1);
  const task = await submit(engine, streamTask(kafka.servers, TABLE, shape));
  await kafka.send(TABLE, [{ value: narrowLine(0) }]);
  while ((await maximum()) < 0) await wait(100);
  const acknowledged: { readonly last: number; readonly atMs: number }[] = [];
  const figures = new Map<string, number>();
  let [sent, isSending] = [1, true];
  const producing = (async () => {
    const startMs = performance.now();
    for (let batch = 0; batch < seconds * BATCHES_PER_SECOND; batch++) {
      const dueMs = startMs + (batch * 1000) / BATCHES_PER_SECOND;
      if (dueMs > performance.now()) await wait(dueMs - performance.now());
      const messages = Array.from({ length: rate / BATCHES_PER_SECOND }, () => ({ value: narrowLine(sent++) }));
      await kafka.send(TABLE, messages);
      acknowledged.push({ last: sent - 1, atMs: performance.now() });
    }
    figures.set('rows sent per second', ((sent - 1) * 1000) / (performance.now() - startMs));
    isSending = false;
  })();
  const latencies: number[] = [];
  let answers = 0;
  for (let next = 0; isSending || next < acknowledged.length; ) {
    const seen = await maximum();
    const nowMs = performance.now();
    answers++;
    for (; (acknowledged[next]?.last ?? Infinity) <= seen; next++) latencies.push(Math.max(0, nowMs - (acknowledged[next]?.atMs ?? nowMs)));
  }
  await producing;
  latencies.sort((a, b) => a - b);
  figures.set('answers', answers);
  figures.set('freshness median ms', quantile(latencies, 0.5));
  figures.set('freshness p99 ms', quantile(latencies, 0.99));
  const [[count] = []] = await sqlRows(url, `SELECT COUNT(*) FROM ${TABLE}`);
  if (count !== sent) throw new Error(`${count} rows of ${sent} are answered`);
  await shutDown(engine, task);
  return figures;
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
