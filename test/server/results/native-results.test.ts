import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import type { Interval } from '../../../src/base/instant.js';
import type { BrokerQueries, QueryOptions, SegmentToRun } from '../../../src/cluster/broker/contract.js';
import type { Frame, FrameColumn } from '../../../src/model/frame.js';
import type { Plan } from '../../../src/model/plan.js';
import type { RowSource } from '../../../src/model/row-source.js';
import type { SegmentAnalysis } from '../../../src/model/segment.js';
import type { HttpRequest, HttpResponse } from '../../../src/server/http.types.js';
import { PlanThread } from '../../../src/server/planning/plan-thread.js';
import { QueryLog } from '../../../src/server/queries/query-log.js';
import { indentJson } from '../../../src/server/results/native/text-stream.js';
import { nativeRoutes } from '../../../src/server/routes/native.js';
import { unlimited } from '../../cluster/fakes.js';

const MAX = 9223372036854775807n;
const HOUR = 3_600_000;
const NOON = Date.UTC(2015, 8, 12, 12);

const long = (name: string, values: readonly (bigint | null)[]): FrameColumn => ({
  kind: 'long',
  name,
  values: BigInt64Array.from(values, (value) => value ?? 0n),
  nulls: nullBits(values),
});
const double = (name: string, values: readonly (number | null)[], type: 'DOUBLE' | 'FLOAT' = 'DOUBLE'): FrameColumn => ({
  kind: 'double',
  name,
  type,
  values: Float64Array.from(values, (value) => value ?? 0),
  nulls: nullBits(values),
});
const text = (name: string, values: readonly (string | null)[]): FrameColumn => {
  const dictionary = [...new Set(values)];
  return { kind: 'string', name, ids: Uint32Array.from(values, (value) => dictionary.indexOf(value)), dictionary };
};
const frame = (...columns: FrameColumn[]): Frame => {
  const [first] = columns;
  return {
    rowCount:
      first === undefined
        ? 0
        : first.kind === 'string'
          ? first.ids.length
          : first.kind === 'multi'
            ? first.offsets.length - 1
            : first.values.length,
    columns,
  };
};

function nullBits(values: readonly unknown[]): Uint32Array | null {
  if (!values.includes(null)) return null;
  const bits = new Uint32Array(Math.ceil(values.length / 32));
  for (const [row, value] of values.entries()) if (value === null) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
  return bits;
}

const log = new QueryLog({ kept: 10, now: () => 1000 });
const scheduler = unlimited();
const planThread = new PlanThread(100);

/** A broker that answers plans from a list, in order, and remembers what it was asked. */
class FakeBroker implements BrokerQueries {
  readonly asked: { readonly plan: Plan; readonly options: QueryOptions }[] = [];
  readonly cancelled: string[] = [];
  readonly #answers: (readonly Frame[])[];
  readonly #analyses: readonly SegmentAnalysis[];

  constructor(answers: readonly (readonly Frame[])[], analyses: readonly SegmentAnalysis[] = []) {
    this.#answers = [...answers];
    this.#analyses = analyses;
  }

  knownResult = () => undefined;
  tables = () => ['wiki'];
  table = (name: string) => ({
    name,
    columns: [
      { name: '__time', type: 'LONG', multiValue: false, hasNulls: false } as const,
      { name: 'page', type: 'STRING', multiValue: false, hasNulls: true } as const,
    ],
    rowCount: 1,
    interval: { start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 13) },
  });
  async *run(plan: Plan, options: QueryOptions): AsyncIterable<Frame> {
    this.asked.push({ plan, options });
    yield* this.#answers.shift() ?? [];
  }
  runOver(plan: Plan, _source: RowSource, options: QueryOptions): AsyncIterable<Frame> {
    return this.run(plan, options);
  }
  async *bySegment(dataSource: string, intervals: readonly Interval[], options: QueryOptions): AsyncIterable<SegmentToRun> {
    for (const [index, interval] of intervals.entries())
      yield { id: `${dataSource}_${index}`, interval, run: (plan) => this.run(plan, options) };
  }
  analyze = async () => this.#analyses;
  candidates = (dataSource: string) => [
    {
      segment: {
        id: { dataSource, interval: { start: NOON, end: NOON + HOUR }, version: '2015-09-13T00:00:00.000Z', partitionNumber: 2 },
        shardSpec: { type: 'numbered', partitionNum: 2, partitions: 3 } as const,
        loadSpec: { type: 'local', path: 'x' },
        sizeBytes: 77,
        rowCount: 1,
        dimensions: ['page'],
        metrics: ['added'],
        columns: [],
      },
      hosts: [{ host: 'localhost:8083', tier: '_default_tier', priority: 0, maxSizeBytes: 100 }],
    },
  ];
  cancel(queryId: string): boolean {
    this.cancelled.push(queryId);
    return true;
  }
}

async function send(
  broker: BrokerQueries,
  body: unknown,
  more: Partial<HttpRequest> = {},
  method = 'POST',
  path = '/svc/v2',
): Promise<HttpResponse & { readonly text: string }> {
  const routes = nativeRoutes(broker, {
    now: () => 1000,
    newQueryId: () => 'made-up',
    defaultTimeoutMs: 300,
    maxTimeoutMs: 10_000,
    log,
    scheduler,
    planThread,
  });
  const route = routes.find((each) => each.method === method && each.path === path);
  assert.ok(route);
  const request: HttpRequest = {
    method,
    path,
    rawUrl: path,
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
    viaAlias: false,
    ...more,
  };
  const response = await route.handle(request, { id: 'q7' });
  let answer = '';
  if (typeof response.body === 'string') answer = response.body;
  else if (response.body !== undefined && !(response.body instanceof Uint8Array)) for await (const piece of response.body) answer += piece;
  return { ...response, text: answer };
}

const base = {
  dataSource: 'wiki',
  intervals: '2015-09-12/P1D',
  granularity: 'hour',
  aggregations: [{ type: 'longSum', name: 'added', fieldName: 'added' }],
};
const results = suite('native results');

results('timeseries: longs whole, nulls, doubles with a point, what JSON lacks as text', async () => {
  const aggregations = [
    ...base.aggregations,
    { type: 'doubleSum', name: 'd', fieldName: 'd' },
    { type: 'floatMax', name: 'f', fieldName: 'f' },
  ];
  const broker = new FakeBroker([
    [
      frame(long('__time', [BigInt(NOON)]), long('added', [MAX]), double('d', [2]), double('f', [Math.fround(0.1)], 'FLOAT')),
      frame(long('__time', [BigInt(NOON + HOUR)]), long('added', [null]), double('d', [Number.NaN]), double('f', [null], 'FLOAT')),
    ],
  ]);
  const { text: answer, status, headers } = await send(broker, { ...base, aggregations, queryType: 'timeseries' });
  assert.is(status, 200);
  assert.is(
    answer,
    '[{"timestamp":"2015-09-12T12:00:00.000Z","result":{"added":9223372036854775807,"d":2.0,"f":0.1}},{"timestamp":"2015-09-12T13:00:00.000Z","result":{"added":null,"d":"NaN","f":null}}]',
  );
  assert.is(headers?.['X-Svc-Query-Id'], 'made-up');
  assert.is(headers?.['Content-Type'], 'application/json');
});

results('timeseries of granularity all is stamped with the start of its first interval', async () => {
  const { text: answer } = await send(new FakeBroker([[frame(long('added', [3n]))]]), {
    ...base,
    granularity: 'all',
    intervals: ['2015-09-14/P1D', '2015-09-11/P2D'],
    queryType: 'timeseries',
  });
  assert.is(answer, '[{"timestamp":"2015-09-11T00:00:00.000Z","result":{"added":3}}]');
});

results('timeseries: the grand total comes last, without a time', async () => {
  const broker = new FakeBroker([[frame(long('__time', [BigInt(NOON)]), long('added', [3n]))], [frame(long('added', [9n]))]]);
  const { text: answer } = await send(broker, { ...base, queryType: 'timeseries', context: { grandTotal: true } });
  assert.is(answer, '[{"timestamp":"2015-09-12T12:00:00.000Z","result":{"added":3}},{"timestamp":null,"result":{"added":9}}]');
});

results('by segment: each has the result of the query over it alone, its id and its interval', async () => {
  const rows = frame(long('__time', [BigInt(NOON)]), long('added', [3n]));
  const query = { ...base, queryType: 'timeseries', intervals: ['2015-09-12/P1D', '2015-09-14/P1D'], context: { bySegment: true } };
  const { text: answer } = await send(new FakeBroker([[rows], []]), query);
  assert.equal(JSON.parse(answer), [
    {
      timestamp: '2015-09-12T00:00:00.000Z',
      result: {
        results: [{ timestamp: '2015-09-12T12:00:00.000Z', result: { added: 3 } }],
        segment: 'wiki_0',
        interval: '2015-09-12T00:00:00.000Z/2015-09-13T00:00:00.000Z',
      },
    },
    {
      timestamp: '2015-09-14T00:00:00.000Z',
      result: { results: [], segment: 'wiki_1', interval: '2015-09-14T00:00:00.000Z/2015-09-15T00:00:00.000Z' },
    },
  ]);
  const none = await send(new FakeBroker([]), { ...query, intervals: [] });
  assert.is(none.text, '[]');
});

results('by segment: of rows that are no segments there is none', async () => {
  const inline = { type: 'inline', columnNames: ['added'], rows: [[1]] };
  for (const body of [
    { ...base, queryType: 'timeseries', dataSource: inline },
    { queryType: 'segmentMetadata', dataSource: 'wiki' },
  ])
    await send(new FakeBroker([]), { ...body, context: { bySegment: true } }).then(
      () => assert.unreachable('it was answered'),
      (error: unknown) => assert.ok(error instanceof ServiceError && error.code === 'unsupported' && error.message.includes('bySegment')),
    );
});

results('topN: one entry per bucket, also when a bucket spans frames', async () => {
  const broker = new FakeBroker([
    [
      frame(long('__time', [BigInt(NOON), BigInt(NOON)]), text('page', ['a"b', null]), long('added', [5n, 4n])),
      frame(long('__time', [BigInt(NOON), BigInt(NOON + HOUR)]), text('page', ['c', 'd']), long('added', [3n, 2n])),
    ],
  ]);
  const { text: answer } = await send(broker, { ...base, queryType: 'topN', dimension: 'page', metric: 'added', threshold: 3 });
  assert.equal(JSON.parse(answer), [
    {
      timestamp: '2015-09-12T12:00:00.000Z',
      result: [
        { page: 'a"b', added: 5 },
        { page: null, added: 4 },
        { page: 'c', added: 3 },
      ],
    },
    { timestamp: '2015-09-12T13:00:00.000Z', result: [{ page: 'd', added: 2 }] },
  ]);
});

results('groupBy: dimensions, aggregators and post-aggregators in one event', async () => {
  const broker = new FakeBroker([[frame(text('page', ['x', '']), long('added', [1n, 2n]), long('one', [1n, 1n]))]]);
  const { text: answer } = await send(broker, {
    ...base,
    granularity: 'all',
    queryType: 'groupBy',
    dimensions: ['page'],
    postAggregations: [{ type: 'constant', name: 'one', value: 1 }],
  });
  assert.is(
    answer,
    '[{"version":"v1","timestamp":"2015-09-12T00:00:00.000Z","event":{"page":"x","added":1,"one":1}},{"version":"v1","timestamp":"2015-09-12T00:00:00.000Z","event":{"page":"","added":2,"one":1}}]',
  );
});

const multi: FrameColumn = {
  kind: 'multi',
  name: 'tags',
  offsets: Uint32Array.of(0, 2, 2, 3),
  ids: Uint32Array.of(0, 1, 1),
  dictionary: ['a', 'b'],
};
const scanned = frame(long('__time', [BigInt(NOON), BigInt(NOON), BigInt(NOON)]), multi);

results('scan: entries of at most batchSize rows, as objects and as arrays', async () => {
  const query = {
    queryType: 'scan',
    dataSource: 'wiki',
    intervals: '2015-09-12/P1D',
    columns: ['tags', '__time', 'nowhere'],
    batchSize: 2,
  };
  const list = await send(new FakeBroker([[scanned]]), query);
  assert.equal(JSON.parse(list.text), [
    {
      segmentId: null,
      columns: ['tags', '__time', 'nowhere'],
      events: [
        { tags: ['a', 'b'], __time: NOON, nowhere: null },
        { tags: null, __time: NOON, nowhere: null },
      ],
    },
    { segmentId: null, columns: ['tags', '__time', 'nowhere'], events: [{ tags: 'b', __time: NOON, nowhere: null }] },
  ]);
  const compact = await send(new FakeBroker([[scanned]]), { ...query, resultFormat: 'compactedList', batchSize: 10 });
  assert.equal(JSON.parse(compact.text)[0].events, [
    [['a', 'b'], NOON, null],
    [null, NOON, null],
    ['b', NOON, null],
  ]);
});

results('timeBoundary and dataSourceMetadata', async () => {
  const bounds = frame(long('minTime', [BigInt(NOON)]), long('maxTime', [BigInt(NOON + 1)]));
  const ask = async (body: object): Promise<string> => (await send(new FakeBroker([[bounds]]), { dataSource: 'wiki', ...body })).text;
  assert.is(
    await ask({ queryType: 'timeBoundary' }),
    '[{"timestamp":"2015-09-12T12:00:00.000Z","result":{"minTime":"2015-09-12T12:00:00.000Z","maxTime":"2015-09-12T12:00:00.001Z"}}]',
  );
  assert.is(
    await ask({ queryType: 'timeBoundaries', bound: 'maxTime' }),
    '[{"timestamp":"2015-09-12T12:00:00.001Z","result":{"maxTime":"2015-09-12T12:00:00.001Z"}}]',
  );
  assert.is(
    await ask({ queryType: 'datasourceMetadata' }),
    '[{"timestamp":"2015-09-12T12:00:00.001Z","result":{"maxIngestedEventTime":"2015-09-12T12:00:00.001Z"}}]',
  );
  assert.is(
    await ask({ queryType: 'timeBoundary', context: { serializeDateTimeAsLong: true }, bound: 'minTime' }),
    `[{"timestamp":${NOON},"result":{"minTime":${NOON}}}]`,
  );
});

results('search: the hits of all dimensions by value, within one limit', async () => {
  const hits = (name: string, values: readonly string[]): Frame =>
    frame(
      text(name, values),
      long(
        'count',
        values.map((_, index) => BigInt(index + 1)),
      ),
    );
  const broker = new FakeBroker([[hits('page', ['b', 'd'])], [hits('user', ['a', 'c', 'd'])]]);
  const { text: answer } = await send(broker, {
    queryType: 'search',
    dataSource: 'wiki',
    intervals: '2015-09-12/P1D',
    searchDimensions: ['page', 'user'],
    query: { type: 'contains', value: '' },
    limit: 4,
  });
  assert.equal(JSON.parse(answer), [
    {
      timestamp: '2015-09-12T00:00:00.000Z',
      result: [
        { dimension: 'user', value: 'a', count: 1 },
        { dimension: 'page', value: 'b', count: 1 },
        { dimension: 'user', value: 'c', count: 2 },
        { dimension: 'page', value: 'd', count: 2 },
      ],
    },
  ]);
});

const analysis = (hour: number, type: string, cardinality: number, min: string): SegmentAnalysis => ({
  id: `wiki_${hour}`,
  intervals: [{ start: NOON + hour * HOUR, end: NOON + (hour + 1) * HOUR }],
  columns: {
    page: {
      type,
      hasMultipleValues: false,
      hasNulls: false,
      sizeBytes: 10,
      cardinality,
      minValue: min,
      maxValue: `${min}z`,
      errorMessage: null,
    },
  },
  sizeBytes: 100,
  numRows: 5,
  aggregators: { added: { type: 'longSum' } },
  timestampSpec: null,
  queryGranularity: null,
  rollup: false,
});

results('segmentMetadata: per segment, and merged', async () => {
  const query = {
    queryType: 'segmentMetadata',
    dataSource: 'wiki',
    analysisTypes: ['cardinality', 'minmax', 'interval', 'aggregators', 'rollup'],
  };
  const analyses = [analysis(0, 'STRING', 3, 'b'), analysis(1, 'STRING', 7, 'a')];
  assert.equal(
    JSON.parse((await send(new FakeBroker([], analyses), query)).text).map(({ id }: { id: string }) => id),
    ['wiki_0', 'wiki_1'],
  );
  const [merged] = JSON.parse((await send(new FakeBroker([], analyses), { ...query, merge: true })).text);
  assert.equal(merged, {
    id: 'merged',
    intervals: ['2015-09-12T12:00:00.000Z/2015-09-12T14:00:00.000Z'],
    size: 200,
    numRows: 10,
    aggregators: { added: { type: 'longSum' } },
    timestampSpec: null,
    queryGranularity: null,
    rollup: false,
    columns: {
      page: {
        typeSignature: 'STRING',
        type: 'STRING',
        hasMultipleValues: false,
        hasNulls: false,
        size: 20,
        cardinality: 7,
        minValue: 'a',
        maxValue: 'bz',
        errorMessage: null,
      },
    },
  });
  // Several segments without aggregators say null, one of them {}.
  const plain = analyses.map((one) => ({ ...one, aggregators: {} }));
  for (const [few, due] of [
    [plain, null],
    [plain.slice(1), {}],
  ] as const) {
    const [answer] = JSON.parse((await send(new FakeBroker([], few), { ...query, merge: true })).text);
    assert.equal(answer.aggregators, due);
  }
  const [mixed] = JSON.parse(
    (await send(new FakeBroker([], [analysis(0, 'STRING', 3, 'b'), analysis(1, 'LONG', 7, 'a')]), { ...query, merge: true })).text,
  );
  assert.is(mixed.columns.page.errorMessage, 'error:cannot_merge_diff_types: [LONG] and [STRING]');
});

for (const query of [
  { queryType: 'timeseries', ...base },
  { queryType: 'topN', ...base, dimension: 'page', metric: 'added', threshold: 1 },
  { queryType: 'groupBy', ...base },
  { queryType: 'scan', dataSource: 'wiki', intervals: '2015/2016' },
  { queryType: 'timeBoundary', dataSource: 'wiki' },
  { queryType: 'segmentMetadata', dataSource: 'wiki' },
  { queryType: 'search', dataSource: 'wiki', intervals: '2015/2016', query: { type: 'contains', value: 'x' } },
]) {
  results(`${query.queryType} of nothing is an empty array`, async () => assert.is((await send(new FakeBroker([]), query)).text, '[]'));
}

results('a long answer comes in pieces, with turns of the event loop between them', async () => {
  const rows = 20_000;
  const broker = new FakeBroker([
    [
      frame(
        long(
          '__time',
          Array.from({ length: rows }, (_, row) => BigInt(NOON + row)),
        ),
        long(
          'added',
          Array.from({ length: rows }, (_, row) => BigInt(row)),
        ),
      ),
    ],
  ]);
  let turns = 0;
  const tick = setInterval(() => turns++, 0);
  const routes = nativeRoutes(broker, {
    now: () => 0,
    newQueryId: () => 'x',
    defaultTimeoutMs: 1,
    maxTimeoutMs: 1,
    log,
    scheduler,
    planThread,
  });
  const response = await routes[0]?.handle(
    {
      query: new URLSearchParams(),
      headers: {},
      body: Buffer.from(JSON.stringify({ ...base, granularity: 'none', queryType: 'timeseries', context: { skipEmptyBuckets: true } })),
      viaAlias: false,
      signal: new AbortController().signal,
      method: 'POST',
      path: '/svc/v2',
      rawUrl: '/svc/v2',
      remoteAddress: '',
    },
    {},
  );
  assert.ok(response !== undefined && typeof response.body === 'object' && !(response.body instanceof Uint8Array));
  const pieces: string[] = [];
  for await (const piece of response.body) pieces.push(String(piece));
  clearInterval(tick);
  assert.ok(pieces.length > 10 && turns > 5, `${pieces.length} pieces, ${turns} turns`);
  assert.ok(pieces.every((piece) => piece.length <= 65_536));
  assert.is(JSON.parse(pieces.join('')).length, rows);
});

results('indented JSON is the same JSON, laid out as JSON.stringify does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), async (value, size) => {
      const compact = JSON.stringify(value);
      async function* pieces(): AsyncIterable<string> {
        const characters = [...compact];
        for (let at = 0; at < characters.length; at += size) yield characters.slice(at, at + size).join('');
      }
      let indented = '';
      for await (const piece of indentJson(pieces())) indented += piece;
      assert.is(indented, JSON.stringify(value, null, 2));
    }),
  );
});
results.run();

const requests = suite('native routes');

requests('the context sets id, deadline, priority, kernels and disk space', async () => {
  const broker = new FakeBroker([]);
  const { headers } = await send(broker, {
    ...base,
    queryType: 'timeseries',
    context: { queryId: 'mine', timeout: 50, priority: 3, kernels: 'scalar', maxOnDiskStorage: '1000' },
  });
  const [asked] = broker.asked;
  assert.ok(asked);
  const { queryId, deadlineMs, priority, kernels, limits } = asked.options;
  assert.equal(
    { queryId, deadlineMs, priority, kernels, maxOnDiskStorage: limits?.maxOnDiskStorage },
    { queryId: 'mine', deadlineMs: 1050, priority: 3, kernels: 'scalar', maxOnDiskStorage: 1000 },
  );
  assert.is(headers?.['X-Svc-Query-Id'], 'mine');
});

requests('timeouts: the default, the longest for 0, and no longer ones', async () => {
  const deadline = async (context: object): Promise<number | undefined> => {
    const broker = new FakeBroker([]);
    await send(broker, { ...base, queryType: 'timeseries', context });
    return broker.asked[0]?.options.deadlineMs;
  };
  assert.is(await deadline({}), 1300);
  assert.is(await deadline({ timeout: 0 }), 11_000);
  await refuses({ ...base, queryType: 'timeseries', context: { timeout: 10_001 } }, 'query_invalid', /maxQueryTimeout/);
});

requests('misspelt context keys and, under the alias, ignored keys are named in a header', async () => {
  const { headers } = await send(
    new FakeBroker([]),
    { ...base, queryType: 'timeseries', descendign: true, context: { prioritty: 1 } },
    { viaAlias: true },
  );
  assert.match(headers?.['X-Svc-Warning'] ?? '', /context\.prioritty.*"priority".*descendign/);
});

requests('pretty indents', async () => {
  const { text: answer } = await send(
    new FakeBroker([[frame(long('__time', [BigInt(NOON)]), long('added', [3n]))]]),
    { ...base, queryType: 'timeseries' },
    { query: new URLSearchParams('pretty') },
  );
  assert.is(answer, JSON.stringify([{ timestamp: '2015-09-12T12:00:00.000Z', result: { added: 3 } }], null, 2));
});

requests('candidates', async () => {
  const { text: answer } = await send(new FakeBroker([]), { ...base, queryType: 'timeseries' }, {}, 'POST', '/svc/v2/candidates');
  assert.equal(JSON.parse(answer), [
    {
      interval: '2015-09-12T12:00:00.000Z/2015-09-12T13:00:00.000Z',
      version: '2015-09-13T00:00:00.000Z',
      partitionNumber: 2,
      size: 77,
      locations: [
        {
          name: 'localhost:8083',
          host: 'localhost:8083',
          hostAndTlsPort: null,
          maxSize: 100,
          type: 'historical',
          tier: '_default_tier',
          priority: 0,
        },
      ],
    },
  ]);
});

requests('the list of datasources that can be queried', async () => {
  const ask = async (path: string, query = ''): Promise<unknown> =>
    JSON.parse((await send(new FakeBroker([]), '', { query: new URLSearchParams(query) }, 'GET', path)).text);
  assert.equal(await ask('/svc/v2/datasources'), ['wiki']);
  assert.equal(await ask('/svc/v2/datasources/{dataSource}'), { dimensions: ['page'], metrics: ['added'] });
  assert.equal(await ask('/svc/v2/datasources/{dataSource}', 'full&interval=2015/2016'), {
    '2015-09-12T12:00:00.000Z/2015-09-12T13:00:00.000Z': { dimensions: ['page'], metrics: ['added'] },
  });
  assert.equal(await ask('/svc/v2/datasources/{dataSource}/dimensions'), ['page']);
  assert.equal(await ask('/svc/v2/datasources/{dataSource}/metrics'), ['added']);
  const [candidate] = (await ask('/svc/v2/datasources/{dataSource}/candidates', 'intervals=2015/2016,2017/2018&numCandidates=0')) as {
    locations: unknown[];
  }[];
  assert.equal(candidate?.locations, []);
});

requests('cancellation reaches the broker and is accepted', async () => {
  const broker = new FakeBroker([]);
  assert.is((await send(broker, '', {}, 'DELETE', '/svc/v2/{id}')).status, 202);
  assert.equal(broker.cancelled, ['q7']);
});

requests('unreadable requests are refused before they reach the broker', async () => {
  await refuses('{"queryType": ', 'query_invalid', /line 1/);
  await refuses('', 'query_invalid', /empty/);
  await refuses(base, 'content_type_unsupported', /text\/html/, { headers: { 'content-type': 'text/html' } });
});

async function refuses(body: unknown, code: string, message: RegExp, more: Partial<HttpRequest> = {}): Promise<void> {
  const broker = new FakeBroker([]);
  try {
    await send(broker, body, more);
  } catch (error) {
    assert.ok(error instanceof ServiceError && error.code === code && message.test(error.message), String(error));
    assert.equal(broker.asked, []);
    return;
  }
  assert.unreachable('was not refused');
}
requests.run();
