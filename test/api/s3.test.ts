import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, runTask, sqlRows, startDolmen, waitForCount, waitForTask } from '../../bench/server.js';
import { createS3DeepStorage } from '../../src/storage/s3/s3-deep-storage.js';
import { startService } from '../services.js';
import { FaultProxy } from '../storage/fault-proxy.js';
import { s3Place } from '../storage/stores.js';

const PORT_OFFSET = 6_100;
const DAY_COUNT = 3;

const day = (at: number): string => `2024-01-0${at + 1}`;

/** One row in each of three days. */
const spec = (dataSource: string): unknown => ({
  type: 'index_parallel',
  spec: {
    ioConfig: {
      type: 'index_parallel',
      inputSource: {
        type: 'inline',
        data: Array.from({ length: DAY_COUNT }, (_, at) => `${day(at)}T00:00:00Z,${'abc'[at]},${10 ** at}`).join('\n'),
      },
      inputFormat: { type: 'csv', columns: ['time', 'name', 'value'] },
      appendToExisting: true,
    },
    dataSchema: {
      dataSource,
      timestampSpec: { column: 'time', format: 'iso' },
      dimensionsSpec: { dimensions: ['name', { type: 'long', name: 'value' }] },
      granularitySpec: { type: 'uniform', segmentGranularity: 'day', rollup: false },
    },
    tuningConfig: { type: 'index_parallel' },
  },
});

const s3 = suite('deep storage in S3');
const service = await startService('s3');
if (service === undefined) s3.skip('no server of S3 is here', () => undefined);
else {
  const proxy = await FaultProxy.open(service.port);
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-s3-'));
  const dataDir = path.join(folder, 'data');
  const stored = createS3DeepStorage(s3Place(service, 'segments'));
  const results = createS3DeepStorage(s3Place(service, 'results'));
  const logs = createS3DeepStorage(s3Place(service, 'logs'));
  const flags = Object.entries({
    'svc.storage.type': 's3',
    'svc.storage.bucket': service.database,
    'svc.storage.baseKey': '/segments/',
    'svc.s3.accessKey': service.user,
    'svc.s3.secretKey': JSON.stringify({ type: 'default', password: service.password }),
    'svc.s3.endpoint.url': `127.0.0.1:${proxy.port}`,
    'svc.s3.protocol': 'http',
    'svc.s3.enablePathStyleAccess': 'true',
    'svc.msq.intermediate.storage.type': 's3',
    'svc.msq.intermediate.storage.bucket': service.database,
    'svc.msq.intermediate.storage.prefix': 'results',
    'svc.indexer.logs.type': 's3',
    'svc.indexer.logs.s3Bucket': service.database,
    'svc.indexer.logs.s3Prefix': 'logs',
    'svc.coordinator.kill.orphanAge': 'PT0S',
    'svc.coordinator.kill.orphanPeriod': 'PT0.3S',
    'svc.coordinator.load.retry': 'PT0.2S',
  }).flatMap(([name, value]) => ['--property', `${name}=${value}`]);

  let server: DolmenProcess;
  const start = async (): Promise<void> => {
    server = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags });
  };
  const pathsIn = async (storage = stored): Promise<string[]> => {
    const paths: string[] = [];
    for await (const { path: each } of storage.list()) paths.push(each);
    return paths;
  };
  const filesSettleAt = async (count: number): Promise<void> => {
    let paths = await pathsIn();
    for (let attempt = 0; paths.length !== count && attempt < 150; attempt++) {
      await sleep(200);
      paths = await pathsIn();
    }
    assert.is(paths.length, count, paths.join('\n'));
  };
  const sums = (table: string) => sqlRows(server.url, `SELECT SUM("value"), COUNT(*) FROM "${table}"`);

  s3.before(start);
  s3.before.each(() => proxy.reset());
  s3.after(async () => {
    await server.kill();
    await proxy.close();
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  s3('rows are stored in the bucket, and answered from there with an empty cache', async () => {
    await runTask(server.url, spec('rows'));
    await waitForCount(server.url, 'rows', DAY_COUNT);
    await filesSettleAt(DAY_COUNT);
    assert.not.ok(existsSync(path.join(dataDir, 'deep-storage')), 'nothing is in the folder of the default');
    const segments = (await callJson('GET', `${server.url}/svc/coordinator/v1/datasources/rows/segments?full`)) as {
      readonly loadSpec: { readonly type: string; readonly path: string };
    }[];
    assert.equal(segments.map(({ loadSpec }) => loadSpec.path).sort(), (await pathsIn()).sort());
    assert.equal(
      segments.map(({ loadSpec }) => loadSpec.type),
      ['s3', 's3', 's3'],
    );
    const properties = JSON.stringify(await callJson('GET', `${server.url}/status/properties`));
    assert.not.match(properties, new RegExp(service.password), 'keys are shown to nobody');
    assert.is(await server.stop(), 0);
    rmSync(path.join(dataDir, 'segment-cache'), { recursive: true });
    await start();
    await waitForCount(server.url, 'rows', DAY_COUNT);
    assert.equal(await sums('rows'), [[111, 3]]);
  });

  s3('segments are loaded although S3 answers with errors, breaks off and sends other bytes', async () => {
    assert.is(await server.stop(), 0);
    rmSync(path.join(dataDir, 'segment-cache'), { recursive: true });
    proxy.faultOf = ({ method, before }) =>
      method === 'GET' && before < 12 ? ([503, 'reset', 'cut', 'flip'] as const)[before % 4] : undefined;
    await start();
    await waitForCount(server.url, 'rows', DAY_COUNT);
    assert.equal(await sums('rows'), [[111, 3]]);
  });

  s3('a server that is killed while it publishes announces nothing of it, and its task runs again', async () => {
    proxy.faultOf = ({ method, path: url }) => (method === 'PUT' && url.includes('/segments/') ? 'stall' : undefined);
    const { task } = (await callJson('POST', `${server.url}/svc/indexer/v1/task`, spec('rows'))) as { task: string };
    while (!proxy.seen.some((each) => each.startsWith('PUT'))) await sleep(50);
    await server.kill();
    proxy.reset();
    await start();
    await waitForTask(server.url, task);
    await waitForCount(server.url, 'rows', 2 * DAY_COUNT);
    assert.equal(await sums('rows'), [[222, 6]]);
    await callJson('POST', `${server.url}/svc/coordinator/v1/deepStorage/confirm`);
    await filesSettleAt(2 * DAY_COUNT);
  });

  s3('logs of ended tasks are in the bucket, those of all runs in one', async () => {
    const task = await runTask(server.url, spec('logged'));
    const files = () => readdirSync(path.join(dataDir, 'task-logs'));
    for (let attempt = 0; files().length > 0 && attempt < 100; attempt++) await sleep(50);
    assert.equal(files(), []);
    assert.ok((await pathsIn(logs)).length > 0);
    const answer = await fetch(`${server.url}/svc/indexer/v1/task/${task}/log`);
    assert.is(answer.status, 200);
    assert.match(await answer.text(), /runs in process.*succeeded/s);
    await callJson('POST', `${server.url}/svc/indexer/v1/datasources/logged/markUnused`, { interval: '2000/3000' });
    await runTask(server.url, { type: 'kill', dataSource: 'logged', interval: '2000/3000' });
  });

  s3('a load that cannot be stored fails, and nothing of it is answered', async () => {
    proxy.faultOf = ({ method, path: url }) => (method === 'PUT' && /segments\/[^_]/.test(url) ? 403 : undefined);
    const error = await runTask(server.url, spec('refused')).catch((thrown: Error) => thrown);
    assert.match(String(error), /deep storage: .*S3 refuses these credentials/);
    proxy.reset();
    await filesSettleAt(2 * DAY_COUNT);
  });

  s3('results of statements are kept in the bucket', async () => {
    const { queryId } = (await callJson('POST', `${server.url}/svc/v2/sql/statements`, {
      query: 'SELECT "name", "value" FROM rows ORDER BY __time, "name"',
      context: { executionMode: 'ASYNC', selectDestination: 'durableStorage' },
    })) as { queryId: string };
    const state = async () => ((await callJson('GET', `${server.url}/svc/v2/sql/statements/${queryId}`)) as { state: string }).state;
    let reached = await state();
    for (; reached !== 'SUCCESS' && reached !== 'FAILED'; reached = await state()) await sleep(100);
    const answer = await callJson('GET', `${server.url}/svc/v2/sql/statements/${queryId}/results?resultFormat=array`);
    assert.equal(
      answer,
      [...'aabbcc'].map((name) => [name, 10 ** 'abc'.indexOf(name)]),
    );
    assert.ok((await pathsIn(results)).length > 0);
  });

  s3('a kill task removes the files of unused segments', async () => {
    const interval = `${day(0)}/${day(1)}`;
    await callJson('POST', `${server.url}/svc/indexer/v1/datasources/rows/markUnused`, { interval });
    await runTask(server.url, { type: 'kill', dataSource: 'rows', interval });
    await filesSettleAt(2 * (DAY_COUNT - 1));
    await waitForCount(server.url, 'rows', 2 * (DAY_COUNT - 1));
    assert.equal(await sums('rows'), [[220, 4]]);
  });
}
s3.run();
