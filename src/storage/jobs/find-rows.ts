// Storage job: finds rows by the bitmap index of a column.

import { PHYSICAL_BYTES } from '../../base/layout.js';
import type { KernelSet } from '../../kernels/contract.js';
import type { KernelMemory } from '../../kernels/memory.js';
import { ArrayDecoder, type SegmentFile } from '../codecs/array-decoder.js';
import { rowsInAny } from '../codecs/bitmap-index.js';
import { corrupt, type StoredArray, type StoredIndex } from '../format.js';

export interface FindRowsRequest {
  readonly source: SegmentFile;
  readonly column: string;
  readonly index: StoredIndex;
  /** Local dictionary ids. */
  readonly ids: readonly number[];
}

/**
 * Rows of which some value is among `ids`, from the bitmap index; ascending. Reads only the blocks that hold their bitmaps.
 * @throws ServiceError `segment_corrupt`
 */
export function findRows({ source, column, index, ids }: FindRowsRequest, memory: KernelMemory, kernels: KernelSet): Uint32Array {
  const decoder = new ArrayDecoder(source, memory, kernels);
  const arena = memory.arena();
  try {
    const at = arena.take(paddedBytes(index.ends));
    decoder.decode(index.ends, at, column, 'bitmap offsets');
    const ends = memory.u32(at, index.ends.length).slice();
    const bitmaps = ids.map((id) => {
      const start = id === 0 ? 0 : (ends[id - 1] ?? 0);
      const end = ends[id] ?? 0;
      const out = arena.take((Math.ceil((end - start) / index.bitmaps.blockLength) + 1) * index.bitmaps.blockLength);
      const first = decoder.decodeRange(index.bitmaps, { start, end }, out, column, 'bitmaps');
      return memory.u8(out + start - first, end - start).slice();
    });
    try {
      return rowsInAny(bitmaps);
    } catch (error) {
      throw corrupt(source.file, `column ${JSON.stringify(column)}: its bitmaps cannot be read`, error);
    }
  } finally {
    arena.release();
    decoder.release();
  }
}

function paddedBytes(array: StoredArray): number {
  return Math.ceil(array.length / 64) * 64 * PHYSICAL_BYTES[array.physical];
}
