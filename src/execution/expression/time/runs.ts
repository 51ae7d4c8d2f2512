// Runs of rows in the same time bucket, found by binary search.

import { type Address, PHYSICAL_BYTES } from '../../../base/layout.js';
import type { NumberColumnView, SegmentView } from '../../../storage/view.js';
import { type Block, kernelFor } from '../../block/context.js';
import type { SegmentScope } from '../scope.js';

/** Bytes of one run: u32 {group, start, end}. */
export const RUN_BYTES = 12;

/**
 * Cuts rows [start, end) of a block, or of a stretch of blocks, into runs of one local id each, ascending and disjoint;
 * writes them to `out`, which has room for one a row, and returns how many.
 */
export type Runs = (block: Block, start: number, end: number, out: Address) => number;

/**
 * Runs of the buckets of a sorted `__time` column.
 * @returns `card` buckets of `boundaries` from number `first` on are met by the segment; run ids count from there
 */
export function bucketRuns(
  scope: SegmentScope,
  column: NumberColumnView,
  boundaries: BigInt64Array,
): { runs: Runs; first: number; card: number } {
  const { arena, context, view } = scope;
  const { physical, values, base } = column;
  const { first, end } = bucketsMet(view, boundaries);
  const count = end - first + 1;
  const at = arena.take(count * 8);
  context.memory.i64(at, count).set(boundaries.subarray(first, end + 1));
  if (physical === 'F32' || physical === 'F64') return { runs: () => 0, first, card: 1 };
  const timeRuns = kernelFor(context.kernels, 'timeRuns', physical);
  const bytes = PHYSICAL_BYTES[physical];
  const runs: Runs = (block, start, stop, out) => timeRuns(values + block.start * bytes, base, start, stop, at, count, out);
  return { runs, first, card: count - 1 };
}

/** Buckets [first, end) of `boundaries` that rows of a segment may be in. */
export function bucketsMet({ timeMin, timeMax }: SegmentView, boundaries: BigInt64Array): { readonly first: number; readonly end: number } {
  const last = boundaries.length - 1;
  const first = Math.max(0, Math.min(upperBound(boundaries, BigInt(timeMin)) - 1, last - 1));
  const end = Math.max(first + 1, Math.min(upperBound(boundaries, BigInt(timeMax)), last));
  return { first, end };
}

/** Number of entries <= value. */
function upperBound(sorted: BigInt64Array, value: bigint): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0n) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
