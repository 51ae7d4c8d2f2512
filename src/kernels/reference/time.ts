// Reference kernels: time buckets.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { IDS, perType } from '../signatures.js';
import { viewOf } from './views.js';

type ValueAt = (row: number) => bigint;

export function timeKernels(memory: KernelMemory) {
  const valuesOf = (type: (typeof IDS)[number], values: Address, base: bigint): ValueAt => {
    const column = viewOf(memory, type)(values);
    return (row) => base + BigInt(column[row] ?? 0);
  };
  const longsOf = (values: Address, base: bigint): ValueAt => {
    const column = memory.i64(values);
    return (row) => base + (column[row] ?? 0n);
  };

  const cutRuns = (valueAt: ValueAt, start: number, end: number, boundaries: Address, boundaryCount: number, out: Address): number => {
    const bounds = memory.i64(boundaries, boundaryCount);
    const runs = memory.u32(out);
    let runCount = 0;
    let row = firstAtLeast(valueAt, start, end, bounds[0] ?? 0n);
    while (row < end) {
      const bucket = bucketOf(bounds, valueAt(row));
      if (bucket === NO_BUCKET) break;
      const runEnd = firstAtLeast(valueAt, row, end, bounds[bucket + 1] ?? 0n);
      runs[runCount * 3] = bucket;
      runs[runCount * 3 + 1] = row;
      runs[runCount * 3 + 2] = runEnd;
      runCount++;
      row = runEnd;
    }
    return runCount;
  };

  return {
    ...perType(
      'timeRuns',
      IDS,
      (type) => (values: Address, base: bigint, start: number, end: number, boundaries: Address, boundaryCount: number, out: Address) =>
        cutRuns(valuesOf(type, values, base), start, end, boundaries, boundaryCount, out),
    ),
    timeRunsI64: (values: Address, base: bigint, start: number, end: number, boundaries: Address, boundaryCount: number, out: Address) =>
      cutRuns(longsOf(values, base), start, end, boundaries, boundaryCount, out),
    bucketI64(values: Address, rows: number, boundaries: Address, boundaryCount: number, out: Address) {
      const column = memory.i64(values, rows);
      const bounds = memory.i64(boundaries, boundaryCount);
      const buckets = memory.u32(out, rows);
      for (let row = 0; row < rows; row++) buckets[row] = bucketOf(bounds, column[row] ?? 0n);
    },
    floorI64(values: Address, rows: number, width: bigint, origin: bigint, out: Address) {
      const column = memory.i64(values, rows);
      const floors = memory.i64(out, rows);
      for (let row = 0; row < rows; row++) {
        const offset = BigInt.asIntN(64, (column[row] ?? 0n) - origin);
        const past = offset % width;
        floors[row] = offset - past - (past < 0n ? width : 0n) + origin;
      }
    },
    ...perType(
      'lowerBound',
      IDS,
      (type) => (values: Address, base: bigint, start: number, end: number, bound: bigint) =>
        firstAtLeast(valuesOf(type, values, base), start, end, bound),
    ),
    lowerBoundI64: (values: Address, base: bigint, start: number, end: number, bound: bigint) =>
      firstAtLeast(longsOf(values, base), start, end, bound),
  };
}

const NO_BUCKET = 0xffffffff;

function firstAtLeast(valueAt: ValueAt, start: number, end: number, bound: bigint): number {
  let low = start;
  let high = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (valueAt(middle) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The b with bounds[b] <= value < bounds[b + 1], if any. */
function bucketOf(bounds: BigInt64Array, value: bigint): number {
  const above = firstAtLeast((at) => bounds[at] ?? 0n, 0, bounds.length, value + 1n);
  return above === 0 || above === bounds.length ? NO_BUCKET : above - 1;
}
