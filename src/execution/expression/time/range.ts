// The lowest and highest instant of a block.

import type { Address } from '../../../base/layout.js';
import { type Scratch, takeBits } from '../../block/context.js';

/** Lowest and highest value. */
export interface Range {
  readonly low: bigint;
  readonly high: bigint;
}

/** Finds the lowest and highest of i64 values of a block, those aside that are null; undefined where all are. */
export function rangeFinder({
  arena,
  context: { memory, kernels },
}: Scratch): (values: Address, rows: number, nulls: Address) => Range | undefined {
  const run = arena.take(16);
  const state = arena.take(16);
  const known = takeBits(arena);
  return (values, rows, nulls) => {
    memory.u32(run, 3).set([0, 0, rows]);
    const found = memory.i64(state, 2);
    found.set([HIGHEST, LOWEST]);
    if (nulls !== 0) kernels.bitsNot(nulls, rows, known);
    const mask = nulls === 0 ? 0 : known;
    kernels.minRunsI64(values, mask, run, 1, state);
    kernels.maxRunsI64(values, mask, run, 1, state + 8);
    const [low = 0n, high = 0n] = found;
    return low > high ? undefined : { low, high };
  };
}

const [LOWEST, HIGHEST] = [-(2n ** 63n), 2n ** 63n - 1n];

/** Tells null rows from their bits, 0 for none. */
export function nullTest({ context: { memory } }: Scratch, nulls: Address, rows: number): (row: number) => boolean {
  if (nulls === 0) return () => false;
  const bits = memory.u32(nulls, Math.ceil(rows / 32));
  return (row) => ((bits[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
}
