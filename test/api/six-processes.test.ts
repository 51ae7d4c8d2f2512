import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, startDolmen } from '../../bench/server.js';
import { loadCaseTables, readCases, runCase } from './cases.js';

/** The six roles as six processes that share a SQLite file and folders give the answers of one process. */
const PORT_OFFSET = 20_200;

const cluster = suite<{ processes: DolmenProcess[]; dataDir: string; url: string }>('six processes');

cluster.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-six-'));
  context.processes = [];
  context.url = `http://127.0.0.1:${8888 + PORT_OFFSET}`;
  // Coordinator and overlord share port 8081 by the interface; alone, the overlord moves to a port of its own.
  const roles: [string, string[]][] = [
    ['coordinator', []],
    ['overlord', ['--property', 'svc.overlord.port=8090']],
    ['historical', []],
    ['broker', []],
    ['middleManager', []],
    ['router', []],
  ];
  for (const [role, flags] of roles) {
    context.processes.push(
      await startDolmen({
        dataDir: context.dataDir,
        portOffset: PORT_OFFSET,
        waitForReady: role === 'router',
        flags: ['--roles', role, ...flags],
      }),
    );
  }
  for (let attempt = 0; ; attempt++) {
    const ready = await fetch(`http://127.0.0.1:${8082 + PORT_OFFSET}/svc/broker/v1/readiness`).then(
      (answer) => answer.status === 200,
      () => false,
    );
    const workers = await callJson('GET', `${context.url}/svc/indexer/v1/workers`).then(
      (list) => (list as unknown[]).length,
      () => 0,
    );
    if (ready && workers > 0) break;
    if (attempt > 150) throw new Error(`the cluster never became ready:\n${context.processes.map((one) => one.output()).join('\n')}`);
    await new Promise((done) => setTimeout(done, 200));
  }
  await loadCaseTables(context.url);
});

cluster.after(async (context) => {
  await Promise.all(context.processes.map((one) => one.stop()));
  rmSync(context.dataDir, { recursive: true, force: true });
});

for (const one of readCases()) cluster(one.name, ({ url }) => runCase(url, one));

cluster('every process ends with 0 on SIGTERM', async (context) => {
  const codes = await Promise.all(context.processes.map((one) => one.stop()));
  assert.equal(codes, [0, 0, 0, 0, 0, 0]);
});

cluster.run();
