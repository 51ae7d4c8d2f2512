// Converts parsed input values to column types.

import { shallowJsonText } from '../../expression/functions/json-size.js';
import { parseDouble, parseLong } from './number-text.js';

/**
 * One value of parsed input (JSON, Parquet) as a value of a column type. `undefined`: it is not one.
 */
const LONG_BOUND = 2 ** 63;
const MIN_LONG = -(2n ** 63n);
const MAX_LONG = 2n ** 63n - 1n;

/** Objects and arrays become JSON text, null when they are nested too deeply; arrays are split before where that is meant. */
export function toText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  return typeof value === 'object' ? (shallowJsonText(value) ?? null) : String(value);
}

/** Whether a number is an integer of 64 bits. */
export function isLong(value: number | bigint): boolean {
  return typeof value === 'bigint'
    ? value >= MIN_LONG && value <= MAX_LONG
    : Number.isInteger(value) && value >= -LONG_BOUND && value < LONG_BOUND;
}

/** A fraction is refused rather than cut off. An empty string is null. */
export function toLong(value: unknown): bigint | null | undefined {
  switch (typeof value) {
    case 'number':
      return isLong(value) ? BigInt(value) : undefined;
    case 'bigint':
      return isLong(value) ? value : undefined;
    case 'boolean':
      return value ? 1n : 0n;
    case 'string':
      return value === '' ? null : parseLong(value);
    default:
      return value === null || value === undefined ? null : undefined;
  }
}

export function toDouble(value: unknown): number | null | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isNaN(value) ? undefined : value;
    case 'bigint':
      return Number(value);
    case 'boolean':
      return value ? 1 : 0;
    case 'string': {
      if (value === '') return null;
      const parsed = parseDouble(value);
      return Number.isNaN(parsed) ? undefined : parsed;
    }
    default:
      return value === null || value === undefined ? null : undefined;
  }
}
