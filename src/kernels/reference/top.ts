// Reference kernels: finding the best rows, and numbers by group and in order.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import type { StretchKernels } from '../stretch-contract.js';

/** Whether index `a` comes after index `b` in the answer. */
type IsWorse = (a: number, b: number) => boolean;

interface Selection {
  /** u8 per index, 0: it takes no part; the address 0: all take part. */
  readonly present: Address;
  readonly n: number;
  readonly k: number;
  readonly heap: Address;
  readonly out: Address;
}

/** Writes the best `k` of `n` indexes to `out`; returns how many there are. */
export function selectBest(memory: KernelMemory, isWorse: IsWorse, { present, n, k, heap, out }: Selection): number {
  const exists = present === 0 ? null : memory.u8(present, n);
  const kept = memory.u32(heap, k); // a heap with the worst of the kept on top
  const result = memory.u32(out, k);
  let count = 0;
  if (k === 0) return 0;
  for (let index = 0; index < n; index++) {
    if (exists !== null && exists[index] === 0) continue;
    if (count < k) siftUp(kept, count++, index, isWorse);
    else if (isWorse(kept[0] ?? 0, index)) siftDown(kept, count, index, isWorse);
  }
  for (let left = count; left > 0; left--) {
    result[left - 1] = kept[0] ?? 0;
    siftDown(kept, left - 1, kept[left - 1] ?? 0, isWorse);
  }
  return count;
}

export function topKernels(memory: KernelMemory) {
  return {
    topI64(state: Address, present: Address, n: number, k: number, descending: number, heap: Address, out: Address) {
      const values = memory.i64(state, n);
      const isWorse: IsWorse = (a, b) => {
        const left = values[a] ?? 0n;
        const right = values[b] ?? 0n;
        if (left === right) return a > b;
        return descending === 1 ? left < right : left > right;
      };
      return selectBest(memory, isWorse, { present, n, k, heap, out });
    },
    topF64(state: Address, present: Address, n: number, k: number, descending: number, heap: Address, out: Address) {
      const values = memory.f64(state, n);
      const isWorse: IsWorse = (a, b) => {
        const left = values[a] ?? 0;
        const right = values[b] ?? 0;
        if (left < right) return descending === 1;
        if (left > right) return descending !== 1;
        const leftIsNaN = Number.isNaN(left);
        return leftIsNaN === Number.isNaN(right) ? a > b : leftIsNaN !== (descending === 1);
      };
      return selectBest(memory, isWorse, { present, n, k, heap, out });
    },
  };
}

/** Adds `index` to the heap of `count` entries. */
function siftUp(heap: Uint32Array, count: number, index: number, isWorse: IsWorse): void {
  let at = count;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    const above = heap[parent] ?? 0;
    if (!isWorse(index, above)) break;
    heap[at] = above;
    at = parent;
  }
  heap[at] = index;
}

/** Puts `index` in the place of the top of a heap of `count` entries. */
function siftDown(heap: Uint32Array, count: number, index: number, isWorse: IsWorse): void {
  let at = 0;
  for (;;) {
    let child = at * 2 + 1;
    if (child >= count) break;
    if (child + 1 < count && isWorse(heap[child + 1] ?? 0, heap[child] ?? 0)) child++;
    const below = heap[child] ?? 0;
    if (!isWorse(below, index)) break;
    heap[at] = below;
    at = child;
  }
  if (count > 0) heap[at] = index;
}

export function stretchKernels(memory: KernelMemory): StretchKernels {
  return {
    placeByGroup(groups, values, n, groupCount, starts, out) {
      const byGroup: number[][] = Array.from({ length: groupCount }, () => []);
      const numbers = memory.u32(groups, n);
      memory.f64(values, n).forEach((value, i) => {
        if (!Number.isNaN(value)) byGroup[numbers[i] ?? 0]?.push(value);
      });
      const placed = byGroup.flat();
      memory.f64(out, placed.length).set(placed);
      let end = 0;
      memory.u32(starts, groupCount + 1).set([0, ...byGroup.map(({ length }) => (end += length))]);
      return placed.length;
    },
    sortStretches(values: Address, starts: Address, count: number, _scratch: Address, _counts: Address): void {
      const bounds = memory.u32(starts, count + 1);
      for (let i = 0; i < count; i++) {
        const [start = 0, end = 0] = [bounds[i], bounds[i + 1]];
        memory.f64(values + start * 8, end - start).sort();
      }
    },
  };
}
