// Runs of neighbouring rows that are alike.

import { type Check, checkedLoop, ROWS_PER_CHECK } from '../../block/checked-loops.js';
import { orderedWords, type RowOrder } from '../row-order.js';

/** The first rows of runs, and the number of rows at the end. */
export type Runs = Uint32Array;

/**
 * Runs of rows in an order that have one value in each of some columns of words.
 * @param within  runs that they are parts of
 */
export function runsOfWords(words: readonly Uint32Array[], order: RowOrder, rowCount: number, check: Check, within?: Runs): Runs {
  if (within !== undefined && words.length === 0) return within;
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
  const found = new Uint32Array(runs.at(-1) ?? 0);
  const behind = edge === 'end' ? 1 : 0;
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
