import type { StringOrdering } from '../model/filter.js';

export type CompareStrings = (a: string, b: string) => number;

/** The orders that filters and sorts may ask for; each is total, ending in the order of UTF-16 code units. */
export const STRING_ORDERINGS: Readonly<Record<StringOrdering, CompareStrings>> = {
  lexicographic: compareText,
  alphanumeric: compareAlphanumeric,
  numeric: compareNumericText,
  strlen: (a, b) => codePoints(a) - codePoints(b) || compareText(a, b),
  version: compareVersions,
};

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A number written as text, exact when it is an integer of 64 bits; undefined for anything else. */
export function parseNumber(text: string): bigint | number | undefined {
  if (/^[+-]?\d{1,19}$/.test(text)) {
    const whole = BigInt(text.startsWith('+') ? text.slice(1) : text);
    return BigInt.asIntN(64, whole) === whole ? whole : Number(text);
  }
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}

/** JavaScript compares bigint with number exactly. NaN is larger than every number and equal to itself. */
export function compareNumbers(a: bigint | number, b: bigint | number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a == b) return 0;
  return (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0);
}

/** Text that is no number comes first. */
function compareNumericText(a: string, b: string): number {
  const left = parseNumber(a);
  const right = parseNumber(b);
  if (left === undefined || right === undefined) return (left === undefined ? 0 : 1) - (right === undefined ? 0 : 1) || compareText(a, b);
  return compareNumbers(left, right) || compareText(a, b);
}

/** Runs of digits compare as numbers, everything between them as text. */
function compareAlphanumeric(a: string, b: string): number {
  const left = a.match(/\d+|\D+/g) ?? [];
  const right = b.match(/\d+|\D+/g) ?? [];
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const x = left[at] ?? '';
    const y = right[at] ?? '';
    const order = /^\d/.test(x) && /^\d/.test(y) ? compareNumbers(BigInt(x), BigInt(y)) : compareText(x, y);
    if (order !== 0) return order;
  }
  return left.length - right.length || compareText(a, b);
}

/** Parts between dots compare as numbers where both are; a missing part is 0. */
function compareVersions(a: string, b: string): number {
  const left = a.split('.');
  const right = b.split('.');
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const x = left[at] ?? '0';
    const y = right[at] ?? '0';
    const order = /^\d+$/.test(x) && /^\d+$/.test(y) ? compareNumbers(BigInt(x), BigInt(y)) : compareAlphanumeric(x, y);
    if (order !== 0) return order;
  }
  return compareText(a, b);
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
