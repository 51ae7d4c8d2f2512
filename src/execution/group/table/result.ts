// Turns the groups of a finished table into result rows.

import { assert } from '../../../base/errors.js';
import type { Address } from '../../../base/layout.js';
import { flatMapped } from '../../../base/lists.js';
import type { Scalar } from '../../../expression/value.js';
import type { KernelMemory } from '../../../kernels/memory.js';
import type { PostStep } from '../../../model/plan.js';
import { isNumberType } from '../../../model/schema.js';
import { stateColumns } from '../../aggregate-state/result.js';
import { type Check, checkedLoop } from '../../block/checked-loops.js';
import type { RunContext, Scratch } from '../../block/context.js';
import { type PackTexts, packDictionary, packEntries } from '../../block/packed-texts.js';
import { columnOf, numberer, pickRows, type ResultColumn, type ResultTable, rememberTexts, typed } from '../../block/result-table.js';
import { type KeyDomain, nullIdOf, valueOfId } from '../key/key-domain.js';
import type { KeyPool } from '../key/key-pool.js';
import type { AggregatorLayout, KeyLayout } from '../key/layout.js';
import { countDistinct } from './distinct-combine.js';
import { distinctColumn, type ListedGroups } from './distinct-result.js';
import type { GroupTable } from './group-table.js';
import { groupsHaving } from './having.js';
import { listGroups } from './list-groups.js';
import { idsOfGroups } from './sort-values.js';
import { bestGroups } from './top.js';

/**
 * The groups of a finished table as result rows. When the post-processing steps begin by keeping the best few by one aggregate,
 * only those (and whatever ties with the last) leave kernel memory.
 */
export function groupRows(scope: Scratch, table: GroupTable, steps: readonly PostStep[]): ResultTable {
  const { layout } = table;
  const values = stateAddresses(scope, table);
  const groups = bestGroups(scope, table, values, steps) ?? groupsHaving(scope, table, values, steps) ?? listGroups(scope, table);
  const isEmpty =
    groups.length === 0 && layout.plan.emptyGroup && layout.plan.keys.every((key) => key.kind === 'time' && key.granularity.kind === 'all');
  return rowsOfGroups(scope, table, isEmpty ? Uint32Array.of(0) : groups, { isEmpty, asStates: false }, values);
}

/** Rows of the groups listed. `isEmpty`: it is the one group of no rows. `asStates`: aggregate states as texts, one column each. */
export function rowsOfGroups(
  scope: Scratch,
  table: GroupTable,
  groups: Uint32Array,
  { isEmpty, asStates }: { readonly isEmpty: boolean; readonly asStates: boolean },
  values = stateAddresses(scope, table),
): ResultTable {
  const { layout } = table;
  const listed: ListedGroups = { table, groups, isEmpty };
  const keys = layout.keys.map((key, index) => keyColumn(scope, listed, key, index));
  const aggregates = flatMapped(layout.aggregators, (aggregator, index) =>
    aggregator.kind === 'state'
      ? stateColumns(table.states[index]?.objects, aggregator, groups, isEmpty, asStates, scope.context.check)
      : aggregator.kind === 'distinct' && aggregator.fold !== undefined && !asStates
        ? [distinctColumn(scope, listed, index, aggregator, aggregator.fold, values[index] ?? 0)]
        : [aggregateColumn(scope, listed, index, aggregator, values[index] ?? 0)],
  );
  return { rowCount: groups.length, columns: [...keys, ...aggregates], keys: layout.keys.map((key) => key.name) };
}

/** Values of each aggregator by group: its states, or how many distinct ones there are. */
export function stateAddresses(scope: Scratch, table: GroupTable): Address[] {
  return table.layout.aggregators.map((aggregator, index) =>
    aggregator.kind === 'distinct' ? countDistinct(scope, table, index, aggregator) : (table.states[index]?.at ?? 0),
  );
}

function keyColumn(scope: Scratch, { table, groups }: ListedGroups, { name, domain }: KeyLayout, index: number): ResultColumn {
  const { context } = scope;
  const { memory, check } = context;
  const { indexLayout } = table.layout;
  if (domain.kind === 'constant')
    return columnOf(
      name,
      domain.type,
      mapPieces(groups, context.check, () => domain.value),
    );
  if (indexLayout.kind === 'hash') {
    const place = indexLayout.places[index];
    assert(place !== undefined && place.kind !== 'none', `key ${name} has no place`);
    const { words } = indexLayout;
    if (place.kind === 'word') {
      const halves = memory.u32(table.keys, table.groupCount * words * 2);
      const known = nullsAt(halves, groups, { words, word: indexLayout.flagWord, flag: place.flag }, check);
      if (domain.type === 'LONG') {
        const values = longsAt(halves, groups, words, place.word, check);
        return { kind: 'long', name, values, nulls: known };
      }
      const doubles = memory.f64(table.keys, table.groupCount * words);
      const values = new Float64Array(groups.length);
      checkedLoop(groups.length, check, (start, end) => {
        for (let row = start; row < end; row++) values[row] = doubles[(groups[row] ?? 0) * words + place.word] ?? 0;
      });
      return { kind: 'double', name, type: domain.type === 'FLOAT' ? 'FLOAT' : 'DOUBLE', values, nulls: known };
    }
  }
  return columnOfIds(context, table.pools[index], name, domain, idsOfGroups(scope, table, index, groups));
}

/** A key by the ids of its domain, which is neither constant nor wide. @param pool  of interned values */
export function columnOfIds(
  { memory, check }: RunContext,
  pool: KeyPool | undefined,
  name: string,
  domain: KeyDomain,
  ids: Uint32Array,
): ResultColumn {
  if (domain.kind === 'longs') {
    const values = new BigInt64Array(ids.length);
    const words = new Uint32Array(values.buffer);
    const [base, isWhole] = [Number(domain.base), domain.base >= 0n && domain.base + BigInt(domain.card) < 1n << 32n];
    checkedLoop(ids.length, check, (start, end) => {
      // Without an object for each value, where none needs its upper half.
      if (isWhole) for (let row = start; row < end; row++) words[row * 2] = base + (ids[row] ?? 0);
      else for (let row = start; row < end; row++) values[row] = domain.base + BigInt(ids[row] ?? 0);
    });
    const { nullId } = domain;
    if (nullId < 0 || !ids.includes(nullId)) return { kind: 'long', name, values, nulls: null };
    const nulls = new Uint8Array(ids.length);
    for (let row = ids.indexOf(nullId); row >= 0; row = ids.indexOf(nullId, row + 1)) {
      nulls[row] = 1;
      values[row] = 0n;
    }
    return { kind: 'long', name, values, nulls };
  }
  const decode = valueOfId(memory, domain, pool);
  if (isNumberType(domain.type)) {
    // Few values stand in many groups.
    const numberOf = numberer(ids);
    const values: Scalar[] = [];
    const places = new Uint32Array(ids.length);
    checkedLoop(ids.length, check, (start, end) => {
      for (let row = start; row < end; row++) {
        const id = ids[row] ?? 0;
        const place = numberOf(id);
        if (place === values.length) values.push(decode(id));
        places[row] = place;
      }
    });
    const column = columnOf(name, domain.type, values);
    return pickRows({ rowCount: values.length, columns: [column], keys: [] }, places, check).columns[0] ?? column;
  }
  const pack = packerOf(memory, domain, pool);
  const packed = pack === undefined ? {} : { packed: { pack, nullId: nullIdOf(domain), isDistinct: true } };
  return { kind: 'string', name, ...typed(domain.type), ids, text: rememberTexts((id) => textOf(decode(id))), ...packed };
}

function packerOf(memory: KernelMemory, domain: KeyDomain, pool: KeyPool | undefined): PackTexts | undefined {
  if (domain.kind === 'dictionary') return packEntries(memory, domain.dictionary.entries);
  if (domain.kind === 'local') return packDictionary(memory, domain.column.dictionary);
  const values = domain.kind === 'interned' || domain.kind === 'wide' ? pool?.values : undefined;
  return values?.kind === 'texts' ? packEntries(memory, values.entries) : undefined;
}

/** 1 for groups whose key has its flag set in a word of theirs; null: none has. */
function nullsAt(
  halves: Uint32Array,
  groups: Uint32Array,
  { words, word, flag }: { readonly words: number; readonly word: number | null; readonly flag: number | null },
  check: Check,
): Uint8Array | null {
  if (word === null || flag === null) return null;
  const nulls = new Uint8Array(groups.length);
  checkedLoop(groups.length, check, (start, end) => {
    for (let row = start; row < end; row++) nulls[row] = ((halves[((groups[row] ?? 0) * words + word) * 2] ?? 0) >>> flag) & 1;
  });
  return nulls.includes(1) ? nulls : null;
}

/** Word `word` of `words` of each group, by halves: no value becomes an object. */
function longsAt(halves: Uint32Array, groups: Uint32Array, words: number, word: number, check: Check): BigInt64Array {
  const values = new BigInt64Array(groups.length);
  const written = new Uint32Array(values.buffer);
  checkedLoop(groups.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const at = ((groups[row] ?? 0) * words + word) * 2;
      written[row * 2] = halves[at] ?? 0;
      written[row * 2 + 1] = halves[at + 1] ?? 0;
    }
  });
  return values;
}

/** An array with an entry per group or id. */
function mapPieces<Result>(from: Uint32Array, check: Check, each: (value: number) => Result): Result[] {
  const results: Result[] = [];
  checkedLoop(from.length, check, (start, end) => {
    for (let at = start; at < end; at++) results.push(each(from[at] ?? 0));
  });
  return results;
}

function textOf(value: Scalar): string | null {
  return value === null ? null : String(value);
}

function aggregateColumn(
  { context }: Scratch,
  { table, groups, isEmpty }: ListedGroups,
  index: number,
  aggregator: Exclude<AggregatorLayout, { kind: 'state' }>,
  at: Address,
): ResultColumn {
  const { memory, check } = context;
  const { name } = aggregator;
  const nulls =
    aggregator.kind === 'count' || aggregator.kind === 'distinct' ? null : nullsOf(table, aggregator, index, groups, isEmpty, context);
  const isZeroWhenNull = aggregator.aggregator.emptyIsZero === true;
  const known = nulls === null || isZeroWhenNull ? null : nulls;
  if (aggregator.type === 'LONG') {
    const values = longsAt(memory.u32(at, table.groupCount * 2), groups, 1, 0, check);
    if (nulls !== null) for (let row = nulls.indexOf(1); row >= 0; row = nulls.indexOf(1, row + 1)) values[row] = 0n;
    return { kind: 'long', name, values, nulls: known };
  }
  const state = memory.f64(at, table.groupCount);
  const round = aggregator.type === 'FLOAT' ? Math.fround : (value: number): number => value;
  const values = new Float64Array(groups.length);
  checkedLoop(groups.length, check, (start, end) => {
    for (let row = start; row < end; row++) if (nulls === null || nulls[row] === 0) values[row] = round(state[groups[row] ?? 0] ?? 0);
  });
  return { kind: 'double', name, type: aggregator.type === 'FLOAT' ? 'FLOAT' : 'DOUBLE', values, nulls: known };
}

function nullsOf(
  table: GroupTable,
  aggregator: AggregatorLayout,
  index: number,
  groups: Uint32Array,
  isEmpty: boolean,
  { memory, check }: RunContext,
): Uint8Array | null {
  if (isEmpty) return new Uint8Array(groups.length).fill(1);
  const seenAt = table.states[index]?.seen ?? 0;
  if (seenAt === 0 || aggregator.kind === 'count' || aggregator.kind === 'distinct' || aggregator.kind === 'state') return null;
  const seen = memory.u8(seenAt, table.groupCount);
  const nulls = new Uint8Array(groups.length);
  checkedLoop(groups.length, check, (start, end) => {
    for (let row = start; row < end; row++) nulls[row] = seen[groups[row] ?? 0] === 1 ? 0 : 1;
  });
  return nulls.includes(1) ? nulls : null;
}
