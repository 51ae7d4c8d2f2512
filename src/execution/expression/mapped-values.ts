import type { Value } from '../../expression/value.js';
import { packTexts } from '../../storage/columns/packed-texts.js';
import type { Address, StringColumnView } from '../../storage/view.js';
import { takeZeroed } from '../context.js';
import type { SegmentScope } from '../scope.js';

/** What becomes of a value of a multi-value column; null among `value`s is that of a row without any. */
export interface ValueMapping {
  readonly map: (value: string | null) => Value;
  readonly keeps: (value: string | null) => boolean;
}

/**
 * A multi-value column made of another by mapping each of its distinct values once and leaving out those that are not
 * kept. It has a dictionary of its own, so that everything that reads columns reads it as it does a stored one. Lies in
 * the scope's arena.
 */
export function mappedColumn(scope: SegmentScope, column: StringColumnView, { map, keeps }: ValueMapping): StringColumnView {
  const texts = scope.texts(column);
  const results = texts.map((text) => (keeps(text) ? wellFormed(map(text)) : undefined));
  const ofNone = keeps(null) ? wellFormed(map(null)) : undefined;
  const distinct = new Set(results);
  distinct.add(ofNone);
  const hasNull = distinct.has(null);
  const entries = [...distinct].filter((entry) => typeof entry === 'string').sort(byCodeUnits);
  const ids = new Map<string | null, number>(entries.map((text, index) => [text, index + (hasNull ? 1 : 0)]));
  if (hasNull) ids.set(null, 0);
  const newIds = Int32Array.from(results, (result) => (result === undefined ? -1 : (ids.get(result) ?? 0)));
  // A row without values stays without, unless the mapping makes a value of null.
  const idOfNone = ofNone === undefined || ofNone === null ? -1 : (ids.get(ofNone) ?? 0);
  const count = entries.length + (hasNull ? 1 : 0);
  const physical = count <= 1 << 8 ? 'U8' : count <= 1 << 16 ? 'U16' : 'U32';
  const rows = mapRows(scope, column, newIds, idOfNone, physical);
  return { kind: 'string', type: 'STRING', physical, ...rows, dictionary: { count, hasNull, ...placeTexts(scope, entries, hasNull) } };
}

function mapRows(
  scope: SegmentScope,
  column: StringColumnView,
  newIds: Int32Array,
  idOfNone: number,
  physical: StringColumnView['physical'],
): { readonly ids: Address; readonly offsets: Address } {
  const { memory } = scope.context;
  const { rowCount } = scope.view;
  const bounds = memory.u32(column.offsets, rowCount + 1);
  const stored = idsView(scope, column.physical, column.ids, bounds[rowCount] ?? 0);
  // Every row without values may gain one.
  const mapped = new Uint32Array(stored.length + (idOfNone < 0 ? 0 : rowCount));
  const offsets = takeZeroed(scope.arena, scope.context, (rowCount + 1) * 4 + PADDING_BYTES);
  const newBounds = memory.u32(offsets, rowCount + 1);
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    const start = bounds[row] ?? 0;
    const end = bounds[row + 1] ?? start;
    for (let value = start; value < end; value++) {
      const id = newIds[stored[value] ?? 0] ?? -1;
      if (id >= 0) mapped[at++] = id;
    }
    if (start === end && idOfNone >= 0) mapped[at++] = idOfNone;
    newBounds[row + 1] = at;
  }
  const bytes = physical === 'U8' ? 1 : physical === 'U16' ? 2 : 4;
  const ids = takeZeroed(scope.arena, scope.context, at * bytes + PADDING_BYTES);
  idsView(scope, physical, ids, at).set(mapped.subarray(0, at));
  return { ids, offsets };
}

function placeTexts(
  scope: SegmentScope,
  entries: readonly string[],
  hasNull: boolean,
): { readonly offsets: Address; readonly bytes: Address } {
  const { memory } = scope.context;
  const packed = packTexts(entries);
  const first = hasNull ? 2 : 1;
  const offsets = takeZeroed(scope.arena, scope.context, (entries.length + first) * 4 + PADDING_BYTES);
  memory.u32(offsets + first * 4, entries.length).set(packed.ends);
  const bytes = takeZeroed(scope.arena, scope.context, packed.bytes.length + PADDING_BYTES);
  memory.u8(bytes, packed.bytes.length).set(packed.bytes);
  return { offsets, bytes };
}

/** Kernels read in whole words past the end. */
const PADDING_BYTES = 256;

function idsView(
  scope: SegmentScope,
  physical: StringColumnView['physical'],
  at: Address,
  count: number,
): Uint8Array | Uint16Array | Uint32Array {
  const { memory } = scope.context;
  return physical === 'U8' ? memory.u8(at, count) : physical === 'U16' ? memory.u16(at, count) : memory.u32(at, count);
}

/** Dictionaries are UTF-8, which has no lone surrogates: each becomes U+FFFD. */
function wellFormed(value: Value): string | null {
  if (value === null) return null;
  const text = String(value);
  return /[\ud800-\udfff]/.test(text) ? Buffer.from(text, 'utf8').toString('utf8') : text;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
