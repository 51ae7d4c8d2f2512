// Orders few rows by comparing their words, and rows that come in the order of a word but for ties.

import { ascending, type Check, checkedLoop, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { PackedKeys } from './packed-keys.js';

/** Rows that are alike in a word by which they come in order, at most and on average, where they are sorted by themselves. */
const ALIKE_MAX = 1 << 12;
const ALIKE_ON_AVERAGE = 64;

/**
 * Rows in the order of the words from one on, by which they come in order, or the other way round, but for the words after it: instants, for
 * example, with ties that another column breaks. Only rows that are alike in it change places among each other.
 */
export function rowsByLastWords(
  words: readonly Uint32Array[],
  check: Check,
): { readonly from: number; readonly rows: Uint32Array } | undefined {
  for (const [from, word] of words.entries()) {
    const isForward = isAscending(word, check);
    if (!isForward && !goesOn(word, false, check)) continue;
    const starts = startsOfAlike(word, check);
    if (starts === undefined) continue;
    const rows = isForward ? ascending(word.length, check) : reversedRuns(starts, word.length, check);
    if (from + 1 === words.length) return { from, rows };
    const keys = new PackedKeys(words.slice(from + 1), check);
    const rest = Array.from({ length: keys.partCount }, (_, part) => keys.part(part));
    let unchecked = 0;
    for (let at = 0; at + 1 < starts.length; at++) {
      const [first, last] = [starts[at] ?? 0, starts[at + 1] ?? 0];
      unchecked += last - first;
      if (unchecked >= ROWS_PER_CHECK) {
        check();
        unchecked = 0;
      }
      // Runs the other way round stand at the other end.
      const [start, end] = isForward ? [first, last] : [word.length - last, word.length - first];
      if (end - start <= INSERTED_MAX) inserted(rest, rows, start, end);
      else compared(rest, rows.subarray(start, end));
    }
    return { from, rows };
  }
  return undefined;
}

/** The last run first; the rows of each as they are. */
function reversedRuns(starts: Uint32Array, rowCount: number, check: Check): Uint32Array {
  const rows = new Uint32Array(rowCount);
  checkedLoop(starts.length - 1, check, (from, to) => {
    for (let run = from; run < to; run++) {
      const [start, end] = [starts[run] ?? 0, starts[run + 1] ?? 0];
      for (let row = start, at = rowCount - end; row < end; row++, at++) rows[at] = row;
    }
  });
  return rows;
}

/** First rows of each value of a word, and the number of rows; undefined for too many of one value. */
function startsOfAlike(word: Uint32Array, check: Check): Uint32Array | undefined {
  const starts = new Uint32Array(word.length + 1);
  let count = 1;
  let first = 0;
  for (let start = 1; start < word.length; start += ROWS_PER_CHECK) {
    check();
    const end = Math.min(word.length, start + ROWS_PER_CHECK);
    for (let row = start; row < end; row++) {
      if (word[row] === word[row - 1]) continue;
      if (row - first > ALIKE_MAX) return undefined;
      first = row;
      starts[count++] = row;
    }
  }
  if (word.length - first > ALIKE_MAX || word.length > count * ALIKE_ON_AVERAGE) return undefined;
  starts[count] = word.length;
  return starts.subarray(0, count + 1);
}

export function isAscending(word: Uint32Array, check: Check): boolean {
  return goesOn(word, true, check);
}

/** Whether a word never goes back; the other way round, never forward. */
function goesOn(word: Uint32Array, isForward: boolean, check: Check): boolean {
  for (let start = 1; start < word.length; start += ROWS_PER_CHECK) {
    check();
    const end = Math.min(word.length, start + ROWS_PER_CHECK);
    let before = word[start - 1] ?? 0;
    for (let row = start; row < end; row++) {
      const each = word[row] ?? 0;
      if (isForward ? each < before : each > before) return false;
      before = each;
    }
  }
  return true;
}

export function isBefore(words: readonly Uint32Array[], a: number, b: number): boolean {
  for (let index = 0; index < words.length; index++) {
    const word = words[index];
    if (word === undefined) continue;
    const left = word[a] ?? 0;
    const right = word[b] ?? 0;
    if (left !== right) return left < right;
  }
  return false;
}

/** So many rows are compared with each other: for fewer, counting the values of each digit takes longer. */
export const COMPARED_MAX = 64;

/** So many rows are put into order by insertion. */
const INSERTED_MAX = 24;

/** Sorts by merging ever longer stretches; equal rows stay in their order. */
export function compared(words: readonly Uint32Array[], rows: Uint32Array): void {
  if (rows.length <= INSERTED_MAX) {
    inserted(words, rows, 0, rows.length);
    return;
  }
  let from = rows;
  let into: Uint32Array = new Uint32Array(rows.length);
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
  if (from !== rows) rows.set(from);
}

function inserted(words: readonly Uint32Array[], rows: Uint32Array, start: number, end: number): void {
  const [only] = words;
  if (only !== undefined && words.length === 1) {
    insertedByWord(only, rows, start, end);
    return;
  }
  for (let at = start + 1; at < end; at++) {
    const row = rows[at] ?? 0;
    let place = at;
    for (; place > start && isBefore(words, row, rows[place - 1] ?? 0); place--) rows[place] = rows[place - 1] ?? 0;
    rows[place] = row;
  }
}

function insertedByWord(word: Uint32Array, rows: Uint32Array, start: number, end: number): void {
  for (let at = start + 1; at < end; at++) {
    const row = rows[at] ?? 0;
    const key = word[row] ?? 0;
    let place = at;
    for (; place > start && key < (word[rows[place - 1] ?? 0] ?? 0); place--) rows[place] = rows[place - 1] ?? 0;
    rows[place] = row;
  }
}
