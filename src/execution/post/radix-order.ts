// Orders rows by keys of fixed width: many digit by digit, few by comparing.

import { ascending, type Check, checkedLoop, ROWS_PER_CHECK } from '../block/checked-loops.js';
import type { ResultColumn } from '../block/result-table.js';

const SIGN = 0x80000000;
const NAN_HIGH = 0x7ff80000;

/**
 * Rows in the order of their words, equal ones by row. Words in whose order the rows are already take no pass over them.
 * @param words  columns of 32-bit words that are ordered as unsigned numbers; the first decides first
 */
export function rowsByWords(words: readonly Uint32Array[], rowCount: number, check: Check): Uint32Array {
  let order: Uint32Array = ascending(rowCount, check);
  if (rowCount < 2) return order;
  let next: Uint32Array = new Uint32Array(rowCount);
  if (rowCount <= COMPARED_MAX) return compared(words, order, next);
  const bits = rowCount < 1 << 16 ? 8 : 16;
  const places = new Uint32Array(1 << bits);
  for (const word of words.slice(0, sortedFrom(words, rowCount, check)).reverse()) {
    const varying = varyingBits(word, check);
    for (let shift = 0; shift < 32; shift += bits) {
      if (((varying >>> shift) & (places.length - 1)) === 0) continue;
      sortByDigit(word, shift, order, next, places, check);
      [order, next] = [next, order];
    }
  }
  return order;
}

/** The first word from which on the rows are in order as they are: times of rows that were read by time, for example. */
function sortedFrom(words: readonly Uint32Array[], rowCount: number, check: Check): number {
  let first = 0;
  while (first < words.length && !areSorted(words.slice(first), rowCount, check)) first++;
  return first;
}

function areSorted(words: readonly Uint32Array[], rowCount: number, check: Check): boolean {
  for (let row = 1; row < rowCount; row++) {
    if (row % ROWS_PER_CHECK === 0) check();
    if (isBefore(words, row, row - 1)) return false;
  }
  return true;
}

/** So many rows are compared with each other: for fewer, counting the 256 values of each digit takes longer. */
const COMPARED_MAX = 128;

/** Sorts by merging ever longer stretches; equal rows stay in their order. */
function compared(words: readonly Uint32Array[], rows: Uint32Array, room: Uint32Array): Uint32Array {
  let [from, into] = [rows, room];
  for (let width = 1; width < rows.length; width *= 2) {
    for (let start = 0; start < rows.length; start += 2 * width) {
      const middle = Math.min(rows.length, start + width);
      const end = Math.min(rows.length, start + 2 * width);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at++) {
        const takesLeft = left < middle && (right >= end || !isBefore(words, from[right] ?? 0, from[left] ?? 0));
        into[at] = from[takesLeft ? left++ : right++] ?? 0;
      }
    }
    [from, into] = [into, from];
  }
  return from;
}

function isBefore(words: readonly Uint32Array[], a: number, b: number): boolean {
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) continue;
    const [left, right] = [word[a] ?? 0, word[b] ?? 0];
    if (left !== right) return left < right;
  }
  return false;
}

/** Bits in which some words differ from the first. */
function varyingBits(word: Uint32Array, check: Check): number {
  const first = word[0] ?? 0;
  let varying = 0;
  checkedLoop(word.length, check, (start, end) => {
    for (let row = start; row < end; row++) varying |= (word[row] ?? 0) ^ first;
  });
  return varying;
}

/** Places rows by one digit of their words; those of one digit stay in their order. */
function sortByDigit(word: Uint32Array, shift: number, from: Uint32Array, into: Uint32Array, places: Uint32Array, check: Check): void {
  const mask = places.length - 1;
  places.fill(0);
  checkedLoop(from.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const digit = ((word[row] ?? 0) >>> shift) & mask;
      places[digit] = (places[digit] ?? 0) + 1;
    }
  });
  let before = 0;
  for (let digit = 0; digit <= mask; digit++) {
    const count = places[digit] ?? 0;
    places[digit] = before;
    before += count;
  }
  checkedLoop(from.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const row = from[at] ?? 0;
      const digit = ((word[row] ?? 0) >>> shift) & mask;
      const place = places[digit] ?? 0;
      into[place] = row;
      places[digit] = place + 1;
    }
  });
}

/**
 * The words that put numbers into their order: NaN is above every other double and -0 equal to 0. Null rows are all before
 * or all behind the others, whichever way these go.
 */
export function wordsOfNumbers(
  column: Extract<ResultColumn, { kind: 'long' | 'double' }>,
  { descending, nullsFirst }: { readonly descending: boolean; readonly nullsFirst: boolean },
  check: Check,
): Uint32Array[] {
  const { kind, nulls, values } = column;
  const rowCount = values.length;
  const stored = new Uint32Array(values.buffer, values.byteOffset, rowCount * 2);
  const [high, low] = [new Uint32Array(rowCount), new Uint32Array(rowCount)];
  const flip = descending ? -1 : 0;
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      if (nulls !== null && nulls[row] === 1) continue;
      let [upper, lower] = [stored[row * 2 + 1] ?? 0, stored[row * 2] ?? 0];
      if (kind === 'double') {
        if (upper === SIGN && lower === 0) upper = 0;
        const isNaN = (upper & 0x7ff00000) === 0x7ff00000 && ((upper & 0xfffff) !== 0 || lower !== 0);
        if (isNaN) [upper, lower] = [NAN_HIGH, 0];
        // The larger a negative double's bits are, the smaller it is.
        else if (upper >= SIGN) [upper, lower] = [~upper ^ SIGN, ~lower];
      }
      high[row] = upper ^ SIGN ^ flip;
      low[row] = lower ^ flip;
    }
  });
  if (nulls === null) return [high, low];
  return [Uint32Array.from(nulls, (isNull) => (isNull === 1 ? Number(!nullsFirst) : Number(nullsFirst))), high, low];
}
