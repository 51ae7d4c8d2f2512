// Makes a multi-value column by mapping the values of another.

import { BLOCK_ROWS } from '../../base/layout.js';
import type { Value } from '../../expression/value.js';
import type { StringColumnView } from '../../storage/view.js';
import type { SegmentScope } from './scope.js';
import { byCodeUnits, idsView, type ListedRows, uploadedColumn, wellFormed } from './uploaded-column.js';

/** Mapping of a multi-value column's values; a null `value` belongs to a row without values. */
export interface ValueMapping {
  readonly map: (value: string | null) => Value;
  readonly keeps: (value: string | null) => boolean;
  /** A row whose only value is null has none. */
  readonly dropsLoneNull?: true;
}

/**
 * A multi-value column made of another by mapping each of its distinct values once and leaving out those that are not
 * kept. It has a dictionary of its own, so that everything that reads columns reads it as it does a stored one. Lies in
 * the scope's arena.
 */
export function mappedColumn(scope: SegmentScope, column: StringColumnView, { map, keeps, dropsLoneNull }: ValueMapping): StringColumnView {
  const texts = scope.texts(column);
  scope.context.computed.valuesByEntry += texts.length;
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
  const droppedId = dropsLoneNull === true && hasNull ? 0 : -1;
  return uploadedColumn(scope, mapRows(scope, column, newIds, { idOfNone, droppedId }), entries, hasNull);
}

function mapRows(
  scope: SegmentScope,
  column: StringColumnView,
  newIds: Int32Array,
  { idOfNone, droppedId }: { readonly idOfNone: number; readonly droppedId: number },
): ListedRows {
  const { memory } = scope.context;
  const { rowCount } = scope.view;
  const bounds = memory.u32(column.offsets, rowCount + 1);
  const stored = idsView(scope, column.physical, column.ids, bounds[rowCount] ?? 0);
  // Every row without values may gain one.
  const ids = new Uint32Array(stored.length + (idOfNone < 0 ? 0 : rowCount));
  const offsets = new Uint32Array(rowCount + 1);
  let at = 0;
  for (let row = 0; row < rowCount; row++) {
    if (row % BLOCK_ROWS === 0) scope.context.check();
    const start = bounds[row] ?? 0;
    const end = bounds[row + 1] ?? start;
    for (let value = start; value < end; value++) {
      const id = newIds[stored[value] ?? 0] ?? -1;
      if (id >= 0) ids[at++] = id;
    }
    if (at - (offsets[row] ?? 0) === 1 && ids[at - 1] === droppedId) at--;
    if (start === end && idOfNone >= 0) ids[at++] = idOfNone;
    offsets[row + 1] = at;
  }
  return { ids: ids.subarray(0, at), offsets };
}
