// Lists the groups that have a value at their best time, for kernels that put them elsewhere.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Scratch } from '../../block/context.js';
import type { TimedRows } from '../state-operations.js';

/** Values by group as `bestAtTimesI64` leaves them. */
export interface KnownValues {
  readonly count: number;
  /** i64; 0: all times are equal. */
  readonly times: Address;
  readonly keys: Address;
  /** u8: 0 where there is none. */
  readonly known: Address;
}

export const NULLS_ALONE = 1;
export const HAS_KEY = 2;

/**
 * Visits them a block at a time: those with a key, of which `values` are the keys, apart from those of nulls alone.
 * @param groupOf  u32 number of each group where the values go
 */
export function eachKnown({ arena, context }: Scratch, from: KnownValues, groupOf: Address, visit: (rows: TimedRows) => void): void {
  const { kernels } = context;
  const [isIn, rows, groups] = [arena.take(BLOCK_ROWS / 8), arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4)];
  const [times, keys] = [arena.take(BLOCK_ROWS * 8), arena.take(BLOCK_ROWS * 8)];
  for (let base = 0; base < from.count; base += BLOCK_ROWS) {
    const length = Math.min(BLOCK_ROWS, from.count - base);
    for (const mark of [HAS_KEY, NULLS_ALONE]) {
      context.check();
      kernels.filterRangeU8(from.known + base, length, mark, mark, isIn);
      const n = kernels.bitsToRows(isIn, 0, length, rows);
      if (n === 0) continue;
      kernels.gather32(groupOf + base * 4, rows, n, groups);
      if (from.times !== 0) kernels.gather64(from.times + base * 8, rows, n, times);
      const areNull = mark === NULLS_ALONE;
      if (!areNull) kernels.gather64(from.keys + base * 8, rows, n, keys);
      visit({ times: from.times === 0 ? 0 : times, values: keys, areNull, groups, n });
    }
  }
}
