// Splits ranges of code points into sequences of ranges of UTF-8 bytes.

import type { Range } from './code-points.js';

/** Last code point of one, two, three and four bytes. */
const LAST_OF_LENGTH = [0x7f, 0x7ff, 0xffff, 0x10ffff] as const;
const SURROGATES = { first: 0xd800, last: 0xdfff } as const;

/** For each sequence the range of its first byte, its second, and so on. UTF-8 has no surrogates. */
export function utf8Ranges(ranges: readonly Range[]): readonly (readonly Range[])[] {
  const sequences: (readonly Range[])[] = [];
  for (const [from, to] of ranges) {
    const parts: readonly Range[] = [
      [from, Math.min(to, SURROGATES.first - 1)],
      [Math.max(from, SURROGATES.last + 1), to],
    ];
    for (const [first, last] of parts) if (first <= last) splitByLength(first, last, sequences);
  }
  return sequences;
}

function splitByLength(from: number, to: number, into: (readonly Range[])[]): void {
  let first = from;
  LAST_OF_LENGTH.forEach((last, index) => {
    if (first > to || first > last) return;
    split(first, Math.min(to, last), index + 1, into);
    first = last + 1;
  });
}

/** Code points of as many bytes: cut until all bytes but those at the end, which take all values, are ranges on their own. */
function split(from: number, to: number, length: number, into: (readonly Range[])[]): void {
  for (let bytes = 1; bytes < length; bytes++) {
    const mask = (1 << (6 * bytes)) - 1;
    if ((from & ~mask) === (to & ~mask)) continue;
    if ((from & mask) !== 0) {
      split(from, from | mask, length, into);
      split((from | mask) + 1, to, length, into);
      return;
    }
    if ((to & mask) !== mask) {
      split(from, (to & ~mask) - 1, length, into);
      split(to & ~mask, to, length, into);
      return;
    }
  }
  const [first, last] = [bytesOf(from, length), bytesOf(to, length)];
  into.push(first.map((byte, index): Range => [byte, last[index] ?? byte]));
}

function bytesOf(point: number, length: number): readonly number[] {
  if (length === 1) return [point];
  const bytes: number[] = [];
  let rest = point;
  for (let at = 1; at < length; at++) {
    bytes.unshift(0x80 | (rest & 0x3f));
    rest >>>= 6;
  }
  const lead = [0, 0, 0xc0, 0xe0, 0xf0][length] ?? 0;
  return [lead | rest, ...bytes];
}
