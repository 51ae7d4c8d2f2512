import { suite } from 'uvu';
import * as assert from 'uvu/assert';
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
