// Reference kernels: aggregation by group.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { FLOATS, IDS, NARROWS, perType } from '../signatures.js';
import { EXACT, hasBit, rowsView, viewOf } from './views.js';

type GroupKernel = (values: Address, rows: Address, groups: Address, n: number, state: Address) => void;

/** 2^40, in the upper half of a word. */
const ONE_HIGH = 2 ** 8;

export function groupKernels(memory: KernelMemory) {
  const extreme =
    (isBetter: (value: number, best: number) => boolean) =>
    (type: (typeof EXACT)[number]): GroupKernel =>
    (values, rows, groups, n, state) => {
      const column = viewOf(memory, type)(values);
      const picked = rowsView(memory, rows, n);
      const ids = memory.u32(groups, n);
      const best = type === 'F32' || type === 'F64' ? memory.f64(state) : memory.u32(state);
      for (let i = 0; i < n; i++) {
        const value = column[picked === null ? i : (picked[i] ?? 0)] ?? 0;
        const group = ids[i] ?? 0;
        if (isBetter(value, best[group] ?? 0)) best[group] = value + 0;
      }
    };
  const extremeI64 =
    (isBetter: (value: bigint, best: bigint) => boolean): GroupKernel =>
    (values, rows, groups, n, state) => {
      const column = memory.i64(values);
      const picked = rowsView(memory, rows, n);
      const ids = memory.u32(groups, n);
      const best = memory.i64(state);
      for (let i = 0; i < n; i++) {
        const value = column[picked === null ? i : (picked[i] ?? 0)] ?? 0n;
        const group = ids[i] ?? 0;
        if (isBetter(value, best[group] ?? 0n)) best[group] = value;
      }
    };
  const less = (value: number | bigint, best: number | bigint): boolean => value < best;
  const greater = (value: number | bigint, best: number | bigint): boolean => value > best;

  /** Adds each value to the lower half of its group's word, and `high` to the upper one. */
  const sums =
    (high: number) =>
    (type: (typeof IDS)[number]): GroupKernel =>
    (values, rows, groups, n, state) => {
      const column = viewOf(memory, type)(values);
      const picked = rowsView(memory, rows, n);
      const ids = memory.u32(groups, n);
      const halves = memory.u32(state);
      for (let i = 0; i < n; i++) addTo(halves, ids[i] ?? 0, column[picked === null ? i : (picked[i] ?? 0)] ?? 0, high);
    };
  const floatSums =
    (type: (typeof FLOATS)[number]) =>
    (values: Address, rows: Address, groups: Address, n: number, state: Address, copies: number): void => {
      const column = viewOf(memory, type)(values);
      const picked = rowsView(memory, rows, n);
      const ids = memory.u32(groups, n);
      const totals = memory.f64(state);
      for (let i = 0; i < n; i++) {
        const at = (ids[i] ?? 0) * copies + (i & (copies - 1));
        totals[at] = (totals[at] ?? 0) + (column[picked === null ? i : (picked[i] ?? 0)] ?? 0);
      }
    };

  const compact =
    (keep: boolean) =>
    (mask: Address, rows: Address, groups: Address, n: number, outRows: Address, outGroups: Address): number => {
      const bits = memory.u32(mask);
      const picked = rowsView(memory, rows, n);
      const ids = memory.u32(groups, n);
      const keptRows = memory.u32(outRows, n);
      const keptIds = memory.u32(outGroups, n);
      let count = 0;
      for (let i = 0; i < n; i++) {
        const row = picked === null ? i : (picked[i] ?? 0);
        if (hasBit(bits, row) !== keep) continue;
        keptIds[count] = ids[i] ?? 0;
        keptRows[count++] = row;
      }
      return count;
    };

  return {
    countGroups(groups: Address, n: number, state: Address) {
      const ids = memory.u32(groups, n);
      const halves = memory.u32(state);
      for (let i = 0; i < n; i++) addTo(halves, ids[i] ?? 0, 1, 0);
    },
    presentGroups(groups: Address, n: number, state: Address) {
      const ids = memory.u32(groups, n);
      const present = memory.u8(state);
      for (let i = 0; i < n; i++) present[ids[i] ?? 0] = 1;
    },
    foldBitsGroupsI64(values: Address, groups: Address, n: number, operation: number, state: Address, seen: Address) {
      const [from, ids, to, flags] = [memory.i64(values, n), memory.u32(groups, n), memory.i64(state), memory.u8(seen)];
      for (let i = 0; i < n; i++) {
        const group = ids[i] ?? 0;
        const [bits, value] = [to[group] ?? 0n, from[i] ?? 0n];
        to[group] = operation === 0 ? bits & value : operation === 1 ? bits | value : bits ^ value;
        flags[group] = 1;
      }
    },
    ...perType('sumGroups', IDS, sums(0)),
    ...perType('countSumGroups', NARROWS, sums(ONE_HIGH)),
    foldCountSums(words: Address, cells: Address, groups: Address, n: number, counts: Address, sums: Address) {
      const halves = memory.u32(words);
      const picked = rowsView(memory, cells, n);
      const ids = memory.u32(groups, n);
      for (let i = 0; i < n; i++) {
        const cell = picked === null ? i : (picked[i] ?? 0);
        const high = halves[cell * 2 + 1] ?? 0;
        if (counts !== 0) addTo(memory.u32(counts), ids[i] ?? 0, high >>> 8, 0);
        if (sums !== 0) addTo(memory.u32(sums), ids[i] ?? 0, halves[cell * 2] ?? 0, high & 0xff);
      }
    },
    sumGroupsI64: ((values, rows, groups, n, state) => {
      const column = memory.u32(values);
      const picked = rowsView(memory, rows, n);
      const ids = memory.u32(groups, n);
      const halves = memory.u32(state);
      for (let i = 0; i < n; i++) {
        const row = picked === null ? i : (picked[i] ?? 0);
        addTo(halves, ids[i] ?? 0, column[row * 2] ?? 0, column[row * 2 + 1] ?? 0);
      }
    }) satisfies GroupKernel,
    ...perType('sumGroups', FLOATS, floatSums),
    ...perType('minGroups', EXACT, extreme(less)),
    minGroupsI64: extremeI64(less),
    ...perType('maxGroups', EXACT, extreme(greater)),
    maxGroupsI64: extremeI64(greater),
    foldSums(state: Address, groupCount: number, out: Address) {
      const sums = memory.f64(state, groupCount * 4);
      const folded = memory.f64(out, groupCount);
      for (let group = 0; group < groupCount; group++) {
        const at = group * 4;
        folded[group] = (sums[at] ?? 0) + (sums[at + 2] ?? 0) + ((sums[at + 1] ?? 0) + (sums[at + 3] ?? 0));
      }
    },
    addMoments(values: Address, groups: Address, n: number, state: Address) {
      const [column, ids] = [memory.f64(values, n), memory.u32(groups, n)];
      const states = memory.f64(state);
      const addOne = (value: number, at: number): void => {
        const [count = 0, sum = 0, mean = 0, squares = 0] = states.subarray(at, at + 4);
        const distance = value - mean;
        const moved = mean + distance / (count + 1);
        states.set([count + 1, sum + value, moved, squares + distance * (value - moved)], at);
      };
      for (let i = 0; i < n; ) {
        const at = (ids[i] ?? 0) * 4;
        let next = i + 1;
        while (next < n && ids[next] === ids[i]) next++;
        const together = next - i < 16 ? 0 : (next - i) & ~3;
        const run = column.slice(i, i + together);
        const sum = byFourths(run);
        if (together > 0 && Number.isFinite(sum)) {
          const mean = sum / together;
          const squares = byFourths(run.map((value) => (value - mean) * (value - mean)));
          joinMoments(states.subarray(at, at + 4), together, sum, mean, squares);
          i += together;
        }
        for (; i < next; i++) addOne(column[i] ?? 0, at);
      }
    },
    joinMoments(from: Address, groups: Address, n: number, state: Address) {
      const [others, ids] = [memory.f64(from, n * 4), memory.u32(groups, n)];
      const states = memory.f64(state);
      ids.forEach((group, i) => {
        const [more = 0, otherSum = 0, otherMean = 0, otherSquares = 0] = others.subarray(i * 4, i * 4 + 4);
        if (more > 0) joinMoments(states.subarray(group * 4, group * 4 + 4), more, otherSum, otherMean, otherSquares);
      });
    },
    compactMask: compact(true),
    compactNotMask: compact(false),
    compactBestI64(
      values: Address,
      rows: Address,
      groups: Address,
      n: number,
      state: Address,
      outRows: Address,
      outGroups: Address,
    ): number {
      const [column, best] = [memory.i64(values, n), memory.i64(state)];
      const picked = rowsView(memory, rows, n);
      const ids = memory.u32(groups, n);
      const [keptRows, keptGroups] = [memory.u32(outRows, n), memory.u32(outGroups, n)];
      let kept = 0;
      for (let i = 0; i < n; i++) {
        const group = ids[i] ?? 0;
        if (column[i] !== best[group]) continue;
        keptRows[kept] = picked === null ? i : (picked[i] ?? 0);
        keptGroups[kept++] = group;
      }
      return kept;
    },
    compactUnmarked(
      ids: Address,
      rows: Address,
      groups: Address,
      n: number,
      groupCount: number,
      stride: number,
      marks: Address,
      outRows: Address,
      outGroups: Address,
    ): number {
      const [picked, found, numbers] = [rowsView(memory, rows, n), memory.u32(ids, n), memory.u32(groups, n)];
      const [flags, keptRows, keptGroups] = [memory.u8(marks, groupCount * stride), memory.u32(outRows, n), memory.u32(outGroups, n)];
      let kept = 0;
      for (let i = 0; i < n; i++) {
        const group = numbers[i] ?? 0;
        const mark = group * stride + (found[i] ?? 0);
        if (group < groupCount && flags[mark] === 1) continue;
        if (group < groupCount) flags[mark] = 1;
        keptRows[kept] = picked === null ? i : (picked[i] ?? 0);
        keptGroups[kept++] = group;
      }
      return kept;
    },
    smallestGroupsI64(keys: Address, groups: Address, n: number, k: number, state: Address) {
      const [column, ids, best] = [memory.i64(keys, n), memory.u32(groups, n), memory.i64(state)];
      for (let i = 0; i < n; i++) {
        const key = column[i] ?? 0n;
        const first = (ids[i] ?? 0) * k;
        let at = first + k - 1;
        if (key >= (best[at] ?? 0n)) continue;
        for (; at > first && (best[at - 1] ?? 0n) > key; at--) best[at] = best[at - 1] ?? 0n;
        best[at] = key;
      }
    },
    smallestDistinctGroupsI64(keys: Address, groups: Address, n: number, k: number, state: Address) {
      const [column, ids, best] = [memory.i64(keys, n), memory.u32(groups, n), memory.i64(state)];
      for (let i = 0; i < n; i++) {
        const key = column[i] ?? 0n;
        const first = (ids[i] ?? 0) * k;
        const last = first + k - 1;
        if (key >= (best[last] ?? 0n)) continue;
        let place = last;
        while (place > first && (best[place - 1] ?? 0n) >= key) place--;
        if (best[place] === key) continue;
        for (let at = last; at > place; at--) best[at] = best[at - 1] ?? 0n;
        best[place] = key;
      }
    },
    compactWithinI64(
      keys: Address,
      rows: Address,
      groups: Address,
      n: number,
      bounds: Address,
      stride: number,
      outKeys: Address,
      outRows: Address,
      outGroups: Address,
    ): number {
      const [column, best] = [memory.i64(keys, n), memory.i64(bounds)];
      const picked = rowsView(memory, rows, n);
      const ids = memory.u32(groups, n);
      const [keptKeys, keptRows, keptGroups] = [memory.i64(outKeys, n), memory.u32(outRows, n), memory.u32(outGroups, n)];
      let kept = 0;
      for (let i = 0; i < n; i++) {
        const [key, group] = [column[i] ?? 0n, ids[i] ?? 0];
        if (key > (best[group * stride] ?? 0n)) continue;
        keptKeys[kept] = key;
        keptRows[kept] = picked === null ? i : (picked[i] ?? 0);
        keptGroups[kept++] = group;
      }
      return kept;
    },
    bestAtTimesI64(
      keys: Address,
      nulls: Address,
      rows: Address,
      groups: Address,
      n: number,
      times: Address,
      largest: number,
      keyTimes: Address,
      best: Address,
      known: Address,
    ) {
      const [column, kept, states] = [memory.i64(keys, n), memory.i64(best), memory.u8(known)];
      const picked = rowsView(memory, rows, n);
      const ids = memory.u32(groups, n);
      const bits = nulls === 0 ? null : memory.u32(nulls);
      const [now, before] = times === 0 ? [null, null] : [memory.i64(times), memory.i64(keyTimes)];
      for (let i = 0; i < n; i++) {
        const group = ids[i] ?? 0;
        if (now !== null && before !== null && now[group] !== before[group]) {
          before[group] = now[group] ?? 0n;
          states[group] = 0;
        }
        if (bits !== null && hasBit(bits, picked === null ? i : (picked[i] ?? 0))) {
          states[group] = Math.max(1, states[group] ?? 0);
          continue;
        }
        const key = column[i] ?? 0n;
        const other = kept[group] ?? 0n;
        if (states[group] !== 2 || (largest === 1 ? key > other : key < other)) kept[group] = key;
        states[group] = 2;
      }
    },
  };
}

/** Four sums of every fourth value, added in pairs. */
function byFourths(values: Float64Array): number {
  const sums = [0, 0, 0, 0];
  values.forEach((value, i) => {
    sums[i & 3] = (sums[i & 3] ?? 0) + value;
  });
  const [a = 0, b = 0, c = 0, d = 0] = sums;
  return a + c + (b + d);
}

/** Joins moments to those of a group: count, sum, mean and squared distances from it. */
function joinMoments(state: Float64Array, more: number, otherSum: number, otherMean: number, otherSquares: number): void {
  const [own = 0, sum = 0, mean = 0, squares = 0] = state;
  if (own === 0) {
    state.set([more, otherSum, otherMean, otherSquares]);
    return;
  }
  const count = own + more;
  const distance = otherMean - mean;
  const between = ((distance * distance * own) / count) * more;
  state.set([count, sum + otherSum, mean + (distance * more) / count, squares + (otherSquares + between)]);
}

/** i64 state[group] += {low, high}, in 32-bit halves: BigInt64Array would be many times slower. */
function addTo(halves: Uint32Array, group: number, low: number, high: number): void {
  const sum = (halves[group * 2] ?? 0) + low;
  halves[group * 2] = sum;
  const carry = high + (sum > 0xffffffff ? 1 : 0);
  if (carry !== 0) halves[group * 2 + 1] = (halves[group * 2 + 1] ?? 0) + carry;
}
