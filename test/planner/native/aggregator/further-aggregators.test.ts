import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Frame, FrameColumn } from '../../../../src/model/frame.js';
import type { TextType } from '../../../../src/model/schema.js';
import { toBase64 } from '../../../../src/sketch/base64.js';
import { Bloom, hash64OfDouble, hash64OfLong, hash64OfText, NULL_HASH } from '../../../../src/sketch/bloom.js';
import { answersOver } from '../frame-queries.js';

type Row = Readonly<Record<string, string | bigint | number | null>>;

function bits(values: readonly unknown[]): Uint32Array | null {
  const words = new Uint32Array(Math.ceil(values.length / 64) * 2);
  values.forEach((value, row) => {
    if (value === null) words[row >>> 5] = (words[row >>> 5] ?? 0) | (1 << (row & 31));
  });
  return values.includes(null) ? words : null;
}

/** One row a second; the kind of a column shows in its first value that is not null. */
function frameOf(rows: readonly Row[], types: Readonly<Record<string, TextType>> = {}): Frame {
  const names = Object.keys(rows[0] ?? {});
  return {
    rowCount: rows.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(rows, (_, row) => BigInt(row * 1000)), nulls: null },
      ...names.map((name): FrameColumn => {
        const values = rows.map((row) => row[name] ?? null);
        const known = values.find((value) => value !== null);
        const type = types[name];
        if (typeof known === 'bigint')
          return { kind: 'long', name, values: BigInt64Array.from(values, (value) => BigInt(value ?? 0)), nulls: bits(values) };
        if (typeof known === 'number')
          return {
            kind: 'double',
            type: 'DOUBLE',
            name,
            values: Float64Array.from(values, (value) => Number(value ?? 0)),
            nulls: bits(values),
          };
        return {
          kind: 'string',
          name,
          ...(type === undefined ? {} : { type }),
          ids: Uint32Array.from(values.keys()),
          dictionary: values.map((value) => (value === null ? null : String(value))),
        };
      }),
    ],
  };
}

/** 1,000 visits of 250 users, four each: user u has `spent` u each time and `points` 1. */
const visits = frameOf(
  Array.from({ length: 1000 }, (_, row) => ({
    user: `user ${row % 250}`,
    id: BigInt(row % 250),
    spent: row % 250,
    points: 1n,
    half: row % 2 === 0 ? 1 : null,
  })),
);
const total = (from: number, to: number): number => ((from + to - 1) * (to - from)) / 2;

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

const histograms = suite('histograms');

const histogramIn = (row: Record<string, unknown> | undefined): Record<string, unknown> => (row?.h ?? {}) as Record<string, unknown>;
const prices = frameOf([1, 2, null, 3, 4, 10].map((price) => ({ price })));
const APPROXIMATE = { type: 'approxHistogram', name: 'h', fieldName: 'price' };
const FIXED = {
  type: 'fixedBucketsHistogram',
  name: 'h',
  fieldName: 'price',
  lowerLimit: 0,
  upperLimit: 8,
  numBuckets: 4,
  outlierHandlingMode: 'overflow',
};

histograms('approximate: buckets, bounds and quantiles', async () => {
  const of = (type: string, more: object = {}): object => ({ type, name: type, fieldName: 'h', ...more });
  const [row] = await answersOver([prices], {
    aggregations: [{ ...APPROXIMATE, numBuckets: 4 }],
    postAggregations: [
      of('min'),
      of('max'),
      of('quantile', { probability: 0.4 }),
      of('quantiles', { probabilities: [0, 0.5, 1] }),
      of('equalBuckets', { numBuckets: 2 }),
      of('buckets', { bucketSize: 5, offset: 0 }),
      of('customBuckets', { breaks: [0, 2, 20] }),
    ],
  });
  assert.equal(row?.h, { breaks: [-2, 1, 4, 7, 10], counts: [1, 3, 0, 1] });
  assert.equal([row?.min, row?.max, row?.quantile], [1, 10, 2]);
  assert.equal(row?.quantiles, { probabilities: [0, 0.5, 1], quantiles: [1, 2.5, 10], min: 1, max: 10 });
  assert.equal(row?.equalBuckets, { breaks: [-8, 1, 10], counts: [1, 4] });
  assert.equal(row?.buckets, { breaks: [0, 5, 10], counts: [4, 1] });
  assert.equal(row?.customBuckets, { breaks: [0, 2, 20], counts: [2, 3] });
});

histograms('approximate: folds stored histograms', async () => {
  const [row] = await answersOver([prices], { aggregations: [{ ...APPROXIMATE, finalizeAsBase64Binary: true }] });
  const stored = frameOf([{ h: String(row?.h) }, { h: String(row?.h) }], { h: 'COMPLEX<approximateHistogram>' });
  const [folded] = await answersOver([stored], {
    aggregations: [{ type: 'approxHistogramFold', name: 'h', fieldName: 'h', numBuckets: 4 }],
  });
  assert.equal(folded?.h, { breaks: [-2, 1, 4, 7, 10], counts: [2, 6, 0, 2] });
});

histograms('fixed: all fields, and quantiles', async () => {
  const [row] = await answersOver([prices], {
    aggregations: [FIXED],
    postAggregations: [
      { type: 'max', name: 'largest', fieldName: 'h' },
      { type: 'quantile', name: 'half', fieldName: 'h', probability: 0.5 },
    ],
  });
  assert.equal(row?.h, {
    lowerLimit: 0,
    upperLimit: 8,
    numBuckets: 4,
    outlierHandlingMode: 'overflow',
    count: 4,
    lowerOutlierCount: 0,
    upperOutlierCount: 1,
    missingValueCount: 1,
    max: 4,
    min: 1,
    histogram: [1, 2, 1, 0],
  });
  // Half of four values: the first and half of the two in [2, 4).
  assert.equal([row?.largest, row?.half], [4, 3]);
});

histograms('fixed: merges stored histograms, and counts a missing column as nulls', async () => {
  const [row] = await answersOver([prices], { aggregations: [{ ...FIXED, finalizeAsBase64Binary: true }] });
  const stored = frameOf([{ h: String(row?.h) }, { h: String(row?.h) }], { h: 'COMPLEX<fixedBucketsHistogram>' });
  const [merged] = await answersOver([stored], { aggregations: [{ ...FIXED, fieldName: 'h', numBuckets: 2 }] });
  const found = histogramIn(merged);
  assert.equal([found.histogram, found.upperOutlierCount, found.missingValueCount], [[6, 2], 2, 2]);
  const [none] = await answersOver([prices], { aggregations: [{ ...FIXED, fieldName: 'nowhere' }] });
  assert.is(histogramIn(none).missingValueCount, 6);
});

histograms('of no rows are null', async () => {
  const [row] = await answersOver([prices], {
    filter: { type: 'false' },
    aggregations: [APPROXIMATE, { ...FIXED, name: 'f' }],
    postAggregations: [
      { type: 'max', name: 'largest', fieldName: 'h' },
      { type: 'equalBuckets', name: 'equal', fieldName: 'h', numBuckets: 2 },
    ],
  });
  assert.equal(row, { ...row, h: null, f: null, largest: null, equal: null });
});

histograms.run();

const statistics = suite('statistics');

statistics('the z-score and its p-value', async () => {
  const constant = (value: number): object => ({ type: 'constant', name: 'c', value });
  const score = {
    type: 'zscore2sample',
    name: 'z',
    successCount1: constant(300),
    sample1Size: constant(500),
    successCount2: constant(450),
    sample2Size: constant(600),
  };
  const [row] = await answersOver([prices], {
    aggregations: [],
    postAggregations: [score, { type: 'pvalue2tailedZtest', name: 'p', zScore: { ...score, name: 'inner' } }],
  });
  assert.ok(Math.abs(Number(row?.z) - -0.15 / Math.sqrt(0.00048 + 0.0003125)) < 1e-12);
  // Beyond 5.328 standard deviations on both sides: tables give 1.0e-7.
  assert.ok(Math.abs(Number(row?.p) / 1e-7 - 1) < 0.01, String(row?.p));
});

statistics.run();

const blooms = suite('bloom');

const filterOf = (...hashes: Parameters<Bloom['add']>[0][]): string => {
  const filter = Bloom.create(10);
  for (const hash of hashes) filter.add(hash);
  return toBase64(filter.encode());
};
const things = frameOf([
  { name: 'a', long: 1n, double: 0.5 },
  { name: null, long: null, double: null },
  { name: 'b', long: 7n, double: -2 },
]);
const bloom = (field: unknown): object => ({ aggregations: [{ type: 'bloom', name: 'x', field, maxNumEntries: 10 }] });

for (const { field, expected } of [
  { field: 'name', expected: filterOf(hash64OfText('a'), NULL_HASH, hash64OfText('b')) },
  { field: 'long', expected: filterOf(hash64OfLong(1n), NULL_HASH, hash64OfLong(7n)) },
  { field: 'double', expected: filterOf(hash64OfDouble(0.5), NULL_HASH, hash64OfDouble(-2)) },
  {
    field: { type: 'extraction', dimension: 'name', extractionFn: { type: 'upper' } },
    expected: filterOf(hash64OfText('A'), NULL_HASH, hash64OfText('B')),
  },
  { field: 'nowhere', expected: filterOf(NULL_HASH) },
])
  blooms(`of ${JSON.stringify(field)} has all its values, null among them`, async () => {
    const [row] = await answersOver([things], bloom(field));
    assert.is(row?.x, expected);
  });

blooms('of no rows is empty', async () => {
  const [row] = await answersOver([things], { ...bloom('name'), filter: { type: 'false' } });
  assert.is(row?.x, filterOf());
});

blooms('of stored filters has what either has', async () => {
  const stored = frameOf([{ f: filterOf(NULL_HASH) }, { f: filterOf(hash64OfLong(3n)) }], { f: 'COMPLEX<bloom>' });
  const [row] = await answersOver([stored], bloom('f'));
  assert.is(row?.x, filterOf(NULL_HASH, hash64OfLong(3n)));
});

blooms('order by how much they hold', async () => {
  const rows = frameOf(
    [
      ['x', 1n],
      ['y', 1n],
      ['y', 2n],
      ['z', 1n],
      ['z', 2n],
      ['z', 3n],
    ].map(([group = '', value = 0n]) => ({ group, value })),
  );
  const more = {
    type: 'fixedBucketsHistogram',
    name: 'h',
    fieldName: 'value',
    lowerLimit: 0,
    upperLimit: 9,
    outlierHandlingMode: 'ignore',
  };
  const bloomed = { type: 'bloom', name: 'x', field: 'value', maxNumEntries: 100 };
  for (const metric of ['x', 'h']) {
    const best = await answersOver([rows], { queryType: 'topN', dimension: 'group', threshold: 2, metric, aggregations: [bloomed, more] });
    assert.equal(
      best.map(({ group }) => group),
      ['z', 'y'],
    );
  }
});

blooms.run();

const grouping = suite('grouping');

const GROUPED = {
  queryType: 'groupBy',
  dimensions: ['name', 'long'],
  aggregations: [{ type: 'grouping', name: 'g', groupings: ['name', 'long'] }],
};

grouping('numbers the parts of subtotals by what they leave out', async () => {
  const rows = await answersOver([things], { ...GROUPED, subtotalsSpec: [['name', 'long'], ['name'], ['long'], []] });
  assert.equal(
    rows.map((row) => row.g),
    [0n, 0n, 0n, 1n, 1n, 1n, 2n, 2n, 2n, 3n],
  );
});

grouping('without subtotals is 0', async () => {
  const rows = await answersOver([things], GROUPED);
  assert.equal(
    rows.map((row) => row.g),
    [0n, 0n, 0n],
  );
});

for (const { name, query, message } of [
  { name: 'no columns', query: { ...GROUPED, aggregations: [{ type: 'grouping', name: 'g', groupings: [] }] }, message: /groupings/ },
  { name: 'a timeseries', query: { aggregations: [{ type: 'grouping', name: 'g', groupings: ['name'] }] }, message: /groupBy/ },
  {
    name: 'a filter',
    query: { ...GROUPED, aggregations: [{ type: 'filtered', filter: { type: 'true' }, aggregator: GROUPED.aggregations[0] }] },
    message: /over rows/,
  },
])
  grouping(`refuses ${name}`, async () => {
    try {
      await answersOver([things], query);
    } catch (error) {
      return assert.match(String(error), message);
    }
    assert.unreachable('was accepted');
  });

grouping.run();

const folds = suite('expression aggregator');

const numbers = (from: number, to: number): Frame =>
  frameOf(
    Array.from({ length: to - from }, (_, index) => ({
      long: BigInt(from + index),
      double: (from + index) / 4,
      text: `t${(from + index) % 3}`,
      hole: (from + index) % 2 === 0 ? null : BigInt(from + index),
    })),
  );
/** 1 to 10 in one piece, and in two, [1, 6) and [6, 11). */
const WHOLE = [numbers(1, 11)];
const PARTS = [numbers(1, 6), numbers(6, 11)];
const fold = (more: object): object => ({ aggregations: [{ type: 'expression', name: 'x', fields: [], ...more }] });

for (const { name, spec, whole, parts = whole } of [
  { name: 'a count', spec: { initialValue: '0', fold: '__acc + 1', combine: '__acc + x' }, whole: 10n },
  { name: 'a sum, which combines as it folds', spec: { fields: ['long'], initialValue: '0', fold: '__acc + long' }, whole: 55n },
  { name: 'a sum of doubles from a LONG on', spec: { fields: ['double'], initialValue: '0', fold: '__acc + double' }, whole: 13.75 },
  {
    name: 'a product of a column, by another accumulator',
    spec: { fields: ['long'], accumulatorIdentifier: 'p', initialValue: '1', fold: 'p * long' },
    whole: 3_628_800n,
  },
  {
    name: 'the sum of a product of columns, finished',
    spec: { fields: ['long', 'double'], initialValue: '0.0', fold: '__acc + long * double', combine: '__acc + x', finalize: 'o * 4' },
    whole: 385,
  },
  {
    name: 'texts in the order of rows, apart where segments meet',
    spec: {
      fields: ['text'],
      initialValue: "''",
      initialCombineValue: "'>'",
      fold: 'concat(__acc, text)',
      combine: "concat(__acc, '|', x)",
    },
    whole: 't1t2t0t1t2t0t1t2t0t1',
    parts: '>|t1t2t0t1t2|t0t1t2t0t1',
  },
  { name: 'nulls, which take part', spec: { fields: ['hole'], initialValue: '0', fold: '__acc + hole' }, whole: null },
  {
    name: 'nulls, which are left out',
    spec: { fields: ['hole'], initialValue: '0', fold: '__acc + hole', shouldAggregateNullInputs: false },
    whole: 25n,
  },
  {
    name: 'a column nobody has',
    spec: { fields: ['nowhere'], initialValue: '7', fold: '__acc + nowhere', shouldAggregateNullInputs: false },
    whole: null,
  },
  {
    name: 'no row, where that is not null',
    spec: {
      fields: ['nowhere'],
      initialValue: '7',
      fold: '__acc + nowhere',
      shouldAggregateNullInputs: false,
      isNullUnlessAggregated: false,
    },
    whole: 7n,
  },
])
  folds(name, async () => {
    const [one] = await answersOver(WHOLE, fold(spec));
    assert.is(one?.x, whole);
    const [several] = await answersOver(PARTS, fold(spec));
    assert.is(several?.x, parts);
  });

/** Rows of a, b; none; b; and a. */
const LISTS: Frame = {
  rowCount: 4,
  columns: [
    { kind: 'long', name: '__time', values: BigInt64Array.of(0n, 1n, 2n, 3n), nulls: null },
    { kind: 'multi', name: 'many', offsets: Uint32Array.of(0, 2, 2, 3, 4), ids: Uint32Array.of(0, 1, 1, 0), dictionary: ['a', 'b'] },
    { kind: 'long', name: 'n', values: BigInt64Array.of(3n, 1n, 2n, 1n), nulls: null },
  ],
};
const DISTINCT = { combine: 'array_set_add_all(__acc, x)' };
for (const { name, spec, expected } of [
  {
    name: 'distinct numbers',
    spec: { ...DISTINCT, fields: ['n'], initialValue: '<LONG>[]', fold: 'array_set_add(__acc, n)' },
    expected: [1n, 2n, 3n],
  },
  {
    name: 'distinct texts of all',
    spec: { ...DISTINCT, fields: ['n'], initialValue: '[]', fold: 'array_set_add(__acc, n)' },
    expected: ['1', '2', '3'],
  },
  {
    name: 'a list, finished as text',
    spec: {
      fields: ['n'],
      initialValue: '<LONG>[]',
      fold: 'array_append(__acc, n)',
      combine: 'array_concat(__acc, x)',
      finalize: "array_to_string(o, '|')",
    },
    expected: '3|1|2|1|3|1|2|1',
  },
  {
    name: 'each of several values of a row in turn',
    spec: {
      fields: ['many'],
      initialValue: "''",
      fold: 'concat(__acc, upper(many))',
      combine: 'concat(__acc, x)',
      shouldAggregateNullInputs: false,
    },
    expected: 'ABBAABBA',
  },
  {
    name: 'the values of a row as an array',
    spec: {
      fields: ['many'],
      initialValue: '0',
      fold: '__acc + array_length(many)',
      combine: '__acc + x',
      shouldAggregateNullInputs: false,
    },
    expected: 8n,
  },
])
  folds(`of lists: ${name}`, async () => {
    const [row] = await answersOver([LISTS, LISTS], fold(spec));
    assert.equal(row?.x, expected);
  });

folds('a sketch of distinct values, as the hyperUnique aggregator has it', async () => {
  const [row] = await answersOver([visits, visits], {
    aggregations: [
      {
        type: 'expression',
        name: 'x',
        fields: ['user'],
        initialValue: 'hyper_unique()',
        fold: 'hyper_unique_add(user, __acc)',
        combine: 'hyper_unique_add(x, __acc)',
        finalize: 'hyper_unique_estimate(o)',
      },
      { type: 'hyperUnique', name: 'same', fieldName: 'user' },
    ],
  });
  assert.is(row?.x, row?.same);
  assert.ok(Math.abs(Number(row?.x) / 250 - 1) < 0.1, String(row?.x));
});

folds('of lists that grow too long is refused', async () => {
  const spec = { fields: ['n'], initialValue: '[]', fold: 'array_append(__acc, n)', combine: 'array_concat(__acc, x)', maxSizeBytes: 10 };
  try {
    await answersOver([LISTS], fold(spec));
  } catch (error) {
    return assert.match(String(error), /maxSizeBytes/);
  }
  assert.unreachable('was accepted');
});

folds('of no rows is null, or the initial value finished', async () => {
  const spec = { initialValue: '0', fold: '__acc + 1', combine: '__acc + x', finalize: 'o + 100' };
  const none = { filter: { type: 'false' } };
  const [row] = await answersOver(WHOLE, { ...fold(spec), ...none });
  assert.is(row?.x, null);
  const [initial] = await answersOver(WHOLE, { ...fold({ ...spec, isNullUnlessAggregated: false }), ...none });
  assert.is(initial?.x, 100n);
});

folds('an hour without rows has the initial value, and an empty Bloom filter', async () => {
  const rows = await answersOver([frameOf([{ n: 1n }])], {
    granularity: 'hour',
    intervals: '1970-01-01T00/PT2H',
    aggregations: [
      { type: 'expression', name: 'x', fields: ['n'], initialValue: '7', fold: '__acc + n', isNullUnlessAggregated: false },
      { type: 'expression', name: 'y', fields: ['n'], initialValue: '7', fold: '__acc + n' },
      { type: 'bloom', name: 'b', field: 'n', maxNumEntries: 10 },
      { type: 'count', name: 'rows' },
    ],
  });
  assert.equal(
    rows.map(({ x, y, b, rows: count }) => [x, y, b, count]),
    [
      [8n, 8n, filterOf(hash64OfLong(1n)), 1n],
      [7n, null, filterOf(), 0n],
    ],
  );
});

folds('that is not finalized is its own state', async () => {
  const [row] = await answersOver(WHOLE, {
    ...fold({ fields: ['long'], initialValue: '0', fold: '__acc + long' }),
    context: { finalize: false },
  });
  assert.is(row?.x, 55n);
});

folds('by groups, ordered by its value', async () => {
  const rows = await answersOver(PARTS, {
    queryType: 'groupBy',
    dimensions: ['text'],
    ...fold({ fields: ['long'], initialValue: '0', fold: '__acc + long' }),
    limitSpec: { type: 'default', columns: [{ dimension: 'x', direction: 'descending' }] },
  });
  // 1 + 4 + 7 + 10, 3 + 6 + 9 and 2 + 5 + 8.
  assert.equal(
    rows.map(({ text, x }) => [text, x]),
    [
      ['t1', 22n],
      ['t0', 18n],
      ['t2', 15n],
    ],
  );
});

// Sums of which the one nearest to 17 comes first: 18, 15, 22.
const NEAREST = {
  fields: ['long'],
  initialValue: '0',
  fold: '__acc + long',
  finalize: 'o * 10',
  compare: 'if(abs(o1 - 17) < abs(o2 - 17), -1, if(abs(o1 - 17) == abs(o2 - 17), 0, 1))',
};

folds('ordered as its comparison says, in a groupBy and a topN', async () => {
  const groups = await answersOver(PARTS, {
    queryType: 'groupBy',
    dimensions: ['text'],
    ...fold(NEAREST),
    limitSpec: { type: 'default', limit: 2, columns: [{ dimension: 'x', direction: 'ascending' }] },
  });
  assert.equal(
    groups.map(({ text, x }) => [text, x]),
    [
      ['t0', 180n],
      ['t2', 150n],
    ],
  );
  const best = await answersOver(PARTS, { queryType: 'topN', dimension: 'text', threshold: 1, metric: 'x', ...fold(NEAREST) });
  assert.equal(
    best.map(({ text, x }) => [text, x]),
    [['t1', 220n]],
  );
});

for (const { name, spec, message } of [
  { name: 'a fold of a column that is no field', spec: { initialValue: '0', fold: '__acc + long', combine: 'x' }, message: /fold.*long/ },
  { name: 'an initial value that is none', spec: { initialValue: 'long', fold: '__acc', combine: 'x' }, message: /initialValue/ },
  { name: 'two fields without combine', spec: { fields: ['long', 'double'], initialValue: '0', fold: '__acc' }, message: /combine/ },
  { name: 'a size that is none', spec: { initialValue: '0', fold: '__acc', combine: 'x', maxSizeBytes: 'much' }, message: /maxSizeBytes/ },
  {
    name: 'what grows too long',
    spec: { fields: ['text'], initialValue: "''", fold: 'concat(__acc, text)', maxSizeBytes: 10 },
    message: /beyond 10 bytes/,
  },
])
  folds(`refuses ${name}`, async () => {
    try {
      await answersOver(WHOLE, fold(spec));
    } catch (error) {
      return assert.match(String(error), message);
    }
    assert.unreachable('was accepted');
  });

folds.run();

const scripts = suite('JavaScript');

const script = { type: 'javascript', name: 'x', function: 'f', dimension: 'name' };
for (const [place, query] of Object.entries({
  filter: { filter: script },
  aggregator: { aggregations: [script] },
  'post-aggregator': { postAggregations: [script] },
  'extraction function': { filter: { type: 'selector', dimension: 'name', value: 'x', extractionFn: script } },
}))
  scripts(`as ${place} is disabled, and the refusal says so`, async () => {
    try {
      await answersOver([things], query);
    } catch (error) {
      return assert.match(String(error), new RegExp(`${place} "javascript" is not supported: JavaScript is disabled`));
    }
    assert.unreachable('was accepted');
  });

scripts.run();

const times = suite('timeMin and timeMax');
const extremes = (fieldName: string): object[] => ['timeMin', 'timeMax'].map((type) => ({ type, name: type, fieldName }));

const [EARLY, LATE] = ['2015-07-28T01:00:00.000Z', '2015-07-29T04:00:00.000Z'];
for (const [name, frame] of Object.entries({
  'ISO 8601 strings': frameOf([{ at: LATE }, { at: null }, { at: EARLY }]),
  instants: frameOf([{ at: BigInt(Date.parse(EARLY)) }, { at: null }, { at: BigInt(Date.parse(LATE)) }]),
  'stored extremes': frameOf([{ at: String(Date.parse(EARLY)) }, { at: '' }, { at: String(Date.parse(LATE)) }], { at: 'COMPLEX<time>' }),
}))
  times(`of ${name}`, async () => {
    const [row] = await answersOver([frame], { aggregations: extremes('at') });
    assert.equal([row?.timeMin, row?.timeMax], [EARLY, LATE]);
  });

times('of no times are null', async () => {
  const [row] = await answersOver([frameOf([{ at: null }])], { aggregations: extremes('at') });
  assert.equal([row?.timeMin, row?.timeMax], [null, null]);
});

times.run();
