import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startKafka } from '../../test/ingestion/stream/kafka.js';
import { callJson, sqlRows, startDolmen, waitForTask } from '../server.js';
import { narrowLine, SHAPES, type Shape } from './shapes.js';

/*
 * npm run bench -- streams: from the acknowledgement of a message to its row in an answer, while a producer sends at an even rate and queries
 * run; and rows per second of processor time from Kafka to rows that can be queried, against the same rows from a file, in several shapes.
 */
const { values: flags } = parseArgs({
  options: {
    rate: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '20' },
    rows: { type: 'string', default: '500000' },
    shapes: { type: 'string', default: 'narrow' },
    json: { type: 'string' },
  },
});
const [rate, seconds, rows] = [Number(flags.rate), Number(flags.seconds), Number(flags.rows)];
const PORT_OFFSET = 26_600;
const BATCHES_PER_SECOND = 50;
const shapes = flags.shapes.split(',').map((name) => {
  const shape = SHAPES.get(name);
  if (shape === undefined) throw new Error(`no shape ${name}; there are ${[...SHAPES.keys()].join(', ')}`);
  return [name, shape] as const;
});
const NO_END = '9223372036854775807';
/** `clk_tck` of Linux. */
const TICK_MS = 10;

const dataSchema = (dataSource: string, { dimensions, metrics = [], granularity = { rollup: false } }: Shape): object => ({
  dataSource,
  timestampSpec: { column: 't', format: 'millis' },
  dimensionsSpec: { dimensions },
  metricsSpec: metrics,
  granularitySpec: { segmentGranularity: 'day', ...granularity },
});

const streamTask = (servers: string, topic: string, shape: Shape): object => ({
  type: 'index_kafka',
  dataSchema: dataSchema(topic, { ...shape, dimensions: [...shape.dimensions, ...(shape.beside?.dimensions ?? [])] }),
  ioConfig: {
    type: 'kafka',
    baseSequenceName: topic,
    startSequenceNumbers: { stream: topic, partitionSequenceNumberMap: { 0: 0 } },
    endSequenceNumbers: { stream: topic, partitionSequenceNumberMap: { 0: NO_END } },
    consumerProperties: { 'bootstrap.servers': servers },
    inputFormat: shape.beside?.inputFormat ?? shape.inputFormat,
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

const NARROW = SHAPES.get('narrow') as Shape;

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
  const fresh = await submit(streamTask(kafka.servers, 'fresh', NARROW));
  await kafka.send('fresh', [{ value: narrowLine(0) }]);
  while ((await maximum('fresh')) < 0) await new Promise((done) => setTimeout(done, 100));
  const acknowledged: { readonly last: number; readonly atMs: number }[] = [];
  let [sent, isSending] = [1, true];
  const producing = (async () => {
    const startMs = performance.now();
    for (let batch = 0; batch < seconds * BATCHES_PER_SECOND; batch++) {
      const dueMs = startMs + (batch * 1000) / BATCHES_PER_SECOND;
      if (dueMs > performance.now()) await new Promise((done) => setTimeout(done, dueMs - performance.now()));
      const messages = Array.from({ length: rate / BATCHES_PER_SECOND }, () => ({ value: narrowLine(sent++) }));
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

  const pid = server.child.pid ?? 0;
  for (const [at, [name, shape]] of shapes.entries()) {
    const topic = `rate_${at}`;
    const count = Math.round(rows * shape.share);
    await kafka.createTopic(topic, 1);
    const lines = Array.from({ length: count }, (_, n) => shape.line(n));
    for (let from = 0; from < count; from += 10_000) {
      const messages = lines.slice(from, from + 10_000).map((value, n) => ({ value, ...shape.beside?.of(from + n) }));
      await kafka.send(topic, messages);
    }
    writeFileSync(path.join(input, `${topic}.json`), lines.join('\n'));
    while (childrenMs(pid) > 0) await new Promise((done) => setTimeout(done, 100));
    const stream = await submit(streamTask(kafka.servers, topic, shape));
    while ((await maximum(topic)) < count - 1) await new Promise((done) => setTimeout(done, 250));
    const streamMs = childrenMs(pid);
    await callJson('POST', `${url}/svc/indexer/v1/task/${encodeURIComponent(stream)}/shutdown`, {});
    while (childrenMs(pid) > 0) await new Promise((done) => setTimeout(done, 100));
    const file = await submit({
      type: 'index_parallel',
      spec: {
        dataSchema: dataSchema(`${topic}_file`, shape),
        ioConfig: {
          type: 'index_parallel',
          inputSource: { type: 'local', baseDir: input, filter: `${topic}.json` },
          inputFormat: shape.inputFormat,
        },
        tuningConfig: { type: 'index_parallel' },
      },
    });
    let fileMs = 0;
    const watch = setInterval(() => {
      fileMs = Math.max(fileMs, childrenMs(pid));
    }, 20);
    await waitForTask(url, file);
    clearInterval(watch);
    figures.set(`${name}: rows per second of processor time, Kafka`, (count * 1000) / streamMs);
    figures.set(`${name}: rows per second of processor time, file`, (count * 1000) / fileMs);
    figures.set(`${name}: Kafka over file`, fileMs / streamMs);
  }
} finally {
  await server.stop();
  await kafka.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, value] of figures) console.log(`${name.padEnd(48)} ${value.toFixed(value < 10 ? 2 : 0)}`);
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify(Object.fromEntries(figures)));
process.exit(0);
