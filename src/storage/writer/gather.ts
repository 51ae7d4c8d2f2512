// Reorders the rows of columns.

import { isNullAt } from '../../model/frame.js';
import type { PreparedColumn } from '../columns/physical.js';

/** The column with its rows in `order`: row i of the result is row order[i]. */
export function gatherRows(column: PreparedColumn, order: Uint32Array): PreparedColumn {
  switch (column.kind) {
    case 'string':
      return column.ends === null
        ? { ...column, ids: gather32(column.ids, order) }
        : { ...column, ...gatherLists(column.ids, column.ends, order) };
    case 'long':
      return { ...column, values: gather64(column.values, order), nulls: gatherBits(column.nulls, order) };
    case 'double':
      return { ...column, values: gatherDoubles(column.values, order), nulls: gatherBits(column.nulls, order) };
  }
}

function gather32(values: Uint32Array, order: Uint32Array): Uint32Array {
  const gathered = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i++) gathered[i] = values[order[i] ?? 0] ?? 0;
  return gathered;
}

function gatherDoubles(values: Float64Array, order: Uint32Array): Float64Array {
  const gathered = new Float64Array(order.length);
  for (let i = 0; i < order.length; i++) gathered[i] = values[order[i] ?? 0] ?? 0;
  return gathered;
}

/** Gathers 64-bit values as 32-bit words: a BigInt64Array allocates an object for every element read. */
function gather64(values: BigInt64Array, order: Uint32Array): BigInt64Array {
  const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
  const gathered = new Uint32Array(order.length * 2);
  for (let i = 0; i < order.length; i++) {
    const row = order[i] ?? 0;
    gathered[2 * i] = words[2 * row] ?? 0;
    gathered[2 * i + 1] = words[2 * row + 1] ?? 0;
  }
  return new BigInt64Array(gathered.buffer);
}

function gatherBits(bits: Uint32Array | null, order: Uint32Array): Uint32Array | null {
  if (bits === null) return null;
  const gathered = new Uint32Array(Math.ceil(order.length / 32));
  for (let i = 0; i < order.length; i++) {
    if (isNullAt(bits, order[i] ?? 0)) gathered[i >>> 5] = (gathered[i >>> 5] ?? 0) | (1 << (i & 31));
  }
  return gathered;
}

function gatherLists(ids: Uint32Array, ends: Uint32Array, order: Uint32Array): { ids: Uint32Array; ends: Uint32Array } {
  const gatheredIds = new Uint32Array(ids.length);
  const gatheredEnds = new Uint32Array(order.length);
  let to = 0;
  for (let i = 0; i < order.length; i++) {
    const row = order[i] ?? 0;
    const end = ends[row] ?? 0;
    for (let at = row === 0 ? 0 : (ends[row - 1] ?? 0); at < end; at++) gatheredIds[to++] = ids[at] ?? 0;
    gatheredEnds[i] = to;
  }
  return { ids: gatheredIds, ends: gatheredEnds };
}
