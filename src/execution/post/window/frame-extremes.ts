// The rows with the smallest or largest value of the frames of window functions.

import type { SortKey } from '../../../model/plan.js';
import { type Check, checkedLoop } from '../../block/checked-loops.js';
import type { ResultColumn } from '../../block/result-table.js';
import { orderedNumbers } from '../ordered-numbers.js';
import { compareColumn } from '../sort.js';
import { RangeTree } from './range-tree.js';
import type { Spans } from './window-rows.js';

export const NO_ROW = -1;

interface Frames {
  readonly rowCount: number;
  readonly spans: readonly Spans[];
  readonly check: Check;
}

/** The best of two rows, of which the first may be none: the earlier one where they are alike. */
type Better = (first: number, second: number) => number;

/** For each row the best row of its frame, the first one of several; -1: none. `present`: 1 for rows to choose from. */
export function extremeRows(
  kind: 'min' | 'max',
  column: ResultColumn,
  present: Uint8Array | null,
  { rowCount, spans, check }: Frames,
): Int32Array {
  const key = keyOf(kind, column);
  const numbers = orderedNumbers(column, key, check);
  const better = numbers === undefined ? byComparing(compareColumn(column, key)) : byNumbers(numbers);
  let best: Int32Array | undefined;
  for (const span of spans) {
    const found =
      numbers !== undefined && span.isMoving ? movingBest(numbers, present, span, check) : anyBest(better, present, span, check);
    if (best === undefined) {
      best = found;
      continue;
    }
    const all = best;
    checkedLoop(rowCount, check, (start, end) => {
      for (let row = start; row < end; row++) all[row] = betterOf(better, all[row] ?? NO_ROW, found[row] ?? NO_ROW);
    });
  }
  return best ?? new Int32Array(rowCount).fill(NO_ROW);
}

function keyOf(kind: 'min' | 'max', column: ResultColumn): SortKey {
  return { column: column.name, descending: kind === 'max', nulls: 'last', ordering: 'lexicographic' };
}

/** The better one of any two rows that have a value. */
export function rowBetter(kind: 'min' | 'max', column: ResultColumn, check: Check): Better {
  const key = keyOf(kind, column);
  const numbers = orderedNumbers(column, key, check);
  return numbers === undefined ? byComparing(compareColumn(column, key)) : byNumbers(numbers);
}

function betterOf(better: Better, first: number, second: number): number {
  if (first === NO_ROW) return second;
  return second === NO_ROW ? first : better(first, second);
}

function byNumbers(numbers: Float64Array): Better {
  return (first, second) => ((numbers[second] ?? 0) < (numbers[first] ?? 0) ? second : first);
}

function byComparing(compare: (a: number, b: number) => number): Better {
  return (first, second) => (compare(first, second) <= 0 ? first : second);
}

/**
 * Frames that move on: a queue of rows, each of which is better than all that follow, so that the first is the best. A row
 * takes the place of those that are worse. The smallest number is the best.
 */
function movingBest(numbers: Float64Array, present: Uint8Array | null, { starts, ends }: Spans, check: Check): Int32Array {
  const rowCount = starts.length;
  const best = new Int32Array(rowCount);
  // No row is in the queue twice, and it begins anew where it is empty.
  const queue = new Int32Array(rowCount);
  let [first, after, to] = [0, 0, 0];
  checkedLoop(rowCount, check, (from, last) => {
    for (let row = from; row < last; row++) {
      const start = starts[row] ?? 0;
      const end = ends[row] ?? 0;
      if (start >= end) {
        best[row] = NO_ROW;
        continue;
      }
      if (start >= to) {
        to = start;
        first = 0;
        after = 0;
      }
      while (first < after && (queue[first] ?? 0) < start) first++;
      for (; to < end; to++) {
        if (present !== null && present[to] !== 1) continue;
        const number = numbers[to] ?? 0;
        while (after > first && number < (numbers[queue[after - 1] ?? 0] ?? 0)) after--;
        queue[after++] = to;
      }
      best[row] = first < after ? (queue[first] ?? NO_ROW) : NO_ROW;
    }
  });
  return best;
}

/** Frames of any kind, put together from nodes of a tree. */
function anyBest(better: Better, present: Uint8Array | null, { starts, ends }: Spans, check: Check): Int32Array {
  const places = new Int32Array(starts.length);
  checkedLoop(places.length, check, (from, to) => {
    for (let row = from; row < to; row++) places[row] = present === null || present[row] === 1 ? row : NO_ROW;
  });
  const tree = new RangeTree(places, NO_ROW, (first, second) => betterOf(better, first, second));
  const best = new Int32Array(starts.length);
  checkedLoop(places.length, check, (from, to) => {
    for (let row = from; row < to; row++) best[row] = tree.over(starts[row] ?? 0, ends[row] ?? 0);
  });
  return best;
}
