// Rows known while planning, as a frame.

import type { Frame, FrameColumn } from '../../../model/frame.js';
import { type ColumnType, isNumberType } from '../../../model/schema.js';

/** Rows known to the planner as a frame. `values[i]` is the column of `columns[i]`. */
export function inlineFrame(
  columns: readonly { readonly name: string; readonly type: ColumnType }[],
  values: readonly (readonly (string | bigint | number | null)[])[],
  rowCount: number,
): Frame {
  return { rowCount, columns: columns.map(({ name, type }, index) => frameColumn(name, type, values[index] ?? [], rowCount)) };
}

function frameColumn(name: string, type: ColumnType, values: readonly (string | bigint | number | null)[], rowCount: number): FrameColumn {
  if (!isNumberType(type)) {
    const texts = values.map((value) => (value === null ? null : String(value)));
    const dictionary = [...new Set(texts)];
    const ids = new Map(dictionary.map((text, id) => [text, id]));
    return {
      kind: 'string',
      name,
      ...(type === 'STRING' ? {} : { type }),
      ids: Uint32Array.from(texts, (text) => ids.get(text) ?? 0),
      dictionary,
    };
  }
  const nulls = values.includes(null) ? nullBits(values, rowCount) : null;
  if (type === 'LONG')
    return { kind: 'long', name, values: BigInt64Array.from(values, (value) => (value === null ? 0n : BigInt(value))), nulls };
  return { kind: 'double', name, type, values: Float64Array.from(values, (value) => (value === null ? 0 : Number(value))), nulls };
}

function nullBits(values: readonly unknown[], rowCount: number): Uint32Array {
  const bits = new Uint32Array(Math.ceil(rowCount / 32));
  for (const [row, value] of values.entries()) if (value === null) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
  return bits;
}
