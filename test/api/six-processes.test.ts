import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, waitForCount, waitForTask } from '../../bench/server.js';
import { loadCaseTables, readCases, runCase } from './cases.js';
import { type SixProcesses, startSix } from './six.js';

const LOG_BYTES = 2 ** 29;

/** The most memory that a process ever had. */
const peakBytes = ({ child: { pid } }: DolmenProcess): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;

const opensFile = ({ child: { pid } }: DolmenProcess, file: string): boolean =>
  readdirSync(`/proc/${pid}/fd`).some((each) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${each}`) === file;
    } catch {
      return false;
    }
  });

/** The six roles as six processes that share a SQLite file and folders give the answers of one process. */
const cluster = suite<{ six: SixProcesses; dataDir: string }>('six processes');

cluster.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-six-'));
  context.six = await startSix(context.dataDir, 20_200);
  await loadCaseTables(context.six.url);
});

cluster.after(async ({ six, dataDir }) => {
  await six?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

for (const one of readCases()) cluster(one.name, ({ six }) => runCase(six.url, one));

cluster('a task reads datasources through the broker of another process', async ({ six }) => {
  const query =
    'INSERT INTO copies SELECT __time, channel, tags, added, price FROM edits WHERE added IS NOT NULL PARTITIONED BY DAY CLUSTERED BY channel';
  const { taskId } = (await callJson('POST', `${six.url}/svc/v2/sql/task`, { query })) as { taskId: string };
  await waitForTask(six.url, taskId);
  await waitForCount(six.url, 'copies', 5);
  const asked = (table: string): Promise<unknown[][]> =>
    sqlRows(six.url, `SELECT __time, channel, tags, added, price FROM ${table} WHERE added IS NOT NULL ORDER BY __time`);
  assert.equal(await asked('copies'), await asked('edits'));
});

cluster('a log of any size comes from the worker, piece by piece', async ({ six, dataDir }) => {
  const taskIds = (await callJson('GET', `${six.url}/svc/indexer/v1/completeTasks?max=1`)) as { id: string }[];
  const url = `${six.url}/svc/indexer/v1/task/${taskIds[0]?.id}/log`;
  const get = (query: string, signal?: AbortSignal) =>
    fetch(`${url}${query}`, { headers: { 'Accept-Encoding': 'identity' }, ...(signal === undefined ? {} : { signal }) });
  const whole = await get('').then((answer) => answer.text());
  const lines = whole.split('\n').slice(0, -1);
  assert.match(lines.at(-1) ?? '', 'succeeded');
  for (const [offset, rest] of [
    [1, lines.slice(1)],
    [lines.length, []],
    [-1, lines.slice(-1)],
    [-lines.length - 1, lines],
  ] as const)
    assert.is(await get(`?offset=${offset}`).then((answer) => answer.text()), rest.map((line) => `${line}\n`).join(''));
  assert.is((await get('?offset=1.5')).status, 400);
  assert.is((await fetch(`${six.url}/svc/indexer/v1/task/none/log`)).status, 404);

  const folder = path.join(dataDir, 'task-logs');
  const file = readdirSync(folder)
    .map((name) => path.join(folder, name))
    .find((each) => readFileSync(each, 'utf8') === whole);
  assert.ok(file !== undefined);
  truncateSync(file, LOG_BYTES);
  const before = six.processes.map(peakBytes);
  let bytes = 0;
  for await (const piece of (await get('')).body ?? []) bytes += piece.length;
  assert.is(bytes, LOG_BYTES);
  const after = six.processes.map(peakBytes);
  const grown = after.map((each, at) => each - (before[at] ?? 0));
  assert.ok(Math.max(...grown) < LOG_BYTES / 4, `processes grew by ${grown.join(', ')} bytes`);

  const left = new AbortController();
  await get('', left.signal);
  const isOpen = () => six.processes.some((one) => opensFile(one, file));
  assert.ok(isOpen());
  left.abort();
  for (let attempt = 0; isOpen() && attempt < 100; attempt++) await sleep(50);
  assert.not(isOpen());
});

cluster('a Historical of its own holds lookups as a Broker does', async ({ six }) => {
  const map = { en: 'English', fr: 'French' };
  const lookup = { version: 'v1', lookupExtractorFactory: { type: 'map', map } };
  const lookups = `${six.url}/svc/coordinator/v1/lookups`;
  await callJson('POST', `${lookups}/config/__default/lang`, lookup);
  const status = async () => (await callJson('GET', `${lookups}/status/__default/lang`)) as { readonly loaded: boolean };
  for (let attempt = 0; !(await status()).loaded && attempt < 100; attempt++) await sleep(100);
  const nodes = (await callJson('GET', `${lookups}/nodeStatus/__default`)) as object;
  assert.equal(Object.keys(nodes).sort(), ['127.0.0.1:28282', '127.0.0.1:28283']);
  for (const host of Object.keys(nodes)) {
    assert.equal(await callJson('GET', `http://${host}/svc/listen/v1/lookups`), { lang: lookup });
    assert.equal(await callJson('GET', `http://${host}/svc/v1/lookups/introspect/lang`), map);
  }
  await callJson('DELETE', `${lookups}/config/__default/lang`);
  for (const host of Object.keys(nodes)) {
    const held = () => callJson('GET', `http://${host}/svc/listen/v1/lookups`);
    for (let attempt = 0; Object.keys((await held()) as object).length > 0 && attempt < 100; attempt++) await sleep(100);
    assert.equal(await held(), {});
  }
});

cluster('every process ends with 0 on SIGTERM', async ({ six }) => {
  assert.equal(await six.stop(), [0, 0, 0, 0, 0, 0]);
});

cluster.run();
