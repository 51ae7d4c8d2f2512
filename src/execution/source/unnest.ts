import type { Frame, FrameColumn } from '../../model/frame.js';
import { isNullAt } from '../../model/frame.js';
import { findColumn, gatherColumn } from './rows.js';

/** Each row once for every value of a column, which becomes a column of single values. Rows without a value vanish. */
export function unnestFrame(frame: Frame, name: string): Frame {
  const column = findColumn(frame, name);
  if (column === undefined) return { rowCount: 0, columns: [] };
  const { rows, values } = column.kind === 'multi' ? expand(column, frame.rowCount) : keepFilled(column, frame.rowCount);
  return {
    rowCount: rows.length,
    columns: frame.columns.map((each) => (each === column ? values : gatherColumn(each, rows))),
  };
}

function expand(column: Extract<FrameColumn, { kind: 'multi' }>, rowCount: number): { rows: Uint32Array; values: FrameColumn } {
  const first = column.offsets[0] ?? 0;
  const rows = new Uint32Array((column.offsets[rowCount] ?? 0) - first);
  for (let row = 0; row < rowCount; row++) rows.fill(row, (column.offsets[row] ?? 0) - first, (column.offsets[row + 1] ?? 0) - first);
  const ids = column.ids.subarray(first, first + rows.length);
  return { rows, values: { kind: 'string', name: column.name, ids, dictionary: column.dictionary } };
}

function keepFilled(column: Exclude<FrameColumn, { kind: 'multi' }>, rowCount: number): { rows: Uint32Array; values: FrameColumn } {
  const isNull = (row: number): boolean =>
    column.kind === 'string' ? column.dictionary[column.ids[row] ?? 0] === null : isNullAt(column.nulls, row);
  const rows = new Uint32Array(rowCount);
  let count = 0;
  for (let row = 0; row < rowCount; row++) if (!isNull(row)) rows[count++] = row;
  const kept = rows.subarray(0, count);
  return { rows: kept, values: gatherColumn(column, kept) };
}
