import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { median } from './harness.js';
import { Connection } from './http/connection.js';
import { processorTime } from './processor-time.js';
import { startDolmen } from './server.js';
import { type Cell, difference } from './tpch/compare.js';

/*
 * Questions of a server of Dolmen over HTTP with caches off, and of DuckDB in this process over the same rows, in turn: every answer is
 * compared, the time by the clock and processor time, which other processes do not lengthen, are taken of both.
 */

/** A question, as SQL or as a native query. Its order is total wherever there is a limit, so that there is one right answer. */
export interface Question {
  readonly id: string;
  readonly sql: string;
  /** The same of DuckDB, where it says it in other words. */
  readonly duckdb?: string;
  /** Asked instead of `sql`, which is DuckDB's then; columns of its answer in the order of those of DuckDB. */
  readonly native?: { readonly query: Readonly<Record<string, unknown>>; readonly columns: readonly string[] };
}

interface Times {
  readonly ms: number;
  readonly processorMs: number;
}
export interface Figure {
  readonly id: string;
  readonly dolmen: Times;
  readonly duckdb: Times;
  /** The difference of the answers, or the reason why there is none. */
  readonly trouble: string | null;
}

/** Both engines, into which rows are loaded. */
export interface Sides {
  readonly url: string;
  readonly connection: DuckDBConnection;
  /** Folder for files that the server may read. */
  readonly input: string;
}

export interface Contest {
  readonly name: string;
  readonly portOffset: number;
  readonly threads: number;
  readonly rounds: number;
  /** Folder in which the rows stay, and are found the next time; without it they are loaded anew. */
  readonly data: string | undefined;
  readonly questions: readonly Question[];
  load(sides: Sides): Promise<void>;
  /** Ends when the rows of before are served. */
  waitForRows(sides: Sides): Promise<void>;
  /** Told after each question. */
  measured?(question: Question, figure: Figure): void;
}

/** Flags of a contest over tables of its own: rows of each, medians of so many rounds, threads of both, the folder that keeps the tables. */
export function contestFlags() {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '5' },
      threads: { type: 'string', default: '2' },
      only: { type: 'string', default: '' },
      data: { type: 'string' },
      json: { type: 'string' },
    },
  });
  const [rows, rounds, threads] = [Number(values.rows), Number(values.rounds), Number(values.threads)];
  return { rows, rounds, threads, data: values.data, json: values.json, wanted: new RegExp(values.only) };
}

const CONTEXT = { useCache: false, populateCache: false, useApproximateCountDistinct: false };
const HEADINGS = ['Dolmen ms', 'DuckDB ms', 'ratio', 'CPU ms', 'CPU ms', 'ratio'];

/** Starts both, loads where that is needed, and prints a line for each question. */
export async function sideBySide(contest: Contest): Promise<Figure[]> {
  const { name, threads, rounds, data } = contest;
  const folder = data ?? mkdtempSync(path.join(tmpdir(), `dolmen-${name}-`));
  const file = path.join(folder, `${name}.duckdb`);
  const input = path.join(folder, 'data', 'input');
  const isLoaded = existsSync(file);
  mkdirSync(input, { recursive: true });
  const server = await startDolmen({
    dataDir: path.join(folder, 'data'),
    portOffset: contest.portOffset,
    flags: ['--property', `svc.processing.numThreads=${threads}`],
  });
  const duckdb = await DuckDBInstance.create(file);
  const connection = await duckdb.connect();
  const dolmen = new Connection(server.url);
  try {
    await connection.run(`SET TimeZone = 'UTC'`);
    await connection.run(`SET threads = ${threads}`);
    await connection.run(`SET default_null_order = 'nulls_first_on_asc_last_on_desc'`);
    const sides = { url: server.url, connection, input };
    await (isLoaded ? contest.waitForRows(sides) : contest.load(sides));
    console.log(`${threads} thread(s), medians of ${rounds} rounds; ratios to DuckDB`);
    console.log(`${'question'.padEnd(24)}${HEADINGS.map((word) => word.padStart(11)).join('')}`);
    const figures: Figure[] = [];
    for (const question of contest.questions) {
      const figure = await measure(question, { connection, dolmen, pid: server.child.pid, rounds });
      figures.push(figure);
      console.log(lineOf(figure));
      contest.measured?.(question, figure);
    }
    return figures;
  } finally {
    dolmen.close();
    await server.stop();
    connection.closeSync();
    duckdb.closeSync();
    if (data === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

interface Asked {
  readonly connection: DuckDBConnection;
  readonly dolmen: Connection;
  readonly pid: number | undefined;
  readonly rounds: number;
}

async function measure({ id, sql, duckdb = sql, native }: Question, { connection, dolmen, pid, rounds }: Asked): Promise<Figure> {
  const [ours, theirs]: [Times[], Times[]] = [[], []];
  const ask = async (): Promise<unknown[][]> => {
    if (native === undefined) return dolmen.sqlRows(sql, CONTEXT);
    return nativeRows(await dolmen.post('/svc/v2', { ...native.query, context: CONTEXT }), native.columns);
  };
  let trouble: string | null = null;
  try {
    for (let round = -1; round < rounds; round++) {
      let [expected, found]: [unknown[][], unknown[][]] = [[], []];
      const turns = [
        async () => theirs.push(await timed(process.pid, async () => void (expected = (await connection.runAndReadAll(duckdb)).getRows()))),
        async () => ours.push(await timed(pid, async () => void (found = await ask()))),
      ];
      if (round % 2 !== 0) turns.reverse();
      for (const turn of turns) await turn();
      const plainRows = (rows: unknown[][]): Cell[][] => rows.map((row) => row.map(plain));
      trouble = difference(plainRows(found), plainRows(expected), []) ?? null;
      if (trouble !== null) break;
      if (round < 0) [ours.length, theirs.length] = [0, 0]; // the first round warms up
    }
  } catch (error) {
    trouble = (error as Error).message.slice(0, 400);
  }
  return { id, dolmen: middle(ours), duckdb: middle(theirs), trouble };
}

const middle = (times: readonly Times[]): Times => ({
  ms: median(times.map(({ ms }) => ms)),
  processorMs: median(times.map(({ processorMs }) => processorMs)),
});

async function timed(pid: number | undefined, work: () => Promise<void>): Promise<Times> {
  if (pid === undefined) throw new Error('the server has no process');
  const [began, used] = [performance.now(), processorTime(pid)];
  await work();
  return { ms: performance.now() - began, processorMs: (processorTime(pid) - used) / 1e6 };
}

type Named = Readonly<Record<string, unknown>>;

/** Rows of the answer to a native query, whichever of its shapes it has; `timestamp` is that of the bucket. */
function nativeRows(answer: unknown, columns: readonly string[]): unknown[][] {
  return (answer as readonly Named[]).flatMap((entry) => {
    const { timestamp, event, events, result = event ?? events } = entry;
    return [result].flat().map((row) => columns.map((name) => (name === 'timestamp' ? timestamp : (row as Named)[name])));
  });
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
  return `${id.padEnd(24)}${cells.map((cell) => cell.padStart(11)).join('')}${trouble === null ? '' : `  ${trouble}`}`;
}

/** Prints means and the worst, against goals by the clock; ends with code 1 where one is missed or an answer is not right. */
export function judge(
  figures: readonly Figure[],
  goals: { readonly geometricMean: number; readonly worst: number },
  report: { readonly file: string | undefined; readonly about: Named },
): void {
  const ratios = (of: (times: Times) => number): number[] =>
    figures.map(({ dolmen, duckdb: other }) => of(dolmen) / of(other)).filter((ratio) => !Number.isNaN(ratio));
  const mean = (list: readonly number[]): number => Math.exp(list.reduce((sum, ratio) => sum + Math.log(ratio), 0) / list.length);
  const [byClock, byProcessor] = [ratios(({ ms }) => ms), ratios(({ processorMs }) => processorMs)];
  const geometricMean = mean(byClock);
  const worst = byClock.reduce((most, ratio) => Math.max(most, ratio), 0);
  const above = (list: readonly number[], limit: number): number => list.filter((ratio) => ratio > limit).length;
  const troubled = figures.filter(({ trouble }) => trouble !== null).length;
  console.log(
    `\ngeometric mean ${geometricMean.toFixed(3)} (goal ${goals.geometricMean}), by processor time ${mean(byProcessor).toFixed(3)}; worst ${worst.toFixed(2)} (goal ${goals.worst}), ${above(byClock, 2)} above 2 (${above(byProcessor, 2)} by processor time), ${above(byClock, 1)} above 1 of ${byClock.length}; ${troubled} without a right answer`,
  );
  if (troubled > 0 || geometricMean > goals.geometricMean || worst > goals.worst) process.exitCode = 1;
  if (report.file !== undefined)
    writeFileSync(report.file, `${JSON.stringify({ ...report.about, geometricMean, worst, questions: figures }, null, 2)}\n`);
}
