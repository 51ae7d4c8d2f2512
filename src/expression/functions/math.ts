// Mathematical functions of the expression language.

import { extended } from '../../base/names.js';
import { POWERS_OF_TEN, roundedUnits } from '../decimal-text.js';
import { type ExpressionFunction, plainFunction } from '../function.js';
import { toDouble, toLong, truncateToLong, type Value, wrapLong } from '../value.js';

/** DOUBLE in, DOUBLE out. */
function ofDouble(name: string, apply: (x: number) => number): ExpressionFunction {
  const plain = plainFunction(name, [1, 1], 'DOUBLE', ([value = null]) => {
    const x = toDouble(value);
    return x === null ? null : apply(x);
  });
  return extended(plain, { ofDoubles: apply });
}

function ofTwoDoubles(name: string, apply: (x: number, y: number) => number): ExpressionFunction {
  const plain = plainFunction(name, [2, 2], 'DOUBLE', ([a = null, b = null]) => {
    const x = toDouble(a);
    const y = toDouble(b);
    return x === null || y === null ? null : apply(x, y);
  });
  return extended(plain, { ofDoubles: apply });
}

function ofLongs(name: string, count: 1 | 2, apply: (x: bigint, y: bigint) => bigint | null): ExpressionFunction {
  return plainFunction(name, [count, count], 'LONG', ([a = null, b = 0n]) => {
    const x = toLong(a);
    const y = toLong(b);
    return x === null || y === null ? null : apply(x, y);
  });
}

/** A function of one number that stays a LONG for a LONG. */
function keepsLong(base: ExpressionFunction): ExpressionFunction {
  return { ...base, type: ([type = null]) => (type === 'LONG' || type === null ? type : 'DOUBLE') };
}

const abs = keepsLong(
  plainFunction('abs', [1, 1], 'DOUBLE', ([value = null]) => {
    if (typeof value === 'bigint') return wrapLong(value < 0n ? -value : value);
    const x = toDouble(value);
    return x === null ? null : Math.abs(x);
  }),
);

/** round(x[, places]): half away from zero, on the decimal digits the number prints with; negative places round before the point. */
const round: ExpressionFunction = {
  ...keepsLong(
    plainFunction('round', [1, 2], 'DOUBLE', ([value = null, placesValue]) => {
      const places = placesValue === undefined ? 0 : Number(toLong(placesValue) ?? 0n);
      if (typeof value === 'bigint') return roundLong(value, places);
      const x = toDouble(value);
      return x === null ? null : roundDouble(x, places);
    }),
  ),
  ofDoubles: (x, places) => roundDouble(x, Math.trunc(places) || 0),
};

function roundLong(value: bigint, places: number): bigint {
  if (places >= 0) return value;
  if (places < -19) return 0n;
  const unit = 10n ** BigInt(-places);
  const half = value < 0n ? -unit / 2n : unit / 2n;
  return wrapLong(((value + half) / unit) * unit);
}

/** Places behind the point to which kernels round, and before it. */
export const ROUND_PLACES_MAX = POWERS_OF_TEN.length - 1;
export const ROUND_EXPONENT_MAX = 14;

/** Half away from zero, on the digits that a number prints with; never -0, which digits do not have. */
export function roundDouble(x: number, places: number): number {
  const units = roundedUnits(Math.abs(x), places);
  if (units === undefined) return toPlaces(x, places, Math.round) + 0;
  const rounded = units / (POWERS_OF_TEN[places] ?? 1);
  return (x < 0 ? -rounded : rounded) + 0;
}

/** Cut towards zero, on the digits that a number prints with; never -0. */
export function cutDouble(x: number, places: number): number {
  return (places === 0 ? Math.trunc(x) : toPlaces(x, places, Math.floor)) + 0;
}

/** `toInteger`: of what is left of the point once that is shifted, which is never negative. */
function toPlaces(x: number, places: number, toInteger: (shifted: number) => number): number {
  if (Number.isNaN(x)) return 0;
  // Infinity becomes the nearest double that is finite.
  if (!Number.isFinite(x)) return x > 0 ? Number.MAX_VALUE : -Number.MAX_VALUE;
  if (places > 400) return x;
  if (places < -400) return 0;
  // Shifting the point in the printed digits is exact; multiplying by a power of ten is not.
  const [digits = '0', exponent = '0'] = Math.abs(x).toExponential().split('e');
  const shifted = toInteger(Number(`${digits}e${Number(exponent) + places}`));
  if (!Number.isFinite(shifted)) return x;
  const [roundedDigits = '0', roundedExponent = '0'] = shifted.toExponential().split('e');
  const rounded = Number(`${roundedDigits}e${Number(roundedExponent) - places}`);
  return x < 0 ? -rounded : rounded;
}

/** Half to even. */
function rint(x: number): number {
  const floor = Math.floor(x);
  const fraction = x - floor;
  return fraction < 0.5 || (fraction === 0.5 && floor % 2 === 0) ? floor : floor + 1;
}

/** Remainder of x after the nearest (half to even) multiple of y. */
function ieeeRemainder(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y) || !Number.isFinite(x) || y === 0) return Number.NaN;
  if (!Number.isFinite(y)) return x;
  const size = Math.abs(y);
  const rest = Math.abs(x) % size;
  const quotientIsOdd = Math.abs(x) % (2 * size) >= size;
  const nearest = rest * 2 > size || (rest * 2 === size && quotientIsOdd) ? rest - size : rest;
  return x < 0 ? -nearest : nearest;
}

/** Integer quotient as a LONG; null by zero. */
const div = plainFunction('div', [2, 2], 'LONG', ([a = null, b = null]) => {
  if (typeof a === 'bigint' && typeof b === 'bigint') return b === 0n ? null : wrapLong(a / b);
  const x = toDouble(a);
  const y = toDouble(b);
  return x === null || y === null || y === 0 ? null : truncateToLong(x / y);
});

/** The quotient, null by zero and by NaN: of two LONGs a LONG. */
const safeDivide: ExpressionFunction = {
  ...plainFunction('safe_divide', [2, 2], 'DOUBLE', ([a = null, b = null]): Value => {
    if (typeof a === 'bigint' && typeof b === 'bigint') return b === 0n ? null : wrapLong(a / b);
    const x = toDouble(a);
    const y = toDouble(b);
    return x === null || y === null || y === 0 || Number.isNaN(y) ? null : x / y;
  }),
  type: (types) => (types.every((type) => type === 'LONG') ? 'LONG' : 'DOUBLE'),
};

const pi: ExpressionFunction = { name: 'pi', minArguments: 0, maxArguments: 0, type: () => 'DOUBLE', bind: () => () => Math.PI };

const DEGREES_IN_RADIAN = 180 / Math.PI;
const RADIANS_IN_DEGREE = Math.PI / 180;

const TRIGONOMETRY = ['acos', 'asin', 'atan', 'cos', 'cosh', 'sin', 'sinh', 'tan', 'tanh'] as const;
const AS_IN_JAVASCRIPT = [...TRIGONOMETRY, 'cbrt', 'ceil', 'exp', 'expm1', 'floor', 'log', 'log10', 'log1p', 'sqrt'] as const;

export const MATH_FUNCTIONS: readonly ExpressionFunction[] = [
  abs,
  round,
  pi,
  div,
  safeDivide,
  // Not of the language: as a FLOAT column would keep it, and cut to a number of decimal places.
  ofDouble(':float', Math.fround),
  ofTwoDoubles(':truncate', cutDouble),
  ...AS_IN_JAVASCRIPT.map((name) => ofDouble(name, Math[name])),
  ofDouble('cot', (x) => Math.cos(x) / Math.sin(x)),
  ofDouble('rint', rint),
  ofDouble('signum', Math.sign),
  ofDouble('todegrees', (x) => x * DEGREES_IN_RADIAN),
  ofDouble('toradians', (x) => x * RADIANS_IN_DEGREE),
  ofTwoDoubles('atan2', Math.atan2),
  ofTwoDoubles('copysign', (x, y) => (y < 0 || Object.is(y, -0) ? -Math.abs(x) : Math.abs(x))),
  ofTwoDoubles('hypot', Math.hypot),
  ofTwoDoubles('pow', (x, y) => x ** y),
  ofTwoDoubles('remainder', ieeeRemainder),
  ofLongs('bitwiseAnd', 2, (x, y) => x & y),
  ofLongs('bitwiseOr', 2, (x, y) => x | y),
  ofLongs('bitwiseXor', 2, (x, y) => x ^ y),
  ofLongs('bitwiseComplement', 1, (x) => ~x),
  // Only the low six bits of the distance count, as on the machine.
  ofLongs('bitwiseShiftLeft', 2, (x, y) => wrapLong(x << (y & 63n))),
  ofLongs('bitwiseShiftRight', 2, (x, y) => x >> (y & 63n)),
];
