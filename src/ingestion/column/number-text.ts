// Reads numbers from bytes and strings of input.

import { Buffer } from 'node:buffer';
import { doubleOf, integerOf, MAX_LONG, MIN_LONG } from '../../base/number-text.js';

const ZERO = 48;
const POWERS_OF_TEN = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));
const WHOLE_DECIMAL = /^([+-]?\d+)\.0*$/;

/**
 * The integer in the bytes [start, end) when it has at most 15 digits and nothing else but a sign; NaN when it has
 * not, which does not mean that it is wrong: `parseLong` decides.
 */
export function shortInteger(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  const first = bytes[at] ?? 0;
  const negative = first === 45;
  if (negative || first === 43) at++;
  if (at === end || end - at > 15) return Number.NaN;
  let value = 0;
  for (; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return negative ? -value : value;
}

/** Reads a 64-bit integer from a string; a decimal with nothing behind its point counts. `undefined`: not an integer. */
export function parseLong(text: string): bigint | undefined {
  const trimmed = text.trim();
  const value = integerOf(WHOLE_DECIMAL.exec(trimmed)?.[1] ?? trimmed);
  return value === undefined || value < MIN_LONG || value > MAX_LONG ? undefined : value;
}

/** The decimal number in the bytes [start, end); NaN when it is none. */
export function decimalNumber(bytes: Uint8Array, start: number, end: number): number {
  const plain = plainDecimal(bytes, start, end);
  return plain === plain ? plain : parseDouble(latin1(bytes, start, end));
}

/**
 * The number in the bytes [start, end) when it is digits with or without a sign and a point, and a mantissa below 2^53 with at most 22
 * decimals: that is two exact doubles and one correctly rounded division. NaN when it is not, which does not mean that it is wrong.
 */
export function plainDecimal(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  const negative = bytes[at] === 45;
  if (negative) at++;
  let mantissa = 0;
  let digits = 0;
  let decimals = -1;
  for (; at < end; at++) {
    const byte = bytes[at] ?? 0;
    const digit = byte - ZERO;
    if (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit;
      digits++;
      if (decimals >= 0) decimals++;
    } else if (byte === 46 && decimals < 0) decimals = 0;
    else return Number.NaN;
  }
  if (digits === 0 || digits > 19 || mantissa > Number.MAX_SAFE_INTEGER || decimals > 22) return Number.NaN;
  const value = decimals > 0 ? mantissa / (POWERS_OF_TEN[decimals] ?? 1) : mantissa;
  return negative ? -value : value;
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1');
}

/** A decimal or an infinity as text; NaN when it is neither. */
export function parseDouble(text: string): number {
  return doubleOf(text.trim()) ?? Number.NaN;
}
