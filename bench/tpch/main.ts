import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { Connection } from '../http/connection.js';
import { runTask, startDolmen, waitForCount } from '../server.js';
import { type Cell, difference } from './compare.js';
import type { BenchQuery } from './query.js';
import { SSB_QUERIES } from './ssb-queries.js';
import { SSB_TABLES } from './ssb-tables.js';
import { dolmenLoad, duckdbLoad, writeTable } from './table.js';
import { TPCH_QUERIES } from './tpch-queries.js';
import { TPCH_TABLES } from './tpch-tables.js';

/**
 * The queries of TPC-H and of the Star Schema Benchmark, of a Dolmen server over HTTP and of DuckDB in this process, over the same
 * generated rows. Every answer is compared; a refusal or a difference is printed in the table's last column and ends with code 1.
 */
const { values } = parseArgs({
  options: {
    scale: { type: 'string', default: '0.01' },
    rounds: { type: 'string', default: '1' },
    threads: { type: 'string', default: '1' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});
const [scale, rounds, threads] = [Number(values.scale), Number(values.rounds), Number(values.threads)];
if (!(scale > 0 && scale <= 1)) throw new Error(`--scale is a number above 0, at most 1, not '${values.scale}'`);
const PORT_OFFSET = 24_200;
/** Answers come from the rows, and distinct values are counted exactly. */
const CONTEXT = { useCache: false, populateCache: false, useApproximateCountDistinct: false };

interface Figure {
  readonly id: string;
  readonly rows: number;
  readonly dolmenMs: number;
  readonly duckdbMs: number;
  /** Processor time of all threads, which other processes do not lengthen: of the server, and of this process. */
  readonly dolmenCpuMs: number;
  readonly duckdbCpuMs: number;
  /** `yes`, or what is wrong. */
  readonly agreement: string;
}

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-tpch-'));
const dataDir = path.join(folder, 'data');
const input = path.join(dataDir, 'input');
mkdirSync(input, { recursive: true });
const server = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: ['--property', `svc.processing.numThreads=${threads}`] });
const duckdb = await DuckDBInstance.create(':memory:');
const connection = await duckdb.connect();
const dolmen = new Connection(server.url);
try {
  await load(connection);
  const wanted = [...TPCH_QUERIES, ...SSB_QUERIES].filter(({ id }) => values.only === undefined || values.only.split(',').includes(id));
  print(['query', 'rows', 'Dolmen ms', 'DuckDB ms', 'ratio', 'CPU ms', 'CPU ms', 'ratio', 'agree']);
  const figures: Figure[] = [];
  for (const query of wanted) {
    const figure = await measure(query);
    figures.push(figure);
    const { id, rows, dolmenMs, duckdbMs, dolmenCpuMs, duckdbCpuMs, agreement } = figure;
    const pairs = [
      [dolmenMs, duckdbMs],
      [dolmenCpuMs, duckdbCpuMs],
    ] as const;
    print([id, String(rows), ...pairs.flatMap(([one, other]) => [one.toFixed(1), other.toFixed(1), (one / other).toFixed(2)]), agreement]);
  }
  const agreeing = figures.filter(({ agreement }) => agreement === 'yes').length;
  process.stdout.write(`${agreeing} of ${figures.length} agree at scale ${scale}, fastest of ${rounds} round(s), ${threads} thread(s)\n`);
  if (agreeing < figures.length) process.exitCode = 1;
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ scale, rounds, threads, queries: figures }, null, 2)}\n`);
} finally {
  dolmen.close();
  await server.stop();
  connection.closeSync();
  duckdb.closeSync();
  rmSync(folder, { recursive: true, force: true });
}

async function load(to: DuckDBConnection): Promise<void> {
  await to.run(`SET threads = ${threads}`);
  for (const table of [...TPCH_TABLES, ...SSB_TABLES]) {
    const rows = writeTable(path.join(input, `${table.name}.csv`), table, scale);
    process.stderr.write(`… loading ${table.name}, ${rows.toLocaleString('en')} rows\n`);
    await to.run(duckdbLoad(table, input));
    await runTask(server.url, dolmenLoad(table, input));
    await waitForCount(server.url, table.name, rows);
  }
}

async function measure({ id, sql, orderedBy }: BenchQuery): Promise<Figure> {
  let [dolmenMs, duckdbMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let [dolmenCpuMs, duckdbCpuMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let expected: Cell[][] = [];
  const figure = () => ({ id, rows: expected.length, dolmenMs, duckdbMs, dolmenCpuMs, duckdbCpuMs });
  for (let round = 0; round < rounds; round++) {
    let began = performance.now();
    const used = process.cpuUsage();
    expected = (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(plainCell));
    duckdbMs = Math.min(duckdbMs, performance.now() - began);
    const { user, system } = process.cpuUsage(used);
    duckdbCpuMs = Math.min(duckdbCpuMs, (user + system) / 1000);
    began = performance.now();
    const beganCpu = cpuMs(server.child.pid);
    try {
      const found = await dolmen.sqlRows(sql, CONTEXT);
      dolmenMs = Math.min(dolmenMs, performance.now() - began);
      dolmenCpuMs = Math.min(dolmenCpuMs, cpuMs(server.child.pid) - beganCpu);
      const wrong = difference(found as Cell[][], expected, orderedBy);
      if (wrong !== undefined) return { ...figure(), agreement: wrong };
    } catch (error) {
      return { ...figure(), dolmenMs: Number.NaN, dolmenCpuMs: Number.NaN, agreement: (error as Error).message };
    }
  }
  return { ...figure(), agreement: 'yes' };
}

/** Processor time that a process's threads have had, as Linux counts it. */
function cpuMs(pid: number | undefined): number {
  const folder = `/proc/${pid}/task`;
  return (
    readdirSync(folder).reduce((sum, thread) => sum + Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0]), 0) / 1e6
  );
}

/** DuckDB's values as JSON has them: days as text, sums of longs (128 bits there) as numbers. */
function plainCell(value: unknown): Cell {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'object' && 'days' in value) return String(value);
  throw new TypeError(`a value of DuckDB that has no JSON: ${String(value)}`);
}

function print([id = '', ...cells]: readonly string[]): void {
  const agreement = cells.pop() ?? '';
  process.stdout.write(`${id.padEnd(8)}${cells.map((cell) => cell.padStart(11)).join('')}  ${agreement}\n`);
}
