// Reference kernels over numbers by group, and stretches of numbers.

import type { KernelMemory } from '../memory.js';
import type { StretchKernels } from '../stretch-contract.js';

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
    sortStretches(values, starts, count) {
      const bounds = memory.u32(starts, count + 1);
      for (let i = 0; i < count; i++) {
        const [start = 0, end = 0] = [bounds[i], bounds[i + 1]];
        memory.f64(values + start * 8, end - start).sort();
      }
    },
  };
}
