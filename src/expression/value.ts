import type { ColumnType } from '../model/schema.js';

/** What an expression yields for one row: LONG is bigint, DOUBLE and FLOAT are number, null is the absent value of any type. */
export type Value = string | bigint | number | null;

export function toLong(value: Value): bigint | null {
  switch (typeof value) {
    case 'bigint':
      return value;
    case 'number':
      return truncateToLong(value);
    case 'string':
      return parseLong(value);
    default:
      return null;
  }
}

export function toDouble(value: Value): number | null {
  switch (typeof value) {
    case 'bigint':
      return Number(value);
    case 'number':
      return value;
    case 'string':
      return parseDouble(value);
    default:
      return null;
  }
}

export function toText(value: Value): string | null {
  switch (typeof value) {
    case 'bigint':
      return value.toString();
    case 'number':
      return doubleText(value);
    default:
      return value;
  }
}

/** As a condition: numbers are true unless 0, a string is true when it says so; null is unknown. */
export function toTruth(value: Value): boolean | null {
  switch (typeof value) {
    case 'bigint':
      return value !== 0n;
    case 'number':
      return value !== 0;
    case 'string':
      return value.toLowerCase() === 'true';
    default:
      return null;
  }
}

export function fromTruth(truth: boolean | null): bigint | null {
  return truth === null ? null : truth ? 1n : 0n;
}

/** The value in another type: a text that is no number becomes null, a fraction is cut off, a FLOAT loses precision. */
export function convert(value: Value, type: ColumnType): Value {
  switch (type) {
    case 'LONG':
      return typeof value === 'bigint' ? value : toLong(value);
    case 'DOUBLE':
      return typeof value === 'number' ? value : toDouble(value);
    case 'FLOAT': {
      const double = toDouble(value);
      return double === null ? null : Math.fround(double);
    }
    case 'STRING':
      return toText(value);
  }
}

const MIN_LONG = -(2n ** 63n);
const MAX_LONG = 2n ** 63n - 1n;

/** Wraps at 64 bits. */
export function wrapLong(value: bigint): bigint {
  return BigInt.asIntN(64, value);
}

/** Towards zero; what lies outside of 64 bits becomes the nearest bound, NaN becomes 0. */
export function truncateToLong(value: number): bigint {
  if (Number.isNaN(value)) return 0n;
  if (value >= 2 ** 63) return MAX_LONG;
  if (value <= -(2 ** 63)) return MIN_LONG;
  return BigInt(Math.trunc(value));
}

const INTEGER = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Digits, or a decimal number cut to an integer; null for any other text and for integers beyond 64 bits. */
export function parseLong(text: string): bigint | null {
  if (INTEGER.test(text)) {
    const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
    return value < MIN_LONG || value > MAX_LONG ? null : value;
  }
  const double = parseDouble(text);
  return double === null ? null : truncateToLong(double);
}

export function parseDouble(text: string): number | null {
  if (DECIMAL.test(text)) return Number(text);
  if (text === 'NaN') return Number.NaN;
  return text === 'Infinity' || text === '+Infinity' ? Infinity : text === '-Infinity' ? -Infinity : null;
}

/** A double as Java prints it: `1.0`, `0.001`, `1.0E7`, `1.234E-5`; always with a fraction. */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-3 && magnitude < 1e7) {
    const text = String(value);
    return text.includes('.') ? text : `${text}.0`;
  }
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  return `${digits.includes('.') ? digits : `${digits}.0`}E${exponent.replace('+', '')}`;
}

/**
 * Compares two values that are not null: two strings by UTF-16 code units, two LONGs exactly, all else as doubles.
 * NaN equals itself and is above everything. A string that is no number, beside a number, gives null.
 */
export function compareValues(a: string | bigint | number, b: string | bigint | number): number | null {
  if (typeof a === typeof b && typeof a !== 'number') return a < b ? -1 : a > b ? 1 : 0;
  const left = toDouble(a);
  const right = toDouble(b);
  if (left === null || right === null) return null;
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

/** A FLOAT, held in a double, with no more digits than tell it from its neighbours: `0.1`, not `0.10000000149011612`. */
export function floatText(value: number): string {
  for (let digits = 6; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits));
    if (Math.fround(shorter) === value) return doubleText(shorter);
  }
  return doubleText(Number.isFinite(value) ? Number(value.toPrecision(9)) : value);
}
