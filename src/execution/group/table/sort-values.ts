// The values of groups that a sort key compares, where kernels can compare them.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { SortKey } from '../../../model/plan.js';
import { checkedLoop } from '../../block/checked-loops.js';
import type { Scratch } from '../../block/context.js';
import { nullIdOf } from '../key/key-domain.js';
import type { AggregatorLayout, KeyLayout, KeyPlace } from '../key/layout.js';
import type { GroupTable } from './group-table.js';

/** Groups by number; undefined: all of the table. */
type Groups = Uint32Array | undefined;

/** A sort key over the groups of a table. */
export interface SortValues {
  readonly kind: 'long' | 'double' | 'text';
  /** Whether all values lie side by side, those of cells without a group as well. */
  readonly isDense: boolean;
  /** 1 for each of the groups that has no value; undefined: all have one. */
  nulls(groups: Groups): Uint8Array | undefined;
  /** The values of groups, none of which is null, 8 bytes each: i64, f64, or strings by reference. They lie in the memory of `into`, or where they were. */
  write(groups: Groups, into: Scratch): Address;
}

/**
 * Undefined for what is computed after grouping, or compared in another way than by kernels.
 * @param states  state of each aggregator
 */
export function sortValues(scope: Scratch, table: GroupTable, states: readonly Address[], key: SortKey): SortValues | undefined {
  const { layout } = table;
  const index = layout.aggregators.findIndex(({ name }) => name === key.column);
  const aggregator = layout.aggregators[index];
  if (aggregator !== undefined) return aggregateValues(scope, table, aggregator, index, states[index] ?? 0);
  const place = layout.keys.findIndex(({ name }) => name === key.column);
  const found = layout.keys[place];
  return found === undefined ? undefined : keyValues(scope, table, found, place, key);
}

function aggregateValues(
  scope: Scratch,
  table: GroupTable,
  aggregator: AggregatorLayout,
  index: number,
  state: Address,
): SortValues | undefined {
  // A float is rounded when it leaves the table, which makes equals of what is not.
  if (aggregator.kind === 'state' || aggregator.type === 'FLOAT') return undefined;
  if (aggregator.kind === 'distinct' && aggregator.fold !== undefined) return undefined;
  const seenAt = table.states[index]?.seen ?? 0;
  if (seenAt !== 0 && aggregator.aggregator.emptyIsZero === true) return undefined;
  return {
    kind: aggregator.type === 'LONG' ? 'long' : 'double',
    isDense: seenAt === 0,
    nulls(groups) {
      if (seenAt === 0) return undefined;
      const seen = scope.context.memory.u8(seenAt, table.groupCount);
      return flagsOf(scope, groups?.length ?? table.groupCount, (flags, start, end) => {
        for (let place = start; place < end; place++) flags[place] = 1 - (seen[groups === undefined ? place : (groups[place] ?? 0)] ?? 0);
      });
    },
    write: (groups, into) => (groups === undefined ? state : gathered(into, state, groups)),
  };
}

function keyValues(scope: Scratch, table: GroupTable, { domain }: KeyLayout, index: number, key: SortKey): SortValues | undefined {
  const { indexLayout } = table.layout;
  const place = indexLayout.kind === 'hash' ? indexLayout.places[index] : undefined;
  if (domain.kind === 'constant') return undefined;
  if (domain.kind === 'wide') return place?.kind === 'word' ? wideValues(scope, table, place, domain.type === 'LONG') : undefined;
  const ids = (groups: Groups): Uint32Array => idsOfGroups(scope, table, index, groups);
  const isLong = domain.kind === 'longs' || domain.kind === 'buckets';
  if (!isLong && (domain.type !== 'STRING' || key.ordering !== 'lexicographic')) return undefined;
  const write = isLong ? widened : entryWriter(table, domain, index);
  if (write === undefined) return undefined;
  const nullId = nullIdOf(domain);
  let read: { readonly groups: Groups; readonly ids: Uint32Array } | undefined;
  return {
    kind: isLong ? 'long' : 'text',
    isDense: false,
    nulls(groups) {
      if (nullId < 0) return undefined;
      read = { groups, ids: ids(groups) };
      const { ids: all } = read;
      if (!all.includes(nullId)) return undefined;
      return flagsOf(scope, all.length, (flags, start, end) => {
        for (let at = start; at < end; at++) flags[at] = all[at] === nullId ? 1 : 0;
      });
    },
    write: (groups, into) => write(read !== undefined && read.groups === groups ? read.ids : ids(groups), into),
  };
}

function wideValues(scope: Scratch, table: GroupTable, place: Extract<KeyPlace, { kind: 'word' }>, isLong: boolean): SortValues {
  const { context } = scope;
  const { indexLayout } = table.layout;
  const { words, flagWord } = indexLayout.kind === 'hash' ? indexLayout : { words: 1, flagWord: null };
  const halvesOf = (): Uint32Array => context.memory.u32(table.keys, table.groupCount * words * 2);
  return {
    kind: isLong ? 'long' : 'double',
    isDense: false,
    nulls(groups) {
      const { flag } = place;
      if (flag === null || flagWord === null) return undefined;
      const halves = halvesOf();
      let any = 0;
      const found = flagsOf(scope, groups?.length ?? table.groupCount, (flags, start, end) => {
        for (let at = start; at < end; at++) {
          const group = groups === undefined ? at : (groups[at] ?? 0);
          any |= flags[at] = ((halves[(group * words + flagWord) * 2] ?? 0) >>> flag) & 1;
        }
      });
      return any === 1 ? found : undefined;
    },
    write(groups, { arena }) {
      const count = groups?.length ?? table.groupCount;
      const at = arena.take(count * 8);
      const [halves, written] = [halvesOf(), context.memory.u32(at, count * 2)];
      checkedLoop(count, context.check, (start, end) => {
        for (let row = start; row < end; row++) {
          const from = ((groups?.[row] ?? row) * words + place.word) * 2;
          written[row * 2] = halves[from] ?? 0;
          written[row * 2 + 1] = halves[from + 1] ?? 0;
        }
      });
      return at;
    },
  };
}

/** A flag for each of so many places, which `fill` sets from one place up to another. */
function flagsOf(
  { context: { check } }: Scratch,
  count: number,
  fill: (flags: Uint8Array, start: number, end: number) => void,
): Uint8Array {
  const flags = new Uint8Array(count);
  checkedLoop(count, check, (start, end) => fill(flags, start, end));
  return flags;
}

/** The ids of a key in groups; it is neither constant nor wide. */
export function idsOfGroups({ context }: Scratch, table: GroupTable, index: number, groups: Groups): Uint32Array {
  const { indexLayout, keys } = table.layout;
  const ids = new Uint32Array(groups?.length ?? table.groupCount);
  if (indexLayout.kind === 'hash') {
    const place = indexLayout.places[index];
    if (place?.kind !== 'half') return ids;
    const { words } = indexLayout;
    const halves = context.memory.u32(table.keys, table.groupCount * words * 2);
    const half = place.word * 2 + place.shift / 32;
    checkedLoop(ids.length, context.check, (start, end) => {
      for (let row = start; row < end; row++) ids[row] = halves[(groups === undefined ? row : (groups[row] ?? 0)) * words * 2 + half] ?? 0;
    });
    return ids;
  }
  const stride = indexLayout.strides[index] ?? 1;
  const domain = keys[index]?.domain;
  const card = domain === undefined || domain.kind === 'interned' || domain.kind === 'wide' ? 1 : domain.card;
  checkedLoop(ids.length, context.check, (start, end) => {
    for (let row = start; row < end; row++) ids[row] = Math.floor((groups?.[row] ?? row) / stride) % card;
  });
  return ids;
}

/** Writes the strings of ids by reference; undefined where they do not lie in kernel memory. */
function entryWriter(
  table: GroupTable,
  domain: KeyLayout['domain'],
  index: number,
): ((ids: Uint32Array, into: Scratch) => Address) | undefined {
  if (domain.kind === 'dictionary') return (ids, into) => gathered(into, domain.dictionary.entries, ids);
  if (domain.kind === 'interned') {
    const values = table.pools[index]?.values;
    return values?.kind === 'texts' ? (ids, into) => gathered(into, values.entries, ids) : undefined;
  }
  if (domain.kind !== 'local') return undefined;
  const { bytes, offsets, hasNull } = domain.column.dictionary;
  if (bytes === 0) return undefined;
  const { kernels } = table.context;
  return (ids, into) => inBlocks(into, ids, (at, n, out) => void kernels.textEntries(bytes, offsets, at, n, hasNull ? 1 : 0, out));
}

function gathered(into: Scratch, from: Address, places: Uint32Array): Address {
  const { kernels } = into.context;
  return inBlocks(into, places, (at, n, out) => kernels.gather64(from, at, n, out));
}

/** Eight bytes for each number of a list, made a block at a time: `make` reads them as u32. */
function inBlocks({ context, arena }: Scratch, numbers: Uint32Array, make: (at: Address, n: number, out: Address) => void): Address {
  const out = arena.take(Math.max(1, numbers.length) * 8);
  const at = arena.take(BLOCK_ROWS * 4);
  for (let from = 0; from < numbers.length; from += BLOCK_ROWS) {
    context.check();
    const n = Math.min(BLOCK_ROWS, numbers.length - from);
    context.memory.u32(at, n).set(numbers.subarray(from, from + n));
    make(at, n, out + from * 8);
  }
  return out;
}

/** Ids as longs: those of numbers and of buckets go up with what they stand for. */
function widened(ids: Uint32Array, { context, arena }: Scratch): Address {
  const at = arena.take(ids.length * 8);
  const words = context.memory.u32(at, ids.length * 2);
  checkedLoop(ids.length, context.check, (start, end) => {
    for (let row = start; row < end; row++) {
      words[row * 2] = ids[row] ?? 0;
      words[row * 2 + 1] = 0;
    }
  });
  return at;
}
