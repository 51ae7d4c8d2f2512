import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
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

cluster('every process ends with 0 on SIGTERM', async ({ six }) => {
  assert.equal(await six.stop(), [0, 0, 0, 0, 0, 0]);
});

cluster.run();
