// Key filters: the LONG values that a key of a build side has, one bit each.

import { type Address, BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import { STRETCH_ROWS } from '../../kernels/contract.js';
import type { NumberColumnView } from '../../storage/view.js';
import { clear, kernelFor, type RunContext } from '../block/context.js';

/** Bit `value - low` is set for every value that some row has. */
export interface KeyBits {
  readonly low: bigint;
  /** Number of bits, at least 1. */
  readonly count: number;
  readonly bits: Address;
  /** Number of bits that are set. */
  readonly values: number;
}

/** So many bits are set aside whatever the number of rows, for each row beyond that, and in all. */
const BITS_ALWAYS = 1 << 22;
const BITS_PER_ROW = 256;
const BITS_MAX = 1 << 28;

/** The values of a column; null where they lie too far apart, or are no LONGs. */
export function keyBitsOf(
  context: RunContext,
  scratch: Pick<Arena, 'take'>,
  owner: Pick<Arena, 'take'>,
  column: NumberColumnView,
  rowCount: number,
): KeyBits | null {
  const { physical } = column;
  if (rowCount === 0 || column.type !== 'LONG' || physical === 'F32' || physical === 'F64') return null;
  const { min: low, max } = storedRange(context, scratch, column, rowCount);
  const wide = max - low + 1n;
  if (wide > BigInt(Math.min(BITS_MAX, Math.max(BITS_ALWAYS, rowCount * BITS_PER_ROW)))) return null;
  const count = Number(wide);
  const words = Math.ceil(count / 64);
  const bits = owner.take(words * 8);
  clear(context, bits, words * 8);
  const { kernels } = context;
  const [numbers, places, ofValued] = [scratch.take(BLOCK_ROWS * 4), scratch.take(BLOCK_ROWS * 4), scratch.take(BLOCK_ROWS * 4)];
  const known = scratch.take(BLOCK_ROWS / 8);
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    context.check();
    const rows = Math.min(BLOCK_ROWS, rowCount - start);
    kernelFor(kernels, 'joinRange', physical)(column.values + start * PHYSICAL_BYTES[physical], column.base, low, count, rows, numbers);
    if (column.nulls === 0) {
      kernels.bitsMark(numbers, rows, bits);
      continue;
    }
    kernels.bitsNot(column.nulls + start / 8, rows, known);
    const valued = kernels.bitsToRows(known, 0, rows, places);
    kernels.gather32(numbers, places, valued, ofValued);
    kernels.bitsMark(ofValued, valued, bits);
  }
  return { low, count, bits, values: kernels.bitsCount(bits, words) };
}

/** The smallest of the LONGs of a column, and how many lie between it and the largest, both counted; undefined: there are more than so many, or no LONGs. */
export function longDistances(
  context: RunContext,
  scratch: Pick<Arena, 'take'>,
  column: NumberColumnView,
  rowCount: number,
  countMax: bigint,
): { readonly low: bigint; readonly count: number } | undefined {
  if (column.type !== 'LONG' || column.physical === 'F32' || column.physical === 'F64' || rowCount === 0) return undefined;
  const { min, max } = storedRange(context, scratch, column, rowCount);
  const count = max - min + 1n;
  return count <= countMax ? { low: min, count: Number(count) } : undefined;
}

/** Smallest and largest stored value, whatever the column says of rows that it was gathered from. */
export function storedRange(
  { kernels, memory }: RunContext,
  scratch: Pick<Arena, 'take'>,
  { physical, values, base }: NumberColumnView,
  rowCount: number,
): { readonly min: bigint; readonly max: bigint } {
  if (physical === 'F32' || physical === 'F64') throw new Error(`longs are not stored as ${physical}`);
  const [run, state] = [scratch.take(12), scratch.take(16)];
  const isWide = physical === 'I64';
  const [low, high] = [state, state + 8];
  if (isWide) memory.i64(state, 2).set([2n ** 63n - 1n, -(2n ** 63n)]);
  else memory.u32(state, 4).set([0xffffffff, 0, 0, 0]);
  for (let start = 0; start < rowCount; start += STRETCH_ROWS) {
    memory.u32(run, 3).set([0, 0, Math.min(STRETCH_ROWS, rowCount - start)]);
    const from = values + start * PHYSICAL_BYTES[physical];
    kernelFor(kernels, 'minRuns', physical)(from, 0, run, 1, low);
    kernelFor(kernels, 'maxRuns', physical)(from, 0, run, 1, high);
  }
  if (isWide) {
    const [min = 0n, max = 0n] = memory.i64(state, 2);
    return { min, max };
  }
  const [min = 0, , max = 0] = memory.u32(state, 4);
  return { min: base + BigInt(min), max: base + BigInt(max) };
}
