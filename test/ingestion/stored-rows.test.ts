import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { TableQuery, TaskContext } from '../../src/ingestion/contract.js';
import { arrayText } from '../../src/model/array-text.js';
import type { Frame } from '../../src/model/frame.js';
import { run } from './run-task.js';

/** The input sources `druid` and `combining`, over rows that a broker would give. */
const DAY = 86_400_000;
const FRAME: Frame = {
  rowCount: 3,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.of(0n, 1000n, BigInt(DAY)), nulls: null },
    { kind: 'string', name: 'page', ids: Uint32Array.of(1, 1, 0), dictionary: [null, 'a'] },
    { kind: 'multi', name: 'tags', offsets: Uint32Array.of(0, 2, 2, 3), ids: Uint32Array.of(0, 1, 1), dictionary: ['x', 'y'] },
    { kind: 'long', name: 'n', values: BigInt64Array.of(2n ** 60n, 5n, 0n), nulls: Uint32Array.of(0b100) },
    { kind: 'double', name: 'd', type: 'DOUBLE', values: Float64Array.of(0.5, 0.25, 2), nulls: null },
    {
      kind: 'string',
      name: 'list',
      type: 'ARRAY<LONG>',
      ids: Uint32Array.of(1, 0, 0),
      dictionary: [null, arrayText([1n, 2n], 'ARRAY<LONG>')],
    },
    { kind: 'string', name: 'state', type: 'COMPLEX<hyperUnique>', ids: Uint32Array.of(0, 0, 0), dictionary: [null] },
  ],
};

interface Case {
  readonly name: string;
  readonly source: unknown;
  readonly schema?: unknown;
  readonly inputFormat?: unknown;
  readonly rows?: readonly Record<string, unknown>[];
  readonly refused?: RegExp;
  readonly keepsStoredTimes?: boolean;
  readonly query?: (query: TableQuery) => void;
}

const DRUID = { type: 'druid', dataSource: 'raw', interval: '1970-01-01/P2D' };
const TIMES = { timestampSpec: { column: '__time', format: 'millis' }, granularitySpec: { rollup: false, segmentGranularity: 'all' } };

const CASES: readonly Case[] = [
  {
    name: 'all columns as they are found; states of aggregators are not found',
    source: DRUID,
    schema: { ...TIMES, dimensionsSpec: { useSchemaDiscovery: true } },
    rows: [
      { __time: 0n, page: 'a', tags: ['x', 'y'], n: 2n ** 60n, d: 0.5, list: [1n, 2n] },
      { __time: 1000n, page: 'a', tags: null, n: 5n, d: 0.25, list: null },
      { __time: BigInt(DAY), page: null, tags: ['y'], n: null, d: 2, list: null },
    ],
    query: ({ plan, source, allColumns }) => {
      assert.is(allColumns, true);
      assert.equal(source, { kind: 'table', name: 'raw' });
      assert.equal(plan.intervals, [{ start: 0, end: 2 * DAY }]);
    },
  },
  {
    name: 'only the columns that the spec names are asked for, with a filter',
    source: { ...DRUID, filter: { type: 'selector', dimension: 'page', value: 'a' }, dimensions: ['page'], metrics: [] },
    schema: { ...TIMES, dimensionsSpec: { dimensions: ['page'] }, metricsSpec: [{ type: 'doubleSum', name: 'sum', fieldName: 'd' }] },
    rows: [
      { __time: 0n, page: 'a', sum: 0.5 },
      { __time: 1000n, page: 'a', sum: 0.25 },
      { __time: BigInt(DAY), page: null, sum: 2 },
    ],
    query: ({ plan, allColumns }) => {
      assert.is(allColumns, undefined);
      assert.equal(plan.operator === 'scan' ? [...plan.columns].sort() : [], ['__time', 'd', 'page']);
      assert.ok(plan.filter !== null);
    },
  },
  {
    name: 'rolled up by day, with a transform: the reindexing of the documentation',
    source: DRUID,
    schema: {
      timestampSpec: { column: '__time', format: 'auto' },
      dimensionsSpec: { dimensions: ['name'] },
      metricsSpec: [{ type: 'count', name: 'count' }],
      granularitySpec: { rollup: true, queryGranularity: 'day', segmentGranularity: 'all' },
      transformSpec: { transforms: [{ type: 'expression', name: 'name', expression: "nvl(page, 'none')" }] },
    },
    rows: [
      { __time: 0n, name: 'a', count: 2n },
      { __time: BigInt(DAY), name: 'none', count: 1n },
    ],
  },
  {
    name: 'combining reads one source after the other',
    source: { type: 'combining', delegates: [{ type: 'inline', data: '{"__time":7,"page":"first"}' }, DRUID] },
    inputFormat: { type: 'json' },
    schema: { ...TIMES, dimensionsSpec: { dimensions: ['page'] } },
    rows: [
      { __time: 0n, page: 'a' },
      { __time: 7n, page: 'first' },
      { __time: 1000n, page: 'a' },
      { __time: BigInt(DAY), page: null },
    ],
  },
  {
    name: 'times of stored rows under a timestampSpec of other rows, where they are kept',
    source: { type: 'combining', delegates: [{ type: 'inline', data: '{"t":7,"page":"first"}' }, DRUID] },
    inputFormat: { type: 'json' },
    keepsStoredTimes: true,
    schema: { ...TIMES, timestampSpec: { column: 't', format: 'millis' }, dimensionsSpec: { dimensions: ['page'] } },
    rows: [
      { __time: 0n, page: 'a' },
      { __time: 7n, page: 'first' },
      { __time: 1000n, page: 'a' },
      { __time: BigInt(DAY), page: null },
    ],
  },
  {
    name: 'times of stored rows under a timestampSpec of other rows',
    source: { type: 'combining', delegates: [{ type: 'inline', data: '{"t":7,"page":"first"}' }, DRUID] },
    inputFormat: { type: 'json' },
    schema: { ...TIMES, timestampSpec: { column: 't', format: 'millis' }, dimensionsSpec: { dimensions: ['page'] } },
    rows: [{ __time: 7n, page: 'first' }],
  },
  {
    name: 'a dimension of states',
    source: DRUID,
    schema: { ...TIMES, dimensionsSpec: { dimensions: ['state'] } },
    refused: /a dimension reads the column "state", which holds states of aggregators/,
  },
  {
    name: 'a metric that would take states for values',
    source: DRUID,
    schema: { ...TIMES, dimensionsSpec: { dimensions: ['page'] }, metricsSpec: [{ type: 'hyperUnique', name: 'u', fieldName: 'state' }] },
    refused: /the metric "u" reads the column "state"/,
  },
  {
    name: 'a format where there is nothing to read by it, as public specs have it',
    source: { ...DRUID, maxInputSegmentBytesPerTask: 1 },
    inputFormat: { type: 'json' },
    schema: { ...TIMES, dimensionsSpec: { dimensions: ['page'] } },
    rows: [
      { __time: 0n, page: 'a' },
      { __time: 1000n, page: 'a' },
      { __time: BigInt(DAY), page: null },
    ],
  },
  {
    name: 'a wrong format beside it',
    source: DRUID,
    inputFormat: { type: 'jsn' },
    schema: { ...TIMES, dimensionsSpec: {} },
    refused: /inputFormat.type: .*"jsn"/,
  },
  {
    name: 'segments in the place of an interval',
    source: { type: 'druid', dataSource: 'raw', segments: [] },
    schema: { ...TIMES, dimensionsSpec: {} },
    refused: /segments: .*not supported; give an interval/,
  },
  {
    name: 'no interval',
    source: { type: 'druid', dataSource: 'raw' },
    schema: { ...TIMES, dimensionsSpec: {} },
    refused: /interval: expected a string/,
  },
  {
    name: 'nothing to combine',
    source: { type: 'combining', delegates: [] },
    schema: { ...TIMES, dimensionsSpec: {} },
    refused: /delegates: expected at least one input source/,
  },
];

const stored = suite('stored rows');
for (const { name, source, schema, inputFormat, rows, refused, query, keepsStoredTimes = false } of CASES) {
  stored(name, async () => {
    const options: Partial<TaskContext> = {
      keepsStoredTimes,
      async *readTables(asked) {
        query?.(asked);
        const wanted = asked.plan.operator === 'scan' && asked.allColumns !== true ? asked.plan.columns : null;
        yield { ...FRAME, columns: FRAME.columns.filter((column) => wanted === null || wanted.includes(column.name)) };
      },
    };
    const dataSchema = { dataSource: 'ds', ...(schema as object) };
    const task = { type: 'index_parallel', spec: { dataSchema, ioConfig: { type: 'index_parallel', inputSource: source, inputFormat } } };
    const { outcome, rows: found } = await run(task, options);
    if (refused !== undefined) {
      assert.match(outcome.errorMessage ?? '', refused);
      return;
    }
    assert.is(outcome.errorMessage, null);
    const shown = [...found].sort((left, right) => Number(left['__time']) - Number(right['__time']));
    assert.equal(shown, rows);
  });
}

stored.run();
