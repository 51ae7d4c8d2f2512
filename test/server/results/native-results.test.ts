import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import type { Frame, FrameColumn } from '../../../src/model/frame.js';
import type { SegmentAnalysis } from '../../../src/model/segment.js';
import { indentJson } from '../../../src/server/results/native/text-stream.js';
import { nativeRoutes } from '../../../src/server/routes/native.js';
import { base, double, FakeBroker, frame, HOUR, log, long, MAX, NOON, planThread, scheduler, send, text } from './native-requests.js';

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
  // The fake table has no column of tags.
  const rowSignature = [{ name: 'tags' }, { name: '__time', type: 'LONG' }, { name: 'nowhere' }];
  const list = await send(new FakeBroker([[scanned]]), query);
  assert.equal(JSON.parse(list.text), [
    {
      segmentId: null,
      columns: ['tags', '__time', 'nowhere'],
      events: [
        { tags: ['a', 'b'], __time: NOON, nowhere: null },
        { tags: null, __time: NOON, nowhere: null },
      ],
      rowSignature,
    },
    { segmentId: null, columns: ['tags', '__time', 'nowhere'], events: [{ tags: 'b', __time: NOON, nowhere: null }], rowSignature },
  ]);
  const compact = await send(new FakeBroker([[scanned]]), { ...query, resultFormat: 'compactedList', batchSize: 10 });
  assert.equal(JSON.parse(compact.text)[0].events, [
    [['a', 'b'], NOON, null],
    [null, NOON, null],
    ['b', NOON, null],
  ]);
});

results('scan: an entry has the rows of one segment, as far as frames name theirs', async () => {
  const times = (segmentId: string | undefined, ...values: readonly number[]): Frame => {
    const rows = frame(long('__time', values.map(BigInt)));
    return segmentId === undefined ? rows : { ...rows, segmentId };
  };
  const frames = [times('a', 1, 2), times('a', 3, 4), times('b', 5), times('c'), times(undefined, 6), times(undefined, 7)];
  const query = {
    queryType: 'scan',
    dataSource: 'wiki',
    intervals: 'eternity',
    columns: ['__time'],
    batchSize: 3,
    resultFormat: 'compactedList',
  };
  const { text } = await send(new FakeBroker([frames]), query);
  assert.equal(
    JSON.parse(text).map(({ segmentId, events }: { segmentId: string; events: number[][] }) => [segmentId, ...events.flat()]),
    [
      ['a', 1, 2, 3],
      ['a', 4],
      ['b', 5],
      [null, 6, 7],
    ],
  );
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
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ ...base, granularity: 'none', queryType: 'timeseries', context: { skipEmptyBuckets: true } })),
      viaAlias: false,
      caller: ALLOW_ALL_CALLER,
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
