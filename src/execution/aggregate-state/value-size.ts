// Size of a value, as the size limits of aggregators count it.

import { isArrayValue, toText, type Value } from '../../expression/value.js';

/** The bytes that a value takes, as limits of aggregators count them. */
export function sizeOf(value: Value): number {
  if (value === null || typeof value === 'bigint' || typeof value === 'number') return 8;
  if (isArrayValue(value)) return value.reduce((sum: number, element) => sum + sizeOf(element), 8);
  return Buffer.byteLength(toText(value) ?? '');
}
