// Columns computed for a whole segment, laid out in kernel memory like stored ones.

import type { Address } from '../../base/layout.js';
import type { Value } from '../../expression/value.js';
import { packTexts } from '../../storage/columns/packed-strings.js';
import type { DictionaryView, StringColumnView } from '../../storage/view.js';
import { takeZeroed } from '../block/context.js';
import type { SegmentScope } from './scope.js';

/** The ids of rows that have several values each: of row i, `ids[offsets[i] .. offsets[i + 1])`. */
export interface ListedRows {
  readonly ids: Uint32Array;
  readonly offsets: Uint32Array;
}

/**
 * A computed multi-value column laid out as stored ones are, in the scope's arena.
 * @param entries  the distinct values but null, sorted; ids of `rows` are positions among them, behind null if it is there
 */
export function uploadedColumn(scope: SegmentScope, rows: ListedRows, entries: readonly string[], hasNull: boolean): StringColumnView {
  const { memory } = scope.context;
  const count = entries.length + (hasNull ? 1 : 0);
  const physical = count <= 1 << 8 ? 'U8' : count <= 1 << 16 ? 'U16' : 'U32';
  const bytes = physical === 'U8' ? 1 : physical === 'U16' ? 2 : 4;
  const offsets = takeZeroed(scope.arena, scope.context, rows.offsets.length * 4 + PADDING_BYTES);
  memory.u32(offsets, rows.offsets.length).set(rows.offsets);
  const ids = takeZeroed(scope.arena, scope.context, rows.ids.length * bytes + PADDING_BYTES);
  idsView(scope, physical, ids, rows.ids.length).set(rows.ids);
  return {
    kind: 'string',
    type: 'STRING',
    physical,
    ids,
    offsets,
    dictionary: uploadedDictionary(scope, entries, hasNull),
  };
}

/** Strings as a dictionary, behind null if it is there. */
export function uploadedDictionary(scope: SegmentScope, entries: readonly string[], hasNull: boolean): DictionaryView {
  const { memory } = scope.context;
  const packed = packTexts(entries);
  const first = hasNull ? 2 : 1;
  const offsets = takeZeroed(scope.arena, scope.context, (entries.length + first) * 4 + PADDING_BYTES);
  memory.u32(offsets + first * 4, entries.length).set(packed.ends);
  const bytes = takeZeroed(scope.arena, scope.context, packed.bytes.length + PADDING_BYTES);
  memory.u8(bytes, packed.bytes.length).set(packed.bytes);
  return { count: entries.length + (hasNull ? 1 : 0), hasNull, offsets, bytes };
}

/** Kernels read in whole words past the end. */
export const PADDING_BYTES = 256;

export function idsView(
  scope: SegmentScope,
  physical: StringColumnView['physical'],
  at: Address,
  count: number,
): Uint8Array | Uint16Array | Uint32Array {
  const { memory } = scope.context;
  return physical === 'U8' ? memory.u8(at, count) : physical === 'U16' ? memory.u16(at, count) : memory.u32(at, count);
}

/** Dictionaries are UTF-8, which has no lone surrogates: each becomes U+FFFD. */
export function wellFormed(value: Value): string | null {
  if (value === null) return null;
  const text = String(value);
  return /[\ud800-\udfff]/.test(text) ? Buffer.from(text, 'utf8').toString('utf8') : text;
}

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
