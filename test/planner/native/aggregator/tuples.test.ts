import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { answersOver } from '../frame-queries.js';
import { frameOf, total, visits } from './frames.js';

const tuples = suite('arrayOfDoublesSketch');

const USERS = { type: 'arrayOfDoublesSketch', name: 'users', fieldName: 'user', metricColumns: ['spent', 'points'] };
const users = { type: 'fieldAccess', fieldName: 'users' };
const post = (suffix: string, more: object = { field: users }): object => ({
  type: `arrayOfDoublesSketch${suffix}`,
  name: suffix,
  ...more,
});

tuples('counts keys and sums their numbers', async () => {
  const [row] = await answersOver([visits], {
    aggregations: [USERS],
    postAggregations: [
      post('ToEstimate'),
      post('ToEstimateAndBounds', { field: users, numStdDevs: 2 }),
      post('ToNumEntries'),
      post('ToMeans'),
      post('ToVariances'),
      post('ToMetricsSumEstimate'),
    ],
  });
  assert.is(row?.users, 250);
  assert.is(row?.ToEstimate, 250);
  assert.equal(row?.ToEstimateAndBounds, [250, 250, 250]);
  assert.is(row?.ToNumEntries, 250n);
  // Each user's number is 4u; the mean of 4u over u from 0 to 249 and its variance, 16 (n^2 - 1) / 12 * n / (n - 1).
  const [means, variances, sums] = [row?.ToMeans, row?.ToVariances, row?.ToMetricsSumEstimate] as number[][];
  assert.ok(Math.abs((means?.[0] ?? 0) - 498) < 1e-9);
  assert.is(means?.[1], 4);
  assert.ok(Math.abs((variances?.[0] ?? 0) / ((16 * (250 ** 2 - 1)) / 12) / (250 / 249) - 1) < 1e-12);
  assert.is(variances?.[1], 0);
  assert.equal(sums, [4 * total(0, 250), 1000]);
});

tuples('leaves out rows with a null among their numbers, and takes keys of numbers as text', async () => {
  const [row] = await answersOver([visits], {
    aggregations: [
      { ...USERS, metricColumns: ['half'] },
      { ...USERS, name: 'byNumber', fieldName: 'id' },
    ],
    postAggregations: [post('ToMetricsSumEstimate')],
  });
  assert.is(row?.users, 125);
  assert.equal(row?.ToMetricsSumEstimate, [500]);
  assert.is(row?.byNumber, 250);
});

tuples('set operations', async () => {
  const only = (name: string, from: number, to: number): object => ({
    type: 'filtered',
    filter: { type: 'range', column: 'id', matchValueType: 'LONG', lower: from, upper: to, upperOpen: true },
    aggregator: { ...USERS, name },
  });
  const fields = ['a', 'b'].map((fieldName) => ({ type: 'fieldAccess', fieldName }));
  const set = (operation: string): object => ({ type: 'arrayOfDoublesSketchSetOp', name: operation, operation, fields, numberOfValues: 2 });
  const sums = (operation: string): object => ({
    type: 'arrayOfDoublesSketchToMetricsSumEstimate',
    name: `${operation} sums`,
    field: { type: 'fieldAccess', fieldName: operation },
  });
  const names = ['UNION', 'INTERSECT', 'NOT'];
  const [row] = await answersOver([visits], {
    aggregations: [only('a', 0, 100), only('b', 60, 200)],
    postAggregations: [...names.map(set), ...names.map(sums)],
  });
  assert.equal(row?.['UNION sums'], [4 * (total(0, 100) + total(60, 200)), 4 * (100 + 140)]);
  assert.equal(row?.['INTERSECT sums'], [8 * total(60, 100), 8 * 40]);
  assert.equal(row?.['NOT sums'], [4 * total(0, 60), 4 * 60]);
});

tuples('the t-test, a quantiles sketch, the summary and the bytes', async () => {
  const constant = { type: 'arrayOfDoublesSketchConstant', value: 'AQEJAxQBzJP/////////fw==' };
  const [row] = await answersOver([visits], {
    aggregations: [USERS],
    postAggregations: [
      post('TTest', { fields: [users, users] }),
      {
        type: 'quantilesDoublesSketchToQuantile',
        name: 'median',
        fraction: 0.5,
        field: { type: 'arrayOfDoublesSketchToQuantilesSketch', field: users, column: 1, k: 256 },
      },
      post('ToString'),
      post('ToBase64String', { field: constant }),
      { type: 'arrayOfDoublesSketchToEstimate', name: 'none', field: constant },
    ],
  });
  // Against itself, the first number is as likely as can be; the second does not vary.
  const [first, second] = (row?.TTest ?? []) as number[];
  assert.ok(Math.abs((first ?? 0) - 1) < 1e-9);
  assert.ok(Number.isNaN(second));
  assert.is(row?.median, 4 * 124);
  assert.match(String(row?.ToString), /retained entries: 250/);
  assert.is(row?.ToBase64String, constant.value);
  assert.is(row?.none, 0);
});

tuples('merges stored sketches', async () => {
  const [row] = await answersOver([visits], {
    aggregations: [USERS],
    postAggregations: [post('ToBase64String')],
  });
  const sketch = String(row?.ToBase64String);
  const stored = frameOf([{ users: sketch }, { users: null }, { users: sketch }], { users: 'COMPLEX<arrayOfDoublesSketch>' });
  const [merged] = await answersOver([stored], {
    aggregations: [{ type: 'arrayOfDoublesSketch', name: 'users', fieldName: 'users', numberOfValues: 2 }],
    postAggregations: [post('ToMetricsSumEstimate')],
  });
  assert.is(merged?.users, 250);
  assert.equal(merged?.ToMetricsSumEstimate, [8 * total(0, 250), 2000]);
});

for (const { name, query, message } of [
  { name: 'a size that is no power of 2', query: { aggregations: [{ ...USERS, nominalEntries: 100 }] }, message: /nominalEntries/ },
  {
    name: 'a width that is not that of the columns',
    query: { aggregations: [{ ...USERS, numberOfValues: 3 }] },
    message: /numberOfValues/,
  },
  {
    name: 'four standard deviations',
    query: { aggregations: [USERS], postAggregations: [post('ToEstimateAndBounds', { field: users, numStdDevs: 4 })] },
    message: /numStdDevs/,
  },
  {
    name: 'a constant that is no sketch',
    query: { aggregations: [], postAggregations: [post('Constant', { value: 'AAAA' })] },
    message: /value/,
  },
  {
    name: 'three samples',
    query: { aggregations: [USERS], postAggregations: [post('TTest', { fields: [users, users, users] })] },
    message: /two sketches/,
  },
])
  tuples(`refuses ${name}`, async () => {
    try {
      await answersOver([visits], query);
    } catch (error) {
      return assert.match(String(error), message);
    }
    assert.unreachable('was accepted');
  });

tuples.run();
