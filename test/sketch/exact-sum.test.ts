import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addToExactSum,
  decodeExactSum,
  type ExactSum,
  emptyExactSum,
  encodeExactSum,
  exactSumOf,
  mergeExactSums,
} from '../../src/sketch/exact-sum.js';

const test = suite('exact sums');

/** A finite double as an integer count of 2^-1074. */
function units(value: number): bigint {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const exponent = Number((raw >> 52n) & 0x7ffn);
  const mantissa = (raw & ((1n << 52n) - 1n)) | (exponent === 0 ? 0n : 1n << 52n);
  const count = mantissa << BigInt(Math.max(0, exponent - 1));
  return raw >> 63n === 1n ? -count : count;
}

/** The nearest double, ties to even, by arithmetic on integers alone. */
function nearest(count: bigint): number {
  const size = count < 0n ? -count : count;
  const shift = Math.max(0, size.toString(2).length - 53);
  const half = shift === 0 ? 0n : 1n << BigInt(shift - 1);
  let kept = size >> BigInt(shift);
  const lost = size - (kept << BigInt(shift));
  if (shift > 0 && (lost > half || (lost === half && (kept & 1n) === 1n))) kept++;
  // Number() of at most 54 bits with a zero at the end is exact; so are powers of two, in two steps that do not overflow early.
  const power = shift - 1074;
  const first = Math.max(-1022, Math.min(900, power));
  const value = Number(kept) * 2 ** first * 2 ** (power - first);
  return count < 0n ? -value : value;
}

function sumOf(values: readonly number[]): ExactSum {
  const state = emptyExactSum();
  for (const value of values) addToExactSum(state, value);
  return state;
}

const finite = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -1000, max: 1000 }).map((cents) => cents / 100),
  fc.constantFrom(1, -1, 2 ** -53, 2 ** 53, 1e308, -1e308, Number.MAX_VALUE, -Number.MAX_VALUE, Number.MIN_VALUE, 2 ** 960, -(2 ** 960)),
);

test('are what integers give, rounded once', () => {
  fc.assert(
    fc.property(fc.array(finite, { minLength: 1, maxLength: 40 }), (values) => {
      const expected = nearest(values.reduce((sum, value) => sum + units(value), 0n));
      const found = exactSumOf(sumOf(values));
      assert.ok(found === expected, `${values.join(' + ')}: expected ${expected}, found ${found}`);
    }),
    { numRuns: 5_000 },
  );
});

test('do not depend on order, nor on how values are parted, nor on being written down', () => {
  fc.assert(
    fc.property(fc.array(finite, { maxLength: 40 }), fc.nat(40), fc.nat(), (values, cut, seed) => {
      const shuffled = values.map((value, at) => ({ value, key: Math.imul(at + 1, seed | 1) })).sort((a, b) => a.key - b.key);
      const parted = sumOf(shuffled.slice(0, cut).map(({ value }) => value));
      mergeExactSums(parted, decodeExactSum(encodeExactSum(sumOf(shuffled.slice(cut).map(({ value }) => value)))));
      assert.equal(exactSumOf(parted), exactSumOf(sumOf(values)));
    }),
    { numRuns: 2_000 },
  );
});

const cases: readonly { readonly values: readonly number[]; readonly sum: number | null }[] = [
  { values: [], sum: null },
  { values: [0.1, 0.2, 0.3, -0.3, -0.2, -0.1], sum: 0 },
  { values: Array.from({ length: 10 }, () => 0.1), sum: 1 },
  { values: [1e100, 1, -1e100], sum: 1 },
  { values: [1e308, 1e308, -1e308], sum: 1e308 },
  { values: [1e308, 1e308], sum: Infinity },
  { values: [1, Number.NaN], sum: Number.NaN },
  { values: [Infinity, 1], sum: Infinity },
  { values: [Infinity, -Infinity], sum: Number.NaN },
];
for (const { values, sum } of cases) test(`of [${values.join(', ')}]`, () => assert.equal(exactSumOf(sumOf(values)), sum));

test('a string that is not one is refused', () => {
  for (const text of ['', 'x', '1 0', '1 0 x ', '-1 0  ']) assert.throws(() => decodeExactSum(text), /exact sum/);
});

test.run();
