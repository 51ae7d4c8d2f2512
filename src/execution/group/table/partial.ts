// Partial rows of groups that another server merges.

import { assert } from '../../../base/errors.js';
import type { Value } from '../../../expression/value.js';
import type { GroupPlan } from '../../../model/plan.js';
import { isNumberType } from '../../../model/schema.js';
import { ascending, type Check, ROWS_PER_CHECK } from '../../block/checked-loops.js';
import type { Scratch } from '../../block/context.js';
import { columnOf, pickRows, type ResultColumn, type ResultTable, textColumn } from '../../block/result-table.js';
import type { GroupAggregator } from '../key/layout.js';
import type { DistinctLayout } from './distinct-combine.js';
import { eachDistinct } from './distinct-set.js';
import type { GroupTable } from './group-table.js';
import { listGroups } from './list-groups.js';
import { rowsOfGroups } from './result.js';

/*
 * Partial results of a group plan travel between servers as ordinary frames, with columns by position:
 *
 *   k0, k1, ...   the keys of the plan, in order
 *   a0, a1, ...   the aggregators: count, sum, min, max as their value so far, null when no row took part;
 *                 distinct as ONE value of the set, or null; collect as the text of its state
 *
 * First come rows of states, one per group, in which distinct columns are null; then, for each distinct aggregator,
 * one row per (group, value), in which all other aggregates are null. So a partial result is itself a set of rows
 * whose grouping by the keys gives the whole: `mergePlan` says how.
 */

/** The plan that joins partial rows; its keys and aggregators bear the names of `plan` again. */
export function mergePlan(plan: GroupPlan): GroupPlan {
  return {
    ...plan,
    filter: null,
    virtualColumns: [],
    keys: plan.keys.map((key, index) =>
      key.kind === 'time' && key.granularity.kind === 'all'
        ? key
        : { kind: 'column', name: key.name, column: `k${index}`, type: key.kind === 'time' ? 'LONG' : key.type },
    ),
    aggregators: plan.aggregators.map((aggregator, index) => mergeAggregator(aggregator, `a${index}`)),
  };
}

function mergeAggregator(aggregator: GroupAggregator, column: string): GroupAggregator {
  const { name } = aggregator;
  switch (aggregator.kind) {
    case 'count':
      return { name, filter: null, kind: 'sum', type: 'LONG', column, emptyIsZero: true };
    case 'distinct':
      return { ...aggregator, filter: null, column };
    case 'state':
      return { ...aggregator, filter: null, columns: [column], input: 'states' };
    default:
      return {
        name,
        filter: null,
        kind: aggregator.kind,
        type: aggregator.type,
        column,
        ...(aggregator.emptyIsZero === true ? { emptyIsZero: true } : {}),
      };
  }
}

/** The rows described above, of every group of the table. */
export function partialRows(scope: Scratch, table: GroupTable): ResultTable {
  const { layout } = table;
  const { check } = scope.context;
  const groups = listGroups(scope, table);
  const states = rowsOfGroups(scope, table, groups, { isEmpty: false, asStates: true });
  const keys = states.columns.slice(0, layout.keys.length);
  const sets = layout.aggregators.map((aggregator, index) =>
    aggregator.kind === 'distinct' ? listSet(scope, table, index, aggregator) : undefined,
  );
  const extra = sets.reduce((sum, set) => sum + (set?.groups.length ?? 0), 0);
  const rowCount = groups.length + extra;
  let from = groups.length;
  const aggregates = layout.aggregators.map((aggregator, index): ResultColumn => {
    const name = `a${index}`;
    const set = sets[index];
    if (set === undefined || aggregator.kind !== 'distinct') {
      const column = states.columns[layout.keys.length + index];
      assert(column !== undefined, 'an aggregator has one column of states');
      return { ...(extra === 0 ? column : withNulls(column, rowCount)), name };
    }
    const values: Value[] = new Array<Value>(rowCount).fill(null);
    set.values.forEach((value, at) => {
      if (at % ROWS_PER_CHECK === 0) check();
      values[from + at] = value;
    });
    from += set.groups.length;
    const { type } = aggregator.domain;
    return isNumberType(type) ? columnOf(name, type, values) : textColumn(name, type, values.map(textOrNull));
  });
  const repeated = extra === 0 ? keys : pickRows({ ...states, columns: keys }, sourceRows(groups, sets, rowCount, check), check).columns;
  return { rowCount, columns: [...repeated.map((column, index) => ({ ...column, name: `k${index}` })), ...aggregates], keys: [] };
}

/** Values of a distinct aggregator, group after group. */
interface ListedSet {
  readonly groups: number[];
  readonly values: Value[];
}

function listSet(scope: Scratch, table: GroupTable, index: number, layout: DistinctLayout): ListedSet {
  const set: ListedSet = { groups: [], values: [] };
  eachDistinct(scope, table, index, layout, (group, value) => {
    set.groups.push(group);
    set.values.push(value);
  });
  return set;
}

/** Row of states that each row repeats the keys of. */
function sourceRows(groups: Uint32Array, sets: readonly (ListedSet | undefined)[], rowCount: number, check: Check): Uint32Array {
  const rowOf = new Map<number, number>();
  groups.forEach((group, row) => {
    if (row % ROWS_PER_CHECK === 0) check();
    rowOf.set(group, row);
  });
  const source = new Uint32Array(rowCount);
  source.set(ascending(groups.length, check));
  let at = groups.length;
  for (const set of sets) {
    for (const group of set?.groups ?? []) {
      if (at % ROWS_PER_CHECK === 0) check();
      source[at++] = rowOf.get(group) ?? 0;
    }
  }
  return source;
}

/** The column with rows of null appended. */
function withNulls(column: ResultColumn, rowCount: number): ResultColumn {
  if (column.kind === 'string') {
    // No dictionary has so many entries.
    const none = 0xffffffff;
    const ids = new Uint32Array(rowCount).fill(none);
    ids.set(column.ids);
    return { ...column, packed: undefined, ids, text: (id) => (id === none ? null : column.text(id)) };
  }
  assert(column.kind !== 'multi', 'states are single values');
  const nulls = new Uint8Array(rowCount).fill(1);
  nulls.set(column.nulls ?? new Uint8Array(column.values.length));
  if (column.kind === 'double') {
    const values = new Float64Array(rowCount);
    values.set(column.values);
    return { ...column, values, nulls };
  }
  const values = new BigInt64Array(rowCount);
  values.set(column.values);
  return { ...column, values, nulls };
}

function textOrNull(value: Value): string | null {
  return value === null ? null : String(value);
}
