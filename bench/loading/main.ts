import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { median } from '../harness.js';
import { callJson, type DolmenProcess, runTask, sqlRows, startDolmen, waitForCount } from '../server.js';
import { checkOf, type FileFormat, ingestionOf, type LoadedTable, loadingOfDuckDb, tableOf, writingOf } from './tables.js';
import { watchTask } from './task-watch.js';

/*
 * npm run bench -- loading: files of CSV, NDJSON and Parquet, narrow and wide, into segments by a native task and into a database file by
 * DuckDB, each in a process of its own: rows a second, processor time a row, peak memory, and where the task's time goes.
 * Counts and sums of all columns must agree. One thread: the task is bound to one processor.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '500000' },
    threads: { type: 'string', default: '1,2' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});
const rounds = Number(flags.rounds);
const PORT_OFFSET = 13_100;
const FORMATS: readonly FileFormat[] = ['csv', 'ndjson', 'parquet'];
/** Share of the rows that tables of so many columns have. */
const WIDTHS: readonly (readonly [columns: number, share: number])[] = [
  [5, 1],
  [100, 1 / 20],
  [200, 1 / 40],
];
const GOALS: Readonly<Record<FileFormat, number>> = { csv: 0.8, ndjson: 0.8, parquet: 0.6 };
const PEAK_GOAL = 0.5 * 2 ** 30;
const PHASES: readonly (readonly [name: string, until: RegExp])[] = [
  ['read', / read \d+ rows/],
  ['build', / built \d+ segments/],
  ['publish', / succeeded$/],
];

interface Load {
  readonly seconds: number;
  readonly processorSeconds: number;
  readonly peakBytes: number;
  readonly answer: readonly number[];
  readonly phases?: Readonly<Record<string, number>>;
}

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-loading-'));
const input = path.join(folder, 'data', 'input');
mkdirSync(input, { recursive: true });
const figures: Record<string, unknown>[] = [];
try {
  console.log(
    `${'file'.padEnd(14)}${['threads', 'rows/s', "DuckDB's", 'ratio', 'goal', 'µs CPU/row', "DuckDB's", 'MB peak', "DuckDB's"].map((word) => word.padStart(11)).join('')}  seconds by phase`,
  );
  const words = flags.only?.split(',');
  for (const [columnCount, share] of WIDTHS)
    for (const format of FORMATS) {
      const id = `${format}-${columnCount}`;
      if (words !== undefined && !words.some((word) => id.includes(word))) continue;
      const table = tableOf(format, columnCount, Math.ceil(Number(flags.rows) * share), input);
      await write(table);
      for (const threads of flags.threads.split(',').map(Number)) await compare(id, table, threads);
      rmSync(table.file);
    }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify({ rows: Number(flags.rows), loads: figures }, null, 2));

async function write(table: LoadedTable): Promise<void> {
  const duckdb = await DuckDBInstance.create(':memory:');
  const connection = await duckdb.connect();
  await connection.run(writingOf(table));
  connection.closeSync();
  duckdb.closeSync();
}

async function compare(id: string, table: LoadedTable, threads: number): Promise<void> {
  const server = await startDolmen({ dataDir: path.join(folder, 'data'), portOffset: PORT_OFFSET });
  const [ours, theirs]: [Load[], Load[]] = [[], []];
  try {
    if (threads === 1) execFileSync('taskset', ['-a', '-c', '-p', '0', String(server.child.pid)], { stdio: 'ignore' });
    for (let round = 0; round < rounds; round++) {
      const loads = [
        async () => void ours.push(await loadDolmen(server, table, `${id}-${threads}-${round}`)),
        async () => void theirs.push(loadDuckDb(table, threads)),
      ];
      if (round % 2 === 1) loads.reverse();
      for (const load of loads) await load();
      agree(id, ours.at(-1)?.answer ?? [], theirs.at(-1)?.answer ?? []);
    }
  } finally {
    await server.stop();
  }
  report(id, table, threads, ours, theirs);
}

async function loadDolmen(server: DolmenProcess, table: LoadedTable, dataSource: string): Promise<Load> {
  const { pid } = server.child;
  if (pid === undefined) throw new Error('the server has no process');
  const ended = new AbortController();
  const watched = watchTask(pid, ended.signal);
  const task = await runTask(server.url, ingestionOf(table, dataSource)).finally(() => ended.abort());
  const { processorSeconds, peakBytes } = await watched;
  const log = await (await fetch(`${server.url}/svc/indexer/v1/task/${encodeURIComponent(task)}/log`)).text();
  const phases = phasesOf(log);
  await waitForCount(server.url, dataSource, table.rows);
  const [answer = []] = await sqlRows(server.url, checkOf(table, `"${dataSource}"`));
  await callJson('DELETE', `${server.url}/svc/coordinator/v1/datasources/${dataSource}`);
  const seconds = Object.values(phases).reduce((sum, each) => sum + each, 0);
  return { seconds, processorSeconds, peakBytes, answer: answer.map(Number), phases };
}

/** Seconds of each phase by the times of the log; the first begins with the task's process. */
function phasesOf(log: string): Readonly<Record<string, number>> {
  const lines = log.split('\n');
  let before = Date.parse(lines[0]?.split(' ')[0] ?? '');
  return Object.fromEntries(
    PHASES.map(([name, until]) => {
      const at = Date.parse(lines.find((line) => until.test(line))?.split(' ')[0] ?? '');
      const seconds = (at - before) / 1000;
      before = at;
      return [name, seconds];
    }),
  );
}

function loadDuckDb(table: LoadedTable, threads: number): Load {
  const database = path.join(folder, 'loaded.duckdb');
  try {
    const program = fileURLToPath(new URL('./duckdb-load.js', import.meta.url));
    return JSON.parse(
      execFileSync(process.execPath, [program, database, String(threads), loadingOfDuckDb(table), checkOf(table, 'loaded')], {
        encoding: 'utf8',
      }),
    );
  } finally {
    rmSync(database, { force: true });
    rmSync(`${database}.wal`, { force: true });
  }
}

function agree(id: string, found: readonly number[], expected: readonly number[]): void {
  const wrong = expected.findIndex((value, at) => !(Math.abs((found[at] ?? Number.NaN) - value) <= Math.abs(value) * 1e-9));
  if (wrong >= 0 || found.length !== expected.length)
    throw new Error(`${id}: cell ${wrong} is ${found[wrong]} in place of ${expected[wrong]}`);
}

function report(id: string, table: LoadedTable, threads: number, ours: readonly Load[], theirs: readonly Load[]): void {
  const middle = (loads: readonly Load[], of: (load: Load) => number): number => median(loads.map(of));
  const perSecond = (loads: readonly Load[]): number => table.rows / middle(loads, ({ seconds }) => seconds);
  const microseconds = (loads: readonly Load[]): number => (middle(loads, ({ processorSeconds }) => processorSeconds) / table.rows) * 1e6;
  const peak = (loads: readonly Load[]): number => middle(loads, ({ peakBytes }) => peakBytes);
  const ratio = perSecond(ours) / perSecond(theirs);
  const goal = GOALS[table.format];
  const phases = PHASES.map(([name]) => `${name} ${middle(ours, (load) => load.phases?.[name] ?? Number.NaN).toFixed(2)}`).join(', ');
  const cells = [
    threads,
    Math.round(perSecond(ours)),
    Math.round(perSecond(theirs)),
    ratio.toFixed(2),
    goal,
    microseconds(ours).toFixed(2),
    microseconds(theirs).toFixed(2),
    Math.round(peak(ours) / 1e6),
    Math.round(peak(theirs) / 1e6),
  ];
  console.log(`${id.padEnd(14)}${cells.map((cell) => String(cell).padStart(11)).join('')}  ${phases}`);
  if (ratio < goal || peak(ours) > PEAK_GOAL) process.exitCode = 1;
  figures.push({ id, threads, rows: table.rows, fileBytes: statSync(table.file).size, ratio, goal, dolmen: ours, duckdb: theirs });
}
