import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import { wikiIngestion, writeWikiCsv } from '../data/wiki.js';
import { median } from '../harness.js';
import { load } from '../http/load.js';
import { processorTime } from '../processor-time.js';
import { runTask, sqlRows, startDolmen, waitForCount } from '../server.js';
import { type Cell, difference } from '../tpch/compare.js';
import type { ClientsRequest, Taken } from './duckdb-clients.js';
import { CLASSES, drawPanels, type Panel } from './panels.js';

/*
 * npm run bench -- dashboards: 300 panels of mixed weight, drawn from a seed, asked by 8 and by 64 clients in turn, caches off, as SQL over
 * HTTP; the same of DuckDB in a process beside it, a connection for each client. Each client asks the next panel when its answer is there.
 * Every answer is compared once. Ends with code 1 when one differs, or p99 of 64 clients is more than 5 times p50.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '500000' },
    rounds: { type: 'string', default: '3' },
    threads: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '8' },
    connections: { type: 'string', default: '8,64' },
    only: { type: 'string', default: 'dolmen,duckdb' },
    json: { type: 'string' },
  },
});
const [rows, rounds, threads, seconds] = [Number(flags.rows), Number(flags.rounds), Number(flags.threads), Number(flags.seconds)];
const clientCounts = flags.connections.split(',').map(Number);
const engines = flags.only.split(',');
const PANELS = 300;
const SEED = 10;
const RATIO_MAX = 5;
const CONTEXT = { useCache: false, populateCache: false, useApproximateCountDistinct: false };
const panels = drawPanels(PANELS, SEED);

interface Figure {
  readonly engine: string;
  readonly clients: number;
  readonly class: string;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly ratio: number;
  /** Processor time of the server for one request; null: not known. */
  readonly processorMs: number | null;
}

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-dashboards-'));
const input = path.join(folder, 'data', 'input');
mkdirSync(input, { recursive: true });
const csv = path.join(input, 'wiki.csv');
writeWikiCsv(csv, rows, 1);
const database = path.join(folder, 'wiki.duckdb');
const server = await startDolmen({
  dataDir: path.join(folder, 'data'),
  portOffset: 12_950,
  flags: ['--property', `svc.processing.numThreads=${threads}`],
});
try {
  await runTask(server.url, wikiIngestion(input));
  await waitForCount(server.url, 'wiki', rows);
  const wrong = await compareAnswers();
  const figures = await measure();
  print(figures);
  for (const trouble of wrong) console.log(trouble);
  const judged = figures.filter((each) => each.engine === 'dolmen' && each.class === 'all' && each.clients === clientCounts.at(-1));
  if (wrong.length > 0 || judged.some(({ ratio }) => !(ratio <= RATIO_MAX))) process.exitCode = 1;
  if (flags.json !== undefined) writeFileSync(flags.json, `${JSON.stringify({ rows, threads, panels: PANELS, figures }, null, 2)}\n`);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Every panel once, of both; this loads DuckDB's table and warms the server. */
async function compareAnswers(): Promise<readonly string[]> {
  const instance = await DuckDBInstance.create(database);
  const connection = await instance.connect();
  await connection.run(`SET TimeZone = 'UTC'; SET default_null_order = 'nulls_first_on_asc_last_on_desc'`);
  await connection.run(
    `CREATE TABLE wiki AS SELECT * FROM read_csv('${csv}', header = true, types = {'__time': 'TIMESTAMP', 'isRobot': 'VARCHAR'})`,
  );
  const wrong: string[] = [];
  for (const { sql, duckdb, orderedBy } of panels) {
    const found = (await sqlRows(server.url, sql, CONTEXT)).map((row) => row.map(plain));
    const expected = (await connection.runAndReadAll(duckdb)).getRows().map((row) => row.map(plain));
    const trouble = difference(found, expected, orderedBy);
    if (trouble !== undefined) wrong.push(`${sql}\n  ${trouble}`);
  }
  connection.closeSync();
  instance.closeSync();
  return wrong;
}

function plain(cell: unknown): Cell {
  if (typeof cell === 'bigint') return Number(cell);
  if (typeof cell === 'object' && cell !== null && 'micros' in cell) return Number((cell as { micros: bigint }).micros / 1000n);
  if (typeof cell === 'string' && /^\d{4}-\d\d-\d\dT/.test(cell)) return Date.parse(cell);
  return (cell ?? null) as Cell;
}

/** Engines and numbers of clients take turns; a figure is the median of the rounds. */
async function measure(): Promise<readonly Figure[]> {
  const turns = engines.flatMap((engine) => clientCounts.map((clients) => ({ engine, clients })));
  const found = new Map<string, Figure[]>();
  for (let round = 0; round < rounds; round++)
    for (const { engine, clients } of round % 2 === 0 ? turns : turns.toReversed()) {
      const before = processorTime(server.child.pid ?? 0);
      const taken = engine === 'duckdb' ? await askDuckDb(clients) : await askDolmen(clients);
      const processorMs = engine === 'duckdb' ? null : (processorTime(server.child.pid ?? 0) - before) / 1e6 / taken.length;
      for (const figure of figuresOf(engine, clients, taken, processorMs)) {
        const key = `${engine} ${clients} ${figure.class}`;
        found.set(key, [...(found.get(key) ?? []), figure]);
      }
    }
  return [...found.values()].flatMap((figures) => {
    const [first] = figures;
    if (first === undefined) return [];
    const middle = (of: (figure: Figure) => number): number => median(figures.map(of));
    const [p50Ms, p99Ms] = [middle((each) => each.p50Ms), middle((each) => each.p99Ms)];
    return [{ ...first, requestsPerSecond: middle((each) => each.requestsPerSecond), p50Ms, p99Ms, ratio: p99Ms / p50Ms }];
  });
}

async function askDolmen(clients: number): Promise<readonly Taken[]> {
  const bodies = panels.map(({ sql }) => JSON.stringify({ query: sql, resultFormat: 'array', context: CONTEXT }));
  const places = new Map(bodies.map((body, at) => [body, at]));
  const taken: Taken[] = [];
  let next = 0;
  await load({
    url: `${server.url}/svc/v2/sql`,
    body: () => bodies[next++ % bodies.length] ?? '',
    connections: clients,
    seconds,
    onTime: (body, milliseconds) => taken.push([places.get(body) ?? 0, milliseconds]),
  });
  return taken;
}

/** The pool of libuv has so many threads as its process is told when it begins. */
function askDuckDb(clients: number): Promise<readonly Taken[]> {
  const child = fork(path.join(import.meta.dirname, 'duckdb-clients.js'), { env: { ...process.env, UV_THREADPOOL_SIZE: String(clients) } });
  const request: ClientsRequest = { database, threads, clients, seconds, statements: panels.map(({ duckdb }) => duckdb) };
  return new Promise((resolve, reject) => {
    child.once('message', (taken) => resolve(taken as readonly Taken[]));
    child.once('exit', (code) => reject(new Error(`the clients of DuckDB ended with ${code}`)));
    child.send(request);
  });
}

function figuresOf(engine: string, clients: number, taken: readonly Taken[], processorMs: number | null): readonly Figure[] {
  const of = (name: string, isOne: (panel: Panel | undefined) => boolean): Figure => {
    const times = Float64Array.from(taken.filter(([at]) => isOne(panels[at])).map(([, ms]) => ms)).sort();
    const part = (share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN;
    const [p50Ms, p99Ms] = [part(0.5), part(0.99)];
    return {
      engine,
      clients,
      class: name,
      requestsPerSecond: times.length / seconds,
      p50Ms,
      p99Ms,
      ratio: p99Ms / p50Ms,
      processorMs: null,
    };
  };
  return [...CLASSES.map((name) => of(name, (panel) => panel?.class === name)), { ...of('all', () => true), processorMs }];
}

function print(figures: readonly Figure[]): void {
  console.log(
    `${PANELS} panels over ${rows.toLocaleString('en')} rows, ${threads} thread(s), ${seconds} s a turn, medians of ${rounds} rounds\n`,
  );
  console.log(`${'engine'.padEnd(10)}clients  ${'class'.padEnd(8)}requests/s   p50 ms   p99 ms  p99/p50  processor ms`);
  for (const { engine, clients, class: name, requestsPerSecond, p50Ms, p99Ms, ratio, processorMs } of figures) {
    const cells = [requestsPerSecond.toFixed(0).padStart(10), ...[p50Ms, p99Ms, ratio].map((each) => each.toFixed(1).padStart(8))];
    console.log(
      `${engine.padEnd(10)}${String(clients).padStart(7)}  ${name.padEnd(8)}${cells.join(' ')}${processorMs === null ? '' : processorMs.toFixed(1).padStart(14)}`,
    );
  }
  console.log(`\ngoal: p99 at most ${RATIO_MAX} times p50 with ${clientCounts.at(-1)} clients`);
}
