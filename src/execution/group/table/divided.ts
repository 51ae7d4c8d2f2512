// Groups of millions: divided by the hash of their keys, and merged part by part.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { RunContext, Scratch } from '../../block/context.js';
import type { GroupLayout } from '../key/layout.js';
import { type GroupTableParts, PARTS } from './group-parts.js';
import { GroupTable } from './group-table.js';
import { addState, freeParts, mergeTable } from './merge-tables.js';

/*
 * A table of millions of groups is larger than any cache: each look-up waits for memory, once in the segment, once in the thread's
 * table and once where tables are merged. Where nearly every row has a group of its own there is nothing to find before the end either. So
 * groups of a segment are only written behind each other, by parts of the hash of their keys, and looked up once, a part of all threads at
 * a time, in a table that the cache holds. Parts have no group in common: threads take one after the other.
 */

/** Groups from which on a table is divided. */
export const DIVIDED_GROUPS_MIN = 1 << 16;

/** Part of the groups that are to be different ones; the second where equal ones need not become one table at the end. */
const DIFFERENT_PART = 0.85;
const DIFFERENT_PART_IN_PARTS = 0.4;

/** Whether so many of the groups are different ones that to look for equal ones costs more than it saves. */
export function areApart({ endsInParts }: GroupLayout, different: number, groups: number): boolean {
  return different >= groups * (endsInParts ? DIFFERENT_PART_IN_PARTS : DIFFERENT_PART);
}

/** Whether groups are hashed by ids that are the same on all threads, and all their states are numbers. */
export function isDivisible({ indexLayout, keys, aggregators }: GroupLayout): boolean {
  if (indexLayout.kind !== 'hash' || keys.some(({ domain }) => domain.kind === 'interned')) return false;
  return aggregators.every(({ kind }) => kind !== 'state' && kind !== 'distinct');
}

/** Divides a table, with the groups that it has. */
export function divideTable(table: GroupTable): void {
  if (table.division !== undefined) return;
  const before = table.groupCount === 0 ? undefined : table.moveOut();
  try {
    table.divide();
  } catch (error) {
    if (before !== undefined) freeParts(table.context, before);
    throw error;
  }
  if (before !== undefined) mergeTable(table, before);
}

/**
 * Finds the equal groups of a divided table, and divides it no more, where they have become many: keys may come again after many others.
 * How many there are is seen in one part, each time that the table has twice as many groups.
 * @param isFull  there is no room for more groups
 */
export function foldEqual(table: GroupTable, isFull: boolean): void {
  const { division, groupCount, layout, context } = table;
  if (division === undefined || (!isFull && groupCount < 2 * Math.max(DIVIDED_GROUPS_MIN, table.groupsLooked))) return;
  table.groupsLooked = groupCount;
  const parts = table.shown();
  const groups = groupsOfPart(context, parts, LOOKED_PART);
  let part: number | undefined = LOOKED_PART;
  const next = (): number | undefined => {
    const dealt = part;
    part = undefined;
    return dealt;
  };
  for (const found of partTables(layout, context, [parts], next))
    if (areApart(isFull ? { ...layout, endsInParts: false } : layout, found.groupCount, groups)) return;
  if (!context.memory.hasRoom(table.bytes)) return;
  table.hasManyEqual = true;
  mergeTable(table, table.moveOut());
}

const LOOKED_PART = 0;

function groupsOfPart({ memory }: RunContext, { division }: GroupTableParts, part: number): number {
  const { starts = 0, blocks = 0 } = division ?? {};
  const bounds = memory.u32(starts, blocks * (PARTS + 1));
  let count = 0;
  for (let at = part; at < bounds.length; at += PARTS + 1) count += (bounds[at + 1] ?? 0) - (bounds[at] ?? 0);
  return count;
}

/** Divides a table of many groups at its end, if there is memory for both. */
export function divideAtEnd(table: GroupTable): void {
  if (table.hasSpilled || table.groupCount < DIVIDED_GROUPS_MIN || !isDivisible(table.layout)) return;
  const { bytes, context } = table;
  if (bytes * 2 <= context.groupBytesMax && context.memory.hasRoom(bytes)) divideTable(table);
}

/** Divides a table as above, and frees it when that fails: it is nobody else's yet. */
export function divideOrFree(table: GroupTable): void {
  try {
    divideAtEnd(table);
  } catch (error) {
    table.free();
    throw error;
  }
}

/**
 * The groups of tables as one table per part that `next` deals out. A table is to be used before the next is asked for.
 * Frees nothing of `tables`.
 */
export function* partTables(
  layout: GroupLayout,
  context: RunContext,
  tables: readonly GroupTableParts[],
  next: () => number | undefined,
): Generator<GroupTable> {
  const own: GroupTable[] = [];
  const table = new GroupTable(layout, context);
  const arena = context.memory.arena();
  try {
    // Few groups are divided by each thread for itself.
    const divided = tables.map((parts) => {
      if (parts.division !== undefined) return parts;
      const copy = new GroupTable(layout, context);
      own.push(copy);
      copy.divide();
      mergeTable(copy, { ...parts, owned: [] });
      return copy.shown();
    });
    const merge = partMerger({ context, arena }, table);
    for (let part = next(); part !== undefined; part = next()) {
      context.check();
      table.clear();
      for (const parts of divided) merge(parts, part);
      yield table;
    }
  } finally {
    arena.release();
    table.free();
    for (const each of own) each.free();
  }
}

/** Adds the groups of one part of a divided table to another table. */
function partMerger({ context, arena }: Scratch, table: GroupTable): (from: GroupTableParts, part: number) => void {
  const { kernels } = context;
  const { indexLayout, aggregators } = table.layout;
  const words = indexLayout.kind === 'hash' ? indexLayout.words : 0;
  const [packed, wide] = [arena.take(BLOCK_ROWS * words * 8), arena.take(BLOCK_ROWS * 8)];
  const [places, numbers] = [arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4)];
  const buffers = { bits: arena.take(BLOCK_ROWS / 8), rows: arena.take(BLOCK_ROWS * 4), groups: arena.take(BLOCK_ROWS * 4) };
  let [listed, room]: [Address, number] = [0, 0];
  return (from, part) => {
    const { starts = 0, blocks = 0 } = from.division ?? {};
    const count = groupsOfPart(context, from, part);
    if (count > room) {
      room = Math.max(BLOCK_ROWS, count * 2);
      listed = arena.take(room * 4);
    }
    kernels.listRanges(starts + part * 4, blocks, PARTS + 1, listed);
    for (let base = 0; base < count; base += BLOCK_ROWS) {
      const n = Math.min(BLOCK_ROWS, count - base);
      const cells = listed + base * 4;
      kernels.keyDenseU32(cells, 0, n, words, 0, places);
      for (let word = 0; word < words; word++) {
        kernels.gather64(from.keys + word * 8, places, n, wide);
        kernels.keyWordI64(wide, 0, n, words, word, 0, 1, packed);
      }
      table.findGroups(packed, n, numbers);
      aggregators.forEach((_, index) => addState(table, from, index, { base: 0, cells, numbers, n }, buffers));
    }
  };
}
