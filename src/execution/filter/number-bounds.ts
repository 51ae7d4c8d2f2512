// Turns bounds of a comparison into ranges of the column's number type.

import type { Physical } from '../../base/layout.js';
import { parseNumber } from '../../expression/ordering.js';
import type { FilterValue } from '../../model/value-list.js';

export const I64_MIN = -(1n << 63n);
export const I64_MAX = (1n << 63n) - 1n;

/** Inclusive; empty when lower > upper. */
export interface LongRange {
  readonly lower: bigint;
  readonly upper: bigint;
}
export interface DoubleRange {
  readonly lower: number;
  readonly upper: number;
}
export interface Bound {
  readonly value: bigint | number;
  readonly strict: boolean;
}

/** Bounds of a range; undefined ones are open. */
export interface Bounds {
  readonly lower: Bound | undefined;
  readonly upper: Bound | undefined;
}

/** A filter's value as a number; undefined when it is not one. */
export function numberOf(value: FilterValue): bigint | number | undefined {
  if (value === null) return undefined;
  return typeof value === 'string' ? parseNumber(value.trim()) : value;
}

/** The longs between two bounds, which are not NaN. */
export function longRange({ lower, upper }: Bounds): LongRange {
  return {
    lower: lower === undefined ? I64_MIN : smallestLong(lower),
    upper: upper === undefined ? I64_MAX : largestLong(upper),
  };
}

export function doubleRange({ lower, upper }: Bounds): DoubleRange {
  return {
    lower: lower === undefined ? -Infinity : smallestDouble(lower),
    upper: upper === undefined ? Infinity : -smallestDouble({ value: -upper.value, strict: upper.strict }),
  };
}

/** A range of longs as stored values of a narrow column; undefined when no stored value can match. */
export function storedRange(range: LongRange, base: bigint, physical: Exclude<Physical, 'F32' | 'F64'>): LongRange | undefined {
  if (physical === 'I64') {
    const lower = range.lower < I64_MIN ? I64_MIN : range.lower;
    const upper = range.upper > I64_MAX ? I64_MAX : range.upper;
    return lower > upper ? undefined : { lower, upper };
  }
  const largest = STORED_MAX[physical];
  const lower = range.lower - base < 0n ? 0n : range.lower - base;
  const upper = range.upper - base > largest ? largest : range.upper - base;
  return lower > upper ? undefined : { lower, upper };
}

const STORED_MAX = { U8: 0xffn, U16: 0xffffn, U32: 0xffffffffn } as const;

/** The bounds that admit one value. */
export function exactly(value: bigint | number): Bounds {
  return { lower: { value, strict: false }, upper: { value, strict: false } };
}

function smallestLong({ value, strict }: Bound): bigint {
  if (typeof value === 'bigint') return strict ? value + 1n : value;
  if (value === Infinity) return I64_MAX + 1n;
  if (value === -Infinity) return I64_MIN;
  return strict ? BigInt(Math.floor(value)) + 1n : BigInt(Math.ceil(value));
}

function largestLong({ value, strict }: Bound): bigint {
  if (typeof value === 'bigint') return strict ? value - 1n : value;
  if (value === -Infinity) return I64_MIN - 1n;
  if (value === Infinity) return I64_MAX;
  return strict ? BigInt(Math.ceil(value)) - 1n : BigInt(Math.floor(value));
}

/** The smallest double that satisfies `x >= value` (`x > value` when strict); exact for longs beyond 2^53. */
function smallestDouble({ value, strict }: Bound): number {
  const near = Number(value);
  if (strict && value === Infinity) return Number.NaN;
  if (near < value) return nextUp(near);
  return strict && near == value ? nextUp(near) : near;
}

const bits = new BigInt64Array(1);
const double = new Float64Array(bits.buffer);

/** The next double towards positive infinity. */
function nextUp(value: number): number {
  if (Number.isNaN(value) || value === Infinity) return value;
  if (value === 0) return Number.MIN_VALUE;
  double[0] = value;
  bits[0] = (bits[0] ?? 0n) + (value > 0 ? 1n : -1n);
  return double[0];
}
