// Gathers, selects and sorts rows of frames.

import { type Frame, type FrameColumn, isNullAt } from '../../model/frame.js';
import { type ColumnType, TIME_COLUMN } from '../../model/schema.js';
import type { Upload } from '../../model/upload.js';
import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import type { Check } from '../block/checked-loops.js';
import { pickLongs } from '../block/result-table.js';
import { wordsOfNumbers } from '../post/number-words.js';
import { orderOfWords } from '../post/radix-order.js';
import { rowsInOrder } from '../post/row-order.js';

/*
 * Frames taken apart and put together by row numbers. All of it is per column over typed arrays; dictionaries are
 * shared, never copied.
 */

/** The rows of these numbers, in this order. */
export function gatherFrame(frame: Frame, rows: Uint32Array): Frame {
  return { rowCount: rows.length, columns: frame.columns.map((column) => gatherColumn(column, rows)) };
}

function gatherColumn(column: FrameColumn, rows: Uint32Array): FrameColumn {
  switch (column.kind) {
    case 'string': {
      const ids = new Uint32Array(rows.length);
      for (let at = 0; at < rows.length; at++) ids[at] = column.ids[rows[at] ?? 0] ?? 0;
      return { ...column, ids };
    }
    case 'multi':
      return gatherMultiple(column, rows);
    case 'long':
      return { ...column, values: pickLongs(column.values, rows, unchecked), nulls: gatherNulls(column.nulls, rows) };
    case 'double': {
      const values = new Float64Array(rows.length);
      for (let at = 0; at < rows.length; at++) values[at] = column.values[rows[at] ?? 0] ?? 0;
      return { ...column, values, nulls: gatherNulls(column.nulls, rows) };
    }
  }
}

function gatherMultiple(column: Extract<FrameColumn, { kind: 'multi' }>, rows: Uint32Array): FrameColumn {
  const offsets = new Uint32Array(rows.length + 1);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0;
    offsets[at + 1] = (offsets[at] ?? 0) + (column.offsets[row + 1] ?? 0) - (column.offsets[row] ?? 0);
  }
  const ids = new Uint32Array(offsets[rows.length] ?? 0);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? 0;
    ids.set(column.ids.subarray(column.offsets[row], column.offsets[row + 1]), offsets[at]);
  }
  return { ...column, offsets, ids };
}

function gatherNulls(nulls: Uint32Array | null, rows: Uint32Array): Uint32Array | null {
  if (nulls === null) return null;
  const gathered = new Uint32Array(Math.ceil(rows.length / 64) * 2);
  let any = false;
  for (let at = 0; at < rows.length; at++) {
    if (!isNullAt(nulls, rows[at] ?? 0)) continue;
    any = true;
    gathered[at >>> 5] = (gathered[at >>> 5] ?? 0) | (1 << (at & 31));
  }
  return any ? gathered : null;
}

/** Columns by these names, in this order; one that the frame lacks is null in every row. */
export function selectColumns(frame: Frame, wanted: readonly WantedColumn[]): Frame {
  const columns = new Map(frame.columns.map((column) => [column.name, column]));
  return {
    rowCount: frame.rowCount,
    columns: wanted.map(({ name, type }) => columns.get(name) ?? nullColumn(name, type, frame.rowCount)),
  };
}

export interface WantedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

function nullColumn(name: string, type: ColumnType, rowCount: number): FrameColumn {
  if (type !== 'LONG' && type !== 'FLOAT' && type !== 'DOUBLE')
    return { kind: 'string', name, ids: new Uint32Array(rowCount), dictionary: [null] };
  const nulls = new Uint32Array(Math.ceil(rowCount / 64) * 2).fill(0xffffffff);
  return type === 'LONG'
    ? { kind: 'long', name, values: new BigInt64Array(rowCount), nulls }
    : { kind: 'double', name, type, values: new Float64Array(rowCount), nulls };
}

/** Columns of a result by their names in kernel memory; one that the result lacks is absent there too. */
export function uploadedColumns(frame: SegmentFrame, { columns }: Pick<Upload, 'columns'>): SegmentFrame {
  const found = new Map(frame.columns.map((column) => [column.name, column]));
  return {
    rowCount: frame.rowCount,
    columns: columns.flatMap(({ name, from }) => {
      const column = found.get(from);
      return column === undefined ? [] : [{ ...column, name }];
    }),
  };
}

export function findColumn(frame: Frame, name: string): FrameColumn | undefined {
  return frame.columns.find((column) => column.name === name);
}

/**
 * Row numbers in order of `__time`, rows of one instant as they stand; null when they are in that order already or
 * there is no such column.
 */
export function rowsByTime(frame: Frame): Uint32Array | null {
  const time = findColumn(frame, TIME_COLUMN);
  if (time?.kind !== 'long') return null;
  const words = wordsOfNumbers({ ...time, nulls: null }, { descending: false, nullsFirst: true }, unchecked);
  const order = orderOfWords(words, frame.rowCount, unchecked);
  return order === undefined ? null : rowsInOrder(order, frame.rowCount, unchecked);
}

/** Chunks are small enough that nobody need look at the deadline meanwhile. */
const unchecked: Check = () => undefined;
