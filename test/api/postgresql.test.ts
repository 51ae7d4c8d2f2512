import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, runTask, sqlRows, startDolmen, waitForCount } from '../../bench/server.js';
import { startService } from '../services.js';

/** Metadata in a real PostgreSQL: real processes, and a database that is away for a while. */
const PORT_OFFSET = 21_900;
const service = await startService('postgres');
const metadata = suite('metadata in PostgreSQL');

const spec = (dataSource: string, row: string): unknown => ({
  type: 'index_parallel',
  spec: {
    ioConfig: {
      type: 'index_parallel',
      appendToExisting: true,
      inputSource: { type: 'inline', data: row },
      inputFormat: { type: 'csv', columns: ['time', 'name'] },
    },
    dataSchema: {
      dataSource,
      timestampSpec: { column: 'time', format: 'iso' },
      dimensionsSpec: { dimensions: ['name'] },
      granularitySpec: { type: 'uniform', segmentGranularity: 'day', rollup: false },
    },
    tuningConfig: { type: 'index_parallel' },
  },
});

const test = (title: string, body: (service: NonNullable<Awaited<ReturnType<typeof startService>>>) => Promise<void>): void => {
  if (service === undefined) metadata.skip(title);
  else metadata(title, () => body(service));
};

test('a server loads and answers, also after its restart and while the database is away', async (postgresql) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-postgresql-'));
  const properties = {
    'storage.type': 'postgresql',
    'storage.connector.connectURI': postgresql.uri,
    'storage.connector.user': postgresql.user,
    'storage.connector.password': '{"type":"environment","variable":"PATH"}',
    'postgres.dbTableSchema': 'cluster "one"',
  };
  const flags = (changed: object = {}): string[] =>
    Object.entries({ ...properties, ...changed }).flatMap(([name, value]) => ['--property', `svc.metadata.${name}=${value}`]);
  const start = (): Promise<DolmenProcess> =>
    startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: flags({ 'storage.connector.password': postgresql.password }) });
  const names = async (url: string): Promise<unknown[]> => (await sqlRows(url, 'SELECT name FROM t ORDER BY name')).flat();
  const servers: DolmenProcess[] = [];
  try {
    const refused = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: flags() }).catch((error: Error) => error);
    assert.match(String(refused), /password authentication failed for user/);
    let server = await start();
    servers.push(server);
    await runTask(server.url, spec('t', '2024-01-01T00:00:00Z,a'));
    await waitForCount(server.url, 't', 1);
    assert.is(await server.stop(), 0);

    server = await start();
    servers.push(server);
    await waitForCount(server.url, 't', 1);
    await postgresql.halt();
    for (let turn = 0; turn < 10; turn++) {
      assert.equal(await names(server.url), ['a']);
      await new Promise((done) => setTimeout(done, 300));
    }
    const answer = await fetch(`${server.url}/svc/indexer/v1/task`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(spec('t', '2024-01-01T00:00:00Z,lost')),
      redirect: 'follow',
    });
    assert.is(answer.status, 503, await answer.text());
    assert.is(answer.headers.get('retry-after'), '1');
    await postgresql.resume();
    for (;;) {
      const ready = await callJson('GET', `${server.url}/svc/indexer/v1/leader`).catch((error: Error) => error);
      if (!(ready instanceof Error) || !/503/.test(ready.message)) break;
      await new Promise((done) => setTimeout(done, 100));
    }
    await runTask(server.url, spec('t', '2024-01-01T00:00:00Z,b'));
    await waitForCount(server.url, 't', 2);
    assert.equal(await names(server.url), ['a', 'b']);
    assert.is(await server.stop(), 0);
  } finally {
    for (const server of servers) await server.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

metadata.after(async () => service?.stop());
metadata.run();
