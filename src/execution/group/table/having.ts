// Leaves out groups that the first condition on the result rules out, before any result column is made.

import type { Address } from '../../../base/layout.js';
import { flatMapped } from '../../../base/lists.js';
import type { Filter } from '../../../model/filter.js';
import type { PostStep } from '../../../model/plan.js';
import { checkedLoop } from '../../block/checked-loops.js';
import type { Scratch } from '../../block/context.js';
import type { GroupTable } from './group-table.js';
import { listGroups } from './list-groups.js';

/** Relative distance from a bound at which a LONG is still a double on the other side of it. */
const ROUNDING = 2 ** -50;

/**
 * The groups that may pass a first step which keeps a range of an aggregate; the step itself decides.
 * @param values  state of each aggregator
 * @returns undefined when the steps begin otherwise
 */
export function groupsHaving(
  scope: Scratch,
  table: GroupTable,
  values: readonly Address[],
  [first]: readonly PostStep[],
): Uint32Array | undefined {
  if (first?.step !== 'filter') return undefined;
  const bounds = flatMapped(first.filter.kind === 'and' ? first.filter.filters : [first.filter], (filter) => boundsOf(table, filter));
  return bounds.reduce<Uint32Array | undefined>(
    (groups, bound) => within(scope, table, values, groups ?? listGroups(scope, table), bound),
    undefined,
  );
}

interface Bounds {
  readonly index: number;
  readonly isLong: boolean;
  readonly lower: number;
  readonly upper: number;
}

function boundsOf({ layout }: GroupTable, filter: Filter): readonly Bounds[] {
  if (filter.kind !== 'range' || filter.ordering !== 'numeric' || (filter.type !== 'LONG' && filter.type !== 'DOUBLE')) return [];
  const index = layout.aggregators.findIndex(({ name }) => name === filter.column);
  const aggregator = layout.aggregators[index];
  if (aggregator === undefined || aggregator.kind === 'state' || aggregator.kind === 'distinct' || aggregator.type === 'FLOAT') return [];
  const [lower, upper] = [boundOf(filter.lower, -Infinity, -1), boundOf(filter.upper, Infinity, 1)];
  // A merged count of no rows is 0 rather than what its state says.
  if (lower === undefined || upper === undefined || aggregator.aggregator.emptyIsZero === true) return [];
  return [{ index, isLong: aggregator.type === 'LONG', lower, upper }];
}

/** A bound moved outwards as far as doubles are inexact; undefined for what is no number. */
function boundOf(value: Extract<Filter, { kind: 'range' }>['lower'], none: number, outwards: 1 | -1): number | undefined {
  if (value === null) return none;
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const bound = Number(value);
  return Number.isNaN(bound) ? undefined : bound + outwards * Math.abs(bound) * ROUNDING;
}

function within(
  { context: { memory, check } }: Scratch,
  table: GroupTable,
  values: readonly Address[],
  groups: Uint32Array,
  { index, isLong, lower, upper }: Bounds,
): Uint32Array {
  const at = values[index] ?? 0;
  const seenAt = table.states[index]?.seen ?? 0;
  const seen = seenAt === 0 ? undefined : memory.u8(seenAt, table.groupCount);
  const doubles = memory.f64(at, isLong ? 0 : table.groupCount);
  const lows = memory.u32(at, isLong ? table.groupCount * 2 : 0);
  const kept = new Uint32Array(groups.length);
  let count = 0;
  checkedLoop(groups.length, check, (start, end) => {
    for (let place = start; place < end; place++) {
      const group = groups[place] ?? 0;
      const value = isLong ? ((lows[group * 2 + 1] ?? 0) | 0) * 2 ** 32 + (lows[group * 2] ?? 0) : (doubles[group] ?? 0);
      // NaN stays.
      if ((value < lower || value > upper) && (seen === undefined || seen[group] === 1)) continue;
      kept[count++] = group;
    }
  });
  return kept.slice(0, count);
}
