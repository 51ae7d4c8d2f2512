import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { DuckDBInstance } from '@duckdb/node-api';
import { median } from '../harness.js';
import { Connection } from '../http/connection.js';
import { processorTime } from '../processor-time.js';
import { runTask, startDolmen, waitForCount } from '../server.js';
import { type Cell, difference } from '../tpch/compare.js';
import { QUESTIONS, type Question } from './questions.js';
import { shapes } from './shapes.js';
import { COLUMNS, type Piece, pageViewsIngestion, pageViewsOfDuckDb, piecesOf } from './table.js';
import { wideShapes } from './wide-shapes.js';

/*
 * npm run bench -- pageviews: questions over a wide table of page views, as SQL over HTTP with caches off, and of DuckDB in this process
 * over the same rows, in turn. Ends with code 1 when an answer differs or a goal is missed. The goals are held against the time by the
 * clock; processor time, which other processes do not lengthen, stands beside it.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    only: { type: 'string' },
    data: { type: 'string' },
    json: { type: 'string' },
    shapes: { type: 'string' },
    wide: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
const [rows, rounds, threads] = [Number(flags.rows), Number(flags.rounds), Number(flags.threads)];
const GOALS = { geometricMean: 0.4, worst: 2 };
const CONTEXT = { useCache: false, populateCache: false, useApproximateCountDistinct: false };
const PORT_OFFSET = 12_600;
// With --shapes N: as many statements of `shapes.ts`, or with --wide of `wide-shapes.ts`, instead of the questions.
const drawn = flags.wide ? wideShapes : shapes;
const questions = flags.shapes === undefined ? QUESTIONS : drawn(Number(flags.shapes), Number(flags.seed));
const wanted = questions.filter(({ id }) => flags.only === undefined || flags.only.split(',').includes(id));

interface Times {
  readonly ms: number;
  readonly processorMs: number;
}
interface Figure {
  readonly id: string;
  readonly dolmen: Times;
  readonly duckdb: Times;
  readonly trouble: string | null;
}

// With --data the rows stay there, and are taken from there the next time.
const folder = flags.data ?? mkdtempSync(path.join(tmpdir(), 'dolmen-pageviews-'));
const input = path.join(folder, 'data', 'input');
const isLoaded = existsSync(path.join(folder, 'views.duckdb'));
mkdirSync(input, { recursive: true });
const server = await startDolmen({
  dataDir: path.join(folder, 'data'),
  portOffset: PORT_OFFSET,
  flags: ['--property', `svc.processing.numThreads=${threads}`],
});
const duckdb = await DuckDBInstance.create(path.join(folder, 'views.duckdb'));
const connection = await duckdb.connect();
const dolmen = new Connection(server.url);
try {
  await connection.run(`SET TimeZone = 'UTC'`);
  await connection.run(`SET threads = ${threads}`);
  await connection.run(`SET default_null_order = 'nulls_first_on_asc_last_on_desc'`);
  if (!isLoaded) await load();
  else await waitForCount(server.url, 'views', rows);
  console.log(
    `${rows.toLocaleString('en')} rows, ${COLUMNS.length} columns, ${threads} thread(s), medians of ${rounds} rounds; ratios to DuckDB`,
  );
  console.log(
    `${'question'.padEnd(20)}${['Dolmen ms', 'DuckDB ms', 'ratio', 'CPU ms', 'CPU ms', 'ratio'].map((word) => word.padStart(11)).join('')}`,
  );
  const figures: Figure[] = [];
  for (const question of wanted) {
    const figure = await measure(question);
    figures.push(figure);
    console.log(lineOf(figure));
    if (flags.shapes !== undefined && !(figure.dolmen.ms <= 2 * figure.duckdb.ms && figure.trouble === null))
      console.log(`  ${question.sql}`);
  }
  judge(figures);
} finally {
  dolmen.close();
  await server.stop();
  connection.closeSync();
  duckdb.closeSync();
  if (flags.data === undefined) rmSync(folder, { recursive: true, force: true });
}

/** A piece after the other, so that no more than two lie on disk; the next one is written while one is loaded. */
async function load(): Promise<void> {
  const pieces = piecesOf(rows, 1, input);
  let isWritten = Promise.resolve();
  for (const [index, piece] of [...pieces, undefined].entries()) {
    const before = pieces[index - 1];
    await isWritten;
    if (piece !== undefined) isWritten = written(piece);
    if (before === undefined) continue;
    console.error(`… loading rows ${before.start.toLocaleString('en')} to ${before.end.toLocaleString('en')}`);
    await connection.run(pageViewsOfDuckDb(before));
    await runTask(server.url, pageViewsIngestion(before));
    rmSync(before.file);
  }
  await connection.run('CHECKPOINT');
  await waitForCount(server.url, 'views', rows);
}

async function written(piece: Piece): Promise<void> {
  await once(new Worker(new URL('./piece-thread.js', import.meta.url), { workerData: piece }), 'exit');
}

async function measure({ id, sql, duckdb: other = sql }: Question): Promise<Figure> {
  const [ours, theirs]: [Times[], Times[]] = [[], []];
  let trouble: string | null = null;
  const middle = (times: readonly Times[]): Times => ({
    ms: median(times.map(({ ms }) => ms)),
    processorMs: median(times.map(({ processorMs }) => processorMs)),
  });
  try {
    for (let round = -1; round < rounds; round++) {
      let [expected, found]: [unknown[][], unknown[][]] = [[], []];
      const asks = [
        async () => theirs.push(await timed(process.pid, async () => void (expected = (await connection.runAndReadAll(other)).getRows()))),
        async () => ours.push(await timed(server.child.pid, async () => void (found = await dolmen.sqlRows(sql, CONTEXT)))),
      ];
      if (round % 2 !== 0) asks.reverse();
      for (const ask of asks) await ask();
      trouble =
        difference(
          found.map((row) => row.map(plain)),
          expected.map((row) => row.map(plain)),
          [],
        ) ?? null;
      if (trouble !== null) break;
      if (round < 0) [ours.length, theirs.length] = [0, 0]; // the first round warms up
    }
  } catch (error) {
    trouble = (error as Error).message.slice(0, 400);
  }
  return { id, dolmen: middle(ours), duckdb: middle(theirs), trouble };
}

async function timed(pid: number | undefined, work: () => Promise<void>): Promise<Times> {
  if (pid === undefined) throw new Error('the server has no process');
  const [began, used] = [performance.now(), processorTime(pid)];
  await work();
  return { ms: performance.now() - began, processorMs: (processorTime(pid) - used) / 1e6 };
}

function plain(cell: unknown): Cell {
  if (cell === null || cell === undefined) return null;
  if (typeof cell === 'bigint' || typeof cell === 'boolean') return Number(cell);
  if (typeof cell === 'number') return cell;
  if (typeof cell === 'object' && 'micros' in cell) return Number((cell as { micros: bigint }).micros / 1000n);
  if (typeof cell === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(cell)) return Date.parse(cell);
  if (typeof cell === 'object' && 'items' in cell) return listed((cell as { items: readonly unknown[] }).items);
  return typeof cell === 'string' && !/^[[{]/.test(cell) ? cell : JSON.stringify(typeof cell === 'string' ? JSON.parse(cell) : cell);
}

/** A list of one value is that value, as in the rows of multi-value columns. */
function listed(items: readonly unknown[]): Cell {
  return items.length === 1 ? plain(items[0]) : JSON.stringify(items);
}

function lineOf({ id, dolmen, duckdb: other, trouble }: Figure): string {
  const pairs = [
    [dolmen.ms, other.ms],
    [dolmen.processorMs, other.processorMs],
  ] as const;
  const cells = pairs.flatMap(([one, two]) => [one.toFixed(1), two.toFixed(1), (one / two).toFixed(2)]);
  return `${id.padEnd(20)}${cells.map((cell) => cell.padStart(11)).join('')}${trouble === null ? '' : `  ${trouble}`}`;
}

function judge(figures: readonly Figure[]): void {
  const ratios = (of: (times: Times) => number): number[] =>
    figures.map(({ dolmen, duckdb: other }) => of(dolmen) / of(other)).filter((ratio) => !Number.isNaN(ratio));
  const mean = (list: readonly number[]): number => Math.exp(list.reduce((sum, ratio) => sum + Math.log(ratio), 0) / list.length);
  const byClock = ratios(({ ms }) => ms);
  const geometricMean = mean(byClock);
  const worst = byClock.reduce((most, ratio) => Math.max(most, ratio), 0);
  const above = (limit: number): number => byClock.filter((ratio) => ratio > limit).length;
  const troubled = figures.filter(({ trouble }) => trouble !== null).length;
  console.log(
    `\ngeometric mean ${geometricMean.toFixed(3)} (goal ${GOALS.geometricMean}), by processor time ${mean(ratios(({ processorMs }) => processorMs)).toFixed(3)}; worst ${worst.toFixed(2)} (goal ${GOALS.worst}), ${above(2)} above 2, ${above(1)} above 1 of ${byClock.length}; ${troubled} without a right answer`,
  );
  if (troubled > 0 || geometricMean > GOALS.geometricMean || worst > GOALS.worst) process.exitCode = 1;
  if (flags.json !== undefined)
    writeFileSync(flags.json, `${JSON.stringify({ rows, threads, rounds, geometricMean, worst, questions: figures }, null, 2)}\n`);
}
