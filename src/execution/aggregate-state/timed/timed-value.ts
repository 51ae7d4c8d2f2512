// The value at the first or last time as an object, as text, and as a key that kernels compare.

import { ServiceError } from '../../../base/errors.js';
import { parseDouble, parseLong, truncateToLong, type Value } from '../../../expression/value.js';
import { type ColumnType, isTextType } from '../../../model/schema.js';
import { I64_MAX, I64_MIN } from '../../filter/number-bounds.js';

/** The best value so far and its time; before any, the worst time there is and null. */
export interface TimedValue {
  time: bigint;
  value: Value;
}

/** Whether the greatest or the least time is the best. */
export type Ending = 'first' | 'last';

export function worstTime(ending: Ending): bigint {
  return ending === 'last' ? I64_MIN : I64_MAX;
}

export function encodeTimed({ time, value }: TimedValue): string {
  return `${time} ${value === null ? 'n' : `v${Object.is(value, -0) ? '-0' : String(value)}`}`;
}

/** @throws ServiceError `query_invalid` where it is none */
export function decodeTimed(text: string, valueType: ColumnType): TimedValue {
  const space = text.indexOf(' ');
  const [time, mark] = [timeOf(text.slice(0, space)), text[space + 1]];
  const value = mark === 'v' ? parseValue(text.slice(space + 2), valueType) : null;
  if (space < 1 || time === null || (mark !== 'v' && mark !== 'n') || (mark === 'v' && value === null))
    throw new ServiceError('query_invalid', 'a string that should hold a time and a value does not');
  return { time, value };
}

/** States of no rows were written with an infinite time. */
function timeOf(text: string): bigint | null {
  if (/^-?\d+$/.test(text)) return BigInt.asIntN(64, BigInt(text));
  return text === 'Infinity' ? I64_MAX : text === '-Infinity' ? I64_MIN : truncated(Number(text));
}

function truncated(time: number): bigint | null {
  return Number.isNaN(time) ? null : truncateToLong(time);
}

function parseValue(text: string, type: ColumnType): Value {
  return isTextType(type) ? text : type === 'LONG' ? parseLong(text) : parseDouble(text);
}

const bits = new BigInt64Array(1);
const double = new Float64Array(bits.buffer);

/** A number as i64 that compares as it does: what `sortableF64` makes of a double. */
export function keyOfNumber(value: bigint | number): bigint {
  if (typeof value === 'bigint') return value;
  double[0] = value;
  const made = bits[0] ?? 0n;
  return made < 0n ? made ^ I64_MAX : made;
}

export function doubleOfKey(key: bigint): number {
  bits[0] = key < 0n ? key ^ I64_MAX : key;
  return double[0] ?? 0;
}
