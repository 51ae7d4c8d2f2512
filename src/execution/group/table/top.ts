// Finds the best groups before any other result column is made.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { PostStep, SortKey } from '../../../model/plan.js';
import { checkedLoop } from '../../block/checked-loops.js';
import type { Scratch } from '../../block/context.js';
import type { GroupTable } from './group-table.js';
import { listGroups } from './list-groups.js';
import { type SortValues, sortValues } from './sort-values.js';

const TOP_MAX = 1_000_000;
/** Room for a value, and what finds the best of them. */
const VALUE_BYTES = 16;

/** Groups that may be among the best: those of a list, or where there is none all of the table. */
interface Candidates {
  readonly list: Uint32Array | undefined;
  /** Number of them that are wanted. */
  readonly wanted: number;
}

/**
 * The groups among which the first `sort` with a limit finds its rows (steps before it only add columns): the best by the first sort
 * key, of those that tie with the last of them the best by the next, and so on. Whatever still ties at the end is among them.
 * @param values  state of each aggregator
 * @returns undefined when the steps are of another kind, or order by something that is computed
 */
export function bestGroups(
  scope: Scratch,
  table: GroupTable,
  values: readonly Address[],
  steps: readonly PostStep[],
): Uint32Array | undefined {
  const first = steps.findIndex(({ step }) => step !== 'compute');
  const sort = steps[first];
  if (sort?.step !== 'sort' || sort.limit === null) return undefined;
  const wanted = sort.offset + sort.limit;
  if (wanted === 0 || wanted > TOP_MAX || wanted * 4 > table.groupCount) return undefined;
  const computed = new Set(steps.slice(0, first).map((step) => (step.step === 'compute' ? step.name : '')));
  const keys = sortKeysOf(table, sort.by);
  const best: Uint32Array[] = [];
  let left: Candidates | undefined = { list: undefined, wanted };
  for (const [place, key] of keys.entries()) {
    if (left === undefined) break;
    const column = computed.has(key.column) ? undefined : sortValues(scope, table, values, key);
    // Values are copied for a moment.
    if (column === undefined || !scope.context.memory.hasRoom((left.list?.length ?? table.groupCount) * VALUE_BYTES)) {
      if (place === 0) return undefined;
      break;
    }
    left = narrow(scope, table, { key, column, isLast: place === keys.length - 1 }, left, best);
  }
  if (left !== undefined) best.push(left.list ?? listGroups(scope, table));
  return joined(best);
}

/** The order of rows, `sortKeys`: ties are broken by keys, ascending. */
function sortKeysOf({ layout }: GroupTable, by: readonly SortKey[]): readonly SortKey[] {
  const rest = layout.keys.filter(({ name }) => !by.some(({ column }) => column === name));
  return [...by, ...rest.map(({ name }): SortKey => ({ column: name, descending: false, nulls: 'first', ordering: 'lexicographic' }))];
}

interface Level {
  readonly key: SortKey;
  readonly column: SortValues;
  /** Whether no other key follows: then ties are as good as each other. */
  readonly isLast: boolean;
}

/** Adds to `best` the groups that are wanted for sure; returns those among which the next key decides, undefined for none. */
function narrow(
  scope: Scratch,
  table: GroupTable,
  { key, column, isLast }: Level,
  { list, wanted }: Candidates,
  best: Uint32Array[],
): Candidates | undefined {
  let groups = column.isDense ? list : (list ?? existing(scope, table));
  let count = wanted;
  const nulls = column.nulls(groups);
  if (nulls !== undefined) {
    const [known, unknown] = split(scope, groups, nulls);
    const [before, after] = key.nulls === 'first' ? [unknown, known] : [known, unknown];
    if (before.length < count) {
      best.push(before);
      groups = after;
      count -= before.length;
    } else groups = before;
    if (groups === unknown) return { list: groups, wanted: count };
  }
  if (groups !== undefined && groups.length <= count) {
    best.push(groups);
    return undefined;
  }
  const { context } = scope;
  const arena = context.memory.arena();
  try {
    return select({ context, arena }, table, { key, column, isLast }, { list: groups, wanted: count }, best);
  } finally {
    arena.release();
  }
}

/** undefined: all groups of the table exist. */
function existing(scope: Scratch, table: GroupTable): Uint32Array | undefined {
  return table.present === 0 ? undefined : listGroups(scope, table);
}

/** The best values, and whatever ties with the last of them. */
function select(
  { context, arena }: Scratch,
  table: GroupTable,
  { key, column, isLast }: Level,
  { list, wanted }: Candidates,
  best: Uint32Array[],
): Candidates | undefined {
  const { kernels, memory } = context;
  const at = column.write(list, { context, arena });
  const n = list?.length ?? table.groupCount;
  const [heap, out] = [arena.take(wanted * 4), arena.take(wanted * 4)];
  const descending = key.descending ? 1 : 0;
  const present = list === undefined ? table.present : 0;
  const found =
    column.kind === 'text'
      ? kernels.textTop(at, n, wanted, descending, heap, out)
      : (column.kind === 'long' ? kernels.topI64 : kernels.topF64)(at, present, n, wanted, descending, heap, out);
  const groupsAt = (positions: Uint32Array): Uint32Array => groupsOf({ context, arena }, list, positions);
  const positions = memory.u32(out, found).slice();
  if (found < wanted || isLast) {
    best.push(groupsAt(positions));
    return undefined;
  }
  const last = arena.take(8);
  memory.u8(last, 8).set(memory.u8(at + (positions[found - 1] ?? 0) * 8, 8).slice());
  const equal = arena.take(Math.ceil(n / BLOCK_ROWS) * (BLOCK_ROWS / 8));
  const exists = arena.take(BLOCK_ROWS / 8);
  const compare = column.kind === 'text' ? kernels.textCompare : column.kind === 'long' ? kernels.compareI64 : kernels.orderF64;
  for (let base = 0; base < n; base += BLOCK_ROWS) {
    context.check();
    const length = Math.min(BLOCK_ROWS, n - base);
    const bits = equal + base / 8;
    compare(at + base * 8, last, 1, length, 0, bits);
    if (present === 0) continue;
    kernels.filterRangeU8(present + base, length, 1, 255, exists);
    kernels.bitsAnd(bits, exists, Math.ceil(length / 64), bits);
  }
  const rows = arena.take(kernels.bitsCount(equal, Math.ceil(n / 64)) * 4);
  const tied = memory.u32(rows, kernels.bitsToRows(equal, 0, n, rows)).slice();
  // The best come in order, so those that tie with the last are at their end.
  const marks = memory.u8(equal, Math.ceil(n / 8));
  const sure = positions.findIndex((position) => (((marks[position >>> 3] ?? 0) >>> (position & 7)) & 1) === 1);
  best.push(groupsAt(positions.subarray(0, sure)));
  if (tied.length === found - sure) {
    best.push(groupsAt(tied));
    return undefined;
  }
  return { list: groupsAt(tied), wanted: wanted - sure };
}

/** The groups at places of a list; without one they are these places themselves. */
function groupsOf({ context: { check } }: Scratch, list: Uint32Array | undefined, places: Uint32Array): Uint32Array {
  if (list === undefined) return places;
  const groups = new Uint32Array(places.length);
  checkedLoop(places.length, check, (start, end) => {
    for (let at = start; at < end; at++) groups[at] = list[places[at] ?? 0] ?? 0;
  });
  return groups;
}

/** The groups that are not null, and those that are, by their places. */
function split(
  { context: { check } }: Scratch,
  groups: Uint32Array | undefined,
  nulls: Uint8Array,
): readonly [known: Uint32Array, unknown: Uint32Array] {
  const [known, unknown] = [new Uint32Array(nulls.length), new Uint32Array(nulls.length)];
  let [knownCount, unknownCount] = [0, 0];
  checkedLoop(nulls.length, check, (start, end) => {
    for (let place = start; place < end; place++) {
      const group = groups?.[place] ?? place;
      if (nulls[place] === 1) unknown[unknownCount++] = group;
      else known[knownCount++] = group;
    }
  });
  return [known.subarray(0, knownCount), unknown.subarray(0, unknownCount)];
}

function joined(parts: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, part) => {
    all.set(part, at);
    return at + part.length;
  }, 0);
  return all;
}
