// Values of window functions that look at other rows of their frame, such as FIRST_VALUE.

import { assert } from '../../base/errors.js';
import { convert, type Value } from '../../expression/value.js';
import type { ColumnType } from '../../model/schema.js';
import type { WindowCall } from '../../model/window.js';
import { type Check, checkedLoop, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { type ResultColumn, valueAt } from '../block/result-table.js';
import { type Combine, RangeTree, type RowNumbers, STRETCH_ROWS_MAX } from './range-tree.js';
import { compareColumn } from './sort.js';
import { AnyValues, halvesOf, nullTest, pickedColumn, SmallLongs } from './typed-values.js';
import { type FrameAggregate, frameAggregate } from './window-aggregate.js';
import type { FrameSpans } from './window-frame.js';

/** The values of a window function over the frames of rows, which are given in order. */
export interface FrameValues {
  put(row: number, spans: FrameSpans): void;
  /** Gives a row, whose frame is that of the row before, what that one has. */
  repeat(row: number): void;
  column(name: string): ResultColumn;
}

/** Rows with what functions of frames read of them. */
export interface FrameInput {
  readonly rowCount: number;
  /** Columns of the function. */
  readonly columns: readonly ResultColumn[];
  /** Whether a row meets the function's filter. */
  takes(row: number): boolean;
  readonly check: Check;
}

export function frameValues(call: WindowCall, input: FrameInput, type: ColumnType): FrameValues {
  if (call.kind === 'count') return counts(input);
  if (call.kind !== 'sum' && call.kind !== 'min' && call.kind !== 'max' && call.kind !== 'first' && call.kind !== 'last')
    return collected(frameAggregate(call), input, type);
  const [column] = input.columns;
  assert(column !== undefined, `${call.kind} reads a column`);
  switch (call.kind) {
    case 'sum':
      return type === 'LONG' ? sumsOfLongs(column, input) : sumsOfDoubles(column, input, type === 'FLOAT' ? 'FLOAT' : 'DOUBLE');
    case 'min':
    case 'max':
      return pickedRows(column, input, bestRow(call.kind, column, input));
    case 'first':
    case 'last':
      return pickedRows(column, input, edgeRow(call.kind, call.ignoresNulls ? column : undefined, input));
  }
}

/** Running counts: for each row, the number of rows before it that take part. */
function presence({ rowCount, takes, check }: FrameInput, isThere: (row: number) => boolean): Uint32Array {
  const before = new Uint32Array(rowCount + 1);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) before[row + 1] = (before[row] ?? 0) + (takes(row) && isThere(row) ? 1 : 0);
  });
  return before;
}

function countIn(before: Uint32Array, { bounds, count }: FrameSpans): number {
  let sum = 0;
  for (let at = 0; at < count * 2; at += 2) sum += (before[bounds[at + 1] ?? 0] ?? 0) - (before[bounds[at] ?? 0] ?? 0);
  return sum;
}

function counts(input: FrameInput): FrameValues {
  const before = presence(input, () => true);
  const values = new SmallLongs(input.rowCount);
  let last = 0;
  return {
    put(row, spans) {
      last = countIn(before, spans);
      values.set(row, last);
    },
    repeat: (row) => values.set(row, last),
    column: (name) => values.column(name),
  };
}

/** Marks the rows whose frames have no value. */
class Nulls {
  readonly #marks: Uint8Array;
  #hasAny = false;

  constructor(rowCount: number) {
    this.#marks = new Uint8Array(rowCount);
  }

  mark(row: number): void {
    this.#marks[row] = 1;
    this.#hasAny = true;
  }

  repeat(row: number): void {
    this.#marks[row] = this.#marks[row - 1] ?? 0;
  }

  get marks(): Uint8Array | null {
    return this.#hasAny ? this.#marks : null;
  }
}

/** Differences of the sums so far: exact, as they wrap. Halves are added, so that no row costs a BigInt. */
function sumsOfLongs(column: ResultColumn, input: FrameInput): FrameValues {
  const { rowCount, check } = input;
  const isNull = nullTest(column);
  const before = presence(input, (row) => !isNull(row));
  const sums = new Uint32Array((rowCount + 1) * 2);
  const read = halvesOfLongs(column, rowCount);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const taken = before[row] !== before[row + 1];
      const low = (sums[row * 2] ?? 0) + (taken ? (read[row * 2] ?? 0) : 0);
      sums[row * 2 + 2] = low;
      sums[row * 2 + 3] = (sums[row * 2 + 1] ?? 0) + (taken ? (read[row * 2 + 1] ?? 0) : 0) + (low >= TWO_32 ? 1 : 0);
    }
  });
  const values = new BigInt64Array(rowCount);
  const halves = new Uint32Array(values.buffer);
  const nulls = new Nulls(rowCount);
  return {
    put(row, spans) {
      if (countIn(before, spans) === 0) {
        nulls.mark(row);
        return;
      }
      const { bounds, count } = spans;
      for (let at = 0; at < count * 2; at += 2) {
        const [first, last] = [(bounds[at] ?? 0) * 2, (bounds[at + 1] ?? 0) * 2];
        const low = (halves[row * 2] ?? 0) + (sums[last] ?? 0) - (sums[first] ?? 0);
        halves[row * 2] = low;
        halves[row * 2 + 1] = (halves[row * 2 + 1] ?? 0) + (sums[last + 1] ?? 0) - (sums[first + 1] ?? 0) + Math.floor(low / TWO_32);
      }
    },
    repeat(row) {
      halves[row * 2] = halves[row * 2 - 2] ?? 0;
      halves[row * 2 + 1] = halves[row * 2 - 1] ?? 0;
      nulls.repeat(row);
    },
    column: (name) => ({ kind: 'long', name, values, nulls: nulls.marks }),
  };
}

const TWO_32 = 2 ** 32;

/** The longs of a column in halves, the lower one first. */
function halvesOfLongs(column: ResultColumn, rowCount: number): Uint32Array {
  if (column.kind === 'long') return halvesOf(column.values);
  const values = BigInt64Array.from({ length: rowCount }, (_, row) => (convert(valueAt(column, row), 'LONG') as bigint | null) ?? 0n);
  return halvesOf(values);
}

/** A number that changes no other one when it is added to it, whatever its sign. */
const NOTHING = -0;

function sumsOfDoubles(column: ResultColumn, input: FrameInput, type: 'FLOAT' | 'DOUBLE'): FrameValues {
  const { rowCount, check, takes } = input;
  const isNull = nullTest(column);
  const before = presence(input, (row) => !isNull(row));
  const numbers = new Float64Array(rowCount).fill(NOTHING);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++)
      if (takes(row) && !isNull(row))
        numbers[row] = column.kind === 'double' ? (column.values[row] ?? 0) : Number(convert(valueAt(column, row), 'DOUBLE') ?? 0);
  });
  const sumOf = overRanges(numbers, NOTHING, (a, b) => a + b);
  const values = new Float64Array(rowCount);
  const nulls = new Nulls(rowCount);
  return {
    put(row, spans) {
      if (countIn(before, spans) === 0) nulls.mark(row);
      else values[row] = sumOf(spans);
    },
    repeat(row) {
      values[row] = values[row - 1] ?? 0;
      nulls.repeat(row);
    },
    column: (name) => ({ kind: 'double', name, type, values, nulls: nulls.marks }),
  };
}

const NO_ROW = -1;

/** Functions whose value is that of one of the rows. */
function pickedRows(column: ResultColumn, { rowCount, check }: FrameInput, rowOf: (spans: FrameSpans) => number): FrameValues {
  const rows = new Int32Array(rowCount);
  return {
    put(row, spans) {
      rows[row] = rowOf(spans);
    },
    repeat(row) {
      rows[row] = rows[row - 1] ?? NO_ROW;
    },
    column: (name) => pickedColumn({ name, column }, rows, check),
  };
}

/** The row with the smallest or largest value, the first one of several. */
function bestRow(kind: 'min' | 'max', column: ResultColumn, { rowCount, takes, check }: FrameInput): (spans: FrameSpans) => number {
  const compare = compareColumn(column, { column: column.name, descending: kind === 'max', nulls: 'last', ordering: 'lexicographic' });
  const isNull = nullTest(column);
  const places = new Int32Array(rowCount);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) places[row] = takes(row) && !isNull(row) ? row : NO_ROW;
  });
  return overRanges(places, NO_ROW, (a, b) => (a === NO_ROW ? b : b === NO_ROW || compare(a, b) <= 0 ? a : b));
}

/** Frames that only grow are gone through once, from the first row on; others are put together from nodes of a tree. */
function overRanges(rows: RowNumbers, none: number, combine: Combine): (spans: FrameSpans) => number {
  let tree: RangeTree | undefined;
  let [from, to, whole] = [0, 0, none];
  return ({ bounds, count }) => {
    if (count === 0) return none;
    const start = bounds[0] ?? 0;
    const end = bounds[1] ?? 0;
    if (count === 1 && (start !== from || end < to) && end - start <= STRETCH_ROWS_MAX) [from, to, whole] = [start, start, none];
    if (count === 1 && start === from && end >= to) {
      for (; to < end; to++) whole = combine(whole, rows[to] ?? none);
      return whole;
    }
    tree ??= new RangeTree(rows, none, combine);
    let all = none;
    for (let at = 0; at < count * 2; at += 2) all = combine(all, tree.over(bounds[at] ?? 0, bounds[at + 1] ?? 0));
    return all;
  };
}

/** The first or last row. `present`: the column of which it must have a value. */
function edgeRow(kind: 'first' | 'last', present: ResultColumn | undefined, input: FrameInput): (spans: FrameSpans) => number {
  const isFirst = kind === 'first';
  const near = present === undefined ? undefined : nearestValues(present, input, isFirst);
  return ({ bounds, count }) => {
    for (let nth = 0; nth < count; nth++) {
      const span = isFirst ? nth : count - 1 - nth;
      const start = bounds[span * 2] ?? 0;
      const end = bounds[span * 2 + 1] ?? 0;
      const edge = isFirst ? start : end - 1;
      const row = near === undefined ? edge : (near[edge] ?? NO_ROW);
      if (row >= start && row < end) return row;
    }
    return NO_ROW;
  };
}

/** For each row the next one (or the one before) that has a value, itself included; -1 and beyond where there is none. */
function nearestValues(column: ResultColumn, { rowCount, check }: FrameInput, isNext: boolean): Int32Array {
  const rows = new Int32Array(rowCount);
  const isNull = nullTest(column);
  let found = isNext ? rowCount : NO_ROW;
  for (let at = 0; at < rowCount; at++) {
    if (at % ROWS_PER_CHECK === 0) check();
    const row = isNext ? rowCount - 1 - at : at;
    if (!isNull(row)) found = row;
    rows[row] = found;
  }
  return rows;
}

/** Values that are added to an aggregate one by one: it restarts unless the frame only grew, or it can remove rows. */
function collected(aggregate: FrameAggregate, { columns, rowCount, takes, check }: FrameInput, type: ColumnType): FrameValues {
  const rowOf = (row: number): readonly Value[] => columns.map((column) => valueAt(column, row));
  let [from, to] = [0, 0];
  let isWhole = true;
  let steps = 0;
  const add = (start: number, end: number): void => {
    for (let row = start; row < end; row++) {
      if (++steps % ROWS_PER_CHECK === 0) check();
      if (takes(row)) aggregate.add(rowOf(row));
    }
  };
  const valueOf = ({ bounds, count }: FrameSpans): Value => {
    const [start = 0, end = 0] = bounds;
    if (count !== 1) {
      aggregate.clear();
      for (let at = 0; at < count * 2; at += 2) add(bounds[at] ?? 0, bounds[at + 1] ?? 0);
      isWhole = false;
      return aggregate.result();
    }
    const { remove } = aggregate;
    if (isWhole && remove !== undefined && start >= from && start < to && end >= to) {
      for (; from < start; from++) if (takes(from)) remove(rowOf(from));
    }
    if (!isWhole || start !== from || end < to) {
      aggregate.clear();
      [from, to, isWhole] = [start, start, true];
    }
    add(to, end);
    to = end;
    return aggregate.result();
  };
  const values = new AnyValues(rowCount);
  let last: Value = null;
  return {
    put(row, spans) {
      last = valueOf(spans);
      values.set(row, last);
    },
    repeat: (row) => values.set(row, last),
    column: (name) => values.column(name, type),
  };
}
