// Adds (group, value) pairs to the distinct sets of a table.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { ROWS_PER_CHECK } from '../../block/checked-loops.js';
import { type Scratch, takeZeroed } from '../../block/context.js';
import { RUN_BYTES } from '../../expression/time/runs.js';
import { nullIdOf } from '../key/key-domain.js';
import type { AggregatorLayout } from '../key/layout.js';
import type { GroupTable } from './group-table.js';

export type DistinctLayout = Extract<AggregatorLayout, { kind: 'distinct' }>;

/** Puts (group, id) pairs, both as the table numbers them, into its bits or its set; at most a block at a time. */
export class DistinctWriter {
  readonly #scope: Scratch;
  readonly #table: GroupTable;
  readonly #index: number;
  readonly #layout: DistinctLayout;
  readonly #packed: Address;
  readonly #run: Address;

  constructor(scope: Scratch, table: GroupTable, index: number, layout: DistinctLayout) {
    this.#scope = scope;
    this.#table = table;
    this.#index = index;
    this.#layout = layout;
    this.#packed = scope.arena.take(BLOCK_ROWS * 8);
    this.#run = scope.arena.take(RUN_BYTES);
  }

  addToGroup(group: number, ids: Address, n: number): void {
    const { kernels, memory } = this.#scope.context;
    const { store } = this.#layout;
    const state = this.#table.states[this.#index];
    if (state === undefined) return;
    if (store.kind === 'bits') {
      kernels.bitsMark(ids, n, state.bits + (group * store.bitsPerGroup) / 8);
      return;
    }
    memory.u32(this.#run, 3).set([group, 0, n]);
    kernels.keyWordRuns(this.#run, 1, 0, n, 1, 0, 0, 1, this.#packed);
    kernels.keyWordU32(ids, 0, n, 1, 0, 32, 0, this.#packed);
    state.pairs?.add(this.#packed, n);
  }

  addPairs(groups: Address, ids: Address, n: number): void {
    const { kernels } = this.#scope.context;
    const { store } = this.#layout;
    const state = this.#table.states[this.#index];
    if (state === undefined) return;
    if (store.kind === 'bits') {
      kernels.keyDenseU32(groups, 0, n, store.bitsPerGroup, 0, this.#packed);
      kernels.keyDenseU32(ids, 0, n, 1, 1, this.#packed);
      kernels.bitsMark(this.#packed, n, state.bits);
      return;
    }
    kernels.keyWordU32(groups, 0, n, 1, 0, 0, 1, this.#packed);
    kernels.keyWordU32(ids, 0, n, 1, 0, 32, 0, this.#packed);
    state.pairs?.add(this.#packed, n);
  }
}

/** Pairs of a group and an id (one word of 64 bits), or a group and 64 bits (two words). */
interface Pairs {
  readonly keys: Address;
  readonly count: number;
  readonly words: number;
}

/**
 * Visits pairs block by block: where they begin, positions of their words by halves, and their groups.
 * @param groupOf  u32 per group of the pairs, what it is called here; 0: the same
 */
function eachPairBlock(
  scope: Scratch,
  { keys, count, words }: Pairs,
  groupOf: Address,
  visit: (at: Address, halves: Address, groups: Address, n: number) => void,
): void {
  const { kernels, check } = scope.context;
  const halves = multiplesOf(scope, words * 2, count);
  const own = scope.arena.take(BLOCK_ROWS * 4);
  const groups = groupOf === 0 ? own : scope.arena.take(BLOCK_ROWS * 4);
  for (let from = 0; from < count; from += BLOCK_ROWS) {
    check();
    const n = Math.min(BLOCK_ROWS, count - from);
    const at = keys + from * words * 8;
    kernels.gather32(at, halves, n, own);
    if (groupOf !== 0) kernels.gather32(groupOf, own, n, groups);
    visit(at, halves, groups, n);
  }
}

/** Adds pairs (group, id) of a segment or of another thread. `groupOf`: u32 per group there, its number in the table. */
export function combinePairs(
  scope: Scratch,
  table: GroupTable,
  index: number,
  layout: DistinctLayout,
  pairs: Pairs,
  groupOf: Address,
  remap: Address,
): void {
  const { kernels } = scope.context;
  const writer = new DistinctWriter(scope, table, index, layout);
  const local = scope.arena.take(BLOCK_ROWS * 4);
  const ids = scope.arena.take(BLOCK_ROWS * 4);
  eachPairBlock(scope, pairs, groupOf, (at, halves, groups, n) => {
    kernels.gather32(at + 4, halves, n, local);
    globalIds(scope, remap, 0, local, n, ids);
    writer.addPairs(groups, ids, n);
  });
}

/**
 * Whether pairs can become those of the table as they are: it has none, and numbers their groups alike.
 * @param groupOf  u32 per group of the pairs, its number in the table
 */
export function isAdoptable(
  { context: { memory } }: Scratch,
  table: GroupTable,
  index: number,
  groupOf: Address,
  groupCount: number,
): boolean {
  const pairs = table.states[index]?.pairs;
  return pairs?.count === 0 && pairs.canAdopt && memory.u32(groupOf, groupCount).every((number, group) => number === group);
}

export function combineWidePairs(scope: Scratch, table: GroupTable, index: number, pairs: Pairs, groupOf: Address): void {
  const { kernels } = scope.context;
  const words = multiplesOf(scope, 2, pairs.count);
  const values = scope.arena.take(BLOCK_ROWS * 8);
  const packed = scope.arena.take(BLOCK_ROWS * 16);
  eachPairBlock(scope, pairs, groupOf, (at, _halves, groups, n) => {
    kernels.gather64(at + 8, words, n, values);
    kernels.keyWordU32(groups, 0, n, 2, 0, 0, 1, packed);
    kernels.keyWordI64(values, 0, n, 2, 1, 0, 1, packed);
    table.states[index]?.pairs?.add(packed, n);
  });
}

/** u32 0, step, 2 step, ... for a block of `count` positions, or the blocks that they are cut into. */
export function multiplesOf(scope: Scratch, step: number, count: number): Address {
  const length = Math.min(BLOCK_ROWS, count);
  const at = scope.arena.take(BLOCK_ROWS * 4);
  const numbers = scope.context.memory.u32(at, length);
  for (let row = 0; row < length; row++) numbers[row] = row * step;
  return at;
}

/** Ids of the domain for local ids `from + ids[i]`. */
export function globalIds(scope: Scratch, remap: Address, from: number, ids: Address, n: number, out: Address): void {
  const { kernels, memory } = scope.context;
  if (remap !== 0) {
    kernels.gather32(remap + from * 4, ids, n, out);
    return;
  }
  kernels.keyDenseU32(ids, 0, n, 1, 0, out);
  if (from === 0) return;
  const run = scope.arena.take(RUN_BYTES);
  memory.u32(run, 3).set([from, 0, n]);
  kernels.keyRuns(run, 1, 0, n, 1, 1, out);
}

/**
 * i64 number of distinct values per group, of all groups of the table; null is not counted.
 */
export function countDistinct(scope: Scratch, table: GroupTable, index: number, layout: DistinctLayout): Address {
  const { context, arena } = scope;
  const { kernels, memory } = context;
  const { groupCount } = table;
  const counts = takeZeroed(arena, context, Math.max(1, groupCount) * 8);
  const state = table.states[index];
  if (state === undefined) return counts;
  const nullId = nullIdOf(layout.domain);
  if (layout.store.kind === 'bits') {
    const words = layout.store.bitsPerGroup / 64;
    const view = memory.u32(counts, groupCount * 2);
    for (let group = 0; group < groupCount; group++) {
      if (group % ROWS_PER_CHECK === 0) context.check();
      const at = state.bits + group * words * 8;
      const hasNull = nullId >= 0 && ((memory.u8(at + (nullId >> 3), 1)[0] ?? 0) & (1 << (nullId & 7))) !== 0;
      view[group * 2] = kernels.bitsCount(at, words) - (hasNull ? 1 : 0);
    }
    return counts;
  }
  const { pairs } = state;
  if (pairs === undefined) return counts;
  const ids = arena.take(BLOCK_ROWS * 4);
  const isNull = arena.take(BLOCK_ROWS / 8);
  eachPairBlock(scope, pairs, 0, (at, halves, groups, n) => {
    let kept = n;
    if (pairs.words === 1 && nullId >= 0) {
      kernels.gather32(at + 4, halves, n, ids);
      kernels.filterEqU32(ids, n, nullId, isNull);
      kept = kernels.compactNotMask(isNull, 0, groups, n, ids, groups);
    }
    kernels.countGroups(groups, kept, counts);
  });
  return counts;
}
