import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { wikiIngestion, writeWikiCsv } from '../data/wiki.js';
import { median } from '../harness.js';
import { runTask, startDolmen, waitForCount } from '../server.js';
import { autocannonLoad } from './autocannon-load.js';
import { type Load, type LoadFigure, load } from './load.js';
import { type ContenderProcess, startContender } from './start-contender.js';

/**
 * Requests per second over loopback, 32 connections, contenders in turn: Dolmen against bare servers. The load comes
 * from this process, so that on two cores one is the server's.
 *   --client sockets|autocannon (sockets) --seconds N (2) --rounds N (5) --connections N (32) --port-offset N (11100) --json FILE
 */
interface Target {
  readonly name: string;
  readonly url: string;
  readonly server: number | undefined;
  readonly body?: string;
  /** Substring of every right answer, so that a fast error does not count as a result. */
  readonly expected: string;
}

type Client = (of: Load) => Promise<LoadFigure>;

interface Figure extends LoadFigure {
  readonly name: string;
  /** Processor time of the server for one request; null where the system does not tell. */
  readonly serverMicroseconds: number | null;
}

interface Goal {
  readonly name: string;
  readonly found: number;
  readonly wanted: number;
  readonly isMet: boolean;
}

const ECHO = 'uWebSockets.js JSON echo';
const NODE_ECHO = 'node:http JSON echo';
const SELECT_1 = 'Dolmen SELECT 1, through the Router';
const ROWS = 10_000;
const BODY = bodyOf('SELECT 1 AS one');
const TOP_5 = bodyOf('SELECT channel, SUM(added) AS total FROM wiki GROUP BY channel ORDER BY total DESC LIMIT 5');

const { values } = parseArgs({
  options: {
    client: { type: 'string', default: 'sockets' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '32' },
    'port-offset': { type: 'string', default: '11100' },
    kernels: { type: 'string' },
    json: { type: 'string' },
  },
});
const CLIENTS: Readonly<Record<string, Client>> = { sockets: load, autocannon: autocannonLoad };
const client = CLIENTS[values.client];
if (client === undefined) throw new Error(`--client ${values.client}: expected ${Object.keys(CLIENTS).join(' or ')}`);
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-http-'));
const contenders: ContenderProcess[] = [];
const flags = values.kernels === undefined ? [] : ['--kernels', values.kernels];
const dolmen = await startDolmen({ dataDir: folder, portOffset: Number(values['port-offset']), flags });
try {
  await ingest();
  const dolmenOf = { server: dolmen.child.pid };
  const sql = { ...dolmenOf, url: `${dolmen.url}/svc/v2/sql` };
  const targets: readonly Target[] = [
    { name: 'uWebSockets.js hello', ...(await contender('hello')), expected: 'hello' },
    { name: ECHO, ...(await contender('echo')), body: BODY, expected: 'SELECT 1' },
    { name: NODE_ECHO, ...(await contender('node-echo')), body: BODY, expected: 'SELECT 1' },
    { name: 'Dolmen HTTP layer, JSON echo', ...(await contender('layer-echo', '/svc/v2/sql')), body: BODY, expected: 'SELECT 1' },
    { name: 'Dolmen /status/health', ...dolmenOf, url: `${dolmen.url}/status/health`, expected: 'true' },
    { name: SELECT_1, ...sql, body: BODY, expected: '[[1]]' },
    { name: `Dolmen top 5 of ${ROWS} rows, through the Router`, ...sql, body: TOP_5, expected: '[["' },
  ];
  const figures = await measure(client, targets);
  const goals = judge(figures);
  print(figures, goals);
  if (goals.some(({ isMet }) => !isMet)) process.exitCode = 1;
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ connections: Number(values.connections), figures, goals }, null, 2)}\n`);
} finally {
  for (const each of contenders) each.stop();
  await dolmen.stop();
  rmSync(folder, { recursive: true });
}

function bodyOf(query: string): string {
  return JSON.stringify({ query, resultFormat: 'array' });
}

async function ingest(): Promise<void> {
  const input = path.join(folder, 'input');
  mkdirSync(input, { recursive: true });
  writeWikiCsv(path.join(input, 'wiki.csv'), ROWS, 1);
  await runTask(dolmen.url, wikiIngestion(input));
  await waitForCount(dolmen.url, 'wiki', ROWS);
}

async function contender(name: string, pathname = '/'): Promise<Pick<Target, 'url' | 'server'>> {
  const started = await startContender(name);
  contenders.push(started);
  return { url: `${started.url}${pathname}`, server: started.pid };
}

/** Rounds over all targets, the order turned every time; the median round of each. */
async function measure(client: Client, targets: readonly Target[]): Promise<readonly Figure[]> {
  for (const target of targets) await check(target);
  // Nobody is as fast in the first second as later.
  for (const target of targets) await loadOf(client, target);
  const rounds = new Map<string, Figure[]>(targets.map(({ name }) => [name, []]));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      process.stderr.write(`round ${round + 1}: ${target.name}\n`);
      rounds.get(target.name)?.push(await loadOf(client, target));
    }
  }
  return [...rounds.values()].flatMap((figures) => {
    const middle = figures.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)[figures.length >> 1];
    const times = figures.flatMap(({ serverMicroseconds }) => serverMicroseconds ?? []);
    return middle === undefined ? [] : [{ ...middle, serverMicroseconds: times.length === 0 ? null : median(times) }];
  });
}

async function check({ name, url, body, expected }: Target): Promise<void> {
  const response = await fetch(url, body === undefined ? {} : { method: 'POST', body, headers: { 'Content-Type': 'application/json' } });
  const text = await response.text();
  if (!response.ok || !text.includes(expected)) throw new Error(`${name}: ${response.status} ${text.slice(0, 200)}`);
}

async function loadOf(client: Client, { name, url, server, body }: Target): Promise<Figure> {
  const before = processorMs(server);
  const seconds = Number(values.seconds);
  const figure = await client({ url, connections: Number(values.connections), seconds, ...(body === undefined ? {} : { body }) });
  const after = processorMs(server);
  const takenMs = before === null || after === null ? null : after - before;
  return { name, ...figure, serverMicroseconds: takenMs === null ? null : (takenMs * 1000) / figure.requests };
}

/** Processor time of all threads of a process so far; null where the system does not tell. */
function processorMs(pid: number | undefined): number | null {
  const folder = `/proc/${pid}/task`;
  if (pid === undefined || !existsSync(folder)) return null;
  return readdirSync(folder).reduce((sum, thread) => {
    const [nanoseconds = '0'] = readFileSync(path.join(folder, thread, 'schedstat'), 'utf8').split(' ');
    return sum + Number(nanoseconds) / 1e6;
  }, 0);
}

function judge(figures: readonly Figure[]): readonly Goal[] {
  const rate = (name: string) => figures.find((figure) => figure.name === name)?.requestsPerSecond ?? Number.NaN;
  const goal = (name: string, found: number, wanted: number): Goal => ({ name, found, wanted, isMet: found >= wanted });
  return [
    goal('SELECT 1 over the bare uWebSockets.js echo', rate(SELECT_1) / rate(ECHO), 0.5),
    goal('SELECT 1 over the bare node:http echo', rate(SELECT_1) / rate(NODE_ECHO), 1),
  ];
}

function print(figures: readonly Figure[], goals: readonly Goal[]): void {
  const bare = figures.find(({ name }) => name === ECHO)?.requestsPerSecond ?? Number.NaN;
  for (const { name, requestsPerSecond, p50Ms, p99Ms, serverMicroseconds, clientLoad } of figures) {
    const columns = [
      name.padEnd(44),
      `${String(requestsPerSecond).padStart(7)} requests/s`,
      `${((requestsPerSecond / bare) * 100).toFixed(0).padStart(4)} % of the bare echo`,
      `p50 ${p50Ms.toFixed(2)} ms`,
      `p99 ${p99Ms.toFixed(2)} ms`,
      serverMicroseconds === null ? '' : `server ${serverMicroseconds.toFixed(1)} us each`,
      `client ${(clientLoad * 100).toFixed(0)} % busy`,
    ];
    process.stdout.write(`${columns.join('  ')}\n`);
  }
  for (const { name, found, wanted, isMet } of goals)
    process.stdout.write(`${isMet ? 'met   ' : 'MISSED'} ${name}: ${found.toFixed(2)}, wanted ${wanted}\n`);
}
