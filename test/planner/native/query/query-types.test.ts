import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { planNative } from '../../../../src/planner/native/plan-native.js';
import { scanColumns } from '../../../../src/planner/plan.js';
import { ask, memory, TABLES } from '../answers.js';

const base = { dataSource: 'edits', intervals: '2024-01-01/P2D' };

const subtotals = suite('subtotals');
const byPageAndDay = {
  ...base,
  queryType: 'groupBy',
  granularity: 'all',
  dimensions: [
    { type: 'extraction', dimension: '__time', outputName: 'day', extractionFn: { type: 'timeFormat', format: 'dd' } },
    { type: 'extraction', dimension: 'page', outputName: 'size', extractionFn: { type: 'strlen' }, outputType: 'LONG' },
  ],
  aggregations: [{ type: 'count', name: 'rows' }],
};

// A grouping without a dimension computes it as null after the aggregates, so columns are compared by name.
subtotals('one grouping after another, with nulls for what is left out', async () => {
  const rows = await ask({ ...byPageAndDay, subtotalsSpec: [['day', 'size'], ['size'], []] });
  assert.equal(rows, [
    ['01', 0n, 2n],
    ['01', 5n, 1n],
    ['02', 6n, 1n],
    ['02', 10n, 1n],
    [0n, 2n, null],
    [5n, 1n, null],
    [6n, 1n, null],
    [10n, 1n, null],
    [5n, null, null],
  ]);
});

subtotals('having, limit and post-aggregators apply to each', async () => {
  const rows = await ask({
    ...byPageAndDay,
    subtotalsSpec: [['day'], ['size']],
    postAggregations: [{ type: 'expression', name: 'isTotal', expression: 'isnull(day)' }],
    having: { type: 'greaterThan', aggregation: 'rows', value: 1 },
    limitSpec: { type: 'default', limit: 1, offset: 1, columns: [{ dimension: 'rows', direction: 'descending' }] },
  });
  assert.equal(rows, [['02', 2n, null, 0n]]);
});

for (const [name, subtotalsSpec] of [
  ['unknown names', [['day', 'nowhere']]],
  ['another order', [['size', 'day']]],
  ['a name twice', [['day', 'day']]],
  ['what is no list', ['day']],
] as const)
  subtotals(`refuses ${name}`, () => {
    assert.throws(
      () => planNative({ ...byPageAndDay, subtotalsSpec }, false, TABLES),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid' && /subtotalsSpec\[0\]/.test(error.message),
    );
  });
subtotals.run();

const scans = suite('scan order');
const scan = { ...base, queryType: 'scan', columns: ['page', 'added'] };

scans('by any columns, then the rows from the offset up to the limit', async () => {
  assert.equal(await ask({ ...scan, orderBy: [{ columnName: 'added', order: 'descending' }] }), [
    [null, 20n],
    ['Paris', 10n],
    ['', 5n],
    ['parrot', -7n],
    ['2024-03-05', null],
  ]);
  assert.equal(await ask({ ...scan, orderBy: [{ columnName: 'page', order: 'ascending' }], offset: 1, limit: 2 }), [
    ['', 5n],
    ['2024-03-05', null],
  ]);
});

scans('by a column that is not put out', async () => {
  const query = { ...scan, columns: ['page'], orderBy: [{ columnName: 'price' }, { columnName: '__time', order: 'descending' }] };
  assert.equal(await ask(query), [[''], ['2024-03-05'], ['parrot'], ['Paris'], [null]]);
  const [plan] = planNative(query, false, TABLES).plans;
  assert.equal(plan?.operator === 'scan' ? scanColumns(plan) : null, ['page']);
});

scans('by time alone is the order of time', () => {
  const [plan] = planNative({ ...scan, orderBy: [{ columnName: '__time', order: 'descending' }] }, false, TABLES).plans;
  assert.is(plan?.operator === 'scan' ? plan.timeOrder : null, 'descending');
});

scans('refuses two orders at once', () => {
  assert.throws(() => planNative({ ...scan, order: 'ascending', orderBy: [{ columnName: 'page' }] }, false, TABLES), /exclude each other/);
});
scans.run();

const pages = suite('limits and ranks');
const counted = { ...base, granularity: 'all', aggregations: [{ type: 'longSum', name: 'sum', fieldName: 'added' }] };

pages('a groupBy without columns to order by has an offset as well', async () => {
  const query = { ...counted, queryType: 'groupBy', dimensions: ['page'], limitSpec: { type: 'default', offset: 3, limit: 5 } };
  assert.equal(await ask(query), [
    ['Paris', 10n],
    ['parrot', -7n],
  ]);
});

const topN = { ...counted, queryType: 'topN', dimension: 'page', threshold: 2 };
const ranks: readonly { name: string; metric: unknown; rows: unknown }[] = [
  {
    name: 'numeric',
    metric: 'sum',
    rows: [
      [null, 20n],
      ['Paris', 10n],
    ],
  },
  {
    name: 'inverted',
    metric: { type: 'inverted', metric: 'sum' },
    rows: [
      ['2024-03-05', null],
      ['parrot', -7n],
    ],
  },
  {
    name: 'inverted twice',
    metric: { type: 'inverted', metric: { type: 'inverted', metric: 'sum' } },
    rows: [
      [null, 20n],
      ['Paris', 10n],
    ],
  },
  {
    name: 'dimension',
    metric: { type: 'dimension' },
    rows: [
      [null, 20n],
      ['', 5n],
    ],
  },
  {
    name: 'dimension after a stop',
    metric: { type: 'dimension', previousStop: '2024-03-05' },
    rows: [
      ['Paris', 10n],
      ['parrot', -7n],
    ],
  },
  {
    name: 'dimension by length, inverted',
    metric: { type: 'inverted', metric: { type: 'dimension', ordering: 'strlen' } },
    rows: [
      [null, 20n],
      ['2024-03-05', null],
    ],
  },
];
for (const { name, metric, rows } of ranks) pages(`topN metric: ${name}`, async () => assert.equal(await ask({ ...topN, metric }), rows));

pages('search finds values and counts their rows', async () => {
  const search = { ...base, queryType: 'search', query: { type: 'insensitive_contains', value: 'a' }, searchDimensions: ['tags'] };
  assert.equal(await ask(search), [
    ['a', 2n],
    ['ab', 1n],
  ]);
  assert.equal(await ask({ ...search, sort: { type: 'strlen' }, query: { type: 'fragment', values: ['a', 'B'] } }), [['ab', 1n]]);
});

pages('leave no memory behind', () => assert.is(memory.allocatedBytes, 0));
pages.run();
