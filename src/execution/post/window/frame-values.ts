// Values of window functions that look at other rows of their frame, such as FIRST_VALUE.

import { assert } from '../../../base/errors.js';
import type { Value } from '../../../expression/value.js';
import type { ColumnType } from '../../../model/schema.js';
import type { WindowCall } from '../../../model/window.js';
import { type Check, checkedLoop, ROWS_PER_CHECK } from '../../block/checked-loops.js';
import { type ResultColumn, valueAt } from '../../block/result-table.js';
import { AnyValues, nullMarks, pickedColumn, smallLongs } from '../typed-values.js';
import { extremeRows, NO_ROW } from './frame-extremes.js';
import { doubleSums, longSums } from './frame-sums.js';
import { type FrameAggregate, frameAggregate } from './window-aggregate.js';
import { stretchesOf } from './window-frame.js';
import type { Spans } from './window-rows.js';

/** Rows with their frames, and with what functions of frames read of them. */
export interface FrameInput {
  readonly rowCount: number;
  readonly spans: readonly Spans[];
  /** Columns of the function. */
  readonly columns: readonly ResultColumn[];
  /** 1 for rows that meet the function's filter; null: all do. */
  readonly taken: Uint8Array | null;
  readonly check: Check;
}

/** Name and type of the column that the values become. */
export interface Wanted {
  readonly name: string;
  readonly type: ColumnType;
}

export function frameValues(call: WindowCall, input: FrameInput, wanted: Wanted): ResultColumn {
  const { check } = input;
  if (call.kind === 'count') return smallLongs(wanted.name, presentCounts(input, input.taken), check);
  if (call.kind !== 'sum' && call.kind !== 'min' && call.kind !== 'max' && call.kind !== 'first' && call.kind !== 'last')
    return collected(frameAggregate(call), input, wanted);
  const [column] = input.columns;
  assert(column !== undefined, `${call.kind} reads a column`);
  switch (call.kind) {
    case 'sum':
      return sums(column, input, wanted);
    case 'min':
    case 'max':
      return pickedColumn({ name: wanted.name, column }, extremeRows(call.kind, column, presentMarks(column, input), input), check);
    case 'first':
    case 'last':
      return pickedColumn({ name: wanted.name, column }, edgeRows(call.kind, call.ignoresNulls ? column : undefined, input), check);
  }
}

/** 1 for rows that are taken and have a value; null: all. */
export function presentMarks(
  column: ResultColumn,
  { rowCount, taken, check }: Pick<FrameInput, 'rowCount' | 'taken' | 'check'>,
): Uint8Array | null {
  const nulls = nullMarks(column, rowCount, check);
  if (nulls === null) return taken;
  const present = new Uint8Array(rowCount);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) present[row] = nulls[row] === 1 || (taken !== null && taken[row] !== 1) ? 0 : 1;
  });
  return present;
}

/** For each row how many rows of its frame are there. */
function presentCounts({ rowCount, spans, check }: FrameInput, present: Uint8Array | null): Uint32Array {
  const before = present === null ? null : new Uint32Array(rowCount + 1);
  if (present !== null && before !== null)
    checkedLoop(rowCount, check, (start, end) => {
      for (let row = start; row < end; row++) before[row + 1] = (before[row] ?? 0) + (present[row] ?? 0);
    });
  const counts = new Uint32Array(rowCount);
  for (const { starts, ends } of spans)
    checkedLoop(rowCount, check, (from, to) => {
      for (let row = from; row < to; row++) {
        const start = starts[row] ?? 0;
        const end = ends[row] ?? 0;
        if (start < end) counts[row] = (counts[row] ?? 0) + (before === null ? end - start : (before[end] ?? 0) - (before[start] ?? 0));
      }
    });
  return counts;
}

function sums(column: ResultColumn, input: FrameInput, { name, type }: Wanted): ResultColumn {
  const { rowCount, check } = input;
  const present = presentMarks(column, input);
  const counts = presentCounts(input, present);
  let hasNull = false;
  const marks = new Uint8Array(rowCount);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      if (counts[row] !== 0) continue;
      marks[row] = 1;
      hasNull = true;
    }
  });
  const nulls = hasNull ? marks : null;
  if (type === 'LONG') return { kind: 'long', name, values: longSums(column, present, input), nulls };
  const values = doubleSums(column, present, input);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) if (marks[row] === 1) values[row] = 0;
  });
  return { kind: 'double', name, type: type === 'FLOAT' ? 'FLOAT' : 'DOUBLE', values, nulls };
}

/** The first or last rows of frames. `present`: the column of which they must have a value. */
function edgeRows(kind: 'first' | 'last', present: ResultColumn | undefined, input: FrameInput): Int32Array {
  const { rowCount, spans, check } = input;
  const isFirst = kind === 'first';
  const near = present === undefined ? null : nearestValues(present, input, isFirst);
  const rows = new Int32Array(rowCount).fill(NO_ROW);
  for (const { starts, ends } of isFirst ? spans : [...spans].reverse())
    checkedLoop(rowCount, check, (from, to) => {
      for (let row = from; row < to; row++) {
        const start = starts[row] ?? 0;
        const end = ends[row] ?? 0;
        if (start >= end || rows[row] !== NO_ROW) continue;
        const edge = isFirst ? start : end - 1;
        const found = near === null ? edge : (near[edge] ?? NO_ROW);
        if (found >= start && found < end) rows[row] = found;
      }
    });
  return rows;
}

/** For each row the next one (or the one before) that has a value, itself included; -1 and beyond where there is none. */
function nearestValues(column: ResultColumn, { rowCount, check }: FrameInput, isNext: boolean): Int32Array {
  const rows = new Int32Array(rowCount);
  const nulls = nullMarks(column, rowCount, check);
  let found = isNext ? rowCount : NO_ROW;
  checkedLoop(rowCount, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const row = isNext ? rowCount - 1 - at : at;
      if (nulls === null || nulls[row] !== 1) found = row;
      rows[row] = found;
    }
  });
  return rows;
}

/** Values that are added to an aggregate one by one: it restarts unless the frame only grew, or it can remove rows. */
function collected(
  aggregate: FrameAggregate,
  { columns, rowCount, spans, taken, check }: FrameInput,
  { name, type }: Wanted,
): ResultColumn {
  const rowOf = (row: number): readonly Value[] => columns.map((column) => valueAt(column, row));
  const takes = (row: number): boolean => taken === null || taken[row] === 1;
  let [from, to] = [0, 0];
  let isWhole = true;
  let steps = 0;
  const add = (start: number, end: number): void => {
    for (let row = start; row < end; row++) {
      if (++steps % ROWS_PER_CHECK === 0) check();
      if (takes(row)) aggregate.add(rowOf(row));
    }
  };
  const valueOf = (bounds: readonly number[]): Value => {
    const [start = 0, end = 0] = bounds;
    if (bounds.length !== 2) {
      aggregate.clear();
      for (let at = 0; at < bounds.length; at += 2) add(bounds[at] ?? 0, bounds[at + 1] ?? 0);
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
  let known: readonly number[] | undefined;
  for (let row = 0; row < rowCount; row++) {
    if (row % ROWS_PER_CHECK === 0) check();
    const bounds = stretchesOf(spans, row);
    // Peers often have the same frame, whose value is found once.
    const isKnown = known?.length === 2 && bounds.length === 2 && known[0] === bounds[0] && known[1] === bounds[1];
    if (!isKnown) last = valueOf(bounds);
    known = bounds;
    values.set(row, last);
  }
  return values.column(name, type);
}
