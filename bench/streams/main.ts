import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { startKafka } from '../../test/ingestion/stream/kafka.js';
import { median } from '../harness.js';
import { startDolmen, waitForTask } from '../server.js';
import { type Druid, startDruid, whyNoDruid } from './druid.js';
import { childrenMs, type Engine, type Reading, readTopic, submit } from './engine.js';
import { freshness } from './freshness.js';
import { questionsOf, saidBy } from './questions.js';
import { SHAPES, type Shape } from './shapes.js';
import { dataSchema, streamTask } from './specs.js';

/*
 * npm run bench -- streams: from the acknowledgement of a message to its row in an answer, while a producer sends at an even rate and queries
 * run; and rows per second of processor time from Kafka to rows that can be queried, against the same rows from a file, in several shapes.
 * With --druid, against Druid's own task over the same topic as well, in turn: answers must agree.
 */
const { values: flags } = parseArgs({
  options: {
    rate: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '20' },
    rows: { type: 'string', default: '500000' },
    rounds: { type: 'string', default: '1' },
    shapes: { type: 'string', default: 'narrow' },
    druid: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const [rate, seconds, rows, rounds] = [Number(flags.rate), Number(flags.seconds), Number(flags.rows), Number(flags.rounds)];
const PORT_OFFSET = 26_600;
const MESSAGES_A_SEND = 10_000;
const shapes = flags.shapes.split(',').map((name) => {
  const shape = SHAPES.get(name);
  if (shape === undefined) throw new Error(`no shape ${name}; there are ${[...SHAPES.keys()].join(', ')}`);
  return [name, shape] as const;
});

const MEASURES: readonly (readonly [string, (reading: Reading) => number])[] = [
  ['rows per second of processor time', (reading) => reading.rowsPerProcessorSecond],
  ['… from the first row on', (reading) => reading.rowsPerProcessorSecondOnceStarted],
  ['… of the second half', (reading) => reading.rowsPerProcessorSecondWarm],
  ['rows per second from the first row on', (reading) => reading.rowsPerSecondOnceStarted],
];

const kafka = await startKafka();
if (kafka === undefined) process.exit(0);
const noDruid = flags.druid ? whyNoDruid() : undefined;
if (noDruid !== undefined) console.log(`skipped: Druid's own task (${noDruid})`);
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-streams-'));
const input = path.join(folder, 'data', 'input');
mkdirSync(input, { recursive: true });
const server = await startDolmen({ dataDir: path.join(folder, 'data'), portOffset: PORT_OFFSET });
const { url } = server;
const ours: Engine = { word: 'svc', overlord: url, workerPid: server.child.pid ?? 0, broker: () => url };
const figures = new Map<string, number>();
let druid: Druid | undefined;
try {
  if (flags.druid && noDruid === undefined) druid = await startDruid(path.join(folder, 'druid'));
  if (seconds > 0)
    for (const [name, value] of await freshness(kafka, ours, url, SHAPES.get('narrow') as Shape, { rate, seconds }))
      figures.set(name, value);
  for (const [at, [name, shape]] of shapes.entries()) await measureShape(`rate_${at}`, name, shape, Math.round(rows * shape.share));
} finally {
  await druid?.stop();
  await server.stop();
  await kafka.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const [name, value] of figures) console.log(`${name.padEnd(64)} ${figure(value)}`);
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify(Object.fromEntries(figures)));
process.exit(0);

/** Rates of a shape: from Kafka by each engine in turn, and from a file. */
async function measureShape(topic: string, name: string, shape: Shape, count: number): Promise<void> {
  await kafka?.createTopic(topic, 1);
  const lines = Array.from({ length: count }, (_, n) => shape.line(n));
  for (let from = 0; from < count; from += MESSAGES_A_SEND)
    await kafka?.send(
      topic,
      lines.slice(from, from + MESSAGES_A_SEND).map((value, n) => ({ value, ...shape.beside?.of(from + n) })),
    );
  writeFileSync(path.join(input, `${topic}.json`), lines.join('\n'));
  lines.length = 0;
  const read = (engine: Engine, round: number): Promise<Reading> => {
    const table = `${topic}_${round}`;
    return readTopic(engine, streamTask(kafka?.servers ?? '', topic, shape, table), count, questionsOf(table, shape));
  };
  const [readings, others]: [Reading[], Reading[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const reading = await read(ours, round);
    readings.push(reading);
    tell(`${name}, Dolmen`, reading);
    if (druid === undefined) continue;
    const other = await read(druid, round);
    others.push(other);
    tell(`${name}, Druid`, other);
    if (!isDeepStrictEqual(saidBy(reading.answers), saidBy(other.answers)))
      throw new Error(`${name}: the answers differ\n${JSON.stringify(reading.answers)}\n${JSON.stringify(other.answers)}`);
  }
  const fileMs = await loadFile(topic, shape);
  const mine = (measure: (reading: Reading) => number): number => median(readings.map(measure));
  for (const [what, measure] of MEASURES) figures.set(`${name}: ${what}, Kafka`, mine(measure));
  figures.set(`${name}: rows per second of processor time, file`, (count * 1000) / fileMs);
  figures.set(`${name}: Kafka over file`, fileMs / mine(({ processorMs }) => processorMs));
  if (others.length === 0) return;
  for (const [what, measure] of MEASURES) {
    const theirs = median(others.map(measure));
    figures.set(`${name}: ${what}, Druid`, theirs);
    figures.set(`${name}: ${what}, over Druid`, mine(measure) / theirs);
  }
}

function figure(value: number): string {
  return Number.isNaN(value) ? '(too few rows)' : value.toFixed(value < 10 ? 2 : 0);
}

function tell(who: string, reading: Reading): void {
  const rates = MEASURES.map(([what, measure]) => `${what} ${figure(measure(reading))}`);
  console.log(
    `${who}: ${(reading.processorMs / 1000).toFixed(1)} s of processor time, ${rates.join(', ')} (load ${loadavg()[0]?.toFixed(0)})`,
  );
}

/** Processor time, in milliseconds, of a task that loads the same rows from a file. */
async function loadFile(topic: string, shape: Shape): Promise<number> {
  const task = await submit(ours, {
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
    fileMs = Math.max(fileMs, childrenMs(ours.workerPid));
  }, 20);
  await waitForTask(url, task);
  clearInterval(watch);
  while (childrenMs(ours.workerPid) > 0) await wait(100);
  return fileMs;
}
