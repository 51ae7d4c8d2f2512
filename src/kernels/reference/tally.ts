// Reference kernels: counting and summing under narrow keys.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { IDS, NARROWS, perType } from '../signatures.js';
import { type View, viewOf } from './views.js';

/** Plain counting and adding: what the other sets keep in `scratch` meanwhile is their own affair. */
export function tallyKernels(memory: KernelMemory) {
  const counted = (ids: ReturnType<View>, n: number, counts: Address): void => {
    const halves = memory.u32(counts);
    for (let i = 0; i < n; i++) addTo(halves, ids[i] ?? 0, 1);
  };
  const integers = (idsOf: View, valuesOf: View) => {
    return (ids: Address, values: Address, n: number, _groupCount: number, _scratch: Address, counts: Address, sums: Address): void => {
      const groups = idsOf(ids, n);
      const column = valuesOf(values, n);
      if (counts !== 0) counted(groups, n, counts);
      const halves = memory.u32(sums);
      for (let i = 0; i < n; i++) addTo(halves, groups[i] ?? 0, column[i] ?? 0);
    };
  };
  const doubles = (idsOf: View) => {
    return (ids: Address, values: Address, n: number, _groupCount: number, _scratch: Address, counts: Address, sums: Address): void => {
      const groups = idsOf(ids, n);
      const column = memory.f64(values, n);
      if (counts !== 0) counted(groups, n, counts);
      const copies = memory.f64(sums);
      for (let i = 0; i < n; i++) {
        const at = (groups[i] ?? 0) * 4 + (i & 3);
        copies[at] = (copies[at] ?? 0) + (column[i] ?? 0);
      }
    };
  };
  return {
    ...perType('tally', NARROWS, (type) => (ids: Address, n: number, _groupCount: number, _scratch: Address, counts: Address): void => {
      counted(viewOf(memory, type)(ids, n), n, counts);
    }),
    ...perType('tallyU8', IDS, (type) => integers(viewOf(memory, 'U8'), viewOf(memory, type))),
    ...perType('tallyU16', IDS, (type) => integers(viewOf(memory, 'U16'), viewOf(memory, type))),
    ...perType('tallyPair', NARROWS, (type) => {
      const one = integers(viewOf(memory, type), viewOf(memory, 'U16'));
      return (
        ids: Address,
        a: Address,
        b: Address,
        n: number,
        groupCount: number,
        scratch: Address,
        counts: Address,
        sumsA: Address,
        sumsB: Address,
      ): void => {
        one(ids, a, n, groupCount, scratch, counts, sumsA);
        one(ids, b, n, groupCount, scratch, 0, sumsB);
      };
    }),
    tallyU8F64: doubles(viewOf(memory, 'U8')),
    tallyU16F64: doubles(viewOf(memory, 'U16')),
    ...perType('keyNarrow', NARROWS, (type) => (values: Address, n: number, stride: number, accumulate: number, out: Address): void => {
      const column = viewOf(memory, type)(values, n);
      const keys = memory.u16(out, n);
      for (let i = 0; i < n; i++) keys[i] = (accumulate === 0 ? 0 : (keys[i] ?? 0)) + (column[i] ?? 0) * stride;
    }),
  };
}

/** i64 state[group] += value below 2^32, in halves. */
function addTo(halves: Uint32Array, group: number, value: number): void {
  const sum = (halves[group * 2] ?? 0) + value;
  halves[group * 2] = sum;
  if (sum > 0xffffffff) halves[group * 2 + 1] = (halves[group * 2 + 1] ?? 0) + 1;
}
