// Merges the group tables of several threads.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Arena } from '../../../kernels/arena.js';
import { ROWS_PER_CHECK } from '../../block/checked-loops.js';
import { clear, kernelFor, type RunContext } from '../../block/context.js';
import { NO_VALUES } from '../key/key-pool.js';
import { combinePackedKeys, GroupWriter } from '../segment/combine.js';
import { combinePairs, combineWidePairs, isAdoptable, multiplesOf } from './distinct-combine.js';
import type { GroupTableParts } from './group-parts.js';
import type { GroupTable } from './group-table.js';

/** Adds the table of another thread, or groups that were spilled, to this one, by the same kernels that fold segments. Frees what the parts own. */
export function mergeTable(table: GroupTable, parts: GroupTableParts): void {
  const { context, layout } = table;
  const arena = context.memory.arena();
  const scratch = { context, arena };
  const { indexLayout } = layout;
  const owned = new Set(parts.owned);
  const letGo = (regions: readonly Address[]): boolean => {
    const areOwned = regions.every((at) => owned.has(at));
    for (const at of areOwned ? regions : []) owned.delete(at);
    return areOwned;
  };
  try {
    const seenBuffers = { bits: arena.take(BLOCK_ROWS / 8), rows: arena.take(BLOCK_ROWS * 4), groups: arena.take(BLOCK_ROWS * 4) };
    const groupOf = arena.take(Math.max(1, parts.groupCount) * 4);
    const addStates = (base: number, cells: Address, numbers: Address, n: number): void => {
      context.kernels.maxGroupsU32(numbers, 0, cells, n, groupOf + base * 4);
      if (table.present !== 0) context.kernels.presentGroups(numbers, n, table.present);
      layout.aggregators.forEach((_, index) => addState(table, parts, index, { base, cells, numbers, n }, seenBuffers));
    };
    clear(context, groupOf, parts.groupCount * 4);
    if (indexLayout.kind === 'dense' && parts.cells !== 0) {
      const inOrder = multiplesOf(scratch, 1, parts.groupCount);
      for (let base = 0; base < parts.groupCount; base += BLOCK_ROWS) {
        context.check();
        addStates(base, inOrder, parts.cells + base * 4, Math.min(BLOCK_ROWS, parts.groupCount - base));
      }
    } else if (indexLayout.kind === 'dense') {
      eachPresent(scratch, parts, (base, cells, numbers, n) => addStates(base, cells, numbers, n));
    } else {
      const keyRemaps = layout.keys.map((key, index) => {
        if (key.domain.kind !== 'interned') return 0;
        return table.pools[index]?.add(scratch, parts.pools[index] ?? NO_VALUES, letGo) ?? 0;
      });
      const writer = new GroupWriter(scratch, table);
      const packed = {
        keys: parts.keys,
        count: parts.groupCount,
        words: indexLayout.words,
        places: indexLayout.places,
        flagWord: indexLayout.flagWord,
        isConstant: layout.keys.map(() => false),
      };
      combinePackedKeys(scratch, packed, {
        remaps: keyRemaps,
        writer,
        combineCells: (base, cells, n) => addStates(base, cells, writer.finish(n), n),
      });
    }
    layout.aggregators.forEach((aggregator, index) => {
      if (aggregator.kind === 'state') {
        const objects = parts.states[index]?.objects;
        if (objects !== undefined) table.states[index]?.objects?.join(objects, groupOf, parts.groupCount);
        return;
      }
      if (aggregator.kind !== 'distinct') return;
      const from = parts.states[index];
      const into = table.states[index];
      if (from === undefined || into === undefined) return;
      if (aggregator.store.kind === 'bits') {
        mergeBits(table, parts, aggregator.store.bitsPerGroup, from.bits, into.bits);
      } else if (from.pairs !== undefined) {
        const { words } = aggregator.store;
        const pairs = { ...from.pairs, words };
        const isInterned = aggregator.domain.kind === 'interned';
        const { keys, count, slots, capacity } = from.pairs;
        if (!isInterned && slots !== undefined && capacity !== undefined && isAdoptable(scratch, table, index, groupOf, parts.groupCount)) {
          table.adoptPairs(index, { keys, count, slots, capacity }, () => {
            letGo([keys, slots]);
          });
          return;
        }
        const remap = isInterned ? (table.distinctPools[index]?.add(scratch, parts.distinctPools[index] ?? NO_VALUES, letGo) ?? 0) : 0;
        if (words === 2) combineWidePairs(scratch, table, index, pairs, groupOf);
        else combinePairs(scratch, table, index, aggregator, pairs, groupOf, remap);
      }
    });
  } finally {
    arena.release();
    freeParts(context, { ...parts, owned: [...owned] });
  }
}

export function freeParts(context: RunContext, parts: GroupTableParts): void {
  for (const address of parts.owned) context.memory.free(address);
}

/** Merges bits of distinct values. Tables that keep bits number groups alike; spilled groups are listed by number. */
function mergeBits({ context }: GroupTable, parts: GroupTableParts, bitsPerGroup: number, from: Address, into: Address): void {
  const { kernels, memory } = context;
  const words = bitsPerGroup / 64;
  if (parts.cells === 0) {
    kernels.bitsOr(into, from, parts.groupCount * words, into);
    return;
  }
  memory.u32(parts.cells, parts.groupCount).forEach((cell, group) => {
    if (group % ROWS_PER_CHECK === 0) context.check();
    kernels.bitsOr(into + cell * words * 8, from + group * words * 8, words, into + cell * words * 8);
  });
}

interface Scratch {
  readonly context: RunContext;
  readonly arena: Arena;
}

export interface GroupBlock {
  /** The first group of the block. */
  readonly base: number;
  /** Groups counted from there, and their numbers in the table. */
  readonly cells: Address;
  readonly numbers: Address;
  readonly n: number;
}

/** Adds the states of one aggregator. The buffers are of a block: bits, u32 and u32. */
export function addState(
  table: GroupTable,
  parts: GroupTableParts,
  index: number,
  { base, cells, numbers, n }: GroupBlock,
  { bits, rows, groups }: { bits: Address; rows: Address; groups: Address },
): void {
  const aggregator = table.layout.aggregators[index];
  const from = parts.states[index];
  const into = table.states[index];
  if (aggregator === undefined || from === undefined || into === undefined) return;
  if (aggregator.kind === 'distinct' || aggregator.kind === 'state') return;
  const { kernels } = table.context;
  const at = from.at + base * 8;
  if (aggregator.kind === 'count' || (aggregator.kind === 'sum' && aggregator.state === 'I64'))
    kernels.sumGroupsI64(at, cells, numbers, n, into.at);
  else if (aggregator.kind === 'sum') kernels.sumGroupsF64(at, cells, numbers, n, into.at, 1);
  else kernelFor(kernels, `${aggregator.kind}Groups`, aggregator.state)(at, cells, numbers, n, into.at);
  if (from.seen === 0) return;
  kernels.keyDenseU8(from.seen + base, cells, n, 1, 0, rows);
  kernels.filterRangeU32(rows, n, 1, 255, bits);
  const kept = kernels.compactMask(bits, 0, numbers, n, rows, groups);
  kernels.presentGroups(groups, kept, into.seen);
}

/** Existing groups of a dense table, in blocks; they have the same numbers in every table. */
function eachPresent(
  { context, arena }: Scratch,
  parts: GroupTableParts,
  visit: (base: number, cells: Address, numbers: Address, n: number) => void,
): void {
  const { kernels, memory } = context;
  const bits = arena.take(BLOCK_ROWS / 8);
  const cells = arena.take(BLOCK_ROWS * 4);
  const numbers = arena.take(BLOCK_ROWS * 4);
  const run = arena.take(12);
  for (let base = 0; base < parts.groupCount; base += BLOCK_ROWS) {
    context.check();
    kernels.filterRangeU8(parts.present + base, Math.min(BLOCK_ROWS, parts.groupCount - base), 1, 255, bits);
    const n = kernels.bitsToRows(bits, 0, Math.min(BLOCK_ROWS, parts.groupCount - base), cells);
    if (n === 0) continue;
    memory.u32(run, 3).set([base, 0, n]);
    kernels.keyDenseU32(cells, 0, n, 1, 0, numbers);
    kernels.keyRuns(run, 1, 0, n, 1, 1, numbers);
    visit(base, cells, numbers, n);
  }
}
