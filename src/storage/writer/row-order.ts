// Sorts rows by time and dimensions.

import { isNullAt } from '../../model/frame.js';
import type { NumberFrameColumn, PreparedColumn, SortedStrings } from '../columns/physical.js';

/** u32 per row such that comparing keys as unsigned numbers, the first key first, compares rows. */
type Keys = readonly Uint32Array[];

/** Rows that share their time with a neighbour. */
interface Ties {
  /** Their positions in the order by time, ascending. */
  readonly positions: Uint32Array;
  readonly rows: Uint32Array;
  /** The same number for rows of one time, ascending. */
  readonly runs: Uint32Array;
}

/**
 * The order of rows in a segment: by time, then by each dimension, nulls first; rows equal in all of these keep the
 * order they came in. Radix sorts over typed arrays; only rows that share their time are ever compared by dimensions.
 * @param time  `__time`, without nulls
 * @returns     `order[i]` is the row that belongs at i; null when the rows are in order already
 */
export function sortRows(time: BigInt64Array, dimensions: readonly PreparedColumn[]): Uint32Array | null {
  if (isStrictlyAscending(time)) return null;
  const timeKeys = timeKeysOf(time);
  const order = new Uint32Array(time.length);
  for (let row = 0; row < order.length; row++) order[row] = row;
  const wasAscending = isAscending(order, timeKeys);
  if (!wasAscending) radixSort(order, timeKeys);

  const ties = findTies(order, timeKeys);
  if (ties !== null) {
    const keys = dimensions.flatMap((dimension) => dimensionKeys(dimension, ties.rows));
    // A run number is a key like the others; it keeps every row at its time.
    const runs = new Uint32Array(time.length);
    for (let at = 0; at < ties.rows.length; at++) runs[ties.rows[at] ?? 0] = ties.runs[at] ?? 0;
    if (!isAscending(ties.rows, [runs, ...keys])) {
      radixSort(ties.rows, [runs, ...keys]);
      for (let at = 0; at < ties.rows.length; at++) order[ties.positions[at] ?? 0] = ties.rows[at] ?? 0;
      return order;
    }
  }
  return wasAscending ? null : order;
}

/** Rows that came by their times, and each at its own. */
function isStrictlyAscending(time: BigInt64Array): boolean {
  const halves = new Int32Array(time.buffer, time.byteOffset, time.length * 2);
  for (let at = 2; at < halves.length; at += 2) {
    const high = halves[at + 1] ?? 0;
    const highBefore = halves[at - 1] ?? 0;
    if (high < highBefore || (high === highBefore && (halves[at] ?? 0) >>> 0 <= (halves[at - 2] ?? 0) >>> 0)) return false;
  }
  return true;
}

function isAscending(rows: Uint32Array, keys: Keys): boolean {
  for (let at = 1; at < rows.length; at++) if (compareRows(rows[at - 1] ?? 0, rows[at] ?? 0, keys) > 0) return false;
  return true;
}

function compareRows(a: number, b: number, keys: Keys): number {
  for (const key of keys) {
    const difference = (key[a] ?? 0) - (key[b] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function findTies(order: Uint32Array, timeKeys: Keys): Ties | null {
  const positions = new Uint32Array(order.length);
  const runs = new Uint32Array(order.length);
  let count = 0;
  let run = 0;
  let inRun = false;
  for (let at = 1; at < order.length; at++) {
    const isTie = compareRows(order[at - 1] ?? 0, order[at] ?? 0, timeKeys) === 0;
    if (isTie && !inRun) {
      positions[count] = at - 1;
      runs[count++] = ++run;
    }
    if (isTie) {
      positions[count] = at;
      runs[count++] = run;
    }
    inRun = isTie;
  }
  if (count === 0) return null;
  const tied = positions.slice(0, count);
  return { positions: tied, rows: tied.map((at) => order[at] ?? 0), runs: runs.subarray(0, count) };
}

/** One word when the times of the segment lie within 2^32 milliseconds, else two. */
function timeKeysOf(time: BigInt64Array): Keys {
  const [high, low] = longKeys(time);
  let smallest = 0xffffffff;
  let largest = 0;
  for (const word of high) {
    if (word < smallest) smallest = word;
    if (word > largest) largest = word;
  }
  return smallest === largest ? [low] : [high, low];
}

/** @param rows  for a multi-value column only the keys of these rows are computed */
function dimensionKeys(dimension: PreparedColumn, rows: Uint32Array): Keys {
  if (dimension.kind === 'string') return dimension.ends === null ? [dimension.ids] : [listRanks(dimension, dimension.ends, rows)];
  const keys = dimension.kind === 'long' ? longKeys(dimension.values) : doubleKeys(dimension.values);
  return dimension.nulls === null ? keys : withNullsFirst(keys, dimension, dimension.nulls);
}

function longKeys(values: BigInt64Array): [Uint32Array, Uint32Array] {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  const high = new Uint32Array(values.length);
  const low = new Uint32Array(values.length);
  for (let row = 0; row < values.length; row++) {
    low[row] = words[2 * row] ?? 0;
    high[row] = (words[2 * row + 1] ?? 0) ^ 0x80000000;
  }
  return [high, low];
}

/** Ascending, NaN last, -0 before 0. */
function doubleKeys(values: Float64Array): Keys {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  const high = new Uint32Array(values.length);
  const low = new Uint32Array(values.length);
  for (let row = 0; row < values.length; row++) {
    const isNaN = Number.isNaN(values[row]);
    const highWord = isNaN ? 0x7ff80000 : (words[2 * row + 1] ?? 0);
    const lowWord = isNaN ? 0 : (words[2 * row] ?? 0);
    const isNegative = highWord >>> 31 === 1;
    high[row] = isNegative ? ~highWord : highWord | 0x80000000;
    low[row] = isNegative ? ~lowWord : lowWord;
  }
  return [high, low];
}

function withNullsFirst(keys: Keys, column: NumberFrameColumn, nulls: Uint32Array): Keys {
  const isValue = Uint32Array.from({ length: column.values.length }, (_, row) => (isNullAt(nulls, row) ? 0 : 1));
  for (let row = 0; row < isValue.length; row++) if (isValue[row] === 0) for (const key of keys) key[row] = 0;
  return [isValue, ...keys];
}

/** The rank of each of `rows` among them, lists of ids compared element by element, a shorter list first. */
function listRanks(column: SortedStrings, ends: Uint32Array, rows: Uint32Array): Uint32Array {
  const { ids } = column;
  const startOf = (row: number): number => (row === 0 ? 0 : (ends[row - 1] ?? 0));
  const compare = (a: number, b: number): number => {
    let at = startOf(a);
    let other = startOf(b);
    const end = ends[a] ?? 0;
    const otherEnd = ends[b] ?? 0;
    for (; at < end && other < otherEnd; at++, other++) {
      const difference = (ids[at] ?? 0) - (ids[other] ?? 0);
      if (difference !== 0) return difference;
    }
    return end - at - (otherEnd - other);
  };
  const ranks = new Uint32Array(ends.length);
  const sorted = rows.slice().sort(compare);
  for (let at = 1, rank = 0; at < sorted.length; at++) {
    if (compare(sorted[at - 1] ?? 0, sorted[at] ?? 0) !== 0) rank++;
    ranks[sorted[at] ?? 0] = rank;
  }
  return ranks;
}

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** Stable, in place: from the last key's lowest digit to the first key's highest. */
function radixSort(rows: Uint32Array, keys: Keys): void {
  let from = rows;
  let to: Uint32Array = new Uint32Array(rows.length);
  for (const key of keys.toReversed()) {
    const bits = usedBits(from, key);
    for (let shift = 0; shift < bits; shift += DIGIT_BITS) {
      sortByDigit(from, key, shift, to);
      [from, to] = [to, from];
    }
  }
  if (from !== rows) rows.set(from);
}

/** Number of low bits of the key that any row uses. */
function usedBits(rows: Uint32Array, key: Uint32Array): number {
  let union = 0;
  for (let at = 0; at < rows.length; at++) union |= key[rows[at] ?? 0] ?? 0;
  return 32 - Math.clz32(union);
}

function sortByDigit(from: Uint32Array, key: Uint32Array, shift: number, to: Uint32Array): void {
  const starts = new Uint32Array(DIGITS + 1);
  for (let at = 0; at < from.length; at++) {
    const digit = ((key[from[at] ?? 0] ?? 0) >>> shift) & (DIGITS - 1);
    starts[digit + 1] = (starts[digit + 1] ?? 0) + 1;
  }
  for (let digit = 1; digit <= DIGITS; digit++) starts[digit] = (starts[digit] ?? 0) + (starts[digit - 1] ?? 0);
  for (let at = 0; at < from.length; at++) {
    const row = from[at] ?? 0;
    const digit = ((key[row] ?? 0) >>> shift) & (DIGITS - 1);
    const position = starts[digit] ?? 0;
    to[position] = row;
    starts[digit] = position + 1;
  }
}
