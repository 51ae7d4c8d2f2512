import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { planNative } from '../../../src/planner/native/plan-native.js';
import type { KnownTables } from '../../../src/planner/plan.js';
import { printPlan } from '../../../src/planner/print-plan.js';

const tables: KnownTables = {
  table: (name) =>
    name !== 'wiki'
      ? undefined
      : {
          interval: { start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 14) },
          columns: [
            { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
            { name: 'page', type: 'STRING', multiValue: false, hasNulls: true },
            { name: 'user', type: 'STRING', multiValue: false, hasNulls: true },
            { name: 'added', type: 'LONG', multiValue: false, hasNulls: false },
          ],
        },
};

const DAY = '2015-09-12T00:00:00.000Z/2015-09-13T00:00:00.000Z';
const base = {
  dataSource: 'wiki',
  intervals: '2015-09-12/P1D',
  granularity: 'all',
  aggregations: [
    { type: 'count', name: 'rows' },
    { type: 'longSum', name: 'added', fieldName: 'added' },
  ],
};
const AGGREGATES = ['aggregate rows = count', 'aggregate added = sum added as LONG'];
const mean = {
  type: 'arithmetic',
  name: 'mean',
  fn: '/',
  fields: [
    { type: 'fieldAccess', fieldName: 'added' },
    { type: 'fieldAccess', fieldName: 'rows' },
  ],
};
const MEAN =
  'then compute mean DOUBLE = case_searched((notnull(cast("added", \'DOUBLE\')) && (cast("rows", \'DOUBLE\') == 0.0)), 0.0, (cast("added", \'DOUBLE\') / cast("rows", \'DOUBLE\')))';

const plans = suite('native plans');

const cases: readonly { name: string; body: unknown; printed: readonly (readonly string[])[] }[] = [
  {
    name: 'timeseries over all',
    body: { ...base, queryType: 'timeseries', postAggregations: [mean] },
    printed: [[`group wiki over ${DAY}, where segments are`, ...AGGREGATES, 'one row for no rows', MEAN]],
  },
  {
    name: 'timeseries by hour over eternity is filled where segments are',
    body: { ...base, queryType: 'timeseries', granularity: 'hour', intervals: 'eternity', limit: 5 },
    printed: [
      [
        'group wiki over -146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z, where segments are',
        'key __time = bucket by hour',
        ...AGGREGATES,
        'then fill __time by hour',
        'then rows 0 to 5',
      ],
    ],
  },
  {
    name: 'timeseries descending without empty buckets, with a total',
    body: {
      ...base,
      queryType: 'timeseries',
      granularity: 'hour',
      descending: true,
      limit: 2,
      context: { skipEmptyBuckets: true, grandTotal: true },
    },
    printed: [
      [
        `group wiki over ${DAY}, where segments are`,
        'key __time = bucket by hour',
        ...AGGREGATES,
        'then sort by __time descending, nulls first, numeric, rows 0 to 2',
      ],
      [`group wiki over ${DAY}, where segments are`, ...AGGREGATES],
    ],
  },
  {
    name: 'timeseries of an unknown table',
    body: { ...base, dataSource: 'nowhere', queryType: 'timeseries' },
    printed: [[`group nowhere over ${DAY}, where segments are`, ...AGGREGATES, 'one row for no rows']],
  },
  {
    name: 'topN by a post-aggregator computes the others last',
    body: {
      ...base,
      queryType: 'topN',
      dimension: 'page',
      metric: 'mean',
      threshold: 3,
      postAggregations: [mean, { type: 'constant', name: 'one', value: 1 }],
    },
    printed: [
      [
        `group wiki over ${DAY}`,
        'key page as STRING',
        ...AGGREGATES,
        MEAN,
        'then sort by mean descending, nulls last, numeric, rows 0 to 3',
        'then compute one LONG = 1',
      ],
    ],
  },
  {
    name: 'topN by hour, inverted dimension, from a stop',
    body: {
      ...base,
      queryType: 'topN',
      granularity: 'hour',
      dimension: { type: 'default', dimension: 'page', outputName: 'p' },
      threshold: 3,
      metric: { type: 'inverted', metric: { type: 'dimension', previousStop: 'k' } },
    },
    printed: [
      [
        `group wiki over ${DAY}`,
        'key __time = bucket by hour',
        'key p = page as STRING',
        ...AGGREGATES,
        'then keep where p < "k" as STRING, lexicographic',
        'then keep the best 3 of each __time by p descending, nulls first, lexicographic',
      ],
    ],
  },
  {
    name: 'groupBy with everything',
    body: {
      ...base,
      queryType: 'groupBy',
      granularity: 'day',
      dimensions: ['page', { type: 'default', dimension: 'v', outputType: 'LONG' }],
      virtualColumns: [{ type: 'expression', name: 'v', expression: 'added % 10', outputType: 'LONG' }],
      filter: {
        type: 'and',
        fields: [
          { type: 'selector', dimension: 'user', value: 'x' },
          { type: 'not', field: { type: 'in', dimension: 'added', values: ['1', '2'] } },
        ],
      },
      having: {
        type: 'and',
        havingSpecs: [
          { type: 'greaterThan', aggregation: 'rows', value: 1 },
          { type: 'dimSelector', dimension: 'page', value: 'x' },
        ],
      },
      limitSpec: {
        type: 'default',
        limit: 10,
        offset: 5,
        columns: [{ dimension: 'added', direction: 'descending', dimensionOrder: 'numeric' }],
      },
    },
    printed: [
      [
        `group wiki over ${DAY}`,
        'virtual v LONG = ("added" % 10)',
        'where (user = "x" as STRING and not added in [1,2] as LONG)',
        'key __time = bucket by day',
        'key page as STRING',
        'key v as LONG',
        ...AGGREGATES,
        'then keep where (1 < rows as LONG, numeric and page = "x" as STRING)',
        'then sort by __time ascending, nulls first, numeric, added descending, nulls last, numeric, page ascending, nulls first, lexicographic, v ascending, nulls first, numeric, rows 5 to 15',
      ],
    ],
  },
  {
    name: 'groupBy with time after the dimensions',
    body: { ...base, queryType: 'groupBy', granularity: 'day', dimensions: ['page'], context: { sortByDimsFirst: true } },
    printed: [
      [
        `group wiki over ${DAY}`,
        'key __time = bucket by day',
        'key page as STRING',
        ...AGGREGATES,
        'then sort by page ascending, nulls first, lexicographic, __time ascending, nulls first, numeric',
      ],
    ],
  },
  {
    name: 'groupBy without dimensions',
    body: { ...base, queryType: 'groupBy', limitSpec: { type: 'default', limit: 1 } },
    printed: [[`group wiki over ${DAY}`, ...AGGREGATES, 'one row for no rows', 'then rows 0 to 1']],
  },
  {
    name: 'scan of all columns',
    body: { queryType: 'scan', dataSource: 'wiki', intervals: '2015-09-12/P1D', order: 'descending', limit: 3 },
    printed: [[`scan wiki over ${DAY}`, 'columns __time, page, user, added', 'in time order, descending', 'rows 0 to 3']],
  },
  {
    name: 'search over two dimensions',
    body: { queryType: 'search', dataSource: 'wiki', intervals: '2015-09-12/P1D', query: { type: 'insensitive_contains', value: 'o' } },
    printed: ['page', 'user'].map((name) => [
      `group wiki over ${DAY}`,
      `key ${name} as STRING`,
      'aggregate count = count',
      `then keep where (icontains_string("${name}", 'o'))`,
      `then sort by ${name} ascending, nulls first, lexicographic, rows 0 to 1000`,
    ]),
  },
  {
    name: 'timeBoundary',
    body: { queryType: 'timeBoundary', dataSource: 'wiki' },
    printed: [['timeBoundary wiki over -146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z']],
  },
  {
    name: 'segmentMetadata of the last week',
    body: { queryType: 'segmentMetadata', dataSource: 'wiki', merge: true, toInclude: { type: 'list', columns: ['page'] } },
    printed: [
      [
        'segmentMetadata wiki over 2015-09-07T00:00:00.000Z/2015-09-14T00:00:00.000Z',
        'analyse cardinality, interval, minmax',
        'columns page',
        'merged',
      ],
    ],
  },
];
for (const { name, body, printed } of cases) {
  plans(name, () =>
    assert.equal(
      planNative(body, false, tables).plans.map((plan) => printPlan(plan).split('\n')),
      printed,
    ),
  );
}
plans.run();
