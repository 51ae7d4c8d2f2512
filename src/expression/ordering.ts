// Orders of strings that filters and sorts may ask for.

import { DIGIT_ZEROES, decimalOf, integerOf, withAsciiDigits } from '../base/number-text.js';
import type { StringOrdering } from '../model/filter.js';
import { compareVersions } from './version-order.js';

export type CompareStrings = (a: string, b: string) => number;

/** The orders that filters and sorts may ask for. Strings may be equal in one that are not the same: `1` and `1.0`, `a` and `A`. */
export const STRING_ORDERINGS: Readonly<Record<StringOrdering, CompareStrings>> = {
  lexicographic: compareText,
  alphanumeric: compareAlphanumeric,
  numeric: compareNumericText,
  strlen: (a, b) => a.length - b.length || compareText(a, b),
  version: compareVersions,
};

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A number written as text, exact when it is an integer of 64 bits; undefined for anything else. */
export function parseNumber(written: string): bigint | number | undefined {
  const text = withAsciiDigits(written);
  // More than twenty characters are no integer of 64 bits, unless zeros lead it; to read it as one would take long.
  const whole = text.length > 20 ? undefined : integerOf(text);
  return whole !== undefined && BigInt.asIntN(64, whole) === whole ? whole : decimalOf(text);
}

/** JavaScript compares bigint with number exactly. NaN is larger than every number and equal to itself. */
export function compareNumbers(a: bigint | number, b: bigint | number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a == b) return 0;
  return (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0);
}

/** A string that is not a number comes before numbers; equal numbers are equal however they are written. */
function compareNumericText(a: string, b: string): number {
  const left = parseNumber(a);
  const right = parseNumber(b);
  if (left === undefined || right === undefined) return (left === undefined ? 0 : 1) - (right === undefined ? 0 : 1) || compareText(a, b);
  return compareNumbers(left, right);
}

/** ASCII, Arabic-Indic, extended Arabic-Indic, Devanagari and fullwidth digits. */
const RUNS = /[0-9\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff10-\uff19]+|[^0-9\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\uff10-\uff19]+/g;

/** Runs of digits, which are before everything else, compare as numbers (more leading zeroes last), what is between them without case. */
function compareAlphanumeric(a: string, b: string): number {
  const left = a.match(RUNS) ?? [];
  const right = b.match(RUNS) ?? [];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const x = left[at] ?? '';
    const y = right[at] ?? '';
    const [digits, otherDigits] = [asciiDigits(x), asciiDigits(y)];
    if ((digits === undefined) !== (otherDigits === undefined)) return digits === undefined ? 1 : -1;
    const order = digits === undefined || otherDigits === undefined ? compareWithoutCase(x, y) : compareDigits(digits, otherDigits);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** A run of digits in ASCII; undefined for any other run. */
function asciiDigits(run: string): string | undefined {
  let digits = '';
  for (let at = 0; at < run.length; at++) {
    const code = run.charCodeAt(at);
    const zero = DIGIT_ZEROES.find((each) => code >= each && code < each + 10);
    if (zero === undefined) return undefined;
    digits += String(code - zero);
  }
  return digits;
}

function compareDigits(a: string, b: string): number {
  const [left, right] = [a.replace(/^0+/, ''), b.replace(/^0+/, '')];
  return left.length - right.length || compareText(left, right) || a.length - b.length;
}

function compareWithoutCase(a: string, b: string): number {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [x, y] = [withoutCase(a.charAt(at)), withoutCase(b.charAt(at))];
    if (x !== y) return compareText(x, y);
  }
  return a.length - b.length;
}

/** One code unit in upper case and then in lower case, where that is one code unit again. */
function withoutCase(unit: string): string {
  const upper = unit.toUpperCase();
  const lower = (upper.length === 1 ? upper : unit).toLowerCase();
  return lower.length === 1 ? lower : unit === '\u0130' ? 'i' : unit;
}
