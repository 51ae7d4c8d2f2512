import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { median } from '../harness.js';
import { processorTime } from '../processor-time.js';
import { callJson, runTask, startDolmen, waitForCount } from '../server.js';
import { CASES, type Case } from './cases.js';
import { functionsIngestion, writeFunctionsCsv } from './table.js';

/*
 * npm run bench -- functions: functions, casts and aggregates over a column of each type that it takes, as SQL over HTTP with caches
 * off, and the same in DuckDB; nanoseconds of processor time a row, one thread each. An answer that differs is marked, and fails the run.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '20' },
    only: { type: 'string', default: '' },
    json: { type: 'string' },
  },
});
const rows = Number(flags.rows);
const rounds = Number(flags.rounds);
/** A case ends after so long, with the rounds that it has: one at least, as over ten million rows. */
const mostMs = Number(flags.seconds) * 1000;
/** Rounds that are not counted; over many rows one is enough for code to be compiled. */
const warmUp = rows > 2_000_000 ? 1 : 2;
const cases = CASES.filter(({ name }) => new RegExp(flags.only).test(name));
const CONTEXT = { useCache: false, populateCache: false, useApproximateCountDistinct: false, kernels: 'simd' };

interface Figure {
  readonly name: string;
  readonly dolmen: number;
  readonly duckdb: number | null;
  readonly trouble: string | null;
}

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-functions-'));
const input = path.join(folder, 'data', 'input');
mkdirSync(input, { recursive: true });
const csv = path.join(input, 'functions.csv');
writeFunctionsCsv(csv, rows, 1);
const duckdb = await (await DuckDBInstance.create(path.join(folder, 'functions.duckdb'))).connect();
await duckdb.run(`SET TimeZone = 'UTC'`);
await duckdb.run('SET threads = 1');
const types = `{'__time': 'TIMESTAMP', 'wide': 'BIGINT', 'dbl': 'DOUBLE', 'dec': 'DOUBLE', 'flt': 'FLOAT', 'digits': 'VARCHAR', 'ip': 'VARCHAR', 'stamp': 'VARCHAR', 'code': 'VARCHAR', 'doc': 'JSON', 'tags': 'VARCHAR'}`;
await duckdb.run(
  `CREATE TABLE t AS SELECT * REPLACE (string_split(tags, '|') AS tags) FROM read_csv('${csv}', header = true, types = ${types})`,
);
const server = await startDolmen({
  dataDir: path.join(folder, 'data'),
  portOffset: 12_000,
  flags: ['--property', 'svc.processing.numThreads=1'],
});
const { pid } = server.child;
const figures: Figure[] = [];
try {
  if (pid === undefined) throw new Error('the server has no process');
  await runTask(server.url, functionsIngestion(input));
  await waitForCount(server.url, 't', rows);
  rmSync(csv);
  console.log(`${rows} rows, nanoseconds of processor time a row\n\n${'function'.padEnd(40)}  dolmen  duckdb   ratio`);
  for (const each of cases) {
    const figure = await measure(each, pid);
    figures.push(figure);
    console.log(lineOf(figure));
  }
} finally {
  await server.stop();
  duckdb.closeSync();
  rmSync(folder, { recursive: true, force: true });
}
const ratios = figures.flatMap(({ dolmen, duckdb: other }) => (other === null || Number.isNaN(dolmen) ? [] : [dolmen / other]));
const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
const above = (limit: number): number => ratios.filter((ratio) => ratio > limit).length;
console.log(
  `\ngeometric mean ${mean.toFixed(2)}; above 3: ${above(3)} of ${ratios.length}; above 100 ns: ${figures.filter(({ dolmen }) => dolmen > 100).length}`,
);
const troubled = figures.filter(({ trouble }) => trouble !== null);
for (const { name, trouble } of troubled) console.log(`${name}: ${trouble}`);
if (troubled.length > 0) process.exitCode = 1;
if (flags.json !== undefined) writeFileSync(flags.json, JSON.stringify({ rows, geometricMean: mean, nanosecondsARow: figures }, null, 2));

async function measure({ name, sql, duckdb: other }: Case, pid: number): Promise<Figure> {
  const [ours, theirs]: [number[], number[]] = [[], []];
  let found: readonly unknown[] = [];
  let expected: readonly unknown[] | null = null;
  try {
    const until = performance.now() + mostMs;
    for (let round = -warmUp; round < rounds && (round < 1 || performance.now() < until); round++) {
      const began = processorTime(pid);
      const answer = await callJson('POST', `${server.url}/svc/v2/sql`, {
        query: `SELECT ${sql} FROM t`,
        resultFormat: 'array',
        context: CONTEXT,
      });
      const taken = processorTime(pid) - began;
      found = (answer as unknown[][])[0] ?? [];
      if (round >= 0) ours.push(taken / rows);
      if (other === null) continue;
      const begun = process.cpuUsage();
      const answers = (await duckdb.runAndReadAll(`SELECT ${other} FROM t`)).getRows() as unknown[][];
      const { user, system } = process.cpuUsage(begun);
      expected = answers[0] ?? [];
      if (round >= 0) theirs.push(((user + system) * 1000) / rows);
    }
  } catch (error) {
    return { name, dolmen: Number.NaN, duckdb: null, trouble: String(error).slice(0, 300) };
  }
  return { name, dolmen: median(ours), duckdb: expected === null ? null : median(theirs), trouble: differenceOf(found, expected) };
}

/** Sums of doubles are added up in different orders. */
function differenceOf(found: readonly unknown[], expected: readonly unknown[] | null): string | null {
  for (const [index, cell] of (expected ?? []).entries()) {
    const [ours, theirs] = [plain(found[index]), plain(cell)];
    const isNear =
      typeof ours === 'number' && typeof theirs === 'number' && Math.abs(ours - theirs) <= 1e-6 * Math.max(1, Math.abs(theirs));
    if (ours !== theirs && !isNear) return `answered ${String(ours)}, DuckDB ${String(theirs)}`;
  }
  return null;
}

function plain(cell: unknown): string | number | null {
  if (cell === null || cell === undefined) return null;
  if (typeof cell === 'bigint') return Number(cell);
  if (typeof cell === 'boolean') return Number(cell);
  if (typeof cell === 'object' && 'micros' in cell) return Number((cell as { micros: bigint }).micros / 1000n);
  if (typeof cell === 'object' && 'days' in cell) return Number((cell as { days: number }).days) * 86_400_000;
  if (typeof cell === 'number') return cell;
  return typeof cell === 'string' && /^\d{4}-\d\d-\d\dT/.test(cell) ? Date.parse(cell) : String(cell);
}

function lineOf({ name, dolmen, duckdb: other, trouble }: Figure): string {
  const cells = [dolmen.toFixed(1), other?.toFixed(1) ?? '', other === null ? '' : (dolmen / other).toFixed(2)];
  return `${name.slice(0, 40).padEnd(40)}${cells.map((cell) => cell.padStart(8)).join('')}${trouble === null ? '' : '  !'}`;
}
