import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { randomSource } from '../data/random.js';
import { median } from '../harness.js';
import { processorTime } from '../processor-time.js';
import { runTask, sqlRows, startDolmen, waitForCount } from '../server.js';
import { type Cell, difference } from '../tpch/compare.js';
import { KINDS, type Kind } from './questions.js';
import { type CpuTable, cpuInDuckdb, cpuIngestion, METRICS, TICKS_AN_HOUR, writeCpuCsv } from './table.js';

/*
 * npm run bench -- tsbs: the 17 questions of TSBS devops over its table cpu, as SQL over HTTP with caches off, and the same of DuckDB in
 * this process over the same rows; milliseconds of processor time, one thread each. Hosts and windows are drawn anew in each round. Answers
 * must agree. Ends with code 1 when they do not, or a goal is missed.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '8640000' },
    rounds: { type: 'string', default: '7' },
    digits: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
    data: { type: 'string' },
    packed: { type: 'boolean', default: false },
    json: { type: 'string' },
  },
});
const GOALS = { mean: 0.25, each: 0.6 };
const CONTEXT = { useCache: false, populateCache: false, useApproximateCountDistinct: false };
/** Answers stay on this machine, as those of DuckDB do: they are packed only when asked to be. */
const PACKING = flags.packed ? {} : { 'accept-encoding': 'identity' };
const rounds = Number(flags.rounds);
/** Rounds before those that count: TSBS asks each question a thousand times. Those of slow questions end sooner. */
const WARM_UP = { rounds: 60, roundsMin: 10, milliseconds: 4000 };
// A day of 1,000 hosts by default; fewer rows are fewer hosts.
const table: CpuTable = {
  hosts: Math.max(1, Math.round(Number(flags.rows) / (24 * TICKS_AN_HOUR))),
  hours: 24,
  digits: Number(flags.digits),
};
const rows = table.hosts * table.hours * TICKS_AN_HOUR;

const folder = flags.data ?? mkdtempSync(path.join(tmpdir(), 'dolmen-tsbs-'));
const input = path.join(folder, 'data', 'input');
mkdirSync(input, { recursive: true });
const csv = path.join(input, 'cpu.csv');
const isLoaded = existsSync(csv) && statSync(csv).size > 0;
if (!isLoaded) writeCpuCsv(csv, table, 1);
const duckdb = await (await DuckDBInstance.create(path.join(folder, 'cpu.duckdb'))).connect();
await duckdb.run(`SET TimeZone = 'UTC'`);
await duckdb.run('SET threads = 1');
if (!isLoaded) await duckdb.run(cpuInDuckdb(csv));
const server = await startDolmen({
  dataDir: path.join(folder, 'data'),
  portOffset: 12_800,
  flags: ['--property', 'svc.processing.numThreads=1'],
});

interface Figure {
  readonly id: string;
  readonly rows: number;
  readonly dolmen: number;
  readonly duckdb: number;
  readonly trouble: string | undefined;
}

const figures: Figure[] = [];
try {
  const { pid } = server.child;
  if (pid === undefined) throw new Error('the server has no process');
  if (!isLoaded) await runTask(server.url, cpuIngestion(input));
  await waitForCount(server.url, 'cpu', rows);
  // Rounds draw hosts and windows: what they read is in the memory of both before.
  const all = `SELECT ${METRICS.map((name) => `SUM(${name})`).join(', ')}, COUNT(DISTINCT hostname), MAX(__time) FROM cpu`;
  await sqlRows(server.url, all, CONTEXT, PACKING);
  await duckdb.runAndReadAll(all);
  console.log(
    `${rows} rows of ${table.hosts} hosts, milliseconds of processor time\n\n${'question'.padEnd(24)}    rows  dolmen  duckdb   ratio`,
  );
  for (const kind of KINDS.filter(({ id }) => new RegExp(flags.only).test(id))) {
    const figure = await measure(kind, pid);
    figures.push(figure);
    const { id, rows: count, dolmen, duckdb: other, trouble } = figure;
    const cells = [String(count), dolmen.toFixed(2), other.toFixed(2), (dolmen / other).toFixed(3)];
    console.log(`${id.padEnd(24)}${cells.map((cell) => cell.padStart(8)).join('')}${trouble === undefined ? '' : `  ${trouble}`}`);
  }
} finally {
  await server.stop();
  duckdb.closeSync();
  if (flags.data === undefined) rmSync(folder, { recursive: true, force: true });
}
const ratios = figures.map(({ dolmen, duckdb: other }) => dolmen / other);
const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
const worst = Math.max(...ratios);
console.log(`\ngeometric mean ${mean.toFixed(3)} (goal ${GOALS.mean}), largest ${worst.toFixed(3)} (goal ${GOALS.each})`);
if (figures.some(({ trouble }) => trouble !== undefined) || !(mean <= GOALS.mean && worst <= GOALS.each)) process.exitCode = 1;
if (flags.json !== undefined)
  writeFileSync(flags.json, JSON.stringify({ rows, hosts: table.hosts, geometricMean: mean, questions: figures }, null, 2));

/** Every round asks another draw of the question of both engines. */
async function measure({ id, draw }: Kind, pid: number): Promise<Figure> {
  const random = randomSource(7);
  const [ours, theirs]: [number[], number[]] = [[], []];
  let [count, trouble]: [number, string | undefined] = [0, undefined];
  const start = performance.now();
  for (let round = -WARM_UP.rounds; round < rounds && trouble === undefined; round++) {
    const isLong = performance.now() - start > WARM_UP.milliseconds && round >= WARM_UP.roundsMin - WARM_UP.rounds;
    if (round < 0 && isLong) round = 0;
    const { sql, duckdb: other, orderedBy } = draw(table, (below) => Math.floor(random() * below));
    const began = processorTime(pid);
    let found: Cell[][];
    try {
      found = (await answerTo(sql)) as Cell[][];
    } catch (error) {
      return { id, rows: 0, dolmen: Number.NaN, duckdb: Number.NaN, trouble: String(error).slice(0, 300) };
    }
    const taken = (processorTime(pid) - began) / 1e6;
    const begun = process.cpuUsage();
    const answer = (await duckdb.runAndReadAll(other)).getRows();
    const { user, system } = process.cpuUsage(begun);
    // Every answer is compared, but for those of which one is enough to compare for a second.
    if (answer.length < 50_000 || round === 0) trouble = difference(found.map(timesAsNumbers), answer.map(plainRow), orderedBy);
    if (round < 0) continue;
    count = answer.length;
    ours.push(taken);
    theirs.push((user + system) / 1e3);
  }
  return { id, rows: count, dolmen: median(ours), duckdb: median(theirs), trouble };
}

/** The answer over another connection when the last one has ended: the server ends those on which nothing is asked for ten seconds, as DuckDB's turn may take. */
function answerTo(sql: string): Promise<unknown[][]> {
  const ask = (): Promise<unknown[][]> => sqlRows(server.url, sql, CONTEXT, PACKING);
  return ask().catch((error: unknown) => {
    if (error instanceof TypeError) return ask();
    throw error;
  });
}

function timesAsNumbers(row: readonly Cell[]): Cell[] {
  return row.map((cell) => (typeof cell === 'string' && /^\d{4}-\d\d-\d\dT/.test(cell) ? Date.parse(cell) : cell));
}

function plainRow(row: readonly unknown[]): Cell[] {
  return row.map((cell) => {
    if (typeof cell === 'bigint') return Number(cell);
    if (typeof cell === 'object' && cell !== null && 'micros' in cell) return Number((cell as { micros: bigint }).micros / 1000n);
    return cell as Cell;
  });
}
