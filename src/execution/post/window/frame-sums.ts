// Sums over the frames of window functions.

import { convert } from '../../../expression/value.js';
import { type Check, checkedLoop } from '../../block/checked-loops.js';
import { type ResultColumn, valueAt } from '../../block/result-table.js';
import { halvesOf } from '../typed-values.js';
import { RangeTree } from './range-tree.js';
import type { Spans } from './window-rows.js';

interface Frames {
  readonly rowCount: number;
  readonly spans: readonly Spans[];
  readonly check: Check;
}

const TWO_32 = 2 ** 32;

/** Differences of the sums so far: exact, as they wrap. Halves are added, so that no row costs a BigInt. */
export function longSums(column: ResultColumn, present: Uint8Array | null, { rowCount, spans, check }: Frames): BigInt64Array<ArrayBuffer> {
  const sums = new Uint32Array((rowCount + 1) * 2);
  const read = halvesOfLongs(column, rowCount, check);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const taken = present === null || present[row] === 1;
      const low = (sums[row * 2] ?? 0) + (taken ? (read[row * 2] ?? 0) : 0);
      sums[row * 2 + 2] = low;
      sums[row * 2 + 3] = (sums[row * 2 + 1] ?? 0) + (taken ? (read[row * 2 + 1] ?? 0) : 0) + (low >= TWO_32 ? 1 : 0);
    }
  });
  const values = new BigInt64Array(rowCount);
  const halves = new Uint32Array(values.buffer);
  for (const { starts, ends } of spans)
    checkedLoop(rowCount, check, (from, to) => {
      for (let row = from; row < to; row++) {
        const start = starts[row] ?? 0;
        const end = ends[row] ?? 0;
        if (start >= end) continue;
        const low = (halves[row * 2] ?? 0) + (sums[end * 2] ?? 0) - (sums[start * 2] ?? 0);
        halves[row * 2] = low;
        const carried = low < 0 ? -1 : low >= TWO_32 ? 1 : 0;
        halves[row * 2 + 1] = (halves[row * 2 + 1] ?? 0) + (sums[end * 2 + 1] ?? 0) - (sums[start * 2 + 1] ?? 0) + carried;
      }
    });
  return values;
}

/** The longs of a column in halves, the lower one first. */
export function halvesOfLongs(column: ResultColumn, rowCount: number, check: Check): Uint32Array {
  if (column.kind === 'long') return halvesOf(column.values);
  const values = new BigInt64Array(rowCount);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) values[row] = (convert(valueAt(column, row), 'LONG') as bigint | null) ?? 0n;
  });
  return halvesOf(values);
}

/** A number that changes no other one when it is added to it, whatever its sign. */
export const NOTHING = -0;

/** `NOTHING` where no row of the frame has a value. */
export function doubleSums(
  column: ResultColumn,
  present: Uint8Array | null,
  { rowCount, spans, check }: Frames,
): Float64Array<ArrayBuffer> {
  const numbers = presentNumbers(column, present, rowCount, check);
  let sums: Float64Array<ArrayBuffer> | undefined;
  for (const span of spans) {
    const found = span.isMoving ? movingSums(numbers, span, check) : anySums(numbers, span, check);
    if (sums === undefined) {
      sums = found;
      continue;
    }
    const all = sums;
    checkedLoop(rowCount, check, (start, end) => {
      for (let row = start; row < end; row++) all[row] = (all[row] ?? 0) + (found[row] ?? 0);
    });
  }
  return sums ?? new Float64Array(rowCount);
}

/** The numbers of rows, `NOTHING` where a row has none. */
export function presentNumbers(column: ResultColumn, present: Uint8Array | null, rowCount: number, check: Check): Float64Array {
  if (column.kind === 'double' && present === null) return column.values;
  const numbers = new Float64Array(rowCount);
  checkedLoop(rowCount, check, (start, end) => {
    if (column.kind === 'double')
      for (let row = start; row < end; row++) numbers[row] = present === null || present[row] === 1 ? (column.values[row] ?? 0) : NOTHING;
    else
      for (let row = start; row < end; row++)
        numbers[row] = present === null || present[row] === 1 ? Number(convert(valueAt(column, row), 'DOUBLE') ?? 0) : NOTHING;
  });
  return numbers;
}

/**
 * Frames that move on, a queue of rows in two parts: the sum of the later ones, and for each of the earlier ones the sum of it
 * and all up to the later ones. So every row is added twice at most, and none is ever subtracted.
 */
function movingSums(numbers: Float64Array, { starts, ends }: Spans, check: Check): Float64Array<ArrayBuffer> {
  const rowCount = starts.length;
  const sums = new Float64Array(rowCount);
  const earlier = new Float64Array(rowCount);
  // The queue has rows [from, to); those from the middle on are the later ones.
  let [middle, to, later] = [0, 0, NOTHING];
  let from = 0;
  checkedLoop(rowCount, check, (first, last) => {
    for (let row = first; row < last; row++) {
      const start = starts[row] ?? 0;
      const end = ends[row] ?? 0;
      if (start >= end) {
        sums[row] = NOTHING;
        continue;
      }
      if (start >= to) {
        middle = start;
        to = start;
        later = NOTHING;
      } else if (start > from && start >= middle) {
        let sum = NOTHING;
        for (let at = to - 1; at >= start; at--) {
          sum = (numbers[at] ?? 0) + sum;
          earlier[at] = sum;
        }
        middle = to;
        later = NOTHING;
      }
      from = start;
      for (; to < end; to++) later += numbers[to] ?? 0;
      sums[row] = start < middle ? (earlier[start] ?? 0) + later : later;
    }
  });
  return sums;
}

/** Frames of any kind, put together from nodes of a tree. */
function anySums(numbers: Float64Array, { starts, ends }: Spans, check: Check): Float64Array<ArrayBuffer> {
  const tree = new RangeTree(numbers, NOTHING, (a, b) => a + b);
  const sums = new Float64Array(starts.length);
  checkedLoop(starts.length, check, (first, last) => {
    for (let row = first; row < last; row++) sums[row] = tree.over(starts[row] ?? 0, ends[row] ?? 0);
  });
  return sums;
}
