// Conformance checks of time buckets.

import { STRETCH_ROWS } from '../contract.js';
import { INTEGERS, perType } from '../signatures.js';
import { type Lab, MAX_I64, MIN_I64 } from './lab.js';

const BASES = [0n, 1442016000000n, -5n] as const;
const NO_BUCKET = 0xffffffff;

const TIME_SHAPES = ['many buckets', 'few buckets', 'one bucket', 'none met', 'everything'] as const;
type TimeShape = (typeof TIME_SHAPES)[number];

export const TIME_CHECKS = {
  ...perType('timeRuns', INTEGERS, (type) => (lab: Lab) => {
    const oneTrial = (rows: number, shape: TimeShape): void => {
      const base = type === 'I64' ? 0n : (BASES[lab.random(3)] ?? 0n);
      const values = ascending(lab, rows, 250);
      const whole = shape === 'none met' || shape === 'everything';
      const boundaries = whole
        ? shape === 'everything'
          ? [MIN_I64, MAX_I64]
          : [base + 1000n, base + 2000n]
        : ascending(lab, shape === 'many buckets' ? 100 : shape === 'few buckets' ? 5 : 2, 280, 1).map((at) => base + BigInt(at) - 10n);
      const start = lab.random(2) * lab.random(rows + 1);
      const end = rows - lab.random(2) * lab.random(rows - start + 1);
      const at = lab.place(type, values);
      const bounds = lab.place('I64', boundaries);
      const expected: number[] = [];
      for (let row = start; row < end; row++) {
        const value = base + BigInt(values[row] ?? 0);
        const bucket = bucketOf(boundaries, value);
        if (bucket === NO_BUCKET) continue;
        if (expected.at(-3) === bucket) expected[expected.length - 1] = row + 1;
        else expected.push(bucket, row, row + 1);
      }
      const out = lab.output('U32', (Math.min(rows, boundaries.length) + 1) * 3);
      const count = lab.call(() => lab.kernels[`timeRuns${type}`](at, base, start, end, bounds, boundaries.length, out));
      lab.expectResult(count, expected.length / 3);
      lab.expect('U32', out, expected, 'run field');
    };
    lab.each(TIME_SHAPES, oneTrial);
    lab.each(['few buckets'], oneTrial, [STRETCH_ROWS]);
  }),
  bucketI64(lab: Lab) {
    lab.each(['sorted', 'shuffled', 'extreme'], (rows, shape) => {
      const boundaries = ascending(lab, 2 + lab.random(40), 300, 1).map((at) => BigInt(at) - 10n);
      const near = ascending(lab, rows, 320).map((at) => BigInt(at) - 20n);
      const values =
        shape === 'sorted' ? near : shape === 'shuffled' ? near.sort(() => lab.random(3) - 1) : lab.values('I64', rows).map(BigInt);
      const at = lab.place('I64', values);
      const bounds = lab.place('I64', boundaries);
      const out = lab.output('U32', rows);
      lab.call(() => lab.kernels.bucketI64(at, rows, bounds, boundaries.length, out));
      lab.expect(
        'U32',
        out,
        values.map((value) => bucketOf(boundaries, value)),
        'bucket',
      );
    });
  },
  floorI64(lab: Lab) {
    for (const [width, origin] of [
      [1n, 0n],
      [60000n, 0n],
      [7n, 3n],
      [86400000n, -36000000n],
      [2n ** 40n, 5n],
    ] as const) {
      lab.each(['near', 'far'], (rows, shape) => {
        const values =
          shape === 'near'
            ? ascending(lab, rows, 500).map((at) => BigInt(at) * (width / 5n + 1n) - 100n * width)
            : lab.values('I64', rows).map((value) => BigInt(value) / 4n);
        const at = lab.place('I64', values);
        const out = lab.output('I64', rows);
        lab.call(() => lab.kernels.floorI64(at, rows, width, origin, out));
        const expected = values.map((value) => {
          const remainder = (((value - origin) % width) + width) % width;
          return value - remainder;
        });
        lab.expect('I64', out, expected, 'floor');
      });
    }
  },
  ...perType('lowerBound', INTEGERS, (type) => (lab: Lab) => {
    lab.each([-1000, -1, 0, 1, 100, 125, 249, 250, 100000], (rows, bound) => {
      const base = type === 'I64' ? 0n : (BASES[lab.random(3)] ?? 0n);
      const values = ascending(lab, rows, 250);
      const at = lab.place(type, values);
      const start = lab.random(2) * lab.random(rows + 1);
      const end = rows - lab.random(2) * lab.random(rows - start + 1);
      for (const wanted of [base + BigInt(bound), MIN_I64, MAX_I64]) {
        let expected = start;
        while (expected < end && base + BigInt(values[expected] ?? 0) < wanted) expected++;
        lab.expectResult(
          lab.call(() => lab.kernels[`lowerBound${type}`](at, base, start, end, wanted)),
          expected,
        );
      }
    });
  }),
};

/** `count` numbers of 0 … below - 1 in order, with repeats, or all different with `step` 1. */
function ascending(lab: Lab, count: number, below: number, step = 0): number[] {
  if (step === 0) return Array.from({ length: count }, () => lab.random(below)).sort((a, b) => a - b);
  const numbers = new Set<number>();
  while (numbers.size < count) numbers.add(lab.random(below));
  return [...numbers].sort((a, b) => a - b);
}

function bucketOf(boundaries: readonly bigint[], value: bigint): number {
  for (let bucket = 0; bucket + 1 < boundaries.length; bucket++) {
    if ((boundaries[bucket] ?? 0n) <= value && value < (boundaries[bucket + 1] ?? 0n)) return bucket;
  }
  return NO_BUCKET;
}
