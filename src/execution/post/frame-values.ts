// Values of window functions that look at other rows of their frame, such as FIRST_VALUE.

import { compareValues, convert, type Value, wrapLong } from '../../expression/value.js';
import type { ColumnType } from '../../model/schema.js';
import type { WindowCall } from '../../model/window.js';
import { type Check, checkedLoop, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { type ResultColumn, valueAt } from '../block/result-table.js';
import { RangeTree, STRETCH_ROWS_MAX } from './range-tree.js';
import { type FrameAggregate, frameAggregate } from './window-aggregate.js';
import type { FrameSpans } from './window-frame.js';

/** Value of a window function over the rows of a frame. Frames are asked for row by row, in order. */
export type FrameValue = (spans: FrameSpans) => Value;

/** Rows with what functions of frames read of them. */
export interface FrameInput {
  readonly rowCount: number;
  /** Columns of the function. */
  readonly columns: readonly ResultColumn[];
  /** Whether a row meets the function's filter. */
  takes(row: number): boolean;
  readonly check: Check;
}

export function frameValue(call: WindowCall, input: FrameInput, type: ColumnType): FrameValue {
  switch (call.kind) {
    case 'count':
      return countOf(presence(input, () => true));
    case 'sum':
      return type === 'LONG'
        ? sumOfLongs(input)
        : overTree(
            input,
            (a, b) => Number(a) + Number(b),
            (value) => convert(value, 'DOUBLE'),
          );
    case 'min':
    case 'max': {
      const sign = call.kind === 'min' ? 1 : -1;
      return overTree(
        input,
        (a, b) => (sign * (compareValues(a, b) ?? 0) > 0 ? b : a),
        (value) => value,
      );
    }
    case 'first':
    case 'last':
      return edgeOf(call.kind, call.ignoresNulls, input);
    default:
      return running(frameAggregate(call), input);
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

function countOf(before: Uint32Array): FrameValue {
  return (spans) => BigInt(countIn(before, spans));
}

/** Differences of the sums so far: exact, as they wrap. */
function sumOfLongs(input: FrameInput): FrameValue {
  const [column] = input.columns;
  const sums = new BigInt64Array(input.rowCount + 1);
  const values = valuesOf(input, (value) => convert(value, 'LONG'));
  const before = presence(input, (row) => values[row] !== null);
  for (let row = 0; row < values.length; row++) {
    if (row % ROWS_PER_CHECK === 0) input.check();
    sums[row + 1] = (sums[row] ?? 0n) + ((values[row] as bigint | null) ?? 0n);
  }
  return (spans) => {
    if (column === undefined || countIn(before, spans) === 0) return null;
    let sum = 0n;
    for (let at = 0; at < spans.count * 2; at += 2) sum += (sums[spans.bounds[at + 1] ?? 0] ?? 0n) - (sums[spans.bounds[at] ?? 0] ?? 0n);
    return wrapLong(sum);
  };
}

/** Values of the rows that take part; null of others. */
function valuesOf({ rowCount, columns: [column], takes, check }: FrameInput, read: (value: Value) => Value): Value[] {
  const values: Value[] = new Array<Value>(rowCount).fill(null);
  if (column === undefined) return values;
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) if (takes(row)) values[row] = read(valueAt(column, row));
  });
  return values;
}

/** Frames that only grow are gone through once, from the first row on; others are put together from nodes of a tree. */
function overTree(
  input: FrameInput,
  combine: (a: Exclude<Value, null>, b: Exclude<Value, null>) => Value,
  read: (value: Value) => Value,
): FrameValue {
  const values = valuesOf(input, read);
  const join = (a: Value, b: Value): Value => (a === null || b === null ? (a ?? b) : combine(a, b));
  let tree: RangeTree | undefined;
  let [from, to, whole]: [number, number, Value] = [0, 0, null];
  return ({ bounds, count }) => {
    const [start = 0, end = 0] = bounds;
    if (count === 0) return null;
    if (count === 1 && (start !== from || end < to) && end - start <= STRETCH_ROWS_MAX) [from, to, whole] = [start, start, null];
    if (count === 1 && start === from && end >= to) {
      for (; to < end; to++) whole = join(whole, values[to] ?? null);
      return whole;
    }
    tree ??= new RangeTree(values, combine);
    let all: Value = null;
    for (let at = 0; at < count * 2; at += 2) all = join(all, tree.over(bounds[at] ?? 0, bounds[at + 1] ?? 0));
    return all;
  };
}

/** The first or last value, with nulls or without. */
function edgeOf(kind: 'first' | 'last', ignoresNulls: boolean, input: FrameInput): FrameValue {
  const [column] = input.columns;
  if (column === undefined) return () => null;
  const isFirst = kind === 'first';
  const near = ignoresNulls ? nearestValues(column, input, isFirst) : undefined;
  return ({ bounds, count }) => {
    for (let nth = 0; nth < count; nth++) {
      const span = isFirst ? nth : count - 1 - nth;
      const [start = 0, end = 0] = [bounds[span * 2], bounds[span * 2 + 1]];
      const edge = isFirst ? start : end - 1;
      const row = near === undefined ? edge : (near[edge] ?? -1);
      if (row >= start && row < end) return valueAt(column, row);
    }
    return null;
  };
}

/** For each row the next one (or the one before) that has a value, itself included; -1 and beyond where there is none. */
function nearestValues(column: ResultColumn, { rowCount, check }: FrameInput, isNext: boolean): Int32Array {
  const rows = new Int32Array(rowCount);
  let found = isNext ? rowCount : -1;
  for (let at = 0; at < rowCount; at++) {
    if (at % ROWS_PER_CHECK === 0) check();
    const row = isNext ? rowCount - 1 - at : at;
    if (valueAt(column, row) !== null) found = row;
    rows[row] = found;
  }
  return rows;
}

/** An incremental frame value: it restarts unless the frame only grew or the aggregate can remove rows. */
function running(aggregate: FrameAggregate, { columns, takes, check }: FrameInput): FrameValue {
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
  return ({ bounds, count }) => {
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
}
