import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
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

cluster('every process ends with 0 on SIGTERM', async ({ six }) => {
  assert.equal(await six.stop(), [0, 0, 0, 0, 0, 0]);
});

cluster.run();
