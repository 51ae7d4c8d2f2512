// Prints doubles as bytes, character for character as doubleText does, at a tenth of its cost.

import { doubleText } from '../base/number-text.js';

/** Bytes that a double takes at most. */
export const DOUBLE_BYTES_MAX = 26;

/** Between these a double is printed without an exponent. */
const [SMALLEST, LARGEST] = [1e-3, 1e7];
/** Decimal places of numbers below 10^7 that have 15 digits at most: such a decimal number is the only one of its length that its double is nearest to. */
const PLACES_MAX = 8;
const POWERS = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
/** Powers of ten from 10^-3 on. */
const DECADES = Float64Array.from({ length: 11 }, (_, at) => Number(`1e${at - 3}`));
const SPLIT = 2 ** 27 + 1;
const UPPER_HALVES = POWERS.map(upperHalf);
const BILLION = 1e9;
/** Distances that differ by less are left to doubleText. */
const NARROW = 1e-6;

const [MINUS, POINT, ZERO] = [0x2d, 0x2e, 0x30];
const number = new Float64Array(1);
const words = new Uint32Array(number.buffer);
const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const HIGH_WORD = isLittleEndian ? 1 : 0;

/** Prints the doubles of a column, whose numbers of decimal places resemble each other. */
export class DoublePrinter {
  /** Most decimal places so far, of those that are few. */
  #places = 0;

  /**
   * Prints a double into `bytes` from `at` on, which has room for DOUBLE_BYTES_MAX.
   * @returns the place behind it
   */
  print(value: number, bytes: Uint8Array, start: number): number {
    const magnitude = Math.abs(value);
    if (!(magnitude >= SMALLEST && magnitude < LARGEST)) return printText(value, bytes, start);
    let at = start;
    if (value < 0) bytes[at++] = MINUS;
    const power = POWERS[this.#places] ?? 1;
    const scaled = Math.round(magnitude * power);
    if (scaled / power !== magnitude) return this.#printDigits(magnitude, bytes, at);
    const whole = Math.floor(magnitude);
    at = printInteger(whole, bytes, at);
    bytes[at++] = POINT;
    let places = this.#places;
    if (places === 0) {
      bytes[at] = ZERO;
      return at + 1;
    }
    let fraction = (scaled - whole * power) | 0;
    for (; places > 1; places--) {
      const tenth = (fraction / 10) | 0;
      if (tenth * 10 !== fraction) break;
      fraction = tenth;
    }
    printPadded(fraction, places, bytes, at);
    return at + places;
  }

  /** Prints the fewest digits that only this double is nearest to; of several such numbers, the nearest. */
  #printDigits(magnitude: number, bytes: Uint8Array, at: number): number {
    // The value is 0.d1 d2 d3 ... times ten to the exponent.
    let exponent = -2;
    while (magnitude >= (DECADES[exponent + 3] ?? 0)) exponent++;
    const power = POWERS[15 - exponent] ?? 1;
    const fifteen = Math.round(magnitude * power);
    let high: number;
    let low: number;
    if (fifteen / power === magnitude) {
      high = Math.floor(fifteen / 1e7);
      low = (fifteen - high * 1e7) * 100;
    } else {
      const place = 17 - exponent;
      const factor = POWERS[place] ?? 1;
      // The magnitude with 17 digits before the point, exactly: product + error.
      const product = magnitude * factor;
      const upper = upperHalf(magnitude);
      const lower = magnitude - upper;
      const factorUpper = UPPER_HALVES[place] ?? 0;
      const factorLower = factor - factorUpper;
      const error = upper * factorUpper - product + upper * factorLower + lower * factorUpper + lower * factorLower;
      const units = Math.round(error);
      const rest = error - units;
      high = Math.floor(product / BILLION);
      low = product - high * BILLION + units;
      const tens = Math.floor(low / 10);
      const digit = low - tens * 10;
      const above = digit + rest;
      // Half of the distance to the next double.
      number[0] = magnitude;
      words[HIGH_WORD] = ((words[HIGH_WORD] ?? 0) & 0x7ff00000) - (53 << 20);
      words[1 - HIGH_WORD] = 0;
      const reach = (number[0] ?? 0) * factor;
      const distance = Math.min(above, 10 - above);
      if (Math.abs(above - 5) < NARROW || Math.abs(distance - reach) < NARROW || Math.abs(rest) > 0.5 - NARROW)
        return printText(magnitude, bytes, at);
      if (distance < reach) low += above < 5 ? -digit : 10 - digit;
      if (low < 0 || low >= BILLION) {
        const carried = Math.floor(low / BILLION);
        high += carried;
        low -= carried * BILLION;
      }
    }
    return this.#place(high, low, exponent, bytes, at);
  }

  /** Places 17 digits around the point, without the zeros at their end. */
  #place(high: number, low: number, exponent: number, bytes: Uint8Array, start: number): number {
    let at = start;
    if (exponent <= 0) {
      bytes[at++] = ZERO;
      bytes[at++] = POINT;
      for (let zeros = exponent; zeros < 0; zeros++) bytes[at++] = ZERO;
      printPadded(high, 8, bytes, at);
      printPadded(low, 9, bytes, at + 8);
    } else {
      printPadded(high, 8, bytes, at + 1);
      printPadded(low, 9, bytes, at + 9);
      for (let digit = 0; digit < exponent; digit++) bytes[at + digit] = bytes[at + digit + 1] ?? ZERO;
      bytes[at + exponent] = POINT;
      at++;
    }
    let end = at + 17;
    while (bytes[end - 1] === ZERO) end--;
    if (bytes[end - 1] === POINT) end++;
    const places = end - at - exponent;
    if (places <= PLACES_MAX && places > this.#places) this.#places = places;
    return end;
  }
}

/** Prints an integer from 0 below 2^31 without leading zeros. */
export function printInteger(value: number, bytes: Uint8Array, start: number): number {
  let rest = value | 0;
  let digits = 1;
  for (let limit = 10; digits < 10 && rest >= limit; limit *= 10) digits++;
  for (let at = start + digits - 1; at >= start; at--) {
    const tenth = (rest / 10) | 0;
    bytes[at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
  return start + digits;
}

/** Prints the last `count` digits of an integer from 0 below 2^31. */
function printPadded(value: number, count: number, bytes: Uint8Array, start: number): void {
  let rest = value | 0;
  for (let at = start + count - 1; at >= start; at--) {
    const tenth = (rest / 10) | 0;
    bytes[at] = ZERO + rest - tenth * 10;
    rest = tenth;
  }
}

function printText(value: number, bytes: Uint8Array, start: number): number {
  const text = doubleText(value);
  for (let at = 0; at < text.length; at++) bytes[start + at] = text.charCodeAt(at);
  return start + text.length;
}

/** The upper 26 bits of a double: products of halves are exact. */
function upperHalf(value: number): number {
  const spread = value * SPLIT;
  return spread - (spread - value);
}
