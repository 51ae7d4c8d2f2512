// Bitmap indexes of columns.

import { createRequire } from 'node:module';
import { onFirstUse } from '../../base/on-first-use.js';

/*
 * For every dictionary id the rows that have it, as a roaring bitmap in the portable serialization, one after the
 * other in id order.
 *
 * Only columns whose values have some rows each are indexed. Below that a bitmap is mostly container headers, and the
 * rows of all ids are one counting sort of the ids away: no slower than reading them from the file.
 */
const ROWS_PER_VALUE_MIN = 64;

/** Fifty files of it go to find the binary, and most threads never see an index. */
const roaring = onFirstUse(() => createRequire(import.meta.url)('roaring') as typeof import('roaring'));

export interface SerializedBitmaps {
  /** End in `bytes` of the bitmap of each id. */
  readonly ends: Uint32Array;
  readonly bytes: Uint8Array;
}

export function isIndexed(valueCount: number, rowCount: number): boolean {
  return valueCount * ROWS_PER_VALUE_MIN <= rowCount;
}

/** @param ends  where row i's ids end; null: one id a row */
export function serializeBitmaps(
  ids: Uint8Array | Uint16Array | Uint32Array,
  ends: Uint32Array | null,
  valueCount: number,
): SerializedBitmaps {
  const { starts, rows } = rowsById(ids, ends, valueCount);
  const { RoaringBitmap32 } = roaring();
  const bitmap = new RoaringBitmap32();
  const bitmapEnds = new Uint32Array(valueCount);
  let bytes = Buffer.alloc(ids.length * 2 + valueCount * 32);
  let at = 0;
  for (let id = 0; id < valueCount; id++) {
    bitmap.clear();
    bitmap.addMany(rows.subarray(starts[id], starts[id + 1]));
    bitmap.runOptimize();
    const size = bitmap.getSerializationSizeInBytes('portable');
    if (at + size > bytes.length) bytes = Buffer.concat([bytes], Math.max(bytes.length * 2, at + size));
    bitmap.serialize('portable', bytes.subarray(at, at + size));
    bitmapEnds[id] = at += size;
  }
  return { ends: bitmapEnds, bytes: bytes.subarray(0, at) };
}

/** Ascending rows that are in any of the bitmaps. */
export function rowsInAny(bitmaps: readonly Uint8Array[]): Uint32Array {
  const { RoaringBitmap32 } = roaring();
  return RoaringBitmap32.orMany(bitmaps.map((bytes) => RoaringBitmap32.deserialize(bytes, 'portable'))).toUint32Array();
}

/** Rows ascending within each id: those of id i are rows[starts[i] .. starts[i + 1]). */
function rowsById(
  ids: Uint8Array | Uint16Array | Uint32Array,
  ends: Uint32Array | null,
  valueCount: number,
): { starts: Uint32Array; rows: Uint32Array } {
  const starts = new Uint32Array(valueCount + 1);
  for (let i = 0; i < ids.length; i++) starts[(ids[i] ?? 0) + 1] = (starts[(ids[i] ?? 0) + 1] ?? 0) + 1;
  for (let id = 0; id < valueCount; id++) starts[id + 1] = (starts[id + 1] ?? 0) + (starts[id] ?? 0);
  const next = starts.slice();
  const rows = new Uint32Array(ids.length);
  for (let i = 0, row = 0; i < ids.length; i++) {
    if (ends === null) row = i;
    else while (i >= (ends[row] ?? 0)) row++;
    const id = ids[i] ?? 0;
    const at = next[id] ?? 0;
    rows[at] = row;
    next[id] = at + 1;
  }
  return { starts, rows };
}
