import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';
import { startKinesis } from '../ingestion/stream/kinesis.js';

const PORT_OFFSET = 6_400;
const kinesis = await startKinesis();

/** Supervisors of Kinesis, end to end: shards that are split, tasks that follow one another, the server killed between. */
const tests = suite<{ folder: string; server: DolmenProcess }>('supervisors of Kinesis');

const PROPERTIES = [
  'svc.worker.capacity=4',
  'svc.kinesis.accessKey=a',
  'svc.kinesis.secretKey=b',
  'svc.ingestion.http.allowedAddresses=["127.0.0.0/8"]',
];

const start = (folder: string): Promise<DolmenProcess> =>
  startDolmen({
    dataDir: path.join(folder, 'data'),
    portOffset: PORT_OFFSET,
    flags: PROPERTIES.flatMap((property) => ['--property', property]),
  });

const records = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({
    key: `key ${(from + at) % 10}`,
    data: JSON.stringify({ t: Date.UTC(2024, 0, 1) + (from + at) * 1000, n: from + at }),
  }));

const SCHEMA = {
  dataSource: 'records',
  timestampSpec: { column: 't', format: 'millis' },
  dimensionsSpec: { dimensions: ['kinesis.partitionKey', { name: 'n', type: 'long' }] },
  granularitySpec: { segmentGranularity: 'day', queryGranularity: 'none', rollup: false },
};

const io = (more: Readonly<Record<string, unknown>> = {}) => ({
  type: 'kinesis',
  stream: 'records',
  endpoint: kinesis?.endpoint,
  inputFormat: { type: 'kinesis', valueFormat: { type: 'json' } },
  useEarliestSequenceNumber: true,
  ...more,
});

const spec = () => ({
  type: 'kinesis',
  spec: {
    dataSchema: SCHEMA,
    ioConfig: io({ startDelay: 'PT0S', period: 'PT1S', taskDuration: 'PT5S' }),
    tuningConfig: { type: 'kinesis' },
  },
});

async function until<Value>(what: string, look: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value> {
  for (let tries = 0; ; tries++) {
    const value = await look().catch((error: unknown) => String(error) as Value);
    if (fits(value)) return value;
    assert.ok(tries < 1200, `${what}: ${JSON.stringify(value)}`);
    await sleep(100);
  }
}

/** Rows, different numbers and their sum, as they are when each number below `count` is there once. */
const wholeOf = (count: number) => JSON.stringify([[count, count, (count * (count - 1)) / 2]]);
const untilStored = ({ server }: { server: DolmenProcess }, count: number, filter = '') =>
  until(
    `${count} rows${filter}`,
    () => sqlRows(server.url, `SELECT COUNT(*), COUNT(DISTINCT n), SUM(n) FROM records${filter}`),
    (rows) => JSON.stringify(rows) === wholeOf(count),
  );

if (kinesis === undefined) {
  tests.skip('a server of Kinesis', () => undefined);
} else {
  tests.before(async (context) => {
    context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-kinesis-'));
    await kinesis.createStream('records', 2);
    context.server = await start(context.folder);
  });
  tests.after(async ({ server, folder }) => {
    await server?.kill();
    await kinesis.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  tests('the sampler shows records with their keys', async ({ server }) => {
    await kinesis.send('records', records(0, 20));
    const sample = (await callJson('POST', `${server.url}/svc/indexer/v1/sampler`, {
      type: 'kinesis',
      spec: { type: 'kinesis', ioConfig: io(), dataSchema: SCHEMA, tuningConfig: { type: 'kinesis' } },
      samplerConfig: { numRows: 20, timeoutMs: 30_000 },
    })) as { data: readonly { parsed: Readonly<Record<string, unknown>> }[] };
    const shown = sample.data.map(({ parsed }) => [parsed['n'], parsed['kinesis.partitionKey']]);
    assert.equal(
      shown.sort(([left], [right]) => Number(left) - Number(right)),
      Array.from({ length: 20 }, (_, n) => [n, `key ${n % 10}`]),
    );
  });

  tests('each record is stored once, over a split of a shard, tasks one after the other and a kill', async (context) => {
    const supervisor = '/svc/indexer/v1/supervisor';
    assert.equal(await callJson('POST', `${context.server.url}${supervisor}`, spec()), { id: 'records' });
    await untilStored(context, 20);
    await kinesis.split('records', 'shardId-000000000000');
    await kinesis.send('records', records(20, 120));
    await untilStored(context, 120);
    const { payload } = (await callJson('GET', `${context.server.url}${supervisor}/records/status`)) as {
      payload: Readonly<Record<string, unknown>>;
    };
    assert.equal([payload['stream'], payload['partitions'], payload['state']], ['records', 4, 'RUNNING']);
    await context.server.kill();
    await kinesis.send('records', records(120, 200));
    context.server = await start(context.folder);
    await untilStored(context, 200);
    await callJson('POST', `${context.server.url}${supervisor}/records/suspend`);
    const published = () =>
      sqlRows(context.server.url, "SELECT SUM(num_rows) FROM sys.segments WHERE datasource = 'records' AND is_published = 1");
    await until('all published', published, (rows) => JSON.stringify(rows) === '[[200]]');
    await untilStored(context, 200);
    await untilStored(context, 200, ' WHERE "kinesis.partitionKey" = CONCAT(\'key \', CAST(MOD(n, 10) AS VARCHAR))');
    await callJson('POST', `${context.server.url}${supervisor}/records/terminate`);
  });
}

tests.run();
