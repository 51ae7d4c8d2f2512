// Columns in their stored form, as files and kernel memory hold them.

import { assert } from '../../base/errors.js';
import type { FrameColumn } from '../../model/frame.js';
import type { NumberType, TextType } from '../../model/schema.js';
import { type SortedDictionary, sortDictionary, sortPacked } from './dictionary.js';
import { narrowDecimals, narrowDoubles, narrowLongs, type PhysicalNumbers } from './numbers.js';
import type { PackedColumn, SegmentFrame } from './packed-column.js';
import type { SortDistinct } from './sort-by-kernel.js';

/** A column in its stored form, in JavaScript's own memory: what a file and kernel memory both hold. */
export type PhysicalColumn = PhysicalNumberColumn | PhysicalStringColumn;

export interface PhysicalNumberColumn extends PhysicalNumbers {
  readonly kind: 'number';
  readonly name: string;
  readonly type: NumberType;
  /** Bits in 32-bit words, at least one set; null when no row is null. */
  readonly nulls: Uint32Array | null;
}

export interface PhysicalStringColumn {
  readonly kind: 'string';
  readonly name: string;
  readonly type: TextType;
  readonly hasNulls: boolean;
  /** Sorted dictionary ids: one a row, or row after row with `ends`. */
  readonly ids: Uint8Array | Uint16Array | Uint32Array;
  /** End of each row's ids; null unless some row has several. */
  readonly ends: Uint32Array | null;
  readonly dictionary: SortedDictionary;
}

/** A string column with its dictionary sorted, before rows are put in order and ids narrowed. */
export interface SortedStrings {
  readonly kind: 'string';
  readonly name: string;
  readonly type: TextType;
  readonly ids: Uint32Array;
  readonly ends: Uint32Array | null;
  readonly dictionary: SortedDictionary;
}

export type NumberFrameColumn = Extract<FrameColumn, { kind: 'long' | 'double' }>;
export type PreparedColumn = SortedStrings | NumberFrameColumn;

/** The columns, none of which has the name of another. @param sort  sorts strings by a kernel; left out: there is none */
export function prepareColumns(frame: SegmentFrame, sort?: SortDistinct): PreparedColumn[] {
  const names = new Set<string>();
  return frame.columns.map((column) => {
    assert(!names.has(column.name), `the frame has two columns ${JSON.stringify(column.name)}`);
    names.add(column.name);
    return column.kind === 'long' || column.kind === 'double' ? column : sortStrings(column, frame.rowCount, sort);
  });
}

function sortStrings(
  column: Exclude<FrameColumn, NumberFrameColumn> | PackedColumn,
  rowCount: number,
  sort: SortDistinct | undefined,
): SortedStrings {
  const offsets = column.kind === 'string' ? null : column.offsets;
  const { ids, ends, hasEmpty } =
    offsets === null ? { ids: column.ids, ends: null, hasEmpty: false } : rowEnds(column.ids, offsets, rowCount);
  // A multi-value column without a row of several values is a plain one, with a null where a row has none.
  const isPlain = ends === null || !hasSeveral(ends);
  const needsNull = isPlain && hasEmpty;
  const { dictionary, remap } =
    column.kind === 'packed'
      ? sortPacked(ids, column.dictionary, needsNull, sort)
      : sortDictionary(ids, column.dictionary, needsNull, sort);
  const sorted = remap === null ? ids : remapped(ids, remap);
  const type = column.kind === 'multi' ? 'STRING' : (column.type ?? 'STRING');
  if (!isPlain || ends === null) return { kind: 'string', name: column.name, type, ids: sorted, ends, dictionary };

  const plain = new Uint32Array(rowCount);
  for (let row = 0, start = 0; row < rowCount; row++) {
    const end = ends[row] ?? 0;
    if (end > start) plain[row] = sorted[start] ?? 0;
    start = end;
  }
  return { kind: 'string', name: column.name, type, ids: plain, ends: null, dictionary };
}

function remapped(ids: Uint32Array, remap: Uint32Array): Uint32Array {
  const changed = new Uint32Array(ids.length);
  for (let i = 0; i < ids.length; i++) changed[i] = remap[ids[i] ?? 0] ?? 0;
  return changed;
}

/** Row ends from 0 on, whatever part of a larger array the offsets point into. */
function rowEnds(all: Uint32Array, offsets: Uint32Array, rowCount: number): { ids: Uint32Array; ends: Uint32Array; hasEmpty: boolean } {
  const start = offsets[0] ?? 0;
  const ends = new Uint32Array(rowCount);
  let hasEmpty = false;
  for (let row = 0; row < rowCount; row++) {
    ends[row] = (offsets[row + 1] ?? 0) - start;
    hasEmpty ||= offsets[row] === offsets[row + 1];
  }
  return { ids: all.subarray(start, start + (ends[rowCount - 1] ?? 0)), ends, hasEmpty };
}

function hasSeveral(ends: Uint32Array): boolean {
  for (let row = 0, start = 0; row < ends.length; row++) {
    const end = ends[row] ?? 0;
    if (end - start > 1) return true;
    start = end;
  }
  return false;
}

function hasEmptyRow(ends: Uint32Array): boolean {
  for (let row = 0, start = 0; row < ends.length; row++) {
    const end = ends[row] ?? 0;
    if (end === start) return true;
    start = end;
  }
  return false;
}

/**
 * Narrows a column whose rows are in their final order.
 * @param keptForLong  whether it is worth looking at every double more closely
 */
export function toPhysical(column: PreparedColumn, keptForLong: boolean): PhysicalColumn {
  if (column.kind === 'string') {
    const { name, type, ends, dictionary } = column;
    const hasNulls = dictionary.hasNull || (ends !== null && hasEmptyRow(ends));
    return { kind: 'string', name, type, hasNulls, ids: narrowIds(column.ids, dictionary.count), ends, dictionary };
  }
  const nulls = column.nulls === null ? null : trimNulls(column.nulls, column.values.length);
  if (column.kind === 'long') return { kind: 'number', name: column.name, type: 'LONG', nulls, ...narrowLongs(column.values, nulls) };
  const doubles = narrowDoubles(column.type, column.values, nulls);
  return { kind: 'number', name: column.name, type: column.type, nulls, ...(keptForLong ? narrowDecimals(doubles, nulls) : doubles) };
}

/** The mask without bits past the rows; null when nothing is set. */
function trimNulls(nulls: Uint32Array, rowCount: number): Uint32Array | null {
  const trimmed = nulls.slice(0, Math.ceil(rowCount / 32));
  const spare = trimmed.length * 32 - rowCount;
  const last = trimmed.length - 1;
  if (spare > 0) trimmed[last] = (trimmed[last] ?? 0) & (0xffffffff >>> spare);
  return trimmed.some((word) => word !== 0) ? trimmed : null;
}

function narrowIds(ids: Uint32Array, count: number): Uint8Array | Uint16Array | Uint32Array {
  return count <= 0x100 ? new Uint8Array(ids) : count <= 0x10000 ? new Uint16Array(ids) : ids;
}
