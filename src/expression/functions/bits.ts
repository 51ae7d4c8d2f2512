// Functions over the bits of a double.

import { type ExpressionFunction, plainFunction } from '../function.js';
import { toDouble, toLong, type Value } from '../value.js';

/** Functions of how a double is written in 64 bits: sign, 11 bits of exponent, 52 of fraction. */
const words = new DataView(new ArrayBuffer(8));

function bitsOfDouble(value: number): bigint {
  words.setFloat64(0, value);
  return words.getBigInt64(0);
}

function doubleOfBits(bits: bigint): number {
  words.setBigInt64(0, bits);
  return words.getFloat64(0);
}

export const NAN_BITS = 0x7ff8000000000000n;

function ofDouble(name: string, type: 'LONG' | 'DOUBLE', apply: (x: number) => Value): ExpressionFunction {
  return plainFunction(name, [1, 1], type, ([value = null]) => {
    const x = toDouble(value);
    return x === null ? null : apply(x);
  });
}

/** The double next to `x` above; of the largest, infinity. */
function nextUp(x: number): number {
  if (Number.isNaN(x) || x === Infinity) return x;
  if (x === 0) return Number.MIN_VALUE;
  return doubleOfBits(bitsOfDouble(x) + (x > 0 ? 1n : -1n));
}

function nextAfter(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  if (x === y) return y;
  return x < y ? nextUp(x) : -nextUp(-x);
}

/** The distance to the next double away from zero. */
function ulp(x: number): number {
  const size = Math.abs(x);
  if (!Number.isFinite(size)) return size;
  return size === Number.MAX_VALUE ? 2 ** 971 : nextUp(size) - size;
}

/** -1023 for zero and what is smaller than normal numbers, 1024 for infinity and NaN. */
function exponent(x: number): bigint {
  return ((bitsOfDouble(x) >> 52n) & 0x7ffn) - 1023n;
}

/** x * 2^n, rounded once: exactly as a fraction where the result has fewer than 53 bits. */
function scaled(x: number, n: number): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const resulting = Number(exponent(x)) + n;
  // Steps that stay among normal numbers are exact; only the last one may round.
  let value = x;
  let left = n;
  while (left > 1023) {
    value *= 2 ** 1023;
    left -= 1023;
  }
  if (resulting >= -1022) {
    while (left < -1022) {
      value *= 2 ** -1022;
      left += 1022;
    }
    return value * 2 ** left;
  }
  // The last step takes the number from the smallest normal ones down.
  const last = Math.max(resulting + 1022, -1074);
  left -= resulting + 1022;
  for (; left < -1022; left += 1022) value *= 2 ** -1022;
  return value * 2 ** left * 2 ** last;
}

export const BIT_FUNCTIONS: readonly ExpressionFunction[] = [
  ofDouble('bitwiseConvertDoubleToLongBits', 'LONG', (x) => (Number.isNaN(x) ? NAN_BITS : bitsOfDouble(x))),
  plainFunction('bitwiseConvertLongBitsToDouble', [1, 1], 'DOUBLE', ([value = null]) => {
    const bits = toLong(value);
    return bits === null ? null : doubleOfBits(bits);
  }),
  ofDouble('getExponent', 'LONG', exponent),
  ofDouble('nextUp', 'DOUBLE', nextUp),
  ofDouble('ulp', 'DOUBLE', ulp),
  plainFunction('nextafter', [2, 2], 'DOUBLE', ([a = null, b = null]) => {
    const x = toDouble(a);
    const y = toDouble(b);
    return x === null || y === null ? null : nextAfter(x, y);
  }),
  plainFunction('scalb', [2, 2], 'DOUBLE', ([a = null, b = null]) => {
    const x = toDouble(a);
    const n = toLong(b);
    return x === null || n === null ? null : scaled(x, Number(n < -5000n ? -5000n : n > 5000n ? 5000n : n));
  }),
];
