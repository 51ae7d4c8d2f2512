import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import { type DolmenProcess, startDolmen } from '../../bench/server.js';
import { loadCaseTables, readCases, runCase } from './cases.js';

/** All six roles in one process: every golden case, over HTTP, through the router; and again under the alias. */
const golden = suite<{ server: DolmenProcess; dataDir: string }>('golden cases');

golden.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-golden-'));
  context.server = await startDolmen({
    dataDir: context.dataDir,
    portOffset: 20_000,
    flags: ['--property', 'svc.server.http.apiName=druid'],
  });
  await loadCaseTables(context.server.url);
});

golden.after(async (context) => {
  await context.server?.stop();
  rmSync(context.dataDir, { recursive: true, force: true });
});

for (const one of readCases()) {
  golden(one.name, ({ server }) => runCase(server.url, one));
  if (one.status === 200 && one.headers === undefined) {
    const request = { ...one.request, path: one.request.path.replace('/svc/', '/druid/') };
    golden(`${one.name} under the alias`, ({ server }) => runCase(server.url, { ...one, request }));
  }
}

golden.run();
