// Room for the states of a segment's groups, and the interface of accumulators.

import { type Address, BLOCK_ROWS, type Physical } from '../../../base/layout.js';
import type { Block } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';
import { I64_MAX, I64_MIN } from '../../filter/number-bounds.js';
import type { NarrowIds } from '../key/group-index.js';
import type { GroupTable } from '../table/group-table.js';

/** Room for the states of the groups of one segment. */
export interface LocalStates {
  /** Groups there is room for now. */
  readonly capacity: number;
  /** f64 sums are kept this many times over (1 or 4) while rows are added by group index. */
  readonly copies: 1 | 4;
}

/** State shared by `tally` kernels. */
export interface Tallying {
  readonly groupCount: number;
  /** u64[4 * groupCount], zeros between calls. */
  readonly scratch: Address;
  /** Accumulators whose sums are taken in one call, one or two. */
  readonly steps: readonly (readonly [Accumulator, Accumulator | undefined])[];
}

/**
 * The state of one aggregator over the groups of one segment. `addRuns` and `addGroups` get only rows that take part;
 * `combine` adds the states of some groups (row numbers `cells` from `base` on, `groups` their numbers there) to the table.
 */
export interface Accumulator {
  readonly bytesPerGroup: number;
  /** The state of a group without rows is 0 and combines to nothing. */
  readonly sums: boolean;
  /** Whether only stored columns are read, so that `addRuns` without a mask takes blocks of STRETCH_ROWS, `tally` of TALLY_ROWS. */
  readonly takesStretches: boolean;
  state: Address;
  initialise(from: number, to: number): void;
  addRuns(block: Block, mask: Address, runs: Address, runCount: number): void;
  addGroups(block: Block, rows: Address, groups: Address, n: number): void;
  /** All rows of a block under narrow ids, counted into `counts` (or 0) by the way. Absent where no kernel does it. */
  readonly tally?: (block: Block, ids: NarrowIds, tallying: Tallying, counts: Address) => void;
  /** u16 values whose plain sum `state` is: two such are tallied together. */
  readonly narrowValues?: (block: Block) => Address;
  /** Present where a group's count can share the word of its sum (`countSumGroups`). From the call on it does, in `state`. */
  pack?: () => void;
  /** Once, before the first combine: brings states to what combine expects. `counts`: i64 rows that took part, or 0. */
  finish(groupCount: number, counts: Address): void;
  combine(base: number, cells: Address, groups: Address, n: number, table: GroupTable): void;
}

/** The part of an accumulator whose state is known without reading rows. */
export const READS_NO_ROWS = {
  bytesPerGroup: 0,
  takesStretches: true,
  initialise: () => undefined,
  addRuns: () => undefined,
  addGroups: () => undefined,
  finish: () => undefined,
} as const satisfies Partial<Accumulator>;

/** state[g] += base * counts[g]: what the stored values left out, once per group. */
export function addBase(scope: SegmentScope, state: Address, counts: Address, base: bigint, groupCount: number): void {
  const { memory, kernels } = scope.context;
  const scratch = scope.arena.take(Math.min(BLOCK_ROWS, Math.max(1, groupCount)) * 8);
  const factor = scope.arena.take(8);
  memory.i64(factor, 1)[0] = base;
  for (let from = 0; from < groupCount; from += BLOCK_ROWS) {
    const n = Math.min(BLOCK_ROWS, groupCount - from);
    kernels.multiplyI64(counts + from * 8, factor, 1, n, scratch);
    kernels.addI64(state + from * 8, scratch, 0, n, state + from * 8);
  }
}

/** Initial extremes, worse than every value: u32 states for narrow values, else 64 bits. */
export function initialExtremes(
  { context: { memory } }: SegmentScope,
  physical: Physical,
  kind: 'min' | 'max',
  state: Address,
  from: number,
  to: number,
): void {
  const n = to - from;
  if (physical === 'I64') memory.i64(state + from * 8, n).fill(kind === 'min' ? I64_MAX : I64_MIN);
  else if (physical === 'F32' || physical === 'F64') memory.f64(state + from * 8, n).fill(kind === 'min' ? Infinity : -Infinity);
  else memory.u32(state + from * 4, n).fill(kind === 'min' ? 0xffffffff : 0);
}
