// The part of the kernel contract that is over rows in an order: joins by ranges.

import type { Address } from '../base/layout.js';

/**
 * Kernels over LONGs, or what compares as they do, in any number. Row i may meet the places [from, to) of an order, two u32 at `places` + 8 i, in
 * which ranks ascend; `nulls` (bits, or 0) are rows that meet none.
 */
export interface RangeKernels {
  /**
   * The first of a row's places whose rank is at least values[i], or above it where `isAbove` is 1, or the one behind the last: becomes its last place's end
   * where `isEnd` is 1, else its first place. Of a null row no place is left.
   */
  readonly rangeNarrow: (
    values: Address,
    nulls: Address,
    n: number,
    ranks: Address,
    isAbove: number,
    isEnd: number,
    places: Address,
  ) => void;
  /**
   * out[i] = values[i], or ~values[i] where `isFlipped` is 1, plus `isStrict`. Of a null row, and where that is above the largest LONG, which wraps, no place is left;
   * `places` may be 0 where there is neither.
   */
  readonly rangeLimits: (
    values: Address,
    nulls: Address,
    n: number,
    isFlipped: number,
    isStrict: number,
    places: Address,
    out: Address,
  ) => void;
  /** The largest of each 16 of n: out has as many, rounded up. */
  readonly rangeMost: (values: Address, n: number, out: Address) => void;
  /**
   * Pairs of a row below n and rows[place], for its places whose number is at least limits[i], in their order: at most `each` of a row, and at most `capacity`, above 0;
   * returns how many. The first of a row's places becomes the one behind what was looked at. `levels`: the addresses (u32) of the numbers by place, and of what
   * `rangeMost` makes of the level before. Rows of which `met` (u8, or 0) is not 0 are passed over. `cursor` u32, at first 0: the next row; pass it on until it is n.
   */
  readonly rangePairs: (
    places: Address,
    limits: Address,
    met: Address,
    n: number,
    rows: Address,
    levels: Address,
    levelCount: number,
    each: number,
    cursor: Address,
    capacity: number,
    outLeft: Address,
    outRight: Address,
  ) => number;
  /**
   * Numbers of the texts of one sorted dictionary among those of another, as `joinTexts` has them: out[entry] = 2 * other + 1 where an entry of the other has the text,
   * else 2 * the first entry above it, or its count; for entries [first, count) and [otherFirst, otherCount) only, absent for those before `first`.
   */
  readonly rangeTexts: (
    bytes: Address,
    offsets: Address,
    first: number,
    count: number,
    otherBytes: Address,
    otherOffsets: Address,
    otherFirst: number,
    otherCount: number,
    out: Address,
  ) => void;
}
