// Reads the values of a column row by row.

import { BLOCK_ROWS } from '../../base/layout.js';
import { type Value, valueOfText } from '../../expression/value.js';
import type { StringColumnView } from '../../storage/view.js';
import { type Block, kernelFor } from '../block/context.js';
import type { SegmentScope, Source } from './scope.js';
import { type NumberVector, type StringVector, storedNumbers } from './vector.js';

/** Values of a column one by one, for functions that have no kernel. `open` a block, then `get` its rows. */
export interface RowReader {
  open(block: Block): void;
  get(row: number): Value;
}

export function rowReader(scope: SegmentScope, source: Source): RowReader {
  switch (source.kind) {
    case 'missing':
      return { open: () => undefined, get: () => null };
    case 'number':
      return numberReader(scope, storedNumbers(scope, source.column));
    case 'string':
      return storedTextReader(scope, source.column);
    case 'computed':
      return source.vector.kind === 'number' ? numberReader(scope, source.vector) : computedTextReader(scope, source.vector);
  }
}

export function numberReader(scope: SegmentScope, vector: NumberVector): RowReader {
  const { memory, kernels } = scope.context;
  const at = scope.arena.take(BLOCK_ROWS * 8);
  const { physical } = vector;
  let nulls: Uint32Array | undefined;
  const open = (block: Block): void => {
    const values = vector.values(block);
    if (physical === 'F32' || physical === 'F64') kernelFor(kernels, 'toF64', physical)(values, 0, block.rows, 0n, at);
    else kernelFor(kernels, 'toI64', physical)(values, 0, block.rows, vector.base, at);
    const bits = vector.nulls(block);
    nulls = bits === 0 ? undefined : memory.u32(bits, Math.ceil(block.rows / 32));
  };
  const isNull = (row: number): boolean => nulls !== undefined && ((nulls[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
  if (vector.type === 'LONG') {
    const longs = memory.i64(at, BLOCK_ROWS);
    return { open, get: (row) => (isNull(row) ? null : (longs[row] ?? 0n)) };
  }
  const doubles = memory.f64(at, BLOCK_ROWS);
  return { open, get: (row) => (isNull(row) ? null : (doubles[row] ?? 0)) };
}

function storedTextReader(scope: SegmentScope, column: StringColumnView): RowReader {
  const { memory } = scope.context;
  const texts = scope.texts(column);
  const { type } = column;
  let ids: Uint8Array | Uint16Array | Uint32Array = new Uint8Array(0);
  const open = ({ start, rows }: Block): void => {
    ids =
      column.physical === 'U8'
        ? memory.u8(column.ids + start, rows)
        : column.physical === 'U16'
          ? memory.u16(column.ids + start * 2, rows)
          : memory.u32(column.ids + start * 4, rows);
  };
  return { open, get: (row) => valueOfText(texts[ids[row] ?? 0] ?? null, type) };
}

function computedTextReader(scope: SegmentScope, vector: StringVector): RowReader {
  let ids = new Uint32Array(0) as Uint32Array;
  const open = (block: Block): void => {
    ids = scope.context.memory.u32(vector.ids(block), block.rows);
  };
  return { open, get: (row) => valueOfText(vector.pool.values[ids[row] ?? 0] ?? null, vector.type) };
}
