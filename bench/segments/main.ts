import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { HOURLY_ROWS, hourlyIngestion, writeHourlyCsv } from '../data/hourly.js';
import { median } from '../harness.js';
import { processorTime } from '../processor-time.js';
import { callJson, runTask, startDolmen, waitForCount } from '../server.js';

/*
 * npm run bench -- segments: simple questions over many hourly segments of 20 rows, and over the same rows in DuckDB; milliseconds of
 * processor time, one thread each. Before them, the time that making, publishing and loading a segment takes in all processes together.
 */
const { values: flags } = parseArgs({
  options: {
    segments: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '9' },
    json: { type: 'string' },
  },
});
const segments = Number(flags.segments);
const rounds = Number(flags.rounds);
const CONTEXT = { useCache: false, populateCache: false, useApproximateCountDistinct: false };

interface Question {
  readonly name: string;
  readonly sql: string;
  readonly duckdb?: string;
}

const QUESTIONS: readonly Question[] = [
  { name: 'count', sql: 'SELECT COUNT(*) FROM t' },
  { name: 'sum', sql: 'SELECT SUM(n) FROM t' },
  { name: 'extremes', sql: 'SELECT MIN(n), MAX(n) FROM t' },
  { name: 'group', sql: 'SELECT a, COUNT(*) FROM t GROUP BY 1 ORDER BY 1' },
  { name: 'top', sql: 'SELECT b, SUM(n) FROM t GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 5' },
  { name: 'distinct', sql: 'SELECT COUNT(DISTINCT b) FROM t' },
  { name: 'filter', sql: "SELECT SUM(n) FROM t WHERE a = 'k3'" },
  { name: 'rare', sql: "SELECT COUNT(*) FROM t WHERE b = 'u5'" },
  {
    name: 'days',
    sql: `SELECT TIME_FLOOR(__time, 'P1D'), COUNT(*) FROM t GROUP BY 1 ORDER BY 1`,
    duckdb: `SELECT date_trunc('day', __time), COUNT(*) FROM t GROUP BY 1 ORDER BY 1`,
  },
];

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-segments-'));
const input = path.join(folder, 'data', 'input');
mkdirSync(input, { recursive: true });
const csv = path.join(input, 'rows.csv');
writeHourlyCsv(csv, 0, segments);
const duckdb = await (await DuckDBInstance.create(path.join(folder, 'rows.duckdb'))).connect();
await duckdb.run('SET threads = 1');
await duckdb.run(`CREATE TABLE t AS SELECT * FROM read_csv('${csv}', header = true, types = {'__time': 'TIMESTAMP'})`);
const server = await startDolmen({
  dataDir: path.join(folder, 'data'),
  portOffset: 12_400,
  flags: ['--property', 'svc.processing.numThreads=1'],
});
const figures: { readonly name: string; readonly dolmen: number; readonly duckdb: number }[] = [];
try {
  const { pid } = server.child;
  if (pid === undefined) throw new Error('the server has no process');
  const began = processorTime(pid);
  await runTask(server.url, hourlyIngestion(input, 'rows.csv'));
  await waitForCount(server.url, 't', segments * HOURLY_ROWS);
  const loading = (processorTime(pid) - began) / 1e6 / segments;
  console.log(
    `${segments} segments of ${HOURLY_ROWS} rows: ${loading.toFixed(2)} ms of processor time a segment in the server, its task processes aside\n`,
  );
  console.log(`${'question'.padEnd(12)}  dolmen  duckdb   ratio   (milliseconds of processor time)`);
  for (const question of QUESTIONS) {
    const figure = await measure(question, pid);
    figures.push(figure);
    const cells = [figure.dolmen.toFixed(2), figure.duckdb.toFixed(2), (figure.dolmen / figure.duckdb).toFixed(2)];
    console.log(figure.name.padEnd(12) + cells.map((cell) => cell.padStart(8)).join(''));
  }
  const mean = Math.exp(figures.reduce((sum, { dolmen, duckdb: other }) => sum + Math.log(dolmen / other), 0) / figures.length);
  console.log(`\ngeometric mean ${mean.toFixed(2)}`);
  if (flags.json !== undefined)
    writeFileSync(flags.json, JSON.stringify({ segments, loading, geometricMean: mean, questions: figures }, null, 2));
} finally {
  await server.stop();
  duckdb.closeSync();
  rmSync(folder, { recursive: true, force: true });
}

async function measure({ name, sql, duckdb: other = sql }: Question, pid: number): Promise<(typeof figures)[number]> {
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = -3; round < rounds; round++) {
    const began = processorTime(pid);
    const answer = (await callJson('POST', `${server.url}/svc/v2/sql`, {
      query: sql,
      resultFormat: 'array',
      context: CONTEXT,
    })) as unknown[][];
    const taken = (processorTime(pid) - began) / 1e6;
    const begun = process.cpuUsage();
    const expected = (await duckdb.runAndReadAll(other)).getRows() as unknown[][];
    const { user, system } = process.cpuUsage(begun);
    if (round === 0 && JSON.stringify(answer.map(plainRow)) !== JSON.stringify(expected.map(plainRow)))
      throw new Error(`${name}: answered ${JSON.stringify(answer.slice(0, 3))}, DuckDB otherwise`);
    if (round < 0) continue;
    ours.push(taken);
    theirs.push((user + system) / 1e3);
  }
  return { name, dolmen: median(ours), duckdb: median(theirs) };
}

function plainRow(row: readonly unknown[]): readonly (string | number)[] {
  return row.map((cell) => {
    if (typeof cell === 'bigint' || typeof cell === 'number') return Number(cell);
    if (typeof cell === 'object' && cell !== null && 'micros' in cell) return Number((cell as { micros: bigint }).micros / 1000n);
    const text = String(cell);
    return /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : text;
  });
}
