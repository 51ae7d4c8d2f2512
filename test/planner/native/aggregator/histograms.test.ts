import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { BreaksHistogram } from '../../../../src/sketch/breaks-histogram.js';
import { answersOver } from '../frame-queries.js';
import { frameOf } from './frames.js';

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

const counted = { type: 'histogram', name: 'h', fieldName: 'price' };
for (const [name, breaks, values, expected] of [
  ['bounds belong to the bucket below', [1, 2, 3], [1, 1.5, 2, 2.5, 3, 3.5], { breaks: [1, 2, 3], counts: [2, 2], quantiles: [1, 3.5] }],
  [
    'values as floats',
    [0, 0.1],
    [0.1, 0.10000000001],
    { breaks: [0, Math.fround(0.1)], counts: [2], quantiles: [Math.fround(0.1), Math.fround(0.1)] },
  ],
  ['one bound has no buckets', [1], [0, 1, 2], { breaks: [1], counts: [], quantiles: [0, 2] }],
  ['nulls do not count', [-1, 1], [null, 0], { breaks: [-1, 1], counts: [1], quantiles: [0, 0] }],
  ['of no values', [0, 1], [null], { breaks: [0, 1], counts: [0], quantiles: ['Infinity', '-Infinity'] }],
  ['of no rows', [0, 1], [], { breaks: [0, 1], counts: [0], quantiles: ['Infinity', '-Infinity'] }],
] as const)
  histograms(`by breaks: ${name}`, async () => {
    const of = (some: readonly (number | null)[]) => frameOf(some.map((price) => ({ price })));
    // Whole, and as parts that are merged.
    for (const frames of [[of(values)], [of(values.slice(0, 2)), of(values.slice(2))]])
      assert.equal((await answersOver(frames, { aggregations: [{ ...counted, breaks }] }))[0]?.h, expected);
  });

histograms('by breaks: its bytes', async () => {
  const [row] = await answersOver([prices], { aggregations: [{ ...counted, breaks: [1, 3] }], context: { finalize: false } });
  const bytes = Buffer.from(String(row?.h), 'base64');
  assert.equal([bytes.readInt32BE(0), bytes.readFloatBE(4), bytes.readFloatBE(8)], [2, 1, 3]);
  assert.equal(
    [12, 20, 28].map((at) => bytes.readBigInt64BE(at)),
    [1n, 2n, 2n],
  );
  assert.equal([bytes.readFloatBE(36), bytes.readFloatBE(40), bytes.length], [1, 10, 44]);
  assert.equal(BreaksHistogram.decode(bytes).encode(), new Uint8Array(bytes));
  for (const cut of [0, 3, 19, 43]) assert.throws(() => BreaksHistogram.decode(bytes.subarray(0, cut)), /should hold a histogram/);
  assert.throws(() => new BreaksHistogram([1]).merge(new BreaksHistogram([2])), /different breaks/);
});

for (const breaks of [undefined, [], [1, 1], [2, 1], ['1'], [Number.MAX_VALUE, Number.MAX_VALUE]])
  histograms(`by breaks: refuses ${JSON.stringify(breaks)}`, () =>
    answersOver([prices], { aggregations: [{ ...counted, breaks }] }).then(
      () => assert.unreachable(),
      (error: unknown) => assert.ok(error instanceof ServiceError && /aggregations\[0\]\.breaks/.test(error.message), String(error)),
    ),
  );

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
