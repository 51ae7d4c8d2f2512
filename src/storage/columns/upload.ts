// Lays a column out in kernel memory.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES, type Physical } from '../../base/layout.js';

/*
 * Layout of one column's arrays within its allocation: each begins at a multiple of 64 bytes
 * and has room for its length rounded up to 64 elements. Offsets are relative to the allocation.
 */

export interface Region {
  readonly at: number;
  /** Bytes that hold elements; the rest of the region is zeros. */
  readonly used: number;
  readonly end: number;
}

export interface NumberUpload {
  readonly values: Region;
  readonly nulls: Region | null;
  readonly ranges: Region;
  readonly bytes: number;
}

export interface StringUpload {
  readonly ids: Region;
  /** u32 [rowCount + 1]. */
  readonly offsets: Region | null;
  /** u32 [count + 1]. */
  readonly dictionaryOffsets: Region;
  readonly text: Region;
  readonly bytes: number;
}

export interface NumberShape {
  readonly physical: Physical;
  readonly rowCount: number;
  readonly hasNulls: boolean;
}

export interface StringShape {
  readonly physical: Physical;
  readonly rowCount: number;
  /** Ids stored: the row count unless multi-value. */
  readonly idCount: number;
  readonly isMultiValue: boolean;
  readonly dictionaryCount: number;
  readonly textBytes: number;
}

export function uploadNumbers({ physical, rowCount, hasNulls }: NumberShape): NumberUpload {
  const regions = new Regions();
  const values = regions.add(rowCount, PHYSICAL_BYTES[physical]);
  const nulls = hasNulls ? regions.addBytes(Math.ceil(rowCount / 8), roundUp(rowCount) / 8) : null;
  const ranges = regions.add(Math.ceil(rowCount / BLOCK_ROWS) * 2, 8);
  return { values, nulls, ranges, bytes: regions.end };
}

export function uploadStrings(shape: StringShape): StringUpload {
  const regions = new Regions();
  const ids = regions.add(shape.idCount, PHYSICAL_BYTES[shape.physical]);
  const offsets = shape.isMultiValue ? regions.add(shape.rowCount + 1, 4) : null;
  const dictionaryOffsets = regions.add(shape.dictionaryCount + 1, 4);
  const text = regions.add(shape.textBytes, 1);
  return { ids, offsets, dictionaryOffsets, text, bytes: regions.end };
}

/** The regions of a placement, those it lacks left out. */
export function regionsOf(placement: NumberUpload | StringUpload): Region[] {
  const regions =
    'values' in placement
      ? [placement.values, placement.nulls, placement.ranges]
      : [placement.ids, placement.offsets, placement.dictionaryOffsets, placement.text];
  return regions.filter((region) => region !== null);
}

/** Absolute address of a region, 0 for one the column lacks. */
export function addressOf(column: Address, region: Region | null): Address {
  return region === null ? 0 : column + region.at;
}

class Regions {
  end = 0;

  add(elements: number, elementBytes: number): Region {
    return this.addBytes(elements * elementBytes, Math.max(roundUp(elements), 64) * elementBytes);
  }

  addBytes(used: number, bytes: number): Region {
    const at = this.end;
    this.end = at + roundUp(bytes);
    return { at, used, end: this.end };
  }
}

function roundUp(count: number): number {
  return Math.ceil(count / 64) * 64;
}
