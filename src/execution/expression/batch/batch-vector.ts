// Brings the numbers of a batch into kernel memory, as a vector.

import { BLOCK_ROWS } from '../../../base/layout.js';
import { takeBits } from '../../block/context.js';
import type { SegmentScope } from '../scope.js';
import { computedNumbers, type NumberVector, oncePerBlock } from '../vector.js';
import type { NumberBatch } from './number-batch.js';

/** The numbers of a batch in kernel memory. */
export function batchVector(scope: SegmentScope, batch: NumberBatch, type: 'LONG' | 'DOUBLE'): NumberVector {
  const { memory } = scope.context;
  const at = scope.arena.take(BLOCK_ROWS * 8);
  const bits = takeBits(scope.arena);
  const halves = new Int32Array(type === 'LONG' ? BLOCK_ROWS * 2 : 0);
  const packed = new Uint8Array(batch.nulls === undefined ? 0 : BLOCK_ROWS / 8);
  let anyNull = false;
  const run = oncePerBlock((block) => {
    const { rows } = block;
    batch.fill(block);
    const { values, nulls } = batch;
    if (type === 'LONG') {
      split(values, nulls, halves, rows);
      memory.i32(at, rows * 2).set(halves.subarray(0, rows * 2));
    } else memory.f64(at, rows).set(values.subarray(0, rows));
    if (nulls === undefined) return;
    anyNull = pack(nulls, packed, rows);
    if (anyNull) memory.u8(bits, BLOCK_ROWS / 8).set(packed);
  });
  return computedNumbers(type, { run, at, nulls: () => (anyNull ? bits : 0), mayBeNull: batch.nulls !== undefined });
}

/** Integers within 2^53 as 64 bits, low half first; a null's are 0. */
function split(values: Float64Array, nulls: Uint8Array | undefined, halves: Int32Array, rows: number): void {
  for (let row = 0; row < rows; row++) {
    const value = nulls !== undefined && nulls[row] === 1 ? 0 : (values[row] ?? 0);
    // Storing takes a number modulo 2^32.
    halves[row * 2] = value;
    halves[row * 2 + 1] = Math.floor(value / 2 ** 32);
  }
}

/** One bit for each byte; whether any is set. */
function pack(nulls: Uint8Array, bits: Uint8Array, rows: number): boolean {
  let any = 0;
  bits.fill(0);
  for (let row = 0; row < rows; row++) {
    const isNull = nulls[row] ?? 0;
    any |= isNull;
    bits[row >>> 3] = (bits[row >>> 3] ?? 0) | (isNull << (row & 7));
  }
  return any === 1;
}
