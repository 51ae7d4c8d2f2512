import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, runTask, sqlRows, startDolmen, waitForTask } from '../../bench/server.js';
import { caseCount } from '../case-count.js';

const HOUR = 3_600_000;
const START = Date.UTC(2024, 0, 1);
const DAYS = 3;

interface Row {
  readonly t: number;
  readonly v: number;
}

interface Context {
  folder: string;
  server: DolmenProcess;
}

/** Segments replaced in part, against the rows that are left by arithmetic. */
const tests = suite<Context>('replaced parts');

const start = (folder: string): Promise<DolmenProcess> => startDolmen({ dataDir: path.join(folder, 'data'), portOffset: 5_200 });

tests.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-parts-'));
  context.server = await start(context.folder);
});
tests.after(async ({ server, folder }) => {
  await server.kill();
  rmSync(folder, { recursive: true, force: true });
});

let values = 0;
const rowsOf = (hours: readonly number[]): readonly Row[] =>
  hours.flatMap((hour) => [0.1, 0.7].map((part) => ({ t: START + (hour + part) * HOUR, v: ++values })));
const hoursOf = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, at) => from + at);
const instant = (hour: number): string => new Date(START + hour * HOUR).toISOString();
const literal = (hour: number): string => `TIMESTAMP '${instant(hour).slice(0, 19).replace('T', ' ')}'`;

const select = (rows: readonly Row[]): string => {
  const data = rows.map((row) => JSON.stringify(row)).join('\n');
  const [source, format] = [JSON.stringify({ type: 'inline', data }), JSON.stringify({ type: 'json' })];
  return `SELECT MILLIS_TO_TIMESTAMP(t) AS __time, v FROM TABLE(EXTERN('${source}', '${format}')) EXTEND (t BIGINT, v BIGINT)`;
};

async function run(context: Context, query: string): Promise<string> {
  const { taskId } = (await callJson('POST', `${context.server.url}/svc/v2/sql/task`, {
    query,
    context: { waitUntilSegmentsLoad: true },
  })) as { readonly taskId: string };
  await waitForTask(context.server.url, taskId);
  return taskId;
}

/** Compares once brokers have seen the publish. */
async function compare(context: Context, table: string, rows: readonly Row[], what: string): Promise<void> {
  const expected = rows.toSorted((a, b) => a.t - b.t || a.v - b.v).map(({ t, v }) => [t, v]);
  const found = async (): Promise<unknown> =>
    sqlRows(context.server.url, `SELECT TIMESTAMP_TO_MILLIS(__time), v FROM ${table} ORDER BY 1, 2`).catch((error: unknown) =>
      String(error),
    );
  let last = await found();
  for (let look = 0; look < 100 && JSON.stringify(last) !== JSON.stringify(expected); look++) {
    await new Promise((done) => setTimeout(done, 50));
    last = await found();
  }
  if (expected.length === 0) return;
  assert.equal(last, expected, what);
  const daily = new Map<string, number>();
  for (const { t, v } of rows)
    daily.set(new Date(t).toISOString().slice(0, 10), (daily.get(new Date(t).toISOString().slice(0, 10)) ?? 0) + v);
  assert.equal(
    await sqlRows(context.server.url, `SELECT TIME_FORMAT(__time, 'yyyy-MM-dd'), SUM(v) FROM ${table} GROUP BY 1 ORDER BY 1`),
    [...daily].sort(([a], [b]) => (a < b ? -1 : 1)),
    what,
  );
}

const tombstones = async (context: Context, table: string): Promise<readonly (readonly unknown[])[]> =>
  (await sqlRows(
    context.server.url,
    `SELECT "start", "end", num_rows, size, shard_spec FROM sys.segments
     WHERE datasource = '${table}' AND is_overshadowed = 0 AND shard_spec LIKE '%tombstone%' ORDER BY "start"`,
  )) as readonly (readonly unknown[])[];

tests('statements drawn at random, over parts of segments and over ranges for which they have no rows', async (context) => {
  const table = 'drawn';
  let seed = 20;
  const draw = (count: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return (seed >>> 8) % count;
  };
  let rows = rowsOf(hoursOf(0, DAYS * 24));
  await run(context, `REPLACE INTO ${table} OVERWRITE ALL ${select(rows)} PARTITIONED BY DAY`);
  await compare(context, table, rows, 'as loaded');
  for (let step = 0; step < caseCount(8); step++) {
    const unit = draw(3) === 0 ? 24 : 1;
    const from = draw((DAYS * 24) / unit) * unit;
    const to = Math.min(DAYS * 24, from + (1 + draw(unit === 24 ? 2 : 9)) * unit);
    const every = 1 + draw(4);
    const added = draw(5) === 0 ? [] : rowsOf(hoursOf(from, to).filter((hour) => hour % every === 0));
    const granularity = unit === 24 ? 'DAY' : 'HOUR';
    const isInsert = unit === 1 && draw(4) === 0 && added.length > 0;
    const clause = isInsert ? 'INSERT' : 'REPLACE';
    const where = isInsert ? '' : `OVERWRITE WHERE __time >= ${literal(from)} AND __time < ${literal(to)}`;
    await run(context, `${clause} INTO ${table} ${where} ${select(added)} PARTITIONED BY ${granularity}`);
    const kept = rows.filter(({ t }) => isInsert || t < START + from * HOUR || t >= START + to * HOUR);
    rows = [...kept, ...added];
    await compare(context, table, rows, `step ${step}: ${clause} ${where} by ${granularity}, ${added.length} rows`);
  }
  const task = {
    type: 'compact',
    dataSource: table,
    interval: `${instant(0)}/${instant(DAYS * 24)}`,
    granularitySpec: { segmentGranularity: 'DAY' },
  };
  await waitForTask(context.server.url, await runTask(context.server.url, task));
  await compare(context, table, rows, 'compacted');
});

tests('a tombstone is a segment without rows: in sys.segments, at the endpoints, under a native task, and for kill', async (context) => {
  const table = 'hidden';
  const rows = rowsOf(hoursOf(0, 24));
  await run(context, `REPLACE INTO ${table} OVERWRITE ALL ${select(rows)} PARTITIONED BY DAY`);
  await run(
    context,
    `REPLACE INTO ${table} OVERWRITE WHERE __time >= ${literal(3)} AND __time < ${literal(5)} ${select([])} PARTITIONED BY HOUR`,
  );
  const hour = (at: number): boolean => at >= START + 3 * HOUR && at < START + 5 * HOUR;
  let left = rows.filter(({ t }) => !hour(t));
  await compare(context, table, left, 'two hours are gone');
  const shard = JSON.stringify({ type: 'tombstone', partitionNum: 0, partitions: 0 });
  assert.equal(await tombstones(context, table), [
    [instant(3), instant(4), 0, 1, shard],
    [instant(4), instant(5), 0, 1, shard],
  ]);
  const bodies = (await callJson(
    'GET',
    `${context.server.url}/svc/coordinator/v1/metadata/datasources/${table}/segments?full`,
  )) as readonly {
    readonly loadSpec: unknown;
  }[];
  assert.equal(
    bodies.map(({ loadSpec }) => loadSpec).filter((each) => (each as { type: string }).type === 'tombstone'),
    [
      { type: 'tombstone', path: null },
      { type: 'tombstone', path: null },
    ],
  );
  const spec = {
    dataSchema: {
      dataSource: table,
      timestampSpec: { column: 't', format: 'millis' },
      dimensionsSpec: { dimensions: [{ type: 'long', name: 'v' }] },
      granularitySpec: { segmentGranularity: 'hour', rollup: false, intervals: [`${instant(4)}/${instant(8)}`] },
    },
    ioConfig: {
      type: 'index_parallel',
      inputSource: { type: 'inline', data: JSON.stringify({ t: START + 6 * HOUR, v: -1 }) },
      inputFormat: { type: 'json' },
      dropExisting: true,
    },
  };
  await waitForTask(context.server.url, await runTask(context.server.url, { type: 'index_parallel', spec }));
  left = [...left.filter(({ t }) => t < START + 4 * HOUR || t >= START + 8 * HOUR), { t: START + 6 * HOUR, v: -1 }];
  await compare(context, table, left, 'four hours dropped, one written');
  assert.equal(
    (await tombstones(context, table)).map(([start]) => start),
    [3, 4, 5, 7].map(instant),
  );
  // A server that has just begun knows what is hidden.
  await context.server.stop();
  context.server = await start(context.folder);
  await compare(context, table, left, 'again');
  await run(context, `REPLACE INTO ${table} OVERWRITE ALL ${select(left)} PARTITIONED BY DAY`);
  await compare(context, table, left, 'all of it anew');
  assert.equal(await tombstones(context, table), []);
  const kill = { type: 'kill', dataSource: table, interval: `${instant(0)}/${instant(24)}` };
  await waitForTask(context.server.url, await runTask(context.server.url, kill));
  await compare(context, table, left, 'killed');
});

tests('more time chunks without rows than 5,000 are refused by the documented fault', async (context) => {
  const table = 'many';
  await run(context, `REPLACE INTO ${table} OVERWRITE ALL ${select(rowsOf([0]))} PARTITIONED BY YEAR`);
  const { taskId } = (await callJson('POST', `${context.server.url}/svc/v2/sql/task`, {
    query: `REPLACE INTO ${table} OVERWRITE ALL ${select([])} PARTITIONED BY HOUR`,
  })) as { readonly taskId: string };
  for (;;) {
    const { status } = (await callJson('GET', `${context.server.url}/svc/indexer/v1/task/${taskId}/status`)) as {
      readonly status: { readonly statusCode: string };
    };
    if (status.statusCode === 'FAILED') break;
    assert.is.not(status.statusCode, 'SUCCESS');
    await new Promise((done) => setTimeout(done, 50));
  }
  const report = (await callJson('GET', `${context.server.url}/svc/indexer/v1/task/${taskId}/reports`)) as {
    readonly multiStageQuery: {
      readonly payload: { readonly status: { readonly errorReport: { readonly error: Record<string, unknown> } } };
    };
  };
  const { errorCode, maxBuckets } = report.multiStageQuery.payload.status.errorReport.error;
  assert.equal([errorCode, maxBuckets], ['TooManyBuckets', 5000]);
});

tests.run();
