// Reads the values of each row of a multi-value column.

import type { StringColumnView } from '../../storage/view.js';
import type { Block } from '../block/context.js';
import { textAt } from '../block/dictionary.js';
import { rememberTexts } from '../block/result-table.js';
import type { SegmentScope } from '../expression/scope.js';

/** The values of rows of a multi-value column: `open` a block, then `get` its rows. */
export interface RowLists {
  open(block: Block): void;
  get(row: number): readonly (string | null)[];
}

export function rowLists(scope: SegmentScope, { physical, ids, offsets, dictionary }: StringColumnView): RowLists {
  const { memory } = scope.context;
  const text = rememberTexts((id) => textAt(memory, dictionary, id));
  let bounds: Uint32Array = new Uint32Array(0);
  let values: Uint8Array | Uint16Array | Uint32Array = bounds;
  return {
    open({ start, rows }) {
      bounds = memory.u32(offsets + start * 4, rows + 1);
      const end = bounds[rows] ?? 0;
      values = physical === 'U8' ? memory.u8(ids, end) : physical === 'U16' ? memory.u16(ids, end) : memory.u32(ids, end);
    },
    get: (row) => Array.from(values.subarray(bounds[row], bounds[row + 1]), text),
  };
}

/** A list as Java writes it: a single value as it is, none as null. */
export function listText(values: readonly (string | null)[]): string | null {
  return values.length > 1 ? `[${values.map((value) => value ?? 'null').join(', ')}]` : (values[0] ?? null);
}
