// Makes a multi-value column of the arrays that an expression computes.

import { BLOCK_ROWS } from '../../base/layout.js';
import { convert, isArrayValue, type Value } from '../../expression/value.js';
import type { StringColumnView } from '../../storage/view.js';
import { blockAt } from '../block/context.js';
import type { RowLoop } from './row-function.js';
import type { SegmentScope } from './scope.js';
import { byCodeUnits, uploadedColumn, wellFormed } from './uploaded-column.js';

/**
 * A multi-value column of what is computed of each row of the segment: the elements of an array, as texts; nothing for
 * null, or for a list of one null, which is the same. It is laid out as stored columns are, in the scope's arena, so that everything that reads columns reads it.
 */
export function listedColumn(scope: SegmentScope, rows: RowLoop): StringColumnView {
  const { rowCount } = scope.view;
  const offsets = new Uint32Array(rowCount + 1);
  const ids = new GrowingIds();
  const idOf = new Map<string | null, number>();
  const add = (value: Value): void => {
    const text = wellFormed(convert(value, 'STRING'));
    let id = idOf.get(text);
    if (id === undefined) {
      id = idOf.size;
      idOf.set(text, id);
    }
    ids.push(id);
  };
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    rows(blockAt(start, rowCount), (row, value) => {
      const values = isArrayValue(value) ? value : [value];
      if (values.length > 1 || values[0] !== null) for (const element of values) add(element);
      offsets[start + row + 1] = ids.count;
    });
  }
  const hasNull = idOf.has(null);
  const entries = [...idOf.keys()].filter((text) => text !== null).sort(byCodeUnits);
  const sorted = new Map<string | null, number>(entries.map((text, index) => [text, index + (hasNull ? 1 : 0)]));
  const sortedIds = Uint32Array.from(idOf.keys(), (text) => sorted.get(text) ?? 0);
  return uploadedColumn(scope, { ids: ids.taken().map((id) => sortedIds[id] ?? 0), offsets }, entries, hasNull);
}

class GrowingIds {
  count = 0;
  #ids = new Uint32Array(1 << 12);

  push(id: number): void {
    if (this.count === this.#ids.length) {
      const longer = new Uint32Array(this.#ids.length * 2);
      longer.set(this.#ids);
      this.#ids = longer;
    }
    this.#ids[this.count++] = id;
  }

  taken(): Uint32Array {
    return this.#ids.subarray(0, this.count);
  }
}
