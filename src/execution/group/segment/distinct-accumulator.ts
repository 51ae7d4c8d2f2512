// Accumulator of distinct values over the groups of one segment.

import { assert } from '../../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { type Block, copyWords, kernelFor, takeZeroed } from '../../block/context.js';
import { PairSet } from '../../block/pair-set.js';
import { unionOfNulls } from '../../expression/nulls.js';
import type { SegmentScope } from '../../expression/scope.js';
import { RUN_BYTES } from '../../expression/time/runs.js';
import type { LocalKey } from '../key/local-key.js';
import {
  combinePairs,
  combineWidePairs,
  type DistinctLayout,
  DistinctWriter,
  globalIds,
  isAdoptable,
  multiplesOf,
} from '../table/distinct-combine.js';
import type { GroupTable } from '../table/group-table.js';

type IdKey = Exclude<LocalKey, { kind: 'numbers' }>;

/** Groups of a segment for which a byte per (group, id) is kept rather than a set of pairs. */
const MARKED_GROUPS_MAX = 1024;
const MARKS_MAX = 1 << 23;
/** Marks there is room for at first where their number is not known. */
const MARKS_FIRST = 1 << 14;

/** Sets for so many pairs are regions of their own. */
const ADOPTED_MIN = 1 << 15;

/** The distinct values of the groups of one segment. */
export interface DistinctAccumulator {
  /** False when it knows its values without being given rows. */
  readonly readsRows: boolean;
  /** Size of objects outside kernel memory; absent for none. */
  readonly heapBytes?: number;
  /** Rows of positions i of n belong to groups[i]. */
  addGroups(block: Block, rows: Address, groups: Address, n: number): void;
  /** `groupOf`: u32 per local group, its number in the table (of those that exist). */
  combine(table: GroupTable, groupOf: Address, groupCount: number): void;
}

/**
 * @param groupCountMax  most groups the segment can have; Infinity when unknown
 * @param everyRow       whether every row of the segment takes part
 */
export function distinctAccumulator(
  scope: SegmentScope,
  index: number,
  layout: DistinctLayout,
  key: LocalKey,
  { groupCountMax, everyRow }: { readonly groupCountMax: number; readonly everyRow: boolean },
): DistinctAccumulator {
  if (everyRow && groupCountMax === 1 && key.kind === 'ids' && key.usesAll && key.card > 0)
    return wholeDictionary(scope, index, layout, key);
  if (key.kind === 'constant' && layout.domain.kind === 'wide')
    return { readsRows: false, addGroups: () => undefined, combine: () => undefined };
  if (key.kind === 'numbers') return wideDistinct(scope, index, key);
  const isFew = groupCountMax <= MARKED_GROUPS_MAX && groupCountMax * key.card <= MARKS_MAX;
  return isFew || (groupCountMax === 1 && key.card === Infinity && key.valueCount !== undefined)
    ? markedDistinct(scope, index, layout, key, groupCountMax)
    : pairedDistinct(scope, index, layout, key);
}

/** All values of a dictionary are used by some row, so when every row takes part none has to be read. */
function wholeDictionary(scope: SegmentScope, index: number, layout: DistinctLayout, key: IdKey): DistinctAccumulator {
  return {
    readsRows: false,
    addGroups: () => undefined,
    combine(table, groupOf) {
      const { kernels, memory } = scope.context;
      const ids = multiplesOf(scope, 1, key.card);
      const global = scope.arena.take(BLOCK_ROWS * 4);
      const remap = key.toGlobal(poolOf(table, index));
      const writer = new DistinctWriter(scope, table, index, layout);
      const group = memory.u32(groupOf, 1)[0] ?? 0;
      for (let from = 0; from < key.card; from += BLOCK_ROWS) {
        const n = Math.min(BLOCK_ROWS, key.card - from);
        if (remap === 0) globalIds(scope, 0, from, ids, n, global);
        else kernels.keyDenseU32(remap + from * 4, 0, n, 1, 0, global);
        writer.addToGroup(group, global, n);
      }
    },
  };
}

/** A byte per (group, id); of one group also where ids are numbered as rows are met. */
function markedDistinct(scope: SegmentScope, index: number, layout: DistinctLayout, key: IdKey, groupCount: number): DistinctAccumulator {
  const { memory, kernels } = scope.context;
  const cardOf = (): number => (key.card === Infinity ? (key.valueCount ?? 0) : key.card);
  let room = key.card === Infinity ? Math.max(MARKS_FIRST, 2 ** Math.ceil(Math.log2(cardOf() + 1))) : groupCount * key.card;
  let marks = takeZeroed(scope.arena, scope.context, room);
  const reserve = (count: number): void => {
    if (count <= room) return;
    const before = { marks, room };
    while (room < count) room *= 2;
    marks = scope.arena.take(room);
    copyWords(scope.context, before.marks, before.room / 4, marks, room / 4);
  };
  const scratch = scope.arena.take(BLOCK_ROWS * 4);
  return {
    readsRows: true,
    addGroups: idReader(scope, key, (idAddress, ids, idRows, idGroups, count) => {
      if (key.card === Infinity) reserve(cardOf());
      if (groupCount === 1 && ids === 'U32' && idRows === 0) {
        kernels.presentGroups(idAddress, count, marks);
        return;
      }
      if (groupCount === 1) kernelFor(kernels, 'keyDense', ids)(idAddress, idRows, count, 1, 0, scratch);
      else {
        kernels.keyDenseU32(idGroups, 0, count, key.card, 0, scratch);
        kernelFor(kernels, 'keyDense', ids)(idAddress, idRows, count, 1, 1, scratch);
      }
      kernels.presentGroups(scratch, count, marks);
    }),
    combine(table, groupOf) {
      const card = cardOf();
      if (key.card === Infinity) reserve(card);
      const bits = scope.arena.take(BLOCK_ROWS / 8);
      const ids = scope.arena.take(BLOCK_ROWS * 4);
      const global = scope.arena.take(BLOCK_ROWS * 4);
      const remap = key.toGlobal(poolOf(table, index));
      const writer = new DistinctWriter(scope, table, index, layout);
      const groups = memory.u32(groupOf, groupCount).slice();
      for (let group = 0; group < groupCount; group++) {
        for (let from = 0; from < card; from += BLOCK_ROWS) {
          const rows = Math.min(BLOCK_ROWS, card - from);
          kernels.filterRangeU8(marks + group * card + from, rows, 1, 255, bits);
          const count = kernels.bitsToRows(bits, 0, rows, ids);
          if (count === 0) continue;
          globalIds(scope, remap, from, ids, count, global);
          writer.addToGroup(groups[group] ?? 0, global, count);
        }
      }
    },
  };
}

/** A set of (group, id). */
function pairedDistinct(scope: SegmentScope, index: number, layout: DistinctLayout, key: IdKey): DistinctAccumulator {
  const { kernels } = scope.context;
  const set = pairSet(scope, 1);
  const packed = scope.arena.take(BLOCK_ROWS * 8);
  return {
    readsRows: true,
    addGroups: idReader(scope, key, (idAddress, ids, idRows, idGroups, count) => {
      kernels.keyWordU32(idGroups, 0, count, 1, 0, 0, 1, packed);
      kernelFor(kernels, 'keyWord', ids)(idAddress, idRows, count, 1, 0, 32, 0, packed);
      set.add(packed, count);
    }),
    combine(table, groupOf, groupCount) {
      const remap = key.toGlobal(poolOf(table, index));
      if (remap !== 0 || !adopt(scope, table, index, set, groupOf, groupCount))
        combinePairs(scope, table, index, layout, set, groupOf, remap);
    },
  };
}

/** A set of (group, 64 bits). */
function wideDistinct(scope: SegmentScope, index: number, key: Extract<LocalKey, { kind: 'numbers' }>): DistinctAccumulator {
  const { kernels } = scope.context;
  const set = pairSet(scope, 2);
  const { vector } = key;
  const packed = scope.arena.take(BLOCK_ROWS * 16);
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  const keptRows = scope.arena.take(BLOCK_ROWS * 4);
  const keptGroups = scope.arena.take(BLOCK_ROWS * 4);
  const nullsOf = unionOfNulls(scope, [vector]);
  return {
    readsRows: true,
    addGroups(block, rows, groups, n) {
      const values = vector.values(block);
      const nulls = nullsOf(block);
      let [r, g, count] = [rows, groups, n];
      if (nulls !== 0) {
        count = kernels.compactNotMask(nulls, rows, groups, n, keptRows, keptGroups);
        [r, g] = [keptRows, keptGroups];
      }
      kernels.keyWordU32(g, 0, count, 2, 0, 0, 1, packed);
      if (vector.physical === 'F32' || vector.physical === 'F64')
        kernelFor(kernels, 'keyWord', vector.physical)(values, r, count, 2, 1, packed);
      else {
        kernelFor(kernels, 'toI64', vector.physical)(values, r, count, vector.base, wide);
        kernels.keyWordI64(wide, 0, count, 2, 1, 0, 1, packed);
      }
      set.add(packed, count);
    },
    combine(table, groupOf, groupCount) {
      if (!adopt(scope, table, index, set, groupOf, groupCount)) combineWidePairs(scope, table, index, set, groupOf);
    },
  };
}

/** A set in the memory of the segment's work, which gives back what it has outgrown. */
function pairSet({ arena, context }: SegmentScope, words: 1 | 2): PairSet {
  return new PairSet(
    context,
    words,
    (bytes) => arena.take(bytes),
    (at) => {
      if (arena.letGo(at)) context.memory.free(at);
    },
  );
}

/** Makes the pairs of the segment those of the table, where it has none; false where they have to be added one by one. */
function adopt(scope: SegmentScope, table: GroupTable, index: number, set: PairSet, groupOf: Address, groupCount: number): boolean {
  const { memory } = set;
  if (memory.capacity < ADOPTED_MIN || !isAdoptable(scope, table, index, groupOf, groupCount)) return false;
  table.adoptPairs(index, memory, () => {
    const isOwn = scope.arena.letGo(memory.keys) && scope.arena.letGo(memory.slots);
    assert(isOwn, 'a large region belongs to nobody else');
  });
  return true;
}

type PutIds = (ids: Address, physical: 'U8' | 'U16' | 'U32', rows: Address, groups: Address, n: number) => void;

/** Gives the ids of positions in pieces of at most a block; a multi-value row gives one position per value. */
function idReader(scope: SegmentScope, key: IdKey, put: PutIds): (block: Block, rows: Address, groups: Address, n: number) => void {
  const { arena, context } = scope;
  const { kernels } = context;
  if (key.kind === 'ids') return (block, rows, groups, n) => put(key.at(block), key.physical, rows, groups, n);
  if (key.kind === 'multi') {
    const { column, nullId } = key;
    const expand = kernelFor(kernels, 'expand', column.physical);
    let room = 2 * BLOCK_ROWS;
    let [outRows, outPositions, outIds, outGroups] = [
      arena.take(room * 4),
      arena.take(room * 4),
      arena.take(room * 4),
      arena.take(room * 4),
    ];
    return (block, rows, groups, n) => {
      let count = expand(column.ids, column.offsets + block.start * 4, rows, n, nullId, outRows, outPositions, outIds, room);
      while (count < 0) {
        room *= 2;
        [outRows, outPositions, outIds, outGroups] = [
          arena.take(room * 4),
          arena.take(room * 4),
          arena.take(room * 4),
          arena.take(room * 4),
        ];
        count = expand(column.ids, column.offsets + block.start * 4, rows, n, nullId, outRows, outPositions, outIds, room);
      }
      kernels.gather32(groups, outPositions, count, outGroups);
      for (let from = 0; from < count; from += BLOCK_ROWS)
        put(outIds + from * 4, 'U32', 0, outGroups + from * 4, Math.min(BLOCK_ROWS, count - from));
    };
  }
  const ids = takeZeroed(arena, context, BLOCK_ROWS * 4);
  if (key.kind === 'constant') {
    return (_block, _rows, groups, n) => put(ids, 'U32', 0, groups, n);
  }
  const runs = arena.take(BLOCK_ROWS * RUN_BYTES);
  return (block, rows, groups, n) => {
    kernels.keyRuns(runs, key.runs(block, 0, block.rows, runs), rows, n, 1, 0, ids);
    put(ids, 'U32', 0, groups, n);
  };
}

function poolOf(table: GroupTable, index: number) {
  const pool = table.distinctPools[index];
  assert(pool !== undefined, `no pool of aggregator ${index}`);
  return pool;
}
