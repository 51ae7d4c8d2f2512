import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadCaseTables, readCases } from '../../test/api/cases.js';
import { csvIngestion, writeCsv } from '../data/csv.js';
import { callJson, FLAGS_VARIABLE, runTask, startDolmen, waitForCount } from '../server.js';
import { LARGE_REQUESTS, WIDE_COLUMNS } from './cases.js';

/**
 * The longest that anything ran in one piece on the event loop of a server, while it answered the golden requests and
 * requests that are large in one way each, and on those of all servers that the end-to-end tests start: from the log of
 * their own watch. A stretch is as long as a timer was late, but no longer than the processor time that the thread of the
 * loop has had meanwhile, where the system tells it (Linux, to within a tick of its clock): what other threads and processes
 * took of the processor is not the server's. What ran before the first request came in held up nobody.
 *   --only WORD --port-offset N (11600) --json FILE
 */
interface Stretch {
  readonly name: string;
  readonly longestMs: number;
  /** Requests that began in the longest. */
  readonly during: string;
  /** Time until the last byte, of all requests together. */
  readonly answeredMs: number;
  readonly problem: string;
}

const TESTS = fileURLToPath(new URL('../../test/api/', import.meta.url));
const WIDE_ROWS = 200;
const LONGEST_MS = 50;
/** Stretches from here on are logged. */
const LATE_MS = 4;

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, 'port-offset': { type: 'string', default: '11600' }, json: { type: 'string' } },
});
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-loop-'));
const logFile = path.join(folder, 'log', 'dolmen.log');
const property = (...each: readonly string[]) => each.flatMap((one) => ['--property', one]);
const watchFlags = property(`svc.server.eventLoop.lateTime=${LATE_MS}`, `svc.log.file=${logFile}`);
const flags = [...watchFlags, ...property('svc.server.http.maxRequestBytes=64MiB')];
const server = await startDolmen({ dataDir: folder, portOffset: Number(values['port-offset']), flags });
const stretches: Stretch[] = [];
try {
  await loadCaseTables(server.url);
  await loadWide();
  await measured('the golden requests', async () => {
    for (const { request, bodyText, contentType } of readCases())
      await send(request.path, bodyText ?? JSON.stringify(request.body), contentType);
    return '';
  });
  for (const { name, path: to, body, status } of LARGE_REQUESTS) {
    const text = body();
    await measured(name, async () => {
      const answer = await send(to, text);
      return answer.status === status ? '' : `${answer.status}, ${status} expected: ${answer.text.slice(0, 160)}`;
    });
  }
} finally {
  await server.stop();
}
for (const file of readdirSync(TESTS).filter((name) => name.endsWith('.test.js')))
  await measured(`test/api/${file.replace('.test.js', '')}`, () => passed(path.join(TESTS, file)));
rmSync(folder, { recursive: true, force: true });
const longestMs = Math.max(...stretches.map((each) => each.longestMs));
const isMet = longestMs < LONGEST_MS && stretches.every(({ problem }) => problem === '');
console.log(
  `\nlongest stretch on the event loop: ${longestMs} ms (wanted: under ${LONGEST_MS}); stretches under ${LATE_MS} ms are not seen`,
);
if (!isMet) process.exitCode = 1;
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ longestMs, stretches }, null, 2)}\n`);

async function measured(name: string, work: () => Promise<string>): Promise<void> {
  if (!name.includes(values.only)) return;
  const from = statSync(logFile).size;
  const beginMs = performance.now();
  const problem = await work();
  const answeredMs = Math.round(performance.now() - beginMs);
  await wait(200);
  const stretch = { name, ...longestAfter(from), answeredMs, problem };
  stretches.push(stretch);
  console.log(
    `${name.padEnd(46)} ${String(stretch.longestMs).padStart(7)} ms   answered in ${String(answeredMs).padStart(7)} ms   ${problem || stretch.during}`,
  );
}

/** Milliseconds, from the lines that the watch wrote behind an offset of the log. */
function longestAfter(offset: number): Pick<Stretch, 'longestMs' | 'during'> {
  const lines = readFileSync(logFile).subarray(offset).toString().split('\n');
  const late = lines
    .filter((line) => line.includes('event loop late by') && !line.includes(': no request'))
    .map((line) => JSON.parse(line) as { lateMs: number; busyMs?: number; msg: string })
    .map(({ lateMs, busyMs = lateMs, msg }) => ({
      longestMs: Math.min(lateMs, busyMs),
      during: msg.replace(/^.* ms: /, '').slice(0, 100),
    }));
  return late.reduce((longest, each) => (each.longestMs > longest.longestMs ? each : longest), { longestMs: 0, during: '' });
}

/** A file of tests with the servers that it starts. */
async function passed(file: string): Promise<string> {
  const env = { ...process.env, [FLAGS_VARIABLE]: JSON.stringify(watchFlags) };
  const [code] = (await once(spawn(process.execPath, ['--enable-source-maps', file], { env, stdio: 'ignore' }), 'exit')) as [number | null];
  return code === 0 ? '' : `ended with ${code}`;
}

async function send(to: string, body: string, contentType = 'application/json'): Promise<{ status: number; text: string }> {
  const answer = await fetch(server.url + to, { method: 'POST', headers: { 'content-type': contentType }, body });
  return { status: answer.status, text: await answer.text() };
}

/** The table `wide`: two hundred rows of very many columns. */
async function loadWide(): Promise<void> {
  const numbers = Array.from({ length: WIDE_COLUMNS }, (_, index) => `c${index}`);
  const lines = Array.from({ length: WIDE_ROWS }, (_, row) =>
    [Date.UTC(2026, 0, 1) + row, `v${row}`, ...numbers.map((_name, index) => row + index)].join(','),
  );
  const input = path.join(folder, 'input');
  mkdirSync(input, { recursive: true });
  writeCsv(path.join(input, 'wide.csv'), ['__time', 's0', ...numbers], lines);
  const load = csvIngestion({
    folder: input,
    file: 'wide.csv',
    dataSource: 'wide',
    dimensions: ['s0', ...numbers.map((name) => ({ type: 'long', name }))],
    segmentGranularity: 'day',
    timestampSpec: { column: '__time', format: 'millis' },
  });
  await runTask(server.url, load);
  await waitForCount(server.url, 'wide', WIDE_ROWS);
  await callJson('GET', `${server.url}/status/health`);
}
