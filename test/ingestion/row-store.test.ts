import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Interval } from '../../src/base/instant.js';
import { RowCollector, TimeRange } from '../../src/ingestion/builder/row-collector.js';
import { RowStore } from '../../src/ingestion/builder/row-store.js';
import { type ColumnPlan, columnPlan } from '../../src/ingestion/builder/run-buffer.js';
import { timestampParser } from '../../src/ingestion/column/timestamp.js';
import { readDelimited } from '../../src/ingestion/format/delimited.js';
import type { InputBlock } from '../../src/ingestion/format/input-block.js';
import { jsonBlock } from '../../src/ingestion/format/json-block.js';
import { RowStatistics } from '../../src/ingestion/report/row-statistics.js';
import type { Metric } from '../../src/ingestion/task-spec/metric.js';
import { bucketsOf, parseGranularity } from '../../src/model/granularity.js';
import { plainFrame } from '../../src/storage/columns/packed-column.js';
import { cellsOf, inChunks } from './blocks.js';

interface Loading {
  readonly dimensions: readonly ColumnPlan[];
  readonly metrics?: readonly Metric[];
  readonly discovery?: 'none' | 'STRING' | 'AUTO';
  readonly exclusions?: readonly string[];
  readonly intervals?: readonly Interval[];
  readonly queryGranularity?: string;
  readonly maxRowsInMemory?: number;
  readonly maxBytesInMemory?: number;
  readonly maxRowsPerSegment?: number;
}

interface Loaded {
  /** Rows by chunk start, then by segment. */
  readonly chunks: ReadonlyMap<number, Record<string, unknown>[][]>;
  readonly rows: Record<string, unknown>[];
  readonly statistics: RowStatistics;
  readonly spilledBytes: number;
}

const HOUR = 3_600_000;
const LIMITS = { logParseExceptions: false, maxParseExceptions: Number.MAX_SAFE_INTEGER, maxSavedParseExceptions: 10 };

/** Rows of blocks through collector and store, without rollup. */
async function load(blocks: AsyncIterable<InputBlock> | Iterable<InputBlock>, loading: Loading): Promise<Loaded> {
  const workDirectory = mkdtempSync(path.join(tmpdir(), 'dolmen-rows-'));
  const statistics = new RowStatistics(
    LIMITS,
    () => undefined,
    () => 0,
  );
  const store = new RowStore({
    dataSource: 'rows',
    dimensions: loading.dimensions,
    metrics: loading.metrics ?? [],
    rollup: false,
    buckets: bucketsOf(parseGranularity('hour', 'segmentGranularity')),
    maxRowsInMemory: loading.maxRowsInMemory ?? 1_000_000,
    maxBytesInMemory: loading.maxBytesInMemory ?? 1 << 28,
    workDirectory,
    engine: () => assert.unreachable('nothing is computed') as never,
  });
  try {
    const timestamp = { column: 't', parser: timestampParser('millis', 'format'), missingValue: null };
    const range = new TimeRange(loading.intervals ?? [], parseGranularity(loading.queryGranularity ?? 'none', 'queryGranularity'));
    const sources = new Map(
      (loading.metrics ?? []).flatMap(({ inputs }) => inputs.map(({ field, column }) => [column.name, field] as const)),
    );
    const collector = new RowCollector(
      {
        timestamp,
        range,
        sources,
        discovery: loading.discovery ?? 'none',
        leavesOutNested: loading.discovery === 'STRING',
        exclusions: ['t', ...(loading.exclusions ?? [])],
        countsRows: true,
        maxColumns: 100,
      },
      store.input,
      statistics,
    );
    for await (const block of blocks) {
      collector.add(block);
      await store.relieve();
    }
    const chunks = new Map<number, Record<string, unknown>[][]>();
    for (const chunk of await store.finish()) {
      const segments: Record<string, unknown>[][] = [];
      for await (const { frame } of store.frames(chunk, { kind: 'dynamic', maxRowsPerSegment: loading.maxRowsPerSegment ?? 5_000_000 }))
        segments.push(cellsOf(plainFrame(frame)));
      assert.is(segments.flat().length, chunk.rowCount);
      chunks.set(chunk.interval.start, segments);
    }
    assert.equal(readdirSync(workDirectory), store.spilledBytes > 0 ? ['runs.spill'] : []);
    return { chunks, rows: [...chunks.values()].flat(2), statistics, spilledBytes: store.spilledBytes };
  } finally {
    store.close();
    rmSync(workDirectory, { recursive: true, force: true });
  }
}

const oneBlock = (rows: readonly Record<string, unknown>[]): InputBlock[] => [jsonBlock(rows, null)];

const store = suite('rows by time chunk');

const MIXED = columnPlan('v', 'AUTO');
const values: readonly {
  readonly name: string;
  readonly plan: ColumnPlan;
  readonly given: readonly unknown[];
  readonly stored: readonly unknown[];
  readonly faults?: number;
}[] = [
  {
    name: 'strings',
    plan: columnPlan('v', 'STRING'),
    given: ['x', '', null, 1.5, true, { a: 1 }],
    stored: ['x', '', null, '1.5', 'true', '{"a":1}'],
  },
  {
    name: 'several strings, sorted',
    plan: columnPlan('v', 'STRING'),
    given: [['b', 'a', 'b'], [], ['c'], 'd', [null]],
    stored: [['a', 'b', 'b'], null, 'c', 'd', null],
  },
  {
    name: 'several strings, as a set',
    plan: columnPlan('v', 'STRING', 'SORTED_SET'),
    given: [['b', 'a', 'b'], ['c', 'c'], null],
    stored: [['a', 'b'], 'c', null],
  },
  {
    name: 'several strings, as they came',
    plan: columnPlan('v', 'STRING', 'ARRAY'),
    given: [null, 'x', ['b', 'a', 'b'], [1, 2]],
    stored: [null, 'x', ['b', 'a', 'b'], ['1', '2']],
  },
  {
    name: 'longs',
    plan: columnPlan('v', 'LONG'),
    given: [1, -1, '7', '', null, true, 2n ** 63n - 1n, -(2n ** 63n), 2 ** 53],
    stored: [1n, -1n, 7n, null, null, 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n],
  },
  {
    name: 'no longs',
    plan: columnPlan('v', 'LONG'),
    given: [1.5, 'x', 2n ** 63n, [1], 1e300],
    stored: [null, null, null, null, null],
    faults: 5,
  },
  { name: 'doubles', plan: columnPlan('v', 'DOUBLE'), given: [1.5, '2.5', 3n, null, '', false], stored: [1.5, 2.5, 3, null, null, 0] },
  { name: 'floats are rounded to 32 bits', plan: columnPlan('v', 'FLOAT'), given: [0.1], stored: [Math.fround(0.1)] },
  { name: 'no doubles', plan: columnPlan('v', 'DOUBLE'), given: ['x', [], {}], stored: [null, null, null], faults: 3 },
  { name: 'found to be longs', plan: MIXED, given: [null, 1, true, 2n ** 60n], stored: [null, 1n, 1n, 2n ** 60n] },
  { name: 'found to be doubles', plan: MIXED, given: [null, 1, 1.5], stored: [null, 1, 1.5] },
  {
    name: 'found to be strings',
    plan: MIXED,
    given: [null, 1, 1.5, 'x', true],
    stored: [null, '1', '1.5', 'x', '1'],
  },
  {
    name: 'found to be arrays of strings',
    plan: MIXED,
    given: [['a', null], [], null, 'b', [1, true]],
    stored: [['a', null], [], null, ['b'], ['1', '1']],
  },
  {
    name: 'found to be arrays of longs',
    plan: MIXED,
    given: [[], [null], [1, true, 2n ** 60n], null, 7],
    stored: [[], [null], [1n, 1n, 2n ** 60n], null, [7n]],
  },
  { name: 'found to be arrays of doubles', plan: MIXED, given: [[1, 2], [1.5], 3, []], stored: [[1, 2], [1.5], [3], []] },
  {
    name: 'found to be arrays of strings after numbers',
    plan: MIXED,
    given: [1, [1.5], ['x']],
    stored: [['1'], ['1.5'], ['x']],
  },
  {
    name: 'found to be JSON',
    plan: MIXED,
    given: [1, 'x', ['a', 'b'], null, { a: { b: [true, null, 1.5] } }, [[1], [2, 3]], [{ x: 1 }], {}],
    stored: [1, 'x', ['a', 'b'], null, { a: { b: [true, null, 1.5] } }, [[1], [2, 3]], [{ x: 1 }], {}],
  },
  {
    name: 'JSON whatever it is',
    plan: columnPlan('v', 'COMPLEX<json>'),
    given: [1, 'x', true, [1, 'y'], null, { a: 2n ** 60n }, ''],
    stored: [1, 'x', true, [1, 'y'], null, { a: 2n ** 60n }, ''],
  },
  {
    name: 'arrays of longs as declared',
    plan: columnPlan('v', 'ARRAY<LONG>'),
    given: [['1', 2.0, null], 3, [1.5], ['x'], [[1]], null],
    stored: [[1n, 2n, null], [3n], null, null, null, null],
    faults: 3,
  },
  {
    name: 'single strings',
    plan: columnPlan('v', 'STRING', 'SINGLE'),
    given: ['x', 1, ['y'], [], ['y', 'z'], { a: 1 }],
    stored: ['x', '1', 'y', null, null, null],
    faults: 2,
  },
  { name: 'found to be nothing', plan: MIXED, given: [null, undefined], stored: [null, null] },
];
for (const { name, plan, given, stored, faults = 0 } of values) {
  for (const maxRowsInMemory of [1_000_000, 1]) {
    store(`${name}${maxRowsInMemory === 1 ? ', spilled row by row' : ''}`, async () => {
      const blocks = given.map((value, row) => jsonBlock([{ t: row, v: value }], null));
      const { rows, statistics } = await load(blocks, { dimensions: [plan], maxRowsInMemory });
      assert.equal(
        rows.map(({ v }) => v),
        stored,
      );
      assert.equal(statistics.counts(), { processed: given.length - faults, processedWithError: faults, thrownAway: 0, unparseable: 0 });
    });
  }
}

store('metrics without rollup: cast, and counts of one', async () => {
  const metrics: Metric[] = [
    { name: 'n', type: 'LONG', aggregator: { kind: 'count', name: 'n', filter: null }, virtualColumns: [], inputs: [] },
    {
      name: 'total',
      type: 'DOUBLE',
      aggregator: { kind: 'sum', name: 'total', column: 'total', type: 'DOUBLE', filter: null },
      virtualColumns: [],
      inputs: [{ field: 'x', column: columnPlan('total', 'DOUBLE'), isConsumed: true }],
    },
  ];
  const { rows } = await load(oneBlock([{ t: 0, x: 1 }, { t: 1, x: '2.5' }, { t: 2 }]), { dimensions: [], metrics });
  assert.equal(rows, [
    { __time: 0n, total: 1, n: 1n },
    { __time: 1n, total: 2.5, n: 1n },
    { __time: 2n, total: null, n: 1n },
  ]);
});

store('rows without a time, out of the intervals, floored', async () => {
  const rows = [{ t: 0 }, { t: null }, {}, { t: 'soon' }, { t: 2 * HOUR + 61_000 }, { t: 9 * HOUR }, { t: 3 * HOUR }];
  const loaded = await load(oneBlock(rows), { dimensions: [], intervals: [{ start: 0, end: 3 * HOUR }], queryGranularity: 'minute' });
  assert.equal(loaded.rows, [{ __time: 0n }, { __time: BigInt(2 * HOUR + 60_000) }]);
  assert.equal([...loaded.chunks.keys()], [0, 2 * HOUR]);
  assert.equal(loaded.statistics.counts(), { processed: 2, processedWithError: 0, thrownAway: 2, unparseable: 3 });
  assert.match(loaded.statistics.saved[0]?.details[0] ?? '', /"t" is null/);
});

store('discovery as strings leaves out nested objects, exclusions and nulls', async () => {
  const rows = [
    { t: 0, a: 1, n: { x: 1 }, gone: 'g', none: null },
    { t: 1, b: ['y', 'x'] },
  ];
  const { rows: found } = await load(oneBlock(rows), {
    dimensions: [columnPlan('b', 'STRING')],
    discovery: 'STRING',
    exclusions: ['gone'],
  });
  assert.equal(found, [
    { __time: 0n, b: null, a: '1' },
    { __time: 1n, b: ['x', 'y'], a: null },
  ]);
});

store('discovery by values takes nested objects and arrays as they are', async () => {
  const { rows } = await load(oneBlock([{ t: 0, n: { x: 1 }, a: [1, 2], m: [[1]] }]), { dimensions: [], discovery: 'AUTO' });
  assert.equal(rows, [{ __time: 0n, n: { x: 1 }, a: [1n, 2n], m: [[1]] }]);
});

store('CSV fields of every type, bad ones counted once a row', async () => {
  const format = {
    type: 'csv',
    delimiter: ',',
    listDelimiter: null,
    columns: ['t', 's', 'l', 'd'],
    findColumnsFromHeader: false,
    skipHeaderRows: 0,
    tryParseNumbers: false,
  } as const;
  const text = '0,a,1,1.5\n1,,,\n2,"",x,y\nbad,a,1,1\n3,b,9223372036854775807,1e3\n4,c\n';
  const dimensions = [columnPlan('s', 'STRING'), columnPlan('l', 'LONG'), columnPlan('d', 'DOUBLE'), columnPlan('absent', 'LONG')];
  const { rows, statistics } = await load(
    readDelimited(format, inChunks(text, 11), {
      name: 'a file',
      limits: { maxColumns: 100, maxRowBytes: 4000 },
      reject: assert.unreachable,
    }),
    { dimensions },
  );
  assert.equal(rows, [
    { __time: 0n, s: 'a', l: 1n, d: 1.5, absent: null },
    { __time: 1n, s: null, l: null, d: null, absent: null },
    { __time: 2n, s: '', l: null, d: null, absent: null },
    { __time: 3n, s: 'b', l: 2n ** 63n - 1n, d: 1000, absent: null },
    { __time: 4n, s: 'c', l: null, d: null, absent: null },
  ]);
  assert.equal(statistics.counts(), { processed: 4, processedWithError: 1, thrownAway: 0, unparseable: 1 });
});

store('tryParseNumbers types the columns that their fields type', async () => {
  const columns = ['t', 'l', 'd', 's', 'mixed', 'list'];
  const format = {
    type: 'csv',
    delimiter: ',',
    listDelimiter: '|',
    columns,
    findColumnsFromHeader: false,
    skipHeaderRows: 0,
    tryParseNumbers: true,
  } as const;
  const text = '0,7,1,a,1,x\n1,-9223372036854775808,1.5,1,2.5,y|z\n2,,,,b,\n';
  const { rows } = await load(
    readDelimited(format, inChunks(text, 100), {
      name: 'a file',
      limits: { maxColumns: 100, maxRowBytes: 4000 },
      reject: assert.unreachable,
    }),
    { dimensions: [columnPlan('s', 'STRING')], discovery: 'AUTO' },
  );
  assert.equal(
    rows.map(({ l, d, s, mixed, list }) => [l, d, s, mixed, list]),
    [
      [7n, 1, 'a', '1', ['x']],
      [-(2n ** 63n), 1.5, '1', '2.5', ['y', 'z']],
      [null, null, null, 'b', null],
    ],
  );
});

store('listDelimiter makes several values of a CSV field', async () => {
  const format = {
    type: 'csv',
    delimiter: ',',
    listDelimiter: '|',
    columns: ['t', 's', 'l'],
    findColumnsFromHeader: false,
    skipHeaderRows: 0,
    tryParseNumbers: false,
  } as const;
  const { rows } = await load(
    readDelimited(format, inChunks('0,b|a,5\n1,c,6\n2,,7\n', 100), {
      name: 'a file',
      limits: { maxColumns: 100, maxRowBytes: 4000 },
      reject: assert.unreachable,
    }),
    { dimensions: [columnPlan('s', 'STRING'), columnPlan('l', 'LONG')] },
  );
  assert.equal(
    rows.map(({ s, l }) => [s, l]),
    [
      [['a', 'b'], 5n],
      ['c', 6n],
      [null, 7n],
    ],
  );
});

store('segments hold at most maxRowsPerSegment rows', async () => {
  const rows = Array.from({ length: 10 }, (_, row) => ({ t: row }));
  const { chunks } = await load(oneBlock(rows), { dimensions: [columnPlan('v', 'STRING')], maxRowsPerSegment: 4 });
  assert.equal(
    chunks.get(0)?.map((segment) => segment.length),
    [3, 3, 4],
  );
});

store('spilled or not, by rows or by bytes of dictionary, the same rows come back; counts add up', async () => {
  const cell = fc.oneof(
    fc.constant(null),
    fc.string({ maxLength: 4 }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.array(fc.string({ maxLength: 2 }), { maxLength: 3 }),
  );
  const row = fc.record({
    t: fc.oneof(fc.integer({ min: -2 * HOUR, max: 5 * HOUR }), fc.constant(null), fc.constant('x')),
    s: cell,
    l: cell,
    a: cell,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(row, { maxLength: 20 }), { maxLength: 6 }), async (batches) => {
      const loading: Loading = {
        dimensions: [columnPlan('s', 'STRING'), columnPlan('l', 'LONG')],
        discovery: 'AUTO',
        intervals: [{ start: -HOUR, end: 4 * HOUR }],
      };
      const blocks = (): InputBlock[] => batches.map((rows) => jsonBlock(rows, null));
      const whole = await load(blocks(), loading);
      assert.is(whole.spilledBytes, 0);
      assert.is(whole.statistics.rows, batches.flat().length);
      assert.is(whole.rows.length, whole.statistics.processed + whole.statistics.processedWithError);
      for (const limits of [{ maxRowsInMemory: 7 }, { maxRowsInMemory: 7, maxBytesInMemory: 1 }]) {
        const spilled = await load(blocks(), { ...loading, ...limits });
        assert.equal(spilled.statistics.counts(), whole.statistics.counts());
        assert.equal(spilled.rows, whole.rows);
      }
    }),
    { numRuns: 150 },
  );
});
store.run();
