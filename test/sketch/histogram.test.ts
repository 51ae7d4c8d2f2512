import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ApproximateHistogram } from '../../src/sketch/approximate-histogram.js';
import { type FixedBuckets, FixedHistogram } from '../../src/sketch/fixed-histogram.js';

const approximate = suite('approximate histogram');

function of(values: readonly number[], resolution = 50): ApproximateHistogram {
  const histogram = new ApproximateHistogram(resolution);
  for (const value of values) histogram.add(value);
  return histogram;
}

approximate('is exact while there are no more values than centroids', () => {
  const histogram = of([1, 2, 2, 3, 10]);
  assert.equal(
    [0, 1, 2, 2.5, 3, 9, 10].map((bound) => histogram.countUpTo(bound)),
    [0, 1, 3, 3, 4, 4, 5],
  );
  assert.equal([histogram.min, histogram.max, histogram.count], [1, 10, 5]);
});

approximate('joins the two nearest centroids into their mean', () => {
  const histogram = of([0, 10, 11, 20], 3);
  // 10 and 11 become 10.5 with two values, half of them on each side: 1 up to 0, 2 up to 10.5.
  assert.is(histogram.countUpTo(0), 1);
  assert.is(histogram.countUpTo(10.5), 2 + 1 - 1);
  assert.is(histogram.countUpTo(20), 4);
});

approximate('quantiles between centroids lie on a line', () => {
  const histogram = of([1, 2, 3, 4]);
  assert.equal(
    [0, 0.25, 0.5, 0.625, 1].map((fraction) => histogram.quantile(fraction)),
    [1, 1, 2, 2.5, 4],
  );
  assert.ok(Number.isNaN(of([]).quantile(0.5)));
});

approximate('equal buckets end at the least and at the largest value', () => {
  assert.equal(of([0, 1, 2, 3, 4]).equalBuckets(3), { breaks: [-2, 0, 2, 4], counts: [1, 2, 2] });
});

approximate('aligned buckets leave out those without values', () => {
  const { breaks, counts } = of([0.5, 1.5, 7.5]).alignedBuckets(1, 0);
  assert.equal(breaks, [0, 1, 2, 7, 8]);
  assert.equal(counts, [1, 1, 0, 1]);
  assert.equal(of([]).alignedBuckets(1, 0), { breaks: [], counts: [] });
  assert.throws(() => of([0, 1e9]).alignedBuckets(0.001, 0), /bucketSize/);
});

approximate('buckets by given bounds', () => {
  assert.equal(of([1, 2, 3, 4]).buckets([0, 2, 4]), { breaks: [0, 2, 4], counts: [2, 2] });
});

approximate('values beyond a limit share a centroid', () => {
  const histogram = new ApproximateHistogram(50, { lower: 0, upper: 10 });
  for (const value of [-5, -3, 5, 20, 40]) histogram.add(value);
  const view = new DataView(histogram.encode().buffer);
  assert.is(view.getInt32(4), -3);
  assert.equal([view.getFloat32(8), view.getFloat32(12), view.getFloat32(16)], [-4, 5, 30]);
  assert.equal([histogram.min, histogram.max], [-5, 40]);
});

const hex = (text: string): Uint8Array => Buffer.from(text.replaceAll(' ', ''), 'hex');

// 1 once and 2 twice, resolution 50, in the three documented forms.
const FORMS = {
  sparse: hex('00000032 fffffffe 3f800000 40000000 0000000000000001 0000000000000002 3f800000 40000000'),
  dense: hex(`00000003 00000002 3f800000 40000000 00000000 0000000000000001 0000000000000002 0000000000000000 3f800000 40000000`),
  compact: hex('ffce 03 3f800000 40000000 40000000'),
};
for (const [form, bytes] of Object.entries(FORMS))
  approximate(`reads the ${form} form`, () => {
    const read = ApproximateHistogram.decode(bytes);
    assert.equal([read.count, read.min, read.max, read.countUpTo(1), read.countUpTo(1.5)], [3, 1, 2, 1, 1]);
  });

approximate('writes the sparse form', () => {
  assert.is(Buffer.from(of([2, 1, 2]).encode()).toString('hex'), Buffer.from(FORMS.sparse).toString('hex'));
});

approximate('reads the compact form of values that are not exact', () => {
  const read = ApproximateHistogram.decode(hex('ffce fe 40a00000 40a00000 40800000 40c00000 01 41200000'));
  assert.equal([read.count, read.min, read.max], [3, 4, 10]);
  // Two spread around 5, and one 10: half of the two up to 5.
  assert.is(read.countUpTo(5), 1);
});

approximate('refuses bytes that are none', () => {
  for (const text of ['', '00', '00000032 fffffffe', 'ffce 7f']) assert.throws(() => ApproximateHistogram.decode(hex(text)), /histogram/);
});

approximate('sent or not, keeps count and range', () => {
  fc.assert(
    fc.property(
      fc.array(fc.float({ noNaN: true, min: -1e6, max: 1e6 })),
      fc.array(fc.float({ noNaN: true, min: -1e6, max: 1e6 })),
      (a, b) => {
        const [left, right] = [of(a, 8), of(b, 8)];
        left.merge(ApproximateHistogram.decode(right.encode()));
        const all = [...a, ...b];
        assert.is(left.count, all.length);
        if (all.length > 0) assert.equal([left.min + 0, left.max + 0], [Math.min(...all) + 0, Math.max(...all) + 0]);
        assert.equal(ApproximateHistogram.decode(left.encode()).encode(), left.encode());
      },
    ),
    { numRuns: 100 },
  );
});

approximate('quantiles of even values are within two per cent', () => {
  const values = Array.from({ length: 5000 }, (_, index) => (index * 2711) % 5000);
  const histogram = of(values, 50);
  for (const fraction of [0.1, 0.25, 0.5, 0.75, 0.9])
    assert.ok(Math.abs(histogram.quantile(fraction) / 5000 - fraction) < 0.02, `${fraction}: ${histogram.quantile(fraction)}`);
});

approximate.run();

const fixed = suite('fixed buckets histogram');

const TEN: FixedBuckets = { lower: 0, upper: 10, number: 5, outliers: 'overflow' };

function filled(shape: FixedBuckets, values: readonly (number | null)[]): FixedHistogram {
  const histogram = new FixedHistogram(shape);
  for (const value of values) histogram.add(value);
  return histogram;
}

const VALUES = [-1, 0, 1.9, 2, 9.9, 10, 11, null];
for (const { outliers, expected } of [
  { outliers: 'ignore', expected: { count: 4, below: 0, above: 0, counts: [2, 1, 0, 0, 1], min: 0, max: 9.9 } },
  { outliers: 'overflow', expected: { count: 4, below: 1, above: 2, counts: [2, 1, 0, 0, 1], min: 0, max: 9.9 } },
  { outliers: 'clip', expected: { count: 7, below: 0, above: 0, counts: [3, 1, 0, 0, 3], min: 0, max: 10 } },
] as const)
  fixed(`outliers: ${outliers}`, () => {
    const { count, below, above, counts, min, max, nulls } = filled({ ...TEN, outliers }, VALUES);
    assert.equal({ count, below, above, counts: [...counts], min, max }, expected);
    assert.is(nulls, 1);
  });

fixed('is put out with all its fields', () => {
  assert.equal(filled(TEN, [1, 3, 12]).toJson(), {
    lowerLimit: 0,
    upperLimit: 10,
    numBuckets: 5,
    outlierHandlingMode: 'overflow',
    count: 2,
    lowerOutlierCount: 0,
    upperOutlierCount: 1,
    missingValueCount: 0,
    max: 3,
    min: 1,
    histogram: [1, 1, 0, 0, 0],
  });
});

fixed('quantiles within a bucket lie on a line', () => {
  const histogram = filled(TEN, [0, 0, 4, 4]);
  assert.equal(
    [0, 0.25, 0.5, 0.75, 1].map((fraction) => histogram.quantile(fraction)),
    [0, 1, 2, 5, 6],
  );
});

const HEADER = '0000000000000000 4024000000000000 00000005 01';
const COUNTS = '0000000000000002 0000000000000000 0000000000000001 0000000000000003';
fixed('writes the sparse form while less than half of the buckets have values', () => {
  const histogram = filled(TEN, [1, 1.5, 20, null, null, null]);
  const expected = `0102 ${HEADER} ${COUNTS} 3ff8000000000000 3ff0000000000000 00000001 00000000 0000000000000002`;
  assert.is(Buffer.from(histogram.encode()).toString('hex'), expected.replaceAll(' ', ''));
  assert.equal(FixedHistogram.decode(hex(expected)).toJson(), histogram.toJson());
});

fixed('writes the full form otherwise', () => {
  const histogram = filled(TEN, [1, 3, 5]);
  const counts = '0000000000000003 0000000000000000 0000000000000000 0000000000000000';
  const one = '0000000000000001';
  const zero = '0000000000000000';
  const expected = `0101 ${HEADER} ${counts} 4014000000000000 3ff0000000000000 ${one} ${one} ${one} ${zero} ${zero}`;
  assert.is(Buffer.from(histogram.encode()).toString('hex'), expected.replaceAll(' ', ''));
  assert.equal(FixedHistogram.decode(hex(expected)).toJson(), histogram.toJson());
});

fixed('refuses bytes that are none', () => {
  for (const text of ['', '0101', '02'.repeat(80), `0102 ${HEADER} ${COUNTS} 3ff8000000000000 3ff0000000000000 00000001`])
    assert.throws(() => FixedHistogram.decode(hex(text)), /histogram/);
});

fixed('merged with the same buckets adds them up', () => {
  const [a, b] = [filled(TEN, [1, -1, null]), filled(TEN, [1, 9, 30])];
  a.merge(b);
  assert.equal(a.toJson(), filled(TEN, [1, -1, null, 1, 9, 30]).toJson());
});

fixed('merged with other buckets spreads their values evenly', () => {
  const into = filled(TEN, []);
  // 8 values over [-4, 4): 4 of them below 0, then 2 in each bucket.
  const from = filled({ lower: -4, upper: 12, number: 2, outliers: 'overflow' }, [0, 0, 0, 0, 0, 0, 0, 0, 50]);
  into.merge(from);
  assert.equal([...into.counts], [2, 2, 0, 0, 0]);
  assert.equal([into.count, into.below, into.above], [4, 4, 1]);
});

fixed('merged in any shapes counts every value once', () => {
  const shape = fc.record({
    lower: fc.integer({ min: -50, max: 0 }),
    upper: fc.integer({ min: 1, max: 50 }),
    number: fc.integer({ min: 1, max: 20 }),
    outliers: fc.constantFrom('overflow' as const),
  });
  fc.assert(
    fc.property(shape, shape, fc.array(fc.integer({ min: -60, max: 60 })), (a, b, values) => {
      const into = new FixedHistogram(a);
      into.merge(filled(b, values));
      assert.is(into.count + into.below + into.above, values.length);
      assert.is(
        into.counts.reduce((sum, count) => sum + count, 0),
        into.count,
      );
    }),
    { numRuns: 200 },
  );
});

fixed.run();
