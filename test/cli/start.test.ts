import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, startDolmen } from '../../bench/server.js';

const start = suite<{ dataDir: string }>('dolmen start');

const PORT_OFFSET = 13_000;
const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const PORTS = [8888, 8081, 8082, 8083, 8091].map((port) => port + PORT_OFFSET);

start.before.each((context) => {
  context.dataDir = mkdtempSync(join(tmpdir(), 'dolmen-start-'));
});
start.after.each(({ dataDir }) => rmSync(dataDir, { recursive: true, force: true }));

start('all roles answer on their ports, twice, and end with 0 on SIGTERM', async ({ dataDir }) => {
  for (let time = 0; time < 2; time++) {
    const dolmen = await startDolmen({ dataDir, portOffset: PORT_OFFSET });
    try {
      assert.is(dolmen.url, `http://127.0.0.1:${8888 + PORT_OFFSET}`);
      for (const port of PORTS) {
        const base = `http://127.0.0.1:${port}`;
        assert.is(await callJson('GET', `${base}/status/health`), true);
        assert.equal(await callJson('GET', `${base}/status/selfDiscovered/status`), { selfDiscovered: true });
        assert.is((await fetch(`${base}/status/selfDiscovered`)).status, 200);
        assert.is((await fetch(`${base}/nowhere`)).status, 404);
      }
    } finally {
      assert.is(await dolmen.stop(), 0);
    }
  }
});

start('a taken port ends with 3 and names it; nothing else is left listening', async ({ dataDir }) => {
  const first = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: ['--roles', 'historical'] });
  try {
    const second = spawn(process.execPath, [
      MAIN,
      'start',
      '--data-dir',
      join(dataDir, 'other'),
      '--port-offset',
      String(PORT_OFFSET),
      '--no-sample',
    ]);
    let err = '';
    second.stderr.on('data', (chunk) => (err += String(chunk)));
    const code = await new Promise((resolve) => second.once('close', resolve));
    assert.is(code, 3, err);
    // A new folder is for its owner alone: segments, logs and results in it are not told by permissions of the server.
    assert.is((statSync(join(dataDir, 'other')).mode & 0o777).toString(8), '700');
    assert.match(err, new RegExp(`127\\.0\\.0\\.1:${8083 + PORT_OFFSET}: the port is in use.*--port-offset`));
  } finally {
    assert.is(await first.stop(), 0);
  }
});

start('file, environment and flags are read, and an unknown property is reported', async ({ dataDir }) => {
  const file = join(dataDir, 'runtime.properties');
  writeFileSync(file, 'svc.server.tier=hot\nsvc.server.http.apiName=druid\nsvc.procesing.numThreads=1\n');
  const dolmen = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: ['--config', file, '--property', 'svc.server.priority=7'] });
  try {
    const properties = (await callJson('GET', `${dolmen.url}/status/properties`)) as Record<string, string>;
    assert.is(properties['svc.server.tier'], 'hot');
    assert.is(properties['svc.server.priority'], '7');
    assert.is(properties['svc.data.directory'], dataDir);
    assert.match(dolmen.output(), /svc\.procesing\.numThreads .*did you mean svc\.processing\.numThreads/);
    // Under the alias too, through the Router and from the Broker itself.
    for (const port of [8888, 8082]) {
      const response = await fetch(`http://127.0.0.1:${port + PORT_OFFSET}/druid/v2/sql/`, {
        method: 'POST',
        body: 'not json',
        headers: { 'Content-Type': 'application/json' },
      });
      assert.is(response.status, 400);
      assert.equal(Object.keys((await response.json()) as object).sort(), [
        'category',
        'context',
        'error',
        'errorClass',
        'errorCode',
        'errorMessage',
        'host',
        'persona',
      ]);
    }
  } finally {
    assert.is(await dolmen.stop(), 0);
  }
});

start.run();
