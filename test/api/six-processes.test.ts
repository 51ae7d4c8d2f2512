import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, sqlRows, waitForCount, waitForTask } from '../../bench/server.js';
import { loadCaseTables, readCases, runCase } from './cases.js';
import { type SixProcesses, startSix } from './six.js';

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
