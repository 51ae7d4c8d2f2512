import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, runTask, sqlRows, startDolmen, waitForCount, waitForTask } from '../../bench/server.js';

/** Data in through both doors: the counts and sums must be those of the file, and bad specs are refused by name. */
interface Context {
  server: DolmenProcess;
  folder: string;
  input: string;
  sum: number;
}

const ROWS = 5000;
const ingestion = suite<Context>('ingestion over HTTP');

ingestion.before(async (context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-ingestion-'));
  context.input = path.join(context.folder, 'data', 'input');
  mkdirSync(context.input, { recursive: true });
  context.sum = 0;
  const lines: string[] = [];
  for (let row = 0; row < ROWS; row++) {
    const added = (row * 7919) % 1009;
    context.sum += added;
    const time = new Date(Date.UTC(2015, 8, 12) + row * 17_000).toISOString();
    lines.push(
      JSON.stringify({ time, channel: `#c${row % 13}`, page: row % 5 === 0 ? null : `Page “${row}”`, isNew: row % 3 === 0, added }),
    );
  }
  writeFileSync(path.join(context.input, 'edits.json.gz'), gzipSync(lines.join('\n')));
  writeFileSync(path.join(context.input, 'not-json.json'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3, 255, 254]));
  writeFileSync(path.join(context.folder, 'outside.json'), '{}');
  context.server = await startDolmen({
    dataDir: path.join(context.folder, 'data'),
    portOffset: 20_400,
    flags: ['--property', 'svc.server.http.maxRequestBytes=67108864'],
  });
});

ingestion.after(async (context) => {
  await context.server?.stop();
  rmSync(context.folder, { recursive: true, force: true });
});

ingestion('SQL: REPLACE … SELECT FROM EXTERN, then INSERT doubles it', async ({ server, input, sum }) => {
  const source = JSON.stringify({ type: 'local', baseDir: input, filter: 'edits.json.gz' });
  const signature = JSON.stringify(
    ['time', 'channel', 'page', 'isNew'].map((name) => ({ name, type: 'string' })).concat([{ name: 'added', type: 'long' }]),
  );
  const select = `SELECT TIME_PARSE("time") AS __time, channel, page, isNew, added FROM TABLE(EXTERN('${source}', '{"type":"json"}', '${signature}')) PARTITIONED BY DAY`;
  for (const [statement, times] of [
    ['REPLACE INTO edits_sql OVERWRITE ALL', 1],
    ['INSERT INTO edits_sql', 2],
    ['REPLACE INTO edits_sql OVERWRITE ALL', 1],
  ] as const) {
    const { taskId, state } = (await callJson('POST', `${server.url}/svc/v2/sql/task`, { query: `${statement} ${select}` })) as {
      taskId: string;
      state: string;
    };
    assert.is(state, 'RUNNING');
    await waitForTask(server.url, taskId);
    await waitForCount(server.url, 'edits_sql', ROWS * times);
    assert.equal(await sqlRows(server.url, 'SELECT COUNT(*), SUM(added), COUNT(page) FROM edits_sql'), [
      [ROWS * times, sum * times, 4000 * times],
    ]);
  }
});

ingestion('SQL: tasks read datasources', async ({ server, sum }) => {
  const submit = async (query: string): Promise<string> => {
    const { taskId } = (await callJson('POST', `${server.url}/svc/v2/sql/task`, { query })) as { taskId: string };
    await waitForTask(server.url, taskId);
    return taskId;
  };
  await submit(
    "INSERT INTO copies SELECT __time, channel, page, added * 2 AS twice FROM edits_sql WHERE channel <> '#c0' PARTITIONED BY DAY CLUSTERED BY channel",
  );
  const [[rows, added]] = (await sqlRows(server.url, "SELECT COUNT(*), SUM(added) FROM edits_sql WHERE channel <> '#c0'")) as [
    [number, number],
  ];
  await waitForCount(server.url, 'copies', rows);
  assert.equal(await sqlRows(server.url, 'SELECT COUNT(*), SUM(twice) FROM copies'), [[rows, added * 2]]);
  // A statement may read what it replaces, and sees it as it was before.
  await submit(
    'REPLACE INTO copies OVERWRITE ALL SELECT FLOOR(__time TO DAY) AS __time, channel, COUNT(*) AS n, SUM(twice) AS twice FROM copies GROUP BY 1, 2 PARTITIONED BY DAY',
  );
  const [[groups]] = (await sqlRows(
    server.url,
    "SELECT COUNT(*) FROM (SELECT DISTINCT FLOOR(__time TO DAY), channel FROM edits_sql WHERE channel <> '#c0')",
  )) as [[number]];
  await waitForCount(server.url, 'copies', groups);
  assert.equal(await sqlRows(server.url, 'SELECT SUM(n), SUM(twice) FROM copies'), [[rows, added * 2]]);
  const task = await submit(
    'SELECT e.channel, SUM(e.added) AS s FROM edits_sql e JOIN (SELECT DISTINCT channel FROM copies) c ON e.channel = c.channel GROUP BY e.channel ORDER BY e.channel LIMIT 2',
  );
  const reports = (await callJson('GET', `${server.url}/svc/indexer/v1/task/${task}/reports`)) as {
    multiStageQuery: { payload: { results: { results: unknown[][] } } };
  };
  const expected = await sqlRows(
    server.url,
    "SELECT channel, SUM(added) FROM edits_sql WHERE channel IN ('#c1', '#c10') GROUP BY channel ORDER BY channel",
  );
  assert.equal(reports.multiStageQuery.payload.results.results, expected);
  assert.ok(sum > added);
});

ingestion('index_parallel: discovery of dimensions, rollup adds up', async ({ server, input, sum }) => {
  const task = await runTask(server.url, {
    type: 'index_parallel',
    spec: {
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'local', baseDir: input, filter: 'edits.json.gz' },
        inputFormat: { type: 'json' },
      },
      dataSchema: {
        dataSource: 'edits_rollup',
        timestampSpec: { column: 'time', format: 'iso' },
        dimensionsSpec: { dimensions: ['channel'] },
        metricsSpec: [
          { type: 'count', name: 'count' },
          { type: 'longSum', name: 'added', fieldName: 'added' },
        ],
        granularitySpec: { type: 'uniform', segmentGranularity: 'day', queryGranularity: 'day', rollup: true },
      },
      tuningConfig: { type: 'index_parallel' },
    },
  });
  await waitForCount(server.url, 'edits_rollup', 13); // 13 channels in the one day the rows span
  assert.equal(await sqlRows(server.url, 'SELECT SUM("count"), SUM(added) FROM edits_rollup'), [[ROWS, sum]]);
  const report = (await callJson('GET', `${server.url}/svc/indexer/v1/task/${task}/reports`)) as {
    ingestionStatsAndErrors: { payload: { rowStats: { buildSegments: { processed: number; unparseable: number } } } };
  };
  assert.is(report.ingestionStatsAndErrors.payload.rowStats.buildSegments.processed, ROWS);
  assert.is(report.ingestionStatsAndErrors.payload.rowStats.buildSegments.unparseable, 0);
});

for (const [name, partitionsSpec, shards, leftOut] of [
  [
    'ranges of two dimensions',
    { type: 'range', partitionDimensions: ['channel', 'page'], targetRowsPerSegment: 1000 },
    { type: 'range', dimensions: ['channel', 'page'], numCorePartitions: 5 },
    4,
  ],
  [
    'ranges of one dimension',
    { type: 'single_dim', partitionDimension: 'channel', targetRowsPerSegment: 1000 },
    { type: 'single', dimension: 'channel', numCorePartitions: 5 },
    4,
  ],
  [
    'hashes of a dimension',
    { type: 'hashed', numShards: 3, partitionDimensions: ['channel'] },
    { type: 'hashed', partitionDimensions: ['channel'], numBuckets: 3, partitionFunction: 'murmur3_32_abs', partitions: 3 },
    2,
  ],
  [
    'hashes of all dimensions',
    { type: 'hashed', targetRowsPerSegment: 2500 },
    { type: 'hashed', partitionDimensions: [], numBuckets: 2 },
    0,
  ],
] as const)
  ingestion(`index_parallel: ${name}`, async ({ server, input, sum }) => {
    const dataSource = `edits ${name}`;
    await runTask(server.url, {
      type: 'index_parallel',
      spec: {
        ioConfig: {
          type: 'index_parallel',
          inputSource: { type: 'local', baseDir: input, filter: 'edits.json.gz' },
          inputFormat: { type: 'json' },
        },
        dataSchema: {
          dataSource,
          timestampSpec: { column: 'time', format: 'iso' },
          dimensionsSpec: { dimensions: ['channel', 'page', { type: 'long', name: 'added' }] },
          granularitySpec: { type: 'uniform', segmentGranularity: 'day', rollup: false },
        },
        tuningConfig: { type: 'index_parallel', forceGuaranteedRollup: true, partitionsSpec },
      },
    });
    await waitForCount(server.url, dataSource, ROWS);
    const segments = (await callJson(
      'GET',
      `${server.url}/svc/coordinator/v1/metadata/datasources/${encodeURIComponent(dataSource)}/segments?full`,
    )) as { shardSpec: Record<string, unknown>; interval: string }[];
    assert.ok(segments.length > 1);
    for (const { shardSpec } of segments) for (const [key, value] of Object.entries(shards)) assert.equal(shardSpec[key], value, key);
    assert.equal(await sqlRows(server.url, `SELECT COUNT(*), SUM(added) FROM "${dataSource}"`), [[ROWS, sum]]);
    // Rows 5, 18, 31, …: every 13th.
    const expected = Array.from({ length: ROWS }, (_, row) => row).filter((row) => row % 13 === 5);
    const query = `SELECT COUNT(*), SUM(added) FROM "${dataSource}" WHERE channel = '#c5'`;
    const total = expected.reduce((added, row) => added + ((row * 7919) % 1009), 0);
    const sqlQueryId = name.replaceAll(' ', '-');
    const body = { query, resultFormat: 'array', context: { sqlQueryId, useCache: false } };
    assert.equal(await callJson('POST', `${server.url}/svc/v2/sql`, body), [[expected.length, total]]);
    const profile = (await callJson('GET', `${server.url}/svc/v2/profile/${sqlQueryId}`)) as { segmentsPrunedByPartition: number };
    assert.is(profile.segmentsPrunedByPartition, leftOut, JSON.stringify(profile));
  });

const refusals = [
  { name: 'a file that does not exist', source: { filter: 'missing.json' }, message: /missing\.json/ },
  { name: 'a folder outside the allowed directories', source: { outside: true, filter: '*.json' }, message: /allowedDirectories/ },
  { name: 'a file of another format', source: { filter: 'not-json.json' }, message: /not-json\.json|parse/i },
];
for (const { name, source, message } of refusals) {
  ingestion(`refused: ${name}`, async ({ server, input, folder }) => {
    const spec = {
      type: 'index_parallel',
      spec: {
        ioConfig: {
          type: 'index_parallel',
          inputSource: { type: 'local', baseDir: source.outside === true ? folder : input, filter: source.filter },
          inputFormat: { type: 'json' },
        },
        dataSchema: {
          dataSource: 'never',
          timestampSpec: { column: 'time', format: 'iso' },
          dimensionsSpec: { dimensions: ['channel'] },
          granularitySpec: { type: 'uniform', segmentGranularity: 'day', rollup: false },
        },
        tuningConfig: { type: 'index_parallel', maxParseExceptions: 0 },
      },
    };
    try {
      await runTask(server.url, spec);
      assert.unreachable('the task must fail or be refused');
    } catch (error) {
      assert.match((error as Error).message, message);
    }
    assert.is(await callJson('GET', `${server.url}/status/health`), true);
  });
}

ingestion('the druid input source makes a datasource anew, and the sampler shows it', async ({ server, sum }) => {
  const ioConfig = { type: 'index_parallel', inputSource: { type: 'druid', dataSource: 'edits_sql', interval: '2015-09-12/P2D' } };
  const dataSchema = {
    dataSource: 'edits_by_channel',
    timestampSpec: { column: '__time', format: 'millis' },
    dimensionsSpec: { dimensions: ['channel'] },
    metricsSpec: [{ type: 'longSum', name: 'added', fieldName: 'added' }],
    granularitySpec: { segmentGranularity: 'day', queryGranularity: 'day', rollup: true, intervals: ['2015-09-12/P2D'] },
  };
  await runTask(server.url, { type: 'index_parallel', spec: { dataSchema, ioConfig, tuningConfig: { type: 'index_parallel' } } });
  await waitForCount(server.url, 'edits_by_channel', 13);
  assert.equal(await sqlRows(server.url, 'SELECT SUM(added) FROM edits_by_channel'), [[sum]]);
  const { numRowsRead, logicalSegmentSchema } = (await callJson('POST', `${server.url}/svc/indexer/v1/sampler`, {
    type: 'index',
    spec: {
      ioConfig,
      dataSchema: { ...dataSchema, metricsSpec: [], dimensionsSpec: { useSchemaDiscovery: true }, granularitySpec: { rollup: false } },
    },
    samplerConfig: { numRows: 10 },
  })) as { readonly numRowsRead: number; readonly logicalSegmentSchema: readonly { readonly name: string }[] };
  assert.is(numRowsRead, 10);
  assert.equal(logicalSegmentSchema.map(({ name }) => name).sort(), ['__time', 'added', 'channel', 'isNew', 'page']);
});

ingestion('the sampler reads what a task may read, and shows a few rows', async ({ server, input, folder }) => {
  const sample = (files: readonly string[]) =>
    callJson('POST', `${server.url}/svc/indexer/v1/sampler`, {
      type: 'index_parallel',
      spec: {
        ioConfig: { type: 'index_parallel', inputSource: { type: 'local', files }, inputFormat: { type: 'json' } },
        dataSchema: { timestampSpec: { column: 'time' }, dimensionsSpec: { dimensions: ['channel'] } },
      },
      samplerConfig: { numRows: 2 },
    }) as Promise<{ readonly numRowsRead: number; readonly data: readonly { readonly parsed: unknown }[] }>;
  const { numRowsRead, data } = await sample([path.join(input, 'edits.json.gz')]);
  assert.is(numRowsRead, 2);
  assert.equal(
    data.map(({ parsed }) => parsed),
    [
      { __time: Date.UTC(2015, 8, 12), channel: '#c0' },
      { __time: Date.UTC(2015, 8, 12) + 17_000, channel: '#c1' },
    ],
  );
  const refused = await sample([path.join(folder, 'outside.json')]).then(
    () => '',
    (error: unknown) => String(error),
  );
  assert.match(refused, /403.*allowedDirectories/s);
});

ingestion('a body over svc.server.http.maxRequestBytes is 413', async ({ server }) => {
  const answer = await fetch(`${server.url}/svc/v2/sql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `SELECT '${'x'.repeat(68_000_000)}'` }),
  }).catch((error: Error) => error);
  // The server may close the connection while the client still sends.
  if (!(answer instanceof Error)) assert.is(answer.status, 413);
  assert.is(await callJson('GET', `${server.url}/status/health`), true);
});

ingestion.run();
