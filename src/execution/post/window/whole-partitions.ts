// Aggregates over all rows of their partition, which need no order of the rows.

import { assert } from '../../../base/errors.js';
import type { PostStep } from '../../../model/plan.js';
import type { WindowFrame, WindowFunction } from '../../../model/window.js';
import { type Check, checkedLoop } from '../../block/checked-loops.js';
import { columnNamed, type ResultColumn, type ResultTable } from '../../block/result-table.js';
import { PackedKeys } from '../packed-keys.js';
import { pickedColumn, takenMarks } from '../typed-values.js';
import { rowBetter } from './frame-extremes.js';
import { halvesOfLongs, NOTHING, presentNumbers } from './frame-sums.js';
import { presentMarks } from './frame-values.js';
import type { Runs } from './runs.js';

type WindowStep = Extract<PostStep, { step: 'window' }>;

/** The partition of each row by a number below `count`; some numbers may have no rows. */
export interface PartitionNumbers {
  readonly numbers: Uint32Array;
  readonly count: number;
}

/** Whether nobody sees the order of the rows, and each function has one value for all rows of a partition. */
export function areWholePartitions({ inAnyOrder, order, functions }: WindowStep): boolean {
  return inAnyOrder === true && order.length === 0 && functions.every(({ call, frame }) => CALLS.has(call.kind) && isWhole(frame));
}

const CALLS: ReadonlySet<WindowFunction['call']['kind']> = new Set(['count', 'sum', 'min', 'max']);

/** Whether all rows of a partition are in the frame of each. Without an order they are all peers. */
export function isWhole({ unit, start, end, exclude }: WindowFrame): boolean {
  return exclude === null && start === 'unbounded' && (end === 'unbounded' || (unit !== 'rows' && end === 0));
}

/** So many numbers of partitions to a row are no more work than the rows. */
const NUMBERS_PER_ROW = 2;

/** Numbers of partitions in their order; undefined where they spread too far. */
export function partitionNumbers(words: readonly Uint32Array[], rowCount: number, check: Check): PartitionNumbers | undefined {
  const keys = new PackedKeys(words, check);
  const bits = keys.bitsOf(0);
  if (keys.partCount > 1 || bits > 30 || 2 ** bits > Math.max(1, rowCount) * NUMBERS_PER_ROW) return undefined;
  return { numbers: bits === 0 ? new Uint32Array(rowCount) : keys.part(0), count: 2 ** bits };
}

/** The partitions as they would begin, were their rows in order. */
export function runsOfNumbers({ numbers, count }: PartitionNumbers, check: Check): Runs {
  const starts = new Uint32Array(count + 1);
  checkedLoop(numbers.length, check, (from, to) => {
    for (let row = from; row < to; row++) {
      const next = (numbers[row] ?? 0) + 1;
      starts[next] = (starts[next] ?? 0) + 1;
    }
  });
  checkedLoop(count, check, (from, to) => {
    for (let at = from; at < to; at++) starts[at + 1] = (starts[at + 1] ?? 0) + (starts[at] ?? 0);
  });
  return starts;
}

/** The column of a function of `areWholePartitions`. */
export function partitionColumn(
  table: ResultTable,
  partitions: PartitionNumbers,
  { call, columns, filter, name, type }: WindowFunction,
  check: Check,
): ResultColumn {
  const taken = filter === null ? null : takenMarks(columnNamed(table, filter), table.rowCount, check);
  const ofRows = (column: ResultColumn): ResultColumn =>
    pickedColumn({ name, column }, new Int32Array(partitions.numbers.buffer, partitions.numbers.byteOffset, table.rowCount), check);
  if (call.kind === 'count') {
    const values = new BigInt64Array(partitions.count);
    countPresent(partitions, taken, new Uint32Array(values.buffer), 2, check);
    return ofRows({ kind: 'long', name, values, nulls: null });
  }
  const column = columnNamed(table, columns[0] ?? '');
  const present = presentMarks(column, { rowCount: table.rowCount, taken, check });
  switch (call.kind) {
    case 'sum': {
      const counts = new Uint32Array(partitions.count);
      countPresent(partitions, present, counts, 1, check);
      const nulls = Uint8Array.from(counts, (count) => (count === 0 ? 1 : 0));
      if (type === 'LONG') return ofRows({ kind: 'long', name, values: longSums(column, present, partitions, check), nulls });
      const values = doubleSums(column, present, partitions, check);
      for (let at = 0; at < values.length; at++) if (nulls[at] === 1) values[at] = 0;
      return ofRows({ kind: 'double', name, type: type === 'FLOAT' ? 'FLOAT' : 'DOUBLE', values, nulls });
    }
    case 'min':
    case 'max':
      return pickedColumn({ name, column }, bestRows(call.kind, column, present, partitions, check), check);
    default:
      assert(false, `${call.kind} has no one value for a partition`);
  }
}

/** Adds how many rows of each partition are there, to every `step`-th of the counts. */
function countPresent({ numbers }: PartitionNumbers, present: Uint8Array | null, counts: Uint32Array, step: 1 | 2, check: Check): void {
  checkedLoop(numbers.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const at = (numbers[row] ?? 0) * step;
      counts[at] = (counts[at] ?? 0) + (present === null ? 1 : (present[row] ?? 0));
    }
  });
}

const TWO_32 = 2 ** 32;

/** They wrap; halves are added, so that no row costs a BigInt. */
function longSums(
  column: ResultColumn,
  present: Uint8Array | null,
  { numbers, count }: PartitionNumbers,
  check: Check,
): BigInt64Array<ArrayBuffer> {
  const values = new BigInt64Array(count);
  const sums = new Uint32Array(values.buffer);
  const read = halvesOfLongs(column, numbers.length, check);
  checkedLoop(numbers.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      if (present !== null && present[row] !== 1) continue;
      const at = (numbers[row] ?? 0) * 2;
      const low = (sums[at] ?? 0) + (read[row * 2] ?? 0);
      sums[at] = low;
      sums[at + 1] = (sums[at + 1] ?? 0) + (read[row * 2 + 1] ?? 0) + (low >= TWO_32 ? 1 : 0);
    }
  });
  return values;
}

/** Added row by row, as over a frame that has all rows of the partition. */
function doubleSums(
  column: ResultColumn,
  present: Uint8Array | null,
  { numbers, count }: PartitionNumbers,
  check: Check,
): Float64Array<ArrayBuffer> {
  const sums = new Float64Array(count).fill(NOTHING);
  const read = presentNumbers(column, present, numbers.length, check);
  checkedLoop(numbers.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const at = numbers[row] ?? 0;
      sums[at] = (sums[at] ?? 0) + (read[row] ?? 0);
    }
  });
  return sums;
}

/** For each row the first of the best rows of its partition; -1 where none has a value. */
function bestRows(
  kind: 'min' | 'max',
  column: ResultColumn,
  present: Uint8Array | null,
  { numbers, count }: PartitionNumbers,
  check: Check,
): Int32Array {
  const better = rowBetter(kind, column, check);
  const best = new Int32Array(count).fill(-1);
  checkedLoop(numbers.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      if (present !== null && present[row] !== 1) continue;
      const at = numbers[row] ?? 0;
      const known = best[at] ?? -1;
      if (known < 0 || better(known, row) !== known) best[at] = row;
    }
  });
  const picked = new Int32Array(numbers.length);
  checkedLoop(numbers.length, check, (start, end) => {
    for (let row = start; row < end; row++) picked[row] = best[numbers[row] ?? 0] ?? -1;
  });
  return picked;
}
