import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startKafka } from '../../test/ingestion/stream/kafka.js';
import { callJson, sqlRows, startDolmen, waitForTask } from '../server.js';

/*
 * npm run bench -- streams: from the acknowledgement of a message to its row in an answer, while a producer sends at an even rate and queries
 * run; and rows per second of processor time from Kafka to rows that can be queried, against the same rows from a file.
 */
const { values: flags } = parseArgs({
  options: {
    rate: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '20' },
    rows: { type: 'string', default: '500000' },
    json: { type: 'string' },
  },
});
const [rate, seconds, rows] = [Number(flags.rate), Number(flags.seconds), Number(flags.rows)];
const PORT_OFFSET = 26_600;
const BATCHES_PER_SECOND = 50;
const NO_END = '9223372036854775807';
/** `clk_tck` of Linux. */
const TICK_MS = 10;

const rowText = (n: number): string =>
  JSON.stringify({
    t: 1_700_000_000_000 + n,
    n,
    channel: `#${n % 40}`,
    city: `city ${(n * 31) % 900}`,
    user: `user ${(n * 7919) % 20_000}`,
    added: (n * 37) % 4000,
  });

const dataSchema = (dataSource: string): object => ({
  dataSource,
  timestampSpec: { column: 't', format: 'millis' },
  dimensionsSpec: { dimensions: ['channel', 'city', 'user', { type: 'long', name: 'n' }, { type: 'long', name: 'added' }] },
  granularitySpec: { segmentGranularity: 'day', rollup: false },
});

const streamTask = (servers: string, topic: string, end: number | string): object => ({
  type: 'index_kafka',
  dataSchema: dataSchema(topic),
  ioConfig: {
    type: 'kafka',
    baseSequenceName: topic,
    startSequenceNumbers: { stream: topic, partitionSequenceNumberMap: { 0: 0 } },
    endSequenceNumbers: { stream: topic, partitionSequenceNumberMap: { 0: end } },
    consumerProperties: { 'bootstrap.servers': servers },
    inputFormat: { type: 'json' },
  },
});

/** Processor time of the children of a process, by the kernel. */
function childrenMs(parent: number): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      if (Number(fields[1]) === parent) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It ended meanwhile.
    }
  }
  return ticks * TICK_MS;
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;

const kafka = await startKafka();
if (kafka === undefined) process.exit(0);
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-streams-'));
const input = path.join(folder, 'data', 'input');
mkdirSync(input, { recursive: true });
const server = await startDolmen({ dataDir: path.join(folder, 'data'), portOffset: PORT_OFFSET });
const figures = new Map<string, number>();
try {
  const { url } = server;
  const submit = async (spec: object): Promise<string> =>
    ((await callJson('POST', `${url}/svc/indexer/v1/task`, spec)) as { task: string }).task;
  const maximum = async (table: string): Promise<number> => {
    try {
      return Number((await sqlRows(url, `SELECT MAX(n) FROM "${table}"`))[0]?.[0] ?? -1);
    } catch {
      return -1;
    }
  };
  await kafka.createTopic('fresh', 1);
  const fresh = await submit(streamTask(kafka.servers, 'fresh', NO_END));
  await kafka.send('fresh', [{ value: rowText(0) }]);
  while ((await maximum('fresh')) < 0) await new Promise((done) => setTimeout(done, 100));
  const acknowledged: { readonly last: number; readonly atMs: number }[] = [];
  let [sent, isSending] = [1, true];
  const producing = (async () => {
    const startMs = performance.now();
    for (let batch = 0; batch < seconds * BATCHES_PER_SECOND; batch++) {
      const dueMs = startMs + (batch * 1000) / BATCHES_PER_SECOND;
      if (dueMs > performance.now()) await new Promise((done) => setTimeout(done, dueMs - performance.now()));
      const messages = Array.from({ length: rate / BATCHES_PER_SECOND }, () => ({ value: rowText(sent++) }));
      await kafka.send('fresh', messages);
      acknowledged.push({ last: sent - 1, atMs: performance.now() });
    }
    figures.set('rows sent per second', ((sent - 1) * 1000) / (performance.now() - startMs));
    isSending = false;
  })();
  const latencies: number[] = [];
  let answers = 0;
  for (let next = 0; isSending || next < acknowledged.length; ) {
    const seen = await maximum('fresh');
    const nowMs = performance.now();
    answers++;
    for (; (acknowledged[next]?.last ?? Infinity) <= seen; next++) latencies.push(Math.max(0, nowMs - (acknowledged[next]?.atMs ?? nowMs)));
  }
  await producing;
  latencies.sort((a, b) => a - b);
  figures.set('answers', answers);
  figures.set('freshness median ms', quantile(latencies, 0.5));
  figures.set('freshness p99 ms', quantile(latencies, 0.99));
  const [[count] = []] = await sqlRows(url, 'SELECT COUNT(*) FROM fresh');
  if (count !== sent) throw new Error(`${count} rows of ${sent} are answered`);
  await callJson('POST', `${url}/svc/indexer/v1/task/${encodeURIComponent(fresh)}/shutdown`, {});

  await kafka.createTopic('rate', 1);
  const lines = Array.from({ length: rows }, (_, n) => rowText(n));
  for (let from = 0; from < rows; from += 10_000)
    await kafka.send(
      'rate',
      lines.slice(from, from + 10_000).map((value) => ({ value })),
    );
  writeFileSync(path.join(input, 'rows.json'), lines.join('\n'));
  const pid = server.child.pid ?? 0;
  while (childrenMs(pid) > 0) await new Promise((done) => setTimeout(done, 100));
  const stream = await submit(streamTask(kafka.servers, 'rate', NO_END));
  while ((await maximum('rate')) < rows - 1) await new Promise((done) => setTimeout(done, 250));
  const streamMs = childrenMs(pid);
  await callJson('POST', `${url}/svc/indexer/v1/task/${encodeURIComponent(stream)}/shutdown`, {});
  while (childrenMs(pid) > 0) await new Promise((done) => setTimeout(done, 100));
  const file = await submit({
    type: 'index_parallel',
    spec: {
      dataSchema: dataSchema('file'),
      ioConfig: { type: 'index_parallel', inputSource: { type: 'local', baseDir: input, filter: '*.json' }, inputFormat: { type: 'json' } },
      tuningConfig: { type: 'index_parallel' },
    },
  });
  let fileMs = 0;
  const watch = setInterval(() => {
    fileMs = Math.max(fileMs, childrenMs(pid));
  }, 20);
  await waitForTask(url, file);
  clearInterval(watch);
  figures.set('rows per second of processor time, from Kafka', (rows * 1000) / streamMs);
  figures.set('rows per second of processor time, from a file', (rows * 1000) / fileMs);
  figures.set('Kafka over file', fileMs / streamMs);
} finally {
  await server.stop();
  await kafka.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, value] of figures) console.log(`${name.padEnd(48)} ${value.toFixed(value < 10 ? 2 : 0)}`);
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify(Object.fromEntries(figures)));
process.exit(0);
