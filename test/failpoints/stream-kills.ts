import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';
import { FAILPOINT_VARIABLE } from '../../src/configuration/failpoint.js';
import { FAILPOINTS, type FailpointName, STREAM_FAILPOINTS } from '../../src/configuration/failpoints.js';
import { startKafka } from '../ingestion/stream/kafka.js';

/*
 * Exactly once, in the large: numbered, checksummed messages in transactions, some of them aborted, while tasks, MiddleManager and Overlord,
 * processes of their own, are killed at every named point in turn, beside a reader that counts. Ends with 1 unless what is stored is what was
 * committed, and no answer had a row twice or fewer rows than one before.
 */
const PORT_OFFSET = 6_900;
const [MESSAGES = 2_000_000, KILLS = 60] = process.argv.slice(2).map(Number);
const PARTITIONS = 4;
const BATCH = 1000;
/** One transaction of so many is aborted. */
const ABORTED_OF = 8;
const POINT_WITHIN_MS = 120_000;
const DRAIN_WITHIN_MS = 600_000;
const TABLE = 'exact';
const PROPERTIES = [
  'svc.indexer.runner.taskLossesMax=1000',
  'svc.worker.capacity=6',
  'svc.coordination.expiry=PT1.5S',
  'svc.coordination.heartbeat=PT0.2S',
  'svc.coordinator.load.retry=PT0.5S',
];
const PROCESSES = {
  // Never killed: whoever asks, asks here.
  others: ['--roles', 'coordinator,historical,broker,router'],
  overlord: ['--roles', 'overlord', '--property', 'svc.overlord.port=8090'],
  middleManager: ['--roles', 'middleManager'],
} as const;
type ProcessName = keyof typeof PROCESSES;

/** Points that a process reaches only as it starts: one that runs is killed first. */
const AT_START: Partial<Record<FailpointName, ProcessName>> = { 'supervisor.adopted': 'overlord', 'worker.started': 'middleManager' };
const POINTS = [
  ...(Object.keys(STREAM_FAILPOINTS) as FailpointName[]),
  ...(['task.started', 'submit.committed', 'assign.recorded', 'assign.started', 'publish.asked'] as const),
  ...(['publish.beforeCommit', 'publish.committed', 'end.committed'] as const),
];
const roleOf = (point: FailpointName): string => ({ ...FAILPOINTS, ...STREAM_FAILPOINTS })[point][0];

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-stream-kills-'));
const armed = path.join(folder, 'failpoint');
const url = `http://127.0.0.1:${8888 + PORT_OFFSET}`;
const processes = new Map<ProcessName, DolmenProcess>();
const kills = new Map<string, number>();
let isOver = false;
const began = performance.now();
const say = (line: string): void => console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);

/** Keeps a process running, whatever ends it. */
async function keep(name: ProcessName): Promise<void> {
  const flags = [...PROCESSES[name], ...PROPERTIES.flatMap((each) => ['--property', each])];
  const server = await startDolmen({ dataDir: path.join(folder, 'data'), portOffset: PORT_OFFSET, flags, waitForReady: false });
  processes.set(name, server);
  server.child.once('exit', () => {
    if (!isOver) void keep(name);
  });
}

const supervisor = (servers: string): unknown => ({
  type: 'kafka',
  spec: {
    dataSchema: {
      dataSource: TABLE,
      timestampSpec: { column: 't', format: 'millis' },
      dimensionsSpec: { dimensions: [{ type: 'long', name: 'n' }, 'check'] },
      granularitySpec: { segmentGranularity: 'day', rollup: false },
    },
    ioConfig: {
      topic: TABLE,
      inputFormat: { type: 'json' },
      consumerProperties: { 'bootstrap.servers': servers },
      useEarliestOffset: true,
      taskCount: 2,
      taskDuration: 'PT6S',
      startDelay: 'PT0S',
      period: 'PT1S',
    },
    tuningConfig: { type: 'kafka', maxRowsInMemory: 2000, maxRowsPerSegment: 50_000, chatRetries: 8 },
  },
});

async function until(what: string, withinMs: number, isTrue: () => Promise<boolean> | boolean): Promise<void> {
  for (const startMs = Date.now(); !(await isTrue()); await sleep(100))
    if (Date.now() > startMs + withinMs) throw new Error(`${what} did not come true within ${withinMs / 1000} s`);
}

/** A reader beside all of it. */
const seen = { looks: 0, errors: 0, rows: 0, fewer: 0, most: 0, lowest: 0, doubled: 0 };
async function read(): Promise<void> {
  for (let look = 0; !isOver; look++, await sleep(100)) {
    const isFull = look % 20 === 0;
    const columns = isFull ? 'COUNT(*), COUNT(DISTINCT n)' : 'COUNT(*)';
    const row = (await sqlRows(url, `SELECT ${columns} FROM ${TABLE}`).catch(() => []))[0] as number[] | undefined;
    if (row === undefined) {
      if (seen.rows > 0) seen.errors++;
      continue;
    }
    const [rows = 0, different = rows] = row;
    seen.looks++;
    if (rows > different) seen.doubled = Math.max(seen.doubled, rows - different);
    if (rows < seen.most) {
      seen.fewer++;
      seen.lowest = Math.max(seen.lowest, seen.most - rows);
    }
    seen.rows = rows;
    seen.most = Math.max(seen.most, rows);
  }
}

const kafka = await startKafka();
if (kafka === undefined) process.exit(2);
process.env[FAILPOINT_VARIABLE] = armed;
let [sent, transactions] = [0, 0];
let failure: unknown;
const stored = async (): Promise<readonly unknown[]> =>
  (
    await sqlRows(url, `SELECT COUNT(*), COUNT(DISTINCT n), SUM(n), MIN(n), SUM(CAST("check" AS BIGINT)) FROM ${TABLE}`).catch(() => [])
  )[0] ?? [];
async function send(count: number): Promise<void> {
  const isAborted = transactions++ % ABORTED_OF === ABORTED_OF - 1;
  const messages = Array.from({ length: isAborted ? Math.ceil(count / 4) : count }, (_, at) => {
    const n = isAborted ? -1 - at : sent + at;
    return { partition: at % PARTITIONS, value: JSON.stringify({ t: 3600_000 * (Math.abs(n) % 48), n, check: `${n * 31}` }) };
  });
  await kafka?.sendInTransaction(TABLE, messages, isAborted ? 'abort' : 'commit');
  if (!isAborted) sent += count;
}
const count = (name: string): void => void kills.set(name, (kills.get(name) ?? 0) + 1);
const killed = (): number => [...kills.values()].reduce((sum, each) => sum + each, 0);

try {
  await kafka.createTopic(TABLE, PARTITIONS);
  await keep('others');
  await keep('overlord');
  await keep('middleManager');
  await until('a supervisor', 60_000, () =>
    callJson('POST', `${url}/svc/indexer/v1/supervisor`, supervisor(kafka.servers)).then(
      () => true,
      () => false,
    ),
  );
  const reader = read();
  // Messages of a transaction while there are kills; the rest go as fast as they can.
  const share = Math.max(100, Math.floor(MESSAGES / (KILLS * 40)));
  for (let round = 0; killed() < KILLS; round++) {
    const point = POINTS[round % POINTS.length] as FailpointName;
    writeFileSync(armed, `kill ${point}`);
    const first = AT_START[point];
    if (first !== undefined) {
      processes.get(first)?.child.kill('SIGKILL');
      count(`${first}, running`);
    }
    await until(`the kill at ${point}`, POINT_WITHIN_MS, async () => {
      if (sent < MESSAGES) await send(Math.min(share, MESSAGES - sent));
      return !existsSync(armed);
    });
    count(point);
    say(`${killed()} kills, the last at ${point} (${roleOf(point)}); ${sent} messages, ${seen.rows} rows seen`);
  }
  while (sent < MESSAGES) await send(Math.min(BATCH, MESSAGES - sent));
  say(`${sent} messages are committed`);
  await until('every message in an answer', DRAIN_WITHIN_MS, async () => Number((await stored())[0]) >= sent);
  say('all of them are answered');
  await until('suspended', POINT_WITHIN_MS, () =>
    callJson('POST', `${url}/svc/indexer/v1/supervisor/${TABLE}/suspend`, {}).then(
      () => true,
      () => false,
    ),
  );
  await until('the last handoff', DRAIN_WITHIN_MS, async () => {
    const rows = await sqlRows(url, 'SELECT COUNT(*) FROM sys.segments WHERE is_realtime = 1').catch(() => []);
    return rows[0]?.[0] === 0;
  });
  isOver = true;
  await reader;
} catch (error) {
  failure = error;
} finally {
  isOver = true;
  const sum = (sent * (sent - 1)) / 2;
  const expected = JSON.stringify([sent, sent, sum, 0, sum * 31]);
  const found = JSON.stringify(await stored());
  for (const point of [...new Set([...kills.keys()])].sort()) console.log(`${String(kills.get(point)).padStart(4)} kills  ${point}`);
  console.log(
    `${killed()} kills at ${new Set(POINTS.filter((point) => kills.has(point))).size} named points; ${transactions} transactions`,
  );
  console.log(`committed ${expected}\nstored    ${found}`);
  console.log(
    `the reader: ${seen.looks} answers, ${seen.errors} errors, ${seen.fewer} answers with fewer rows than before (by ${seen.lowest} at most), ${seen.doubled} rows twice at most`,
  );
  if (failure !== undefined) {
    console.log(`failed: ${failure instanceof Error ? failure.message : String(failure)}`);
    for (const [name, server] of processes) console.log(`--- ${name}\n${server.output().slice(-4000)}`);
  }
  const isRight = failure === undefined && expected === found && seen.doubled === 0 && seen.fewer === 0;
  for (const server of processes.values()) await server.kill();
  await kafka.stop();
  rmSync(folder, { recursive: true, force: true });
  process.exit(isRight ? 0 : 1);
}
