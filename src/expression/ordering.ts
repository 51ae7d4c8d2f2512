// Orders of strings that filters and sorts may ask for.

import { decimalOf, integerOf, withAsciiDigits } from '../base/number-text.js';
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

/**
 * Runs of digits, which are before everything else, compare as numbers (more leading zeroes last), what is between them
 * without case. A zero that ends the string is above one that something follows.
 */
function compareAlphanumeric(a: string, b: string): number {
  const left = a.match(RUNS) ?? [];
  const right = b.match(RUNS) ?? [];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [x, y] = [runAt(left, at), runAt(right, at)];
    if (x.isDigits !== y.isDigits) return x.isDigits ? -1 : 1;
    const order = x.isDigits ? compareDigits(x, y) : compareWithoutCase(x.text, y.text);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** A run of digits, in ASCII, or of other characters. */
interface Run {
  readonly text: string;
  readonly isDigits: boolean;
  readonly isLast: boolean;
}

function runAt(runs: readonly string[], at: number): Run {
  const run = runs[at] ?? '';
  const text = withAsciiDigits(run);
  const isDigits = text >= '0' && text < ':';
  return { text: isDigits ? text : run, isDigits, isLast: at === runs.length - 1 };
}

function compareDigits(a: Run, b: Run): number {
  const [left, right] = [a, b].map(({ text, isLast }) => text.replace(isLast ? /^0+(?=.)/ : /^0+/, '')) as [string, string];
  return left.length - right.length || compareText(left, right) || a.text.length - b.text.length;
}

/** Characters in turn, not their halves. */
function compareWithoutCase(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [x, y] = [withoutCase(left[at] ?? ''), withoutCase(right[at] ?? '')];
    if (x !== y) return (x.codePointAt(0) ?? 0) - (y.codePointAt(0) ?? 0);
  }
  return a.length - b.length;
}

/** One character in upper case and then in lower case, where that is one character again. */
function withoutCase(character: string): string {
  const upper = character.toUpperCase();
  const lower = (isOne(upper) ? upper : character).toLowerCase();
  return isOne(lower) ? lower : character === '\u0130' ? 'i' : character;
}

function isOne(characters: string): boolean {
  return characters.length === 1 || (characters.length === 2 && (characters.codePointAt(0) ?? 0) > 0xffff);
}
