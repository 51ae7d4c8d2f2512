import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { LiveServer } from '../../src/cluster/middlemanager/live-server.js';
import { openTaskPort } from '../../src/cluster/middlemanager/task-port.js';
import { DESCRIPTIONS } from '../../src/cluster/rpc/descriptions.js';
import { HttpClient } from '../../src/cluster/rpc/http-client.js';
import { CLUSTER_KEY_HEADER } from '../../src/cluster/rpc/message.js';
import { remoteService } from '../../src/cluster/rpc/remote.js';
import type { RunPlanRequest, TaskService } from '../../src/cluster/rpc/services.js';
import { TimeRange } from '../../src/ingestion/builder/row-collector.js';
import { jsonBlock } from '../../src/ingestion/format/json-block.js';
import { RowStatistics } from '../../src/ingestion/report/row-statistics.js';
import { LiveRows } from '../../src/ingestion/stream/live/live-rows.js';
import { LazyEngine } from '../../src/ingestion/task-engine.js';
import { parseDataSchema } from '../../src/ingestion/task-spec/data-schema.js';
import type { Plan } from '../../src/model/plan.js';
import type { StreamReach } from '../../src/model/stream/reach.js';
import { taskContext } from '../ingestion/run-task.js';
import { scanPlan } from './fakes.js';

const SCHEMA = {
  dataSource: 'ds',
  timestampSpec: { column: 't', format: 'millis' },
  dimensionsSpec: { dimensions: ['name'] },
  granularitySpec: { segmentGranularity: 'day', rollup: false },
};
const KEY = 'the key of the cluster';

/** The live rows of a task behind its port, and a client of it. */
const REACH: StreamReach = { dataSource: 'ds', supervisorId: 's', stream: 'topic', baseSequenceName: 'q', partitions: new Map() };

async function served(run: (each: { rows: LiveRows; client: TaskService; stranger: TaskService; server: LiveServer }) => Promise<void>) {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-live-server-'));
  const context = taskContext(folder, []);
  const engine = new LazyEngine(context);
  const store = engine.segments();
  const dataSchema = parseDataSchema(new ObjectReader(SCHEMA, '', readContextOf('input_invalid', 'the task')));
  const limits = { logParseExceptions: false, maxParseExceptions: 0, maxSavedParseExceptions: 0 };
  const rows: LiveRows = new LiveRows({
    dataSchema,
    range: new TimeRange([], dataSchema.granularity.queryGranularity),
    statistics: new RowStatistics(
      limits,
      () => undefined,
      () => 0,
    ),
    engine,
    store,
    workDirectory: context.workDirectory,
    maxColumns: 10,
    allocate: async (_sequence, interval) => ({ dataSource: 'ds', interval, version: 'v1', partitionNumber: 0 }),
    changed: () => server.changed(),
  });
  rows.begin('q');
  const server = new LiveServer('session', { rows, engine: engine.processing(), store, reach: () => REACH });
  const { port, close } = await openTaskPort(server, { address: '127.0.0.1', port: 0, clusterKey: KEY, tls: null });
  server.host = `127.0.0.1:${port}`;
  const clients: HttpClient[] = [];
  const as = (clusterKey: string): TaskService => {
    const client = new HttpClient({ processHeaders: { [CLUSTER_KEY_HEADER]: clusterKey } });
    clients.push(client);
    return remoteService<TaskService>(DESCRIPTIONS.task, client, { role: 'task', host: server.host });
  };
  try {
    await run({ rows, client: as(KEY), stranger: as('another'), server });
  } finally {
    for (const client of clients) await client.close();
    await close();
    await rows.close();
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const request = (segmentIds: readonly string[], plan: Plan = { ...scanPlan('ds'), columns: ['name'] }): RunPlanRequest => ({
  queryId: 'q',
  plan,
  segmentIds,
  ending: 'final',
  deadlineMs: Date.now() + 20_000,
  priority: 0,
  kernels: null,
  limits: {},
  useCache: true,
  populateCache: true,
});

async function rowsRead(client: TaskService, segmentIds: readonly string[]): Promise<number> {
  let count = 0;
  for await (const item of client.runPlan(request(segmentIds), new AbortController().signal))
    if ('rowCount' in item) count += item.rowCount;
  return count;
}

const servers = suite('live segments behind the port of their task');

servers('rows that came before a query are among its answer; the inventory changes when segments and columns do', () =>
  served(async ({ rows, client, server }) => {
    const empty = await client.liveAfter(null);
    assert.equal(empty?.segments, []);
    assert.is(await client.liveAfter(empty?.generation ?? ''), null);
    await rows.add(jsonBlock([{ t: 1, name: 'a' }], null));
    await rows.settle();
    const told = await client.liveAfter(empty?.generation ?? '');
    assert.is(told?.host, server.host);
    const ids = told?.segments.map(({ loadSpec }) => loadSpec.path) ?? [];
    assert.is(ids.length, 1);
    for (let sent = 2; sent < 10; sent++) {
      await rows.add(jsonBlock([{ t: sent, name: `n${sent}` }], null));
      await new Promise((resolve) => setTimeout(resolve, 21));
      assert.is(await rowsRead(client, ids), sent);
    }
    assert.is(await client.liveAfter(told?.generation ?? ''), null);
    await rows.seal();
    rows.published('q');
    assert.equal(
      (await client.liveAfter(told?.generation ?? ''))?.segments.map(({ isPublished, rowCount }) => [isPublished, rowCount]),
      [[true, 9]],
    );
    const analysis: Plan = { ...scanPlan('ds'), operator: 'segmentMetadata', columns: { kind: 'all' }, analyses: [] } as never;
    const analyses = await client.analyzeSegments(request(ids, analysis), new AbortController().signal);
    assert.is(
      analyses.reduce((sum, { numRows }) => sum + numRows, 0),
      9,
    );
    assert.equal([...new Set(analyses.map(({ id }) => id))], ids);
  }),
);

servers('a segment that is not here any more is unavailable, and a process of another cluster is not let in', () =>
  served(async ({ rows, client, stranger }) => {
    await rows.add(jsonBlock([{ t: 1, name: 'a' }], null));
    await rows.settle();
    const ids = (await client.liveAfter(null))?.segments.map(({ loadSpec }) => loadSpec.path) ?? [];
    await rows.seal();
    await rows.drop('q');
    const code = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'done',
        (error: { code?: unknown }) => error.code,
      );
    assert.is(await code(rowsRead(client, ids)), 'segments_unavailable');
    assert.is(await code(rowsRead(stranger, ids)), 'unavailable');
    assert.is(await code(stranger.liveAfter(null)), 'unavailable');
  }),
);

servers.run();
