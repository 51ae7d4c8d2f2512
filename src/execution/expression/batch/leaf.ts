// Leaves of batch expressions: constants and columns.

import { BLOCK_ROWS } from '../../../base/layout.js';
import { toDouble, type Value } from '../../../expression/value.js';
import type { StringColumnView } from '../../../storage/view.js';
import { kernelFor } from '../../block/context.js';
import { idsOf } from '../coded-column.js';
import type { SegmentScope } from '../scope.js';
import type { NumberVector } from '../vector.js';
import { ANY, exactRange, type NumberBatch, newNulls, newValues, type Range, TRUTH } from './number-batch.js';

/** The same for all rows; undefined for a LONG that a double does not hold, and for what is no number. */
export function constantBatch(value: Value): NumberBatch | undefined {
  if (value !== null && typeof value !== 'bigint' && typeof value !== 'number') return undefined;
  const number = Number(value ?? 0);
  const range = typeof value === 'number' ? ANY : exactRange(number, number);
  if (range === undefined) return undefined;
  const nulls = value === null ? newNulls().fill(1) : undefined;
  return { type: typeof value === 'number' ? 'DOUBLE' : 'LONG', range, values: newValues().fill(number), nulls, fill: () => undefined };
}

/** A column of numbers; undefined for LONGs that may lie beyond 2^53. */
export function columnBatch(scope: SegmentScope, vector: NumberVector): NumberBatch | undefined {
  const range = vector.type === 'LONG' ? rangeOf(vector) : ANY;
  return range === undefined ? undefined : vectorBatch(scope, vector, range);
}

function rangeOf({ stored, physical, base }: NumberVector): Range | undefined {
  if (stored !== undefined && stored.min !== null && stored.max !== null) return exactRange(Number(stored.min), Number(stored.max));
  if (physical !== 'U8' && physical !== 'U16' && physical !== 'U32') return undefined;
  return exactRange(Number(base), Number(base) + 2 ** { U8: 8, U16: 16, U32: 32 }[physical]);
}

/** A batch over a vector of 1 and 0 that was computed elsewhere. */
export function truthBatch(scope: SegmentScope, vector: NumberVector): NumberBatch {
  return vectorBatch(scope, vector, TRUTH);
}

function vectorBatch(scope: SegmentScope, vector: NumberVector, range: Range): NumberBatch {
  const { memory, kernels } = scope.context;
  const values = newValues();
  const nulls = vector.mayBeNull ? newNulls() : undefined;
  const { physical, base } = vector;
  const isDouble = physical === 'F64';
  const at = isDouble ? 0 : scope.arena.take(BLOCK_ROWS * 8);
  return {
    type: vector.type === 'LONG' ? 'LONG' : 'DOUBLE',
    range,
    values,
    nulls,
    fill(block) {
      const from = vector.values(block);
      if (!isDouble) kernelFor(kernels, 'toF64', physical)(from, 0, block.rows, base, at);
      values.set(memory.f64(isDouble ? from : at, block.rows));
      if (nulls === undefined) return;
      const bits = vector.nulls(block);
      if (bits === 0) nulls.fill(0, 0, block.rows);
      else spread(memory.u8(bits, Math.ceil(block.rows / 8)), nulls, block.rows);
    },
  };
}

/** One byte for each bit. */
function spread(bits: Uint8Array, into: Uint8Array, rows: number): void {
  for (let row = 0; row < rows; row += 8) {
    let byte = bits[row >>> 3] ?? 0;
    for (let bit = row; bit < row + 8; bit++, byte >>= 1) into[bit] = byte & 1;
  }
}

/** A function of one dictionary column, computed for each distinct value; undefined when a LONG lies beyond 2^53. */
export function dictionaryBatch(
  scope: SegmentScope,
  column: StringColumnView,
  results: readonly Value[],
  type: 'LONG' | 'DOUBLE',
): NumberBatch | undefined {
  const table = new Float64Array(results.length);
  const isNull = new Uint8Array(results.length);
  let [low, high, anyNull] = [0, 0, false];
  results.forEach((result, id) => {
    const number = toDouble(result);
    if (number === null) {
      isNull[id] = 1;
      anyNull = true;
      return;
    }
    table[id] = number;
    low = Math.min(low, number);
    high = Math.max(high, number);
  });
  const range = type === 'LONG' ? exactRange(low, high) : ANY;
  if (range === undefined) return undefined;
  const values = newValues();
  const nulls = anyNull ? newNulls() : undefined;
  return {
    type,
    range,
    values,
    nulls,
    fill({ start, rows }) {
      const ids = idsOf(scope, column, start, rows);
      for (let row = 0; row < rows; row++) values[row] = table[ids[row] ?? 0] ?? 0;
      if (nulls !== undefined) for (let row = 0; row < rows; row++) nulls[row] = isNull[ids[row] ?? 0] ?? 0;
    },
  };
}

/** A function of doubles, row by row. */
export function mapped(operands: readonly NumberBatch[], apply: (x: number, y: number) => number): NumberBatch | undefined {
  const [a, b = a] = operands;
  if (a === undefined || b === undefined) return undefined;
  const values = newValues();
  const nulls = a.nulls === undefined && b.nulls === undefined ? undefined : newNulls();
  return {
    type: 'DOUBLE',
    range: ANY,
    values,
    nulls,
    fill(block) {
      a.fill(block);
      if (b !== a) b.fill(block);
      for (let row = 0; row < block.rows; row++) values[row] = apply(a.values[row] ?? 0, b.values[row] ?? 0);
      if (nulls !== undefined) for (let row = 0; row < block.rows; row++) nulls[row] = (a.nulls?.[row] ?? 0) | (b.nulls?.[row] ?? 0);
    },
  };
}

/** A function of one number that keeps the type. */
export function kept(operand: NumberBatch, range: Range, apply: (x: number) => number): NumberBatch {
  const values = newValues();
  return {
    ...operand,
    range: operand.type === 'LONG' ? range : ANY,
    values,
    fill(block) {
      operand.fill(block);
      for (let row = 0; row < block.rows; row++) values[row] = apply(operand.values[row] ?? 0);
    },
  };
}
