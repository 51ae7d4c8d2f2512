import type { Value } from '../../expression/value.js';
import type { GroupPlan } from '../../model/plan.js';
import { isNumberType } from '../../model/schema.js';
import type { ResultColumn, ResultTable } from '../finish/table.js';
import { columnOf, pickRows, textColumn, valueAt } from '../finish/table.js';
import type { FoldScope } from './distinct-fold.js';
import { nullIdOf } from './domain.js';
import { listGroups, rowsOfGroups, valueOfId } from './result.js';
import type { AggregatorShape, GroupAggregator } from './shape.js';
import type { GroupTable } from './table.js';

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
      return { name, filter: null, kind: 'distinct', column };
    case 'collect':
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
export function partialRows(scope: FoldScope, table: GroupTable): ResultTable {
  const { shape } = table;
  const groups = listGroups(scope, table);
  const states = rowsOfGroups(scope, table, groups, { isEmpty: false, asStates: true });
  const rowOf = new Map<number, number>();
  groups.forEach((group, row) => rowOf.set(group, row));
  const sets = shape.aggregators.map((aggregator, index) =>
    aggregator.kind === 'distinct' ? listSet(scope, table, index, aggregator) : undefined,
  );
  const repeated = sets.flatMap((set) => (set === undefined ? [] : set.map(({ group }) => rowOf.get(group) ?? 0)));
  const source = Uint32Array.from([...groups.keys(), ...repeated]);
  const keys = pickRows({ ...states, columns: states.columns.slice(0, shape.keys.length) }, source).columns.map((column, index) => ({
    ...column,
    name: `k${index}`,
  }));
  let from = groups.length;
  const aggregates = shape.aggregators.map((aggregator, index): ResultColumn => {
    const set = sets[index];
    const values: Value[] = new Array<Value>(source.length).fill(null);
    if (set !== undefined && aggregator.kind === 'distinct') {
      set.forEach(({ value }, at) => {
        values[from + at] = value;
      });
      from += set.length;
      const { type } = aggregator.domain;
      return isNumberType(type) ? columnOf(`a${index}`, type, values) : textColumn(`a${index}`, type, values.map(textOrNull));
    }
    const column = states.columns[shape.keys.length + index];
    if (aggregator.kind === 'collect' && column !== undefined) {
      for (let row = 0; row < groups.length; row++) values[row] = valueAt(column, row);
      return columnOf(`a${index}`, 'STRING', values);
    }
    for (let row = 0; column !== undefined && row < groups.length; row++) values[row] = valueAt(column, row);
    return columnOf(`a${index}`, aggregator.type, values);
  });
  return { rowCount: source.length, columns: [...keys, ...aggregates], keys: [] };
}

function textOrNull(value: Value): string | null {
  return value === null ? null : String(value);
}

/** Every (group, value) of a distinct aggregator, texts as dictionaries keep them; null is left out. */
function listSet(
  { context }: FoldScope,
  table: GroupTable,
  index: number,
  { domain, store }: Extract<AggregatorShape, { kind: 'distinct' }>,
): { group: number; value: Value }[] {
  const { memory } = context;
  const state = table.states[index];
  const pairs: { group: number; value: Value }[] = [];
  const nullId = nullIdOf(domain);
  const decode = valueOfId(memory, domain, table.distinctPools[index]?.values ?? []);
  if (store.kind === 'bits') {
    const words = store.bitsPerGroup / 32;
    const bits = memory.u32(state?.bits ?? 0, table.groupCount * words);
    bits.forEach((word, at) => {
      for (let rest = word; rest !== 0; rest &= rest - 1) {
        const id = (at % words) * 32 + (31 - Math.clz32(rest & -rest));
        if (id !== nullId) pairs.push({ group: Math.floor(at / words), value: decode(id) });
      }
    });
    return pairs;
  }
  const { keys = 0, count = 0 } = state?.pairs ?? {};
  const halves = memory.u32(keys, count * store.words * 2);
  const longs = memory.i64(keys, count * store.words);
  const doubles = memory.f64(keys, count * store.words);
  for (let at = 0; at < count; at++) {
    const group = halves[at * store.words * 2] ?? 0;
    if (store.words === 2) pairs.push({ group, value: domain.type === 'LONG' ? (longs[at * 2 + 1] ?? 0n) : (doubles[at * 2 + 1] ?? 0) });
    else {
      const id = halves[at * 2 + 1] ?? 0;
      if (id !== nullId) pairs.push({ group, value: decode(id) });
    }
  }
  return pairs;
}
