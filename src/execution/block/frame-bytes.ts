// Estimates the memory of frames.

import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import { numberer, type ResultColumn, type ResultTable } from './result-table.js';

const TEXT_OVERHEAD_BYTES = 24;

/** An estimate of what a frame holds: numbers and ids exactly, texts by their length. */
export function frameBytes(frame: SegmentFrame): number {
  let bytes = 0;
  for (const column of frame.columns) {
    if (column.kind === 'packed') {
      const { bytes: texts, ends } = column.dictionary;
      bytes += column.ids.byteLength + texts.length + ends.length * TEXT_OVERHEAD_BYTES;
    } else if (column.kind === 'string' || column.kind === 'multi') {
      bytes += column.ids.byteLength + (column.kind === 'multi' ? column.offsets.byteLength : 0);
      for (const text of column.dictionary) bytes += TEXT_OVERHEAD_BYTES + (text?.length ?? 0);
    } else bytes += column.values.byteLength + (column.nulls?.byteLength ?? 0);
  }
  return bytes;
}

/** The same of a table; texts in kernel memory are not its own. */
export function tableBytes({ columns }: ResultTable): number {
  return columns.reduce((sum, column) => sum + columnBytes(column), 0);
}

function columnBytes(column: ResultColumn): number {
  if (column.kind === 'multi') return column.rows.byteLength + frameBytes({ rowCount: 0, columns: [column.of] });
  if (column.kind !== 'string') return column.values.byteLength + (column.nulls?.byteLength ?? 0);
  const { ids, packed, text } = column;
  if (packed !== undefined) return ids.byteLength;
  const entryOf = numberer(ids);
  let [bytes, entries] = [ids.byteLength, 0];
  for (const id of ids) {
    if (entryOf(id) < entries) continue;
    entries++;
    bytes += TEXT_OVERHEAD_BYTES + (text(id)?.length ?? 0);
  }
  return bytes;
}
