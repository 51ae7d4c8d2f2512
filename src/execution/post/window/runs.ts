// Runs of neighbouring rows that are alike.

import { ascending, type Check, checkedLoop, ROWS_PER_CHECK } from '../../block/checked-loops.js';
import { PackedKeys } from '../packed-keys.js';
import { orderedWords, type RowOrder } from '../row-order.js';

/** The first rows of runs, and the number of rows at the end. */
export type Runs = Uint32Array;

/**
 * Runs of rows in an order that have one value in each of some columns of words.
 * @param within  runs that they are parts of
 */
export function runsOfWords(words: readonly Uint32Array[], order: RowOrder, rowCount: number, check: Check, within?: Runs): Runs {
  if (within !== undefined && words.length === 0) return within;
  if (words.some((word) => isOfEachRow(word, check))) return ascending(rowCount + 1, check);
  const isFirst = new Uint8Array(rowCount);
  isFirst[0] = 1;
  if (within !== undefined)
    checkedLoop(within.length - 1, check, (start, end) => {
      for (let run = start; run < end; run++) isFirst[within[run] ?? 0] = 1;
    });
  for (const each of words) {
    const word = orderedWords(each, order, check);
    checkedLoop(rowCount, check, (start, end) => {
      for (let at = Math.max(1, start); at < end; at++) if (word[at] !== word[at - 1]) isFirst[at] = 1;
    });
  }
  return startsOf(isFirst, check);
}

/** Whether a word numbers the rows in turn, so that no two are alike. */
function isOfEachRow(word: Uint32Array, check: Check): boolean {
  const last = word.length - 1;
  const [first, step] = word[0] === 0 ? [0, 1] : [last, -1];
  if (word[last] !== first + step * last) return false;
  let numbersAll = true;
  checkedLoop(word.length, check, (start, end) => {
    for (let row = start; numbersAll && row < end; row++) numbersAll = word[row] === first + step * row;
  });
  return numbersAll;
}

/** Keys of so many bits are counted rather than moved. */
const COUNTED_BITS_MAX = 18;

/** The runs of rows that are in the order of their words, found without moving these; undefined for too many different ones. */
export function runsByCounts(words: readonly Uint32Array[], rowCount: number, check: Check): Runs | undefined {
  const keys = new PackedKeys(words, check);
  const bits = keys.bitsOf(0);
  if (keys.partCount > 1 || bits > COUNTED_BITS_MAX || 2 ** bits > rowCount) return undefined;
  if (bits === 0) return Uint32Array.of(0, rowCount);
  const numbers = keys.part(0);
  const counts = new Uint32Array(2 ** bits);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const number = numbers[row] ?? 0;
      counts[number] = (counts[number] ?? 0) + 1;
    }
  });
  const starts = new Uint32Array(counts.length + 1);
  let [runs, next] = [0, 0];
  checkedLoop(counts.length, check, (from, to) => {
    for (let number = from; number < to; number++) {
      const count = counts[number] ?? 0;
      if (count === 0) continue;
      next += count;
      starts[++runs] = next;
    }
  });
  return starts.subarray(0, runs + 1);
}

function startsOf(isFirst: Uint8Array, check: Check): Runs {
  let count = 0;
  checkedLoop(isFirst.length, check, (start, end) => {
    for (let row = start; row < end; row++) count += isFirst[row] ?? 0;
  });
  const starts = new Uint32Array(count + 1);
  let next = 0;
  checkedLoop(isFirst.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      starts[next] = row;
      next += isFirst[row] ?? 0;
    }
  });
  starts[count] = isFirst.length;
  return starts;
}

/** Gives all rows of each run what the run has: its first row, or the one behind it. */
export function edgesOfRuns(runs: Runs, edge: 'start' | 'end', check: Check): Uint32Array {
  const rowCount = runs.at(-1) ?? 0;
  const behind = edge === 'end' ? 1 : 0;
  // Runs of one row each have its number and the next one.
  if (runs.length === rowCount + 1) return runs.subarray(behind, rowCount + behind);
  const found = new Uint32Array(rowCount);
  checkedLoop(runs.length - 1, check, (first, last) => {
    for (let run = first; run < last; run++) fillRows(found, runs[run + behind] ?? 0, runs[run] ?? 0, runs[run + 1] ?? 0);
  });
  return found;
}

/** Rows of a run that are written one by one. */
const FEW = 16;

/** Writes a number for rows [start, end); most runs are short. */
export function fillRows(into: Uint32Array | Float64Array, number: number, start: number, end: number): void {
  if (end - start > FEW) into.fill(number, start, end);
  else for (let row = start; row < end; row++) into[row] = number;
}

/** Rows [from, to) of a run, whose rows are [start, end). */
export type RunPiece = (from: number, to: number, start: number, end: number, run: number) => void;

/** All runs in pieces, with a look at whether the query still runs every so many rows. */
export function eachPiece(runs: Runs, check: Check, piece: RunPiece): void {
  let unchecked = 0;
  for (let run = 0; run + 1 < runs.length; run++) {
    const [start, end] = [runs[run] ?? 0, runs[run + 1] ?? 0];
    for (let from = start; from < end; from += ROWS_PER_CHECK) {
      const to = Math.min(end, from + ROWS_PER_CHECK);
      unchecked += to - from;
      if (unchecked >= ROWS_PER_CHECK) {
        check();
        unchecked = 0;
      }
      piece(from, to, start, end, run);
    }
  }
}
