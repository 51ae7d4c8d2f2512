// Storage job: finds strings in the dictionary of a column that is not in memory.

import { PHYSICAL_BYTES } from '../../base/layout.js';
import type { KernelSet } from '../../kernels/contract.js';
import type { KernelMemory } from '../../kernels/memory.js';
import { ArrayDecoder, type SegmentFile } from '../codecs/array-decoder.js';
import { corrupt, type StoredArray, type StoredStringColumn } from '../format.js';
import { findRows } from './find-rows.js';

export interface FindTextsRequest {
  readonly source: SegmentFile;
  /** One with an index. */
  readonly column: StoredStringColumn;
  readonly texts: readonly string[];
}

/**
 * Rows of which some value is among `texts`, ascending, from the file alone: the dictionary, which is short where there is
 * an index, and the bitmaps of the ids found in it.
 * @throws ServiceError `segment_corrupt`
 */
export function findStrings({ source, column, texts }: FindTextsRequest, memory: KernelMemory, kernels: KernelSet): Uint32Array {
  const { dictionary, index, name } = column;
  if (index === null) throw corrupt(source.file, `column ${JSON.stringify(name)} has no bitmap index`);
  const wanted = new Set(texts);
  const decoder = new ArrayDecoder(source, memory, kernels);
  const arena = memory.arena();
  const ids: number[] = [];
  try {
    const endsAt = arena.take(paddedBytes(dictionary.ends));
    const textAt = arena.take(paddedBytes(dictionary.text));
    decoder.decode(dictionary.ends, endsAt, name, 'dictionary offsets');
    decoder.decode(dictionary.text, textAt, name, 'dictionary text');
    const ends = memory.u32(endsAt, dictionary.count);
    const bytes = memory.u8(textAt, dictionary.text.length);
    const text = Buffer.from(bytes.buffer, textAt, dictionary.text.length);
    let start = 0;
    ends.forEach((end, id) => {
      if (!(dictionary.hasNull && id === 0) && wanted.has(text.toString('utf8', start, end))) ids.push(id);
      start = end;
    });
  } finally {
    arena.release();
    decoder.release();
  }
  return ids.length === 0 ? new Uint32Array(0) : findRows({ source, column: name, index, ids }, memory, kernels);
}

function paddedBytes(array: StoredArray): number {
  return Math.ceil(Math.max(1, array.length) / 64) * 64 * PHYSICAL_BYTES[array.physical];
}
