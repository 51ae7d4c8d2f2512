import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { wikiIngestion, writeWikiCsv } from '../data/wiki.js';
import { runTask, startDolmen, waitForCount } from '../server.js';
import { type BenchQuery, QUERIES } from './queries.js';

/**
 * Asks the same questions of a Dolmen server (SQL over HTTP, warm, caches off) and of DuckDB in this process, in
 * turn, and reports medians and the ratio of times. Answers must agree before a figure is printed.
 */
export interface QueryBenchOptions {
  readonly rows: number;
  readonly rounds: number;
  /** DuckDB's threads, and the server's processing threads. */
  readonly threads: number;
  readonly kernels: readonly string[];
  readonly json: string | null;
  readonly only: readonly string[] | null;
  readonly queries: readonly BenchQuery[];
}

interface QueryFigure {
  readonly id: string;
  readonly duckdbMs: number;
  /** Milliseconds by kernel set. */
  readonly dolmenMs: Readonly<Record<string, number>>;
  readonly rows: number;
}

export interface QueryBenchResult {
  readonly rows: number;
  readonly rounds: number;
  readonly threads: number;
  readonly queries: readonly QueryFigure[];
  /** Geometric mean of Dolmen's time over DuckDB's, by kernel set. */
  readonly geometricMean: Readonly<Record<string, number>>;
  readonly ingestion: { readonly rowsPerSecond: number; readonly csvBytes: number };
}

type Cell = string | number | null;

const CONTEXT = { useCache: false, populateCache: false, useApproximateCountDistinct: false };

export async function runQueryBench(options: QueryBenchOptions): Promise<QueryBenchResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-'));
  const input = path.join(folder, 'data', 'input');
  mkdirSync(input, { recursive: true });
  const csv = path.join(input, 'wiki.csv');
  note(`writing ${options.rows.toLocaleString('en')} rows`);
  writeWikiCsv(csv, options.rows, 1);

  const duckdb = await DuckDBInstance.create(path.join(folder, 'wiki.duckdb'));
  const connection = await duckdb.connect();
  const server = await startDolmen({
    dataDir: path.join(folder, 'data'),
    portOffset: 11_000,
    flags: ['--property', `svc.processing.numThreads=${options.threads}`],
  });
  try {
    note('loading DuckDB');
    await connection.run(`SET TimeZone = 'UTC'`);
    await connection.run(`SET threads = ${options.threads}`);
    await connection.run(
      `CREATE TABLE wiki AS SELECT * FROM read_csv('${csv}', header = true, types = {'__time': 'TIMESTAMP', 'isRobot': 'VARCHAR'})`,
    );
    note('loading Dolmen');
    const began = performance.now();
    await runTask(server.url, wikiIngestion(input));
    const rowsPerSecond = options.rows / ((performance.now() - began) / 1000);
    await waitForCount(server.url, 'wiki', options.rows);
    const figures: QueryFigure[] = [];
    const wanted = options.queries.filter((query) => options.only === null || options.only.includes(query.id));
    for (const query of wanted) figures.push(await measure(query, options, server.url, connection));
    const result = {
      rows: options.rows,
      rounds: options.rounds,
      threads: options.threads,
      queries: figures,
      geometricMean: Object.fromEntries(
        options.kernels.map((set) => [set, geometricMean(figures.map((figure) => (figure.dolmenMs[set] ?? NaN) / figure.duckdbMs))]),
      ),
      ingestion: { rowsPerSecond, csvBytes: statSync(csv).size },
    };
    print(result, options.kernels);
    if (options.json !== null) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
    return result;
  } finally {
    await server.stop();
    connection.closeSync();
    duckdb.closeSync();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Contenders alternate within a round and the order turns every round, so that a noisy neighbour hits all alike. */
async function measure(
  query: BenchQuery,
  options: QueryBenchOptions,
  url: string,
  connection: Awaited<ReturnType<DuckDBInstance['connect']>>,
): Promise<QueryFigure> {
  const contenders = ['duckdb', ...options.kernels];
  const times = new Map<string, number[]>(contenders.map((name) => [name, []]));
  let rows = 0;
  for (let round = -1; round < options.rounds; round++) {
    const answers = new Map<string, Cell[][]>();
    for (const name of round & 1 ? contenders : [...contenders].reverse()) {
      const began = performance.now();
      const answer =
        name === 'duckdb'
          ? ((await connection.runAndReadAll(query.duckdb ?? query.sql)).getRows() as unknown[][])
          : await askServer(url, query.sql, { ...CONTEXT, kernels: name });
      if (round >= 0) times.get(name)?.push(performance.now() - began);
      if (round <= 0)
        answers.set(
          name,
          answer.map((row) => row.map((cell, column) => plainCell(cell, query.timeColumns?.includes(column) === true))),
        );
    }
    const expected = answers.get('duckdb') ?? [];
    if (query.estimates !== undefined && round <= 0) await checkEstimates(query.id, query.estimates, answers, connection);
    for (const set of query.estimates === undefined ? options.kernels : []) {
      const difference = round <= 0 ? findDifference(query, expected, answers.get(set) ?? []) : null;
      if (difference !== null) throw new Error(`${query.id}: ${set} disagrees with DuckDB: ${difference}`);
    }
    if (round <= 0) rows = expected.length;
  }
  return {
    id: query.id,
    duckdbMs: median(times.get('duckdb') ?? []),
    dolmenMs: Object.fromEntries(options.kernels.map((set) => [set, median(times.get(set) ?? [])])),
    rows,
  };
}

/** Every contender's estimates against exact numbers. */
async function checkEstimates(
  id: string,
  { exact, error }: NonNullable<BenchQuery['estimates']>,
  answers: ReadonlyMap<string, Cell[][]>,
  connection: Awaited<ReturnType<DuckDBInstance['connect']>>,
): Promise<void> {
  const truth = ((await connection.runAndReadAll(exact)).getRows() as unknown[][]).map((row) => row.map((cell) => plainCell(cell, false)));
  for (const [name, rows] of answers) {
    if (rows.length !== truth.length) throw new Error(`${id}: ${name} has ${rows.length} rows instead of ${truth.length}`);
    truth.forEach((row, index) => {
      row.forEach((cell, column) => {
        const found = rows[index]?.[column] ?? null;
        const allowed = (name === 'duckdb' ? error.duckdb : error.dolmen) * Math.abs(Number(cell));
        const isNear = typeof cell === 'number' && typeof found === 'number' && Math.abs(found - cell) <= allowed;
        if (!isNear && found !== cell) throw new Error(`${id}: ${name} estimates ${found} for ${cell}, row ${index}, column ${column}`);
      });
    });
  }
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function askServer(url: string, query: string, context: Readonly<Record<string, unknown>>): Promise<unknown[][]> {
  const body = JSON.stringify({ query, resultFormat: 'array', context });
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = http.request(new URL('/svc/v2/sql', url), { method: 'POST', agent, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        if (response.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(`HTTP ${response.statusCode}: ${text.slice(0, 500)}`));
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

function plainCell(cell: unknown, isTime: boolean): Cell {
  if (cell === null || cell === undefined) return null;
  if (typeof cell === 'bigint') return Number(cell);
  if (typeof cell === 'object' && 'micros' in cell) return Number((cell as { micros: bigint }).micros / 1000n);
  if (isTime) return Date.parse(String(cell));
  return typeof cell === 'number' ? cell : String(cell);
}

const close = (a: Cell, b: Cell): boolean =>
  a === b || (typeof a === 'number' && typeof b === 'number' && Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b)));

function findDifference(query: BenchQuery, expected: readonly Cell[][], found: readonly Cell[][]): string | null {
  if (expected.length !== found.length) return `${found.length} rows instead of ${expected.length}`;
  const key = query.orderedBy;
  for (const [index, row] of expected.entries()) {
    const other = found[index] ?? [];
    for (const [column, cell] of row.entries()) {
      if (close(cell, other[column] ?? null)) continue;
      const tied = key !== undefined && column !== key && close(row[key] ?? null, other[key] ?? null);
      const elsewhere =
        tied &&
        (close(row[key] ?? null, expected.at(-1)?.[key] ?? null) ||
          expected.some((candidate) => candidate.every((value, at) => close(value, other[at] ?? null))));
      if (!elsewhere) return `row ${index}, column ${column}: ${other[column]} instead of ${cell}`;
    }
  }
  return null;
}

function print(result: QueryBenchResult, sets: readonly string[]): void {
  console.log(
    `${result.rows.toLocaleString('en')} rows, ${result.rounds} rounds, ${result.threads} thread(s), medians in ms; ratio = Dolmen / DuckDB`,
  );
  console.log('query'.padEnd(16) + 'duckdb'.padStart(10) + sets.map((set) => set.padStart(12) + 'ratio'.padStart(8)).join(''));
  for (const figure of result.queries) {
    const columns = sets.map(
      (set) =>
        (figure.dolmenMs[set] ?? NaN).toFixed(2).padStart(12) + ((figure.dolmenMs[set] ?? NaN) / figure.duckdbMs).toFixed(3).padStart(8),
    );
    console.log(figure.id.padEnd(16) + figure.duckdbMs.toFixed(2).padStart(10) + columns.join(''));
  }
  for (const set of sets) console.log(`geometric mean ${set}/duckdb ${(result.geometricMean[set] ?? NaN).toFixed(3)}`);
  console.log(`ingestion ${Math.round(result.ingestion.rowsPerSecond).toLocaleString('en')} rows/s`);
}

const note = (text: string): void => console.error(`… ${text}`);
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** [--rows N] [--rounds N] [--threads N] [--kernels a,b] [--only id,id] [--json FILE] */
export async function runBenchCommand(queries: readonly BenchQuery[]): Promise<void> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '1000000' },
      rounds: { type: 'string', default: '7' },
      threads: { type: 'string', default: '1' },
      kernels: { type: 'string', default: 'simd' },
      only: { type: 'string' },
      json: { type: 'string' },
    },
  });
  await runQueryBench({
    rows: Number(values.rows),
    rounds: Number(values.rounds),
    threads: Number(values.threads),
    kernels: values.kernels.split(','),
    only: values.only?.split(',') ?? null,
    json: values.json ?? null,
    queries,
  });
}

// npm run bench -- queries
if (process.argv[1] === import.meta.filename) await runBenchCommand(QUERIES);
