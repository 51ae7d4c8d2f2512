// The part of the kernel contract that is over numbers by group, and stretches of numbers.

import type { Address } from '../base/layout.js';

/** Entries of `counts`, as `sortStretches` needs them. */
export const STRETCH_COUNTS = 1 << 15;

/** Kernels over any number of doubles. */
export interface StretchKernels {
  /**
   * The values of each group in their order, but for NaN: those of group g are out[starts[g] .. starts[g + 1]), u32[groupCount + 1], from 0 on. Groups are below
   * `groupCount`; what lies behind the values in `out`, of n, is undefined. Returns how many there are.
   */
  readonly placeByGroup: (groups: Address, values: Address, n: number, groupCount: number, starts: Address, out: Address) => number;
  /**
   * Orders the values of each of `count` stretches, [starts[i], starts[i + 1]), none of them NaN: ascending, -0 before 0. `scratch`, of as many values as the longest,
   * and `counts`, u32[32768], are undefined afterwards.
   */
  readonly sortStretches: (values: Address, starts: Address, count: number, scratch: Address, counts: Address) => void;
}
