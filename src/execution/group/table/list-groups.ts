// Lists the groups of a table that have rows.

import { BLOCK_ROWS } from '../../../base/layout.js';
import { ascending } from '../../block/checked-loops.js';
import type { Scratch } from '../../block/context.js';
import type { GroupTableParts } from './group-parts.js';

/** Numbers of the groups that exist, ascending. */
export function listGroups({ context, arena }: Scratch, table: Pick<GroupTableParts, 'present' | 'groupCount'>): Uint32Array {
  const { kernels, memory, check } = context;
  if (table.present === 0) return ascending(table.groupCount, check);
  const bits = arena.take(BLOCK_ROWS / 8);
  const rows = arena.take(BLOCK_ROWS * 4);
  const found: Uint32Array[] = [];
  for (let base = 0; base < table.groupCount; base += BLOCK_ROWS) {
    check();
    const n = Math.min(BLOCK_ROWS, table.groupCount - base);
    kernels.filterRangeU8(table.present + base, n, 1, 255, bits);
    const count = kernels.bitsToRows(bits, 0, n, rows);
    if (count === 0) continue;
    const part = memory.u32(rows, count).slice();
    for (let at = 0; at < count; at++) part[at] = (part[at] ?? 0) + base;
    found.push(part);
  }
  const all = new Uint32Array(found.reduce((sum, part) => sum + part.length, 0));
  found.reduce((at, part) => {
    all.set(part, at);
    return at + part.length;
  }, 0);
  return all;
}
