// Storage job: loads a column into kernel memory.

import type { Address } from '../../base/layout.js';
import type { KernelSet } from '../../kernels/contract.js';
import type { KernelMemory } from '../../kernels/memory.js';
import { ArrayDecoder, type SegmentFile } from '../codecs/array-decoder.js';
import { type Region, regionsOf } from '../columns/upload.js';
import { numberUploadOf, stringUploadOf } from '../columns/views.js';
import type { StoredArray, StoredColumn, StoredNumberColumn, StoredStringColumn } from '../format.js';

export interface LoadColumnRequest {
  readonly source: SegmentFile;
  readonly rowCount: number;
  readonly column: StoredColumn;
  /** An allocation of `uploadOf(column, rowCount).bytes`, which stays the caller's. */
  readonly address: Address;
}

/**
 * Reads a column from its file straight into kernel memory and decodes it there.
 * @throws ServiceError `segment_corrupt` naming file, column and block; the allocation then holds anything
 */
export function loadColumn(request: LoadColumnRequest, memory: KernelMemory, kernels: KernelSet): null {
  const decoder = new ArrayDecoder(request.source, memory, kernels);
  try {
    if (request.column.kind === 'number') loadNumbers(request, request.column, { decoder, memory });
    else loadStrings(request, request.column, { decoder, memory });
  } finally {
    decoder.release();
  }
  return null;
}

interface Loader {
  readonly decoder: ArrayDecoder;
  readonly memory: KernelMemory;
}

function loadNumbers({ address, rowCount }: LoadColumnRequest, column: StoredNumberColumn, { decoder, memory }: Loader): void {
  const placement = numberUploadOf(column, rowCount);
  clearPadding(address, regionsOf(placement), memory);
  decoder.decode(column.values, address + placement.values.at, column.name, 'values');
  if (column.nulls !== null && placement.nulls !== null)
    decoder.decode(column.nulls, address + placement.nulls.at, column.name, 'null mask');
  decoder.decode(column.ranges, address + placement.ranges.at, column.name, 'block ranges');
}

function loadStrings({ address, rowCount }: LoadColumnRequest, column: StoredStringColumn, loader: Loader): void {
  const { decoder, memory } = loader;
  const placement = stringUploadOf(column, rowCount);
  clearPadding(address, regionsOf(placement), memory);
  const { name, dictionary } = column;
  decoder.decode(column.ids, address + placement.ids.at, name, 'ids');
  if (column.ends !== null && placement.offsets !== null)
    decodeOffsets(column.ends, address + placement.offsets.at, name, 'row offsets', loader);
  decodeOffsets(dictionary.ends, address + placement.dictionaryOffsets.at, name, 'dictionary offsets', loader);
  decoder.decode(dictionary.text, address + placement.text.at, name, 'dictionary text');
}

/** Ends become offsets by a 0 in front; they are decoded where blocks are aligned and then moved up by one. */
function decodeOffsets(ends: StoredArray, address: Address, column: string, name: string, { decoder, memory }: Loader): void {
  decoder.decode(ends, address, column, name);
  const offsets = memory.u32(address, ends.length + 1);
  offsets.copyWithin(1, 0, ends.length);
  offsets[0] = 0;
}

export function clearPadding(address: Address, regions: readonly Region[], memory: KernelMemory): void {
  for (const { at, used, end } of regions) memory.u8(address + at + used, end - at - used).fill(0);
}
