// Narrows numbers to the smallest representation.

import { BLOCK_ROWS } from '../../base/layout.js';
import { isNullAt } from '../../model/frame.js';
import { decimalPower } from '../codecs/decimals.js';
import type { Elements } from '../codecs/elements.js';

/** Numbers as they lie in kernel memory; see `NumberColumnView`. */
export interface PhysicalNumbers {
  readonly values: Elements;
  readonly base: bigint;
  readonly power: number;
  readonly min: bigint | number | null;
  readonly max: bigint | number | null;
  /** [min, max] per block. */
  readonly ranges: Float64Array;
}

/** Longs in the narrowest width that holds their range. */
export function narrowLongs(values: BigInt64Array, nulls: Uint32Array | null): PhysicalNumbers {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  const extremes = blockExtremes(words, nulls);
  let min: bigint | null = null;
  let max: bigint | null = null;
  for (let block = 0; block < extremes.length; block += 2) {
    const blockMin = extremes[block] ?? null;
    const blockMax = extremes[block + 1] ?? null;
    if (blockMin === null || blockMax === null) continue;
    if (min === null || blockMin < min) min = blockMin;
    if (max === null || blockMax > max) max = blockMax;
  }
  const ranges = Float64Array.from(extremes, (value, at) => outwards(value, at % 2 === 0));
  const span = min === null || max === null ? 0n : max - min;
  if (span > 0xffffffffn) return { values: nulls === null ? values : zeroNullLongs(values, nulls), base: 0n, power: 0, min, max, ranges };

  const base = min ?? 0n;
  const baseLow = Number(BigInt.asUintN(32, base));
  const narrow = narrowest(Number(span), values.length);
  // The range fits 32 bits, so the low words alone tell how far a value is from the base.
  if (narrow instanceof Uint8Array) for (let row = 0; row < narrow.length; row++) narrow[row] = (words[2 * row] ?? 0) - baseLow;
  else if (narrow instanceof Uint16Array) for (let row = 0; row < narrow.length; row++) narrow[row] = (words[2 * row] ?? 0) - baseLow;
  else for (let row = 0; row < narrow.length; row++) narrow[row] = (words[2 * row] ?? 0) - baseLow;
  return { values: nulls === null ? narrow : zeroNulls(narrow, nulls), base, power: 0, min, max, ranges };
}

export function narrowDoubles(type: 'FLOAT' | 'DOUBLE', values: Float64Array, nulls: Uint32Array | null): PhysicalNumbers {
  const typed = type === 'FLOAT' ? new Float32Array(values) : nulls === null ? values : values.slice();
  const stored = nulls === null ? typed : zeroNulls(typed, nulls);
  const ranges = new Float64Array(Math.ceil(stored.length / BLOCK_ROWS) * 2);
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  for (let start = 0, at = 0; start < stored.length; start += BLOCK_ROWS, at += 2) {
    let blockMin = Number.POSITIVE_INFINITY;
    let blockMax = Number.NEGATIVE_INFINITY;
    const end = Math.min(start + BLOCK_ROWS, stored.length);
    for (let row = start; row < end; row++) {
      if (nulls !== null && isNullAt(nulls, row)) continue;
      const value = stored[row] ?? 0;
      if (value < blockMin) blockMin = value;
      if (value > blockMax) blockMax = value;
    }
    ranges[at] = blockMin;
    ranges[at + 1] = blockMax;
    if (blockMin < min) min = blockMin;
    if (blockMax > max) max = blockMax;
  }
  const none = min > max;
  return { values: stored, base: 0n, power: 0, min: none ? null : min, max: none ? null : max, ranges };
}

/** Integers narrow enough that their sum over 2^30 rows fits 64 bits. */
const DECIMAL_MAX = 2 ** 33;

/**
 * Doubles that are decimal fractions (prices, percentages, whole numbers) as integers over one power of ten: a quarter
 * of the bytes, and sums that do not depend on their order (decision 6).
 * @returns `numbers` itself when some value is no such fraction, or they spread over more than 32 bits
 */
export function narrowDecimals(numbers: PhysicalNumbers, nulls: Uint32Array | null): PhysicalNumbers {
  const { values, min, max } = numbers;
  if (!(values instanceof Float64Array) || typeof min !== 'number' || typeof max !== 'number') return numbers;
  const power = decimalPower(values);
  if (power === null) return numbers;
  const scale = 10 ** power;
  const [smallest, largest] = [Math.round(min * scale), Math.round(max * scale)];
  if (Math.max(-smallest, largest) > DECIMAL_MAX || largest - smallest > 0xffffffff) return numbers;
  const narrow = narrowest(largest - smallest, values.length);
  for (let row = 0; row < values.length; row++) narrow[row] = Math.round((values[row] ?? 0) * scale) - smallest;
  return { ...numbers, values: nulls === null ? narrow : zeroNulls(narrow, nulls), base: BigInt(smallest), power };
}

function narrowest(span: number, length: number): Uint8Array | Uint16Array | Uint32Array {
  return span > 0xffff ? new Uint32Array(length) : span > 0xff ? new Uint16Array(length) : new Uint8Array(length);
}

/** [min, max] per block of the non-null values given as words; null, null for a block of nulls. */
function blockExtremes(words: Uint32Array, nulls: Uint32Array | null): (bigint | null)[] {
  const rowCount = words.length / 2;
  const extremes: (bigint | null)[] = [];
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    const end = Math.min(start + BLOCK_ROWS, rowCount);
    const exact = exactExtremes(words, nulls, start, end);
    if (exact !== undefined) {
      extremes.push(BigInt(exact.min), BigInt(exact.max));
      continue;
    }
    let found = false;
    let minHigh = 0;
    let minLow = 0;
    let maxHigh = 0;
    let maxLow = 0;
    for (let row = start; row < end; row++) {
      if (nulls !== null && isNullAt(nulls, row)) continue;
      const low = words[2 * row] ?? 0;
      const high = (words[2 * row + 1] ?? 0) | 0;
      if (!found || high < minHigh || (high === minHigh && low < minLow)) {
        minHigh = high;
        minLow = low;
      }
      if (!found || high > maxHigh || (high === maxHigh && low > maxLow)) {
        maxHigh = high;
        maxLow = low;
      }
      found = true;
    }
    extremes.push(found ? fromWords(minHigh, minLow) : null, found ? fromWords(maxHigh, maxLow) : null);
  }
  return extremes;
}

/** The same of a block whose numbers are all exact as doubles; undefined where they are not, or none is there. */
function exactExtremes(
  words: Uint32Array,
  nulls: Uint32Array | null,
  start: number,
  end: number,
): { readonly min: number; readonly max: number } | undefined {
  const hasNulls = nulls?.subarray(start >>> 5, Math.ceil(end / 32)).some((word) => word !== 0) === true;
  let [min, max] = [Infinity, -Infinity];
  for (let row = start; row < end; row++) {
    if (hasNulls && isNullAt(nulls, row)) continue;
    const value = ((words[2 * row + 1] ?? 0) | 0) * 2 ** 32 + (words[2 * row] ?? 0);
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return min <= max && min >= Number.MIN_SAFE_INTEGER && max <= Number.MAX_SAFE_INTEGER ? { min, max } : undefined;
}

function fromWords(high: number, low: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low);
}

/** The nearest double that is not above (a minimum) or not below (a maximum); the empty range for null. */
function outwards(value: bigint | null, isMinimum: boolean): number {
  if (value === null) return isMinimum ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  const nearest = Number(value);
  const error = BigInt(nearest) - value;
  if (error === 0n || error < 0n === isMinimum) return nearest;
  // Beyond 2^53 a relative step of 2^-52 moves to a neighbouring double or the one after.
  return nearest * (1 + (nearest < 0 === isMinimum ? 1 : -1) * 2 ** -52);
}

/** Null rows keep a value of 0, whatever the frame had there. Changes `values`. */
function zeroNulls<Values extends Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array>(
  values: Values,
  nulls: Uint32Array,
): Values {
  for (let row = 0; row < values.length; row++) if (isNullAt(nulls, row)) values[row] = 0;
  return values;
}

function zeroNullLongs(values: BigInt64Array, nulls: Uint32Array): BigInt64Array {
  const copy = values.slice();
  for (let row = 0; row < copy.length; row++) if (isNullAt(nulls, row)) copy[row] = 0n;
  return copy;
}
