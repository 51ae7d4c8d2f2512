// Orders rows by keys of fixed width: many digit by digit, few by comparing.

import { ascending, type Check, checkedLoop, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { COMPARED_MAX, compared, isAscending, isBefore, rowsByLastWords } from './compared-rows.js';
import { PackedKeys } from './packed-keys.js';
import { orderedWords, type RowOrder, rowsInOrder } from './row-order.js';

/**
 * Rows in the order of their words, equal ones by row.
 * @param words  columns of 32-bit words that are ordered as unsigned numbers; the first decides first
 */
export function rowsByWords(words: readonly Uint32Array[], rowCount: number, check: Check): Uint32Array {
  return rowsInOrder(orderOfWords(words, rowCount, check) ?? {}, rowCount, check);
}

/** Rows from which on they are divided by the highest bits of their keys, before each part is sorted in the cache. */
const DIVIDED_MIN = 1 << 18;

/** Keys of so many bits are sorted by that alone; where rows are divided, their highest ones. */
const PLACED_BITS_MAX = 18;
const DIVIDED_BITS_MAX = 13;

/** The same; undefined where the rows are in that order as they are. */
export function orderOfWords(words: readonly Uint32Array[], rowCount: number, check: Check): RowOrder | undefined {
  // A word of one value decides nothing, and keys leave it out.
  const decisive = words.slice(0, sortedFrom(words, rowCount, check)).filter((word) => hasSeveralValues(word, check));
  if (decisive.length === 0) return undefined;
  if (rowCount <= COMPARED_MAX) {
    const picked = ascending(rowCount, check);
    compared(decisive, picked);
    return { picked };
  }
  const last = rowsByLastWords(decisive, check);
  if (last === undefined) return orderFrom(decisive, undefined, rowCount, check);
  return last.from === 0 ? { picked: last.rows } : orderFrom(decisive.slice(0, last.from), last.rows, rowCount, check);
}

/** Orders rows that stand in an order of their own, which equal ones keep; left out: in turn. */
function orderFrom(words: readonly Uint32Array[], given: Uint32Array | undefined, rowCount: number, check: Check): RowOrder {
  const keys = new PackedKeys(words, check);
  if (keys.partCount === 1 && keys.bitsOf(0) <= PLACED_BITS_MAX && 2 ** keys.bitsOf(0) <= rowCount)
    return { places: placesByDigit(keys.part(0), { shift: 0, bits: keys.bitsOf(0) }, given, check).places };
  if (rowCount < DIVIDED_MIN) {
    const picked = given ?? ascending(rowCount, check);
    const sorting = sortingOf(keys, (part) => keys.part(part), picked, check);
    sortStretch(sorting, { start: 0, end: rowCount, part: 0, bits: keys.bitsOf(0) });
    return { picked };
  }
  const highest = keys.part(0);
  const bits = keys.bitsOf(0) <= DIVIDED_BITS_MAX ? 0 : keys.bitsOf(0) - DIGIT_BITS_MAX;
  const { places, starts } = placesByDigit(highest, { shift: bits, bits: DIVIDED_BITS_MAX }, given, check);
  const picked = ascending(rowCount, check);
  const sorting = sortingOf(keys, (part) => orderedWords(part === 0 ? highest : keys.part(part), { places }, check), picked, check);
  for (let digit = 0; digit + 1 < starts.length; digit++) {
    check();
    sortStretch(sorting, { start: starts[digit] ?? 0, end: starts[digit + 1] ?? 0, part: 0, bits });
  }
  return { places, picked };
}

/** Places of rows by the `bits` that their keys have from `shift` on at most, equal ones as they are given; and where those of each digit start. */
function placesByDigit(
  keys: Uint32Array,
  { shift, bits }: { readonly shift: number; readonly bits: number },
  given: Uint32Array | undefined,
  check: Check,
): { readonly places: Uint32Array; readonly starts: Uint32Array } {
  const starts = new Uint32Array((1 << bits) + 1);
  checkedLoop(keys.length, check, (from, to) => {
    for (let row = from; row < to; row++) {
      const digit = (keys[row] ?? 0) >>> shift;
      starts[digit + 1] = (starts[digit + 1] ?? 0) + 1;
    }
  });
  for (let digit = 1; digit < starts.length; digit++) starts[digit] = (starts[digit] ?? 0) + (starts[digit - 1] ?? 0);
  const next = starts.slice();
  const places = new Uint32Array(keys.length);
  checkedLoop(keys.length, check, (from, to) => {
    for (let at = from; at < to; at++) {
      const row = given === undefined ? at : (given[at] ?? 0);
      const digit = (keys[row] ?? 0) >>> shift;
      const place = next[digit] ?? 0;
      places[row] = place;
      next[digit] = place + 1;
    }
  });
  return { places, starts };
}

/** The first word from which on the rows are in order as they are: times of rows that were read by time, for example. */
function sortedFrom(words: readonly Uint32Array[], rowCount: number, check: Check): number {
  let first = 0;
  while (first < words.length && !areSorted(words.slice(first), rowCount, check)) first++;
  return first;
}

function hasSeveralValues(word: Uint32Array, check: Check): boolean {
  const first = word[0] ?? 0;
  for (let start = 0; start < word.length; start += ROWS_PER_CHECK) {
    check();
    const end = Math.min(word.length, start + ROWS_PER_CHECK);
    for (let row = start; row < end; row++) if (word[row] !== first) return true;
  }
  return false;
}

function areSorted(words: readonly Uint32Array[], rowCount: number, check: Check): boolean {
  const [only] = words;
  if (only !== undefined && words.length === 1) return isAscending(only, check);
  for (let row = 1; row < rowCount; row++) {
    if (row % ROWS_PER_CHECK === 0) check();
    if (isBefore(words, row, row - 1)) return false;
  }
  return true;
}

/** Rows on their way into an order: `picked` has those of one stretch after another. */
interface Sorting {
  readonly partCount: number;
  /** Bits of a part of the keys. */
  readonly bitsOf: (part: number) => number;
  /** A part of the keys of all rows. */
  readonly partOf: (part: number) => Uint32Array;
  readonly picked: Uint32Array;
  readonly check: Check;
  /** For each part so far the parts from it on. */
  readonly rest: (readonly Uint32Array[])[];
  /** Arrays as long as the longest stretch so far. */
  room: Room;
}

interface Room {
  readonly keys: Uint32Array;
  readonly otherKeys: Uint32Array;
  readonly rows: Uint32Array;
}

function sortingOf(keys: PackedKeys, read: (part: number) => Uint32Array, picked: Uint32Array, check: Check): Sorting {
  const parts: (Uint32Array | undefined)[] = [];
  const partOf = (part: number): Uint32Array => {
    const made = parts[part] ?? read(part);
    parts[part] = made;
    return made;
  };
  return { partCount: keys.partCount, bitsOf: (part) => keys.bitsOf(part), partOf, picked, check, rest: [], room: roomFor(0) };
}

/** The parts of the keys from one on. */
function restOf({ rest, partCount, partOf }: Sorting, part: number): readonly Uint32Array[] {
  const made = rest[part] ?? Array.from({ length: partCount - part }, (_, index) => partOf(part + index));
  rest[part] = made;
  return made;
}

function roomFor(rows: number): Room {
  return { keys: new Uint32Array(rows), otherKeys: new Uint32Array(rows), rows: new Uint32Array(rows) };
}

/** Rows [start, end) of `picked`, which are alike in all bits of their keys but the last `bits` of `part` and those of later parts. */
interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly part: number;
  readonly bits: number;
}

/** Sorts a stretch by one part of the keys, and what is alike in it by the next ones. */
function sortStretch(sorting: Sorting, stretch: Stretch): void {
  const { partCount, bitsOf, picked, check } = sorting;
  const { start, end, part } = stretch;
  if (end - start < 2) return;
  if (end - start <= COMPARED_MAX) {
    compared(restOf(sorting, part), picked.subarray(start, end));
    return;
  }
  const isLast = part + 1 === partCount;
  if (end - start > sorting.room.keys.length) sorting.room = roomFor(end - start);
  const sorted = sortedByDigits(sorting, stretch, !isLast);
  if (isLast) return;
  // The stretches of the next part use the room again, when this one has been read.
  const runs = runsOfEqual(sorted.subarray(0, end - start), check);
  for (let at = 0; at < runs.length; at += 2) {
    if (at % ROWS_PER_CHECK === 0) check();
    sortStretch(sorting, { start: start + (runs[at] ?? 0), end: start + (runs[at + 1] ?? 0), part: part + 1, bits: bitsOf(part + 1) });
  }
}

/** Starts and ends of runs of several equal numbers. */
function runsOfEqual(numbers: Uint32Array, check: Check): Uint32Array {
  const runs = new Uint32Array(numbers.length + 1);
  let count = 0;
  let first = 0;
  checkedLoop(numbers.length, check, (start, end) => {
    for (let at = Math.max(1, start); at < end; at++) {
      if (numbers[at] === numbers[at - 1]) continue;
      if (at - first > 1) {
        runs[count++] = first;
        runs[count++] = at;
      }
      first = at;
    }
  });
  if (numbers.length - first > 1) {
    runs[count++] = first;
    runs[count++] = numbers.length;
  }
  return runs.slice(0, count);
}

/** Fewer rows are sorted by digits of 8 bits, of which fewer values have to be counted. */
const NARROW_MAX = 1 << 13;

/** Digits have so many bits at most: one write position for each of their values stays in the nearest caches. */
const DIGIT_BITS_MAX = 11;

/** Sorts a stretch by the last bits of one part of the keys; gives the keys in order where they are wanted. */
function sortedByDigits({ partOf, picked, room, check }: Sorting, { start, end, part, bits }: Stretch, wantsKeys: boolean): Uint32Array {
  const count = end - start;
  const passes = Math.ceil(bits / (count < NARROW_MAX ? 8 : DIGIT_BITS_MAX));
  const digitBits = Math.ceil(bits / passes);
  const rows = picked.subarray(start, end);
  let [fromRows, intoRows] = [rows, room.rows.subarray(0, count)];
  let [fromKeys, intoKeys] = [room.keys, room.otherKeys];
  const keys = partOf(part);
  checkedLoop(count, check, (from, to) => {
    for (let at = from; at < to; at++) fromKeys[at] = keys[rows[at] ?? 0] ?? 0;
  });
  const places = new Uint32Array(1 << digitBits);
  for (let pass = 0; pass < passes; pass++) {
    const digits: Digits = { keys: fromKeys, rows: fromRows, shift: pass * digitBits, places, check };
    if (!countDigits(digits)) continue;
    if (wantsKeys || pass + 1 < passes) placeByDigit(digits, intoRows, intoKeys);
    else placeRowsByDigit(digits, intoRows);
    [fromRows, intoRows] = [intoRows, fromRows];
    [fromKeys, intoKeys] = [intoKeys, fromKeys];
  }
  if (fromRows !== rows) rows.set(fromRows);
  return fromKeys;
}

interface Digits {
  readonly keys: Uint32Array;
  readonly rows: Uint32Array;
  readonly shift: number;
  /** Place of the next row of each digit. */
  readonly places: Uint32Array;
  readonly check: Check;
}

/** Finds the place of each digit's first row; false where all rows have one digit. */
function countDigits({ keys, rows, shift, places, check }: Digits): boolean {
  const mask = places.length - 1;
  places.fill(0);
  checkedLoop(rows.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const digit = ((keys[at] ?? 0) >>> shift) & mask;
      places[digit] = (places[digit] ?? 0) + 1;
    }
  });
  let before = 0;
  for (let digit = 0; digit <= mask; digit++) {
    const count = places[digit] ?? 0;
    if (count === rows.length) return false;
    places[digit] = before;
    before += count;
  }
  return true;
}

/** Places rows and their keys by a digit; those of one digit stay in their order. */
function placeByDigit({ keys, rows, shift, places, check }: Digits, intoRows: Uint32Array, intoKeys: Uint32Array): void {
  const mask = places.length - 1;
  checkedLoop(rows.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const key = keys[at] ?? 0;
      const digit = (key >>> shift) & mask;
      const place = places[digit] ?? 0;
      intoKeys[place] = key;
      intoRows[place] = rows[at] ?? 0;
      places[digit] = place + 1;
    }
  });
}

function placeRowsByDigit({ keys, rows, shift, places, check }: Digits, intoRows: Uint32Array): void {
  const mask = places.length - 1;
  checkedLoop(rows.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const digit = ((keys[at] ?? 0) >>> shift) & mask;
      const place = places[digit] ?? 0;
      intoRows[place] = rows[at] ?? 0;
      places[digit] = place + 1;
    }
  });
}
