// Turns the distinct values of groups into a result column.

import type { Address } from '../../../base/layout.js';
import { convert, toDouble } from '../../../expression/value.js';
import type { DistinctFold } from '../../../model/aggregator.js';
import { stateType } from '../../../model/state-traits.js';
import { distinctFolder } from '../../aggregate-state/distinct-values.js';
import { checkedLoop } from '../../block/checked-loops.js';
import type { Scratch } from '../../block/context.js';
import { columnOf, type ResultColumn } from '../../block/result-table.js';
import type { DistinctLayout } from './distinct-combine.js';
import { eachDistinct } from './distinct-set.js';
import type { GroupTable } from './group-table.js';

/** Groups of a table that become rows, in this order. `isEmpty`: the one group of no rows. */
export interface ListedGroups {
  readonly table: GroupTable;
  readonly groups: Uint32Array;
  readonly isEmpty: boolean;
}

/** Position of values that are not listed: beyond the size of kernel memory. */
const NOT_LISTED = 0xffffffff;

/**
 * A column of what is made of the distinct numbers of each group listed. They are laid out group by group in kernel memory
 * until they are combined, so that they count in what the query holds.
 * @param counts  i64 per group of the table: how many it has (`countDistinct`)
 * @throws        ServiceError `resource_limit`
 */
export function distinctColumn(
  { context }: Scratch,
  { table, groups }: ListedGroups,
  index: number,
  layout: DistinctLayout,
  fold: DistinctFold,
  counts: Address,
): ResultColumn {
  const { memory, check } = context;
  const { groupCount } = table;
  const arena = memory.arena();
  try {
    const places = arena.take(Math.max(1, groupCount) * 4);
    // Position of a group's next value; in the end, the end of its values.
    const next = memory.u32(places, groupCount);
    const sizes = memory.i64(counts, groupCount);
    const sizeOf = (group: number): number => Number(sizes[group] ?? 0n);
    let total = 0;
    next.fill(NOT_LISTED);
    checkedLoop(groups.length, check, (start, end) => {
      for (const group of groups.subarray(start, end)) {
        next[group] = total;
        total += sizeOf(group);
      }
    });
    const values = arena.take(Math.max(1, total) * 8);
    const longs = memory.i64(values, total);
    const doubles = memory.f64(values, total);
    const isLong = layout.domain.type === 'LONG';
    eachDistinct({ context, arena }, table, index, layout, (group, value) => {
      const at = next[group] ?? NOT_LISTED;
      if (at === NOT_LISTED) return;
      if (isLong) longs[at] = convert(value, 'LONG') ?? 0n;
      else doubles[at] = toDouble(value) ?? 0;
      next[group] = at + 1;
    });
    const numbers = isLong ? longs : doubles;
    const combined = distinctFolder(fold);
    return columnOf(
      layout.name,
      fold.kind === 'state' && fold.output === 'state' ? stateType(fold.aggregateState) : fold.type,
      Array.from(groups, (group) => {
        check();
        const end = next[group] ?? 0;
        return combined(numbers.subarray(end - sizeOf(group), end));
      }),
    );
  } finally {
    arena.release();
  }
}
