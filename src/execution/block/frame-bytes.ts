// Estimates the memory of frames.

import type { SegmentFrame } from '../../storage/columns/packed-column.js';

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
