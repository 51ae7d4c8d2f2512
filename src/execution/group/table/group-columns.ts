// Columns in kernel memory that the groups of finished tables are written to, by several threads at a time.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { checkedLoop } from '../../block/checked-loops.js';
import type { RunContext, Scratch } from '../../block/context.js';
import type { KeyDomain } from '../key/key-domain.js';
import type { AggregatorLayout, GroupLayout, KeyLayout } from '../key/layout.js';
import { multiplesOf } from './distinct-combine.js';
import type { GroupTable } from './group-table.js';
import { listGroups } from './list-groups.js';
import { idsOfGroups } from './sort-values.js';

/** Keys and states of groups, one row each: plain data, written by all threads. Columns that nobody reads have the address 0. */
export interface GroupColumns {
  /** Rows that there is room for. */
  readonly capacity: number;
  /** u32: rows that are taken. */
  readonly taken: Address;
  /** One column for each key: u32 ids of its domain, or the 64 bits of a wide one. */
  readonly keys: readonly Address[];
  /** u32 with the null flags of wide keys; 0 where there are none. */
  readonly flags: Address;
  /** Two columns for each aggregator: i64 or f64, and u8, 1 where some row took part (the address 0 where that needs no telling). */
  readonly states: readonly { readonly at: Address; readonly seen: Address }[];
}

/** Wide keys whose null flags are looked up as one number. */
export const WIDE_KEYS_MAX = 8;

/** Whether keys and states of groups are numbers, or ids of texts: what columns can be made of. */
export function haveColumns({ keys, aggregators }: Pick<GroupLayout, 'keys' | 'aggregators'>): boolean {
  const wides = keys.filter(({ domain }) => domain.kind === 'wide').length;
  return wides <= WIDE_KEYS_MAX && keys.every(isColumnKey) && aggregators.every(isColumnState);
}

function isColumnKey({ domain }: KeyLayout): boolean {
  if (domain.kind === 'constant' || domain.type === 'FLOAT') return false;
  return domain.kind !== 'interned' || (domain.type !== 'LONG' && domain.type !== 'DOUBLE');
}

function isColumnState(aggregator: AggregatorLayout): boolean {
  if (aggregator.kind === 'state' || (aggregator.kind === 'distinct' && aggregator.fold !== undefined)) return false;
  return aggregator.type === 'LONG' || aggregator.type === 'DOUBLE';
}

/** Bytes of the columns of so many groups, of keys and aggregators that are wanted by name, with all texts that a key may have. */
export function columnBytes(context: RunContext, layout: GroupLayout, wanted: ReadonlySet<string>, capacity: number): number {
  const keys = layout.keys.filter(({ name }) => wanted.has(name)).map(({ domain }) => domain);
  const aggregators = layout.aggregators.filter(({ name }) => wanted.has(name)).length;
  const ofKeys = keys.reduce((sum, { kind }) => sum + (kind === 'wide' ? KEY_BYTES_WIDE : KEY_BYTES), 0);
  const ofTexts = keys.reduce((sum, domain) => sum + textBytes(context, domain), 0);
  return capacity * (ofKeys + aggregators * STATE_BYTES) + ofTexts;
}

const KEY_BYTES = 4;
/** With a flag. */
const KEY_BYTES_WIDE = 12;
const STATE_BYTES = 9;

function textBytes({ memory, check }: RunContext, domain: KeyDomain): number {
  if (domain.kind === 'local') return memory.u32(domain.column.dictionary.offsets, domain.card)[domain.card - 1] ?? 0;
  if (domain.kind !== 'dictionary') return 0;
  const entries = memory.u32(domain.dictionary.entries, domain.card * 2);
  let bytes = 0;
  checkedLoop(domain.card, check, (start, end) => {
    for (let id = start; id < end; id++) bytes += entries[id * 2 + 1] ?? 0;
  });
  return bytes;
}

/**
 * Room for the groups of a layout.
 * @param wanted  names of the keys and aggregators that are read
 * @param take    gives memory, readable up to a multiple of 64 elements
 */
export function takeColumns(
  { memory }: RunContext,
  { keys, aggregators }: GroupLayout,
  wanted: ReadonlySet<string>,
  capacity: number,
  take: (bytes: number) => Address,
): GroupColumns {
  const taken = take(8);
  memory.u32(taken, 2).set([0, 0]);
  const column = (name: string, bytes: number): Address => (wanted.has(name) ? take(Math.max(1, capacity) * bytes) : 0);
  const hasFlags = keys.some(({ name, domain }) => domain.kind === 'wide' && domain.mayBeNull && wanted.has(name));
  return {
    capacity,
    taken,
    keys: keys.map(({ name, domain }) => column(name, domain.kind === 'wide' ? 8 : 4)),
    flags: hasFlags ? take(Math.max(1, capacity) * 4) : 0,
    states: aggregators.map((aggregator) => ({
      at: column(aggregator.name, 8),
      seen: 'nullable' in aggregator && aggregator.nullable ? column(aggregator.name, 1) : 0,
    })),
  };
}

/** Writes the groups of tables of one layout behind those that are there. */
export class GroupColumnsWriter {
  readonly #scope: Scratch;
  readonly #into: GroupColumns;
  /** 0, words, 2 words, … in elements of 64 and of 32 bits. */
  readonly #words: Address;
  readonly #halves: Address;

  /** @param scope  its arena outlives the writer */
  constructor(scope: Scratch, { indexLayout }: GroupLayout, into: GroupColumns) {
    this.#scope = scope;
    this.#into = into;
    const words = indexLayout.kind === 'hash' ? indexLayout.words : 0;
    this.#words = words === 0 ? 0 : multiplesOf(scope, words, BLOCK_ROWS);
    this.#halves = words === 0 ? 0 : multiplesOf(scope, words * 2, BLOCK_ROWS);
  }

  /** @param states  address of the values of each aggregator, by group */
  add(table: GroupTable, states: readonly Address[]): void {
    const { memory } = this.#scope.context;
    const groups = table.layout.indexLayout.kind === 'dense' ? listGroups(this.#scope, table) : undefined;
    const count = groups?.length ?? table.groupCount;
    const first = Atomics.add(memory.i32(this.#into.taken, 1), 0, count);
    this.#addKeys(table, groups, first);
    this.#addStates(table, states, groups, first);
  }

  #addKeys(table: GroupTable, groups: Uint32Array | undefined, first: number): void {
    const { memory } = this.#scope.context;
    const { indexLayout } = table.layout;
    this.#into.keys.forEach((at, index) => {
      if (at === 0) return;
      if (indexLayout.kind === 'dense') {
        const ids = idsOfGroups(this.#scope, table, index, groups);
        memory.u32(at + first * 4, ids.length).set(ids);
        return;
      }
      const place = indexLayout.places[index];
      if (place?.kind === 'half') this.#gather32(table, indexLayout.words, place.word * 8 + place.shift / 8, at + first * 4);
      if (place?.kind === 'word') this.#gather64(table, indexLayout.words, place.word * 8, at + first * 8);
    });
    if (this.#into.flags !== 0 && indexLayout.kind === 'hash')
      this.#gather32(table, indexLayout.words, (indexLayout.flagWord ?? 0) * 8, this.#into.flags + first * 4);
  }

  #gather32(table: GroupTable, words: number, offset: number, out: Address): void {
    const { kernels } = this.#scope.context;
    this.#eachBlock(table.groupCount, (start, n) =>
      kernels.gather32(table.keys + start * words * 8 + offset, this.#halves, n, out + start * 4),
    );
  }

  #gather64(table: GroupTable, words: number, offset: number, out: Address): void {
    const { kernels } = this.#scope.context;
    this.#eachBlock(table.groupCount, (start, n) =>
      kernels.gather64(table.keys + start * words * 8 + offset, this.#words, n, out + start * 8),
    );
  }

  #eachBlock(count: number, piece: (start: number, n: number) => void): void {
    for (let start = 0; start < count; start += BLOCK_ROWS) {
      this.#scope.context.check();
      piece(start, Math.min(BLOCK_ROWS, count - start));
    }
  }

  #addStates(table: GroupTable, states: readonly Address[], groups: Uint32Array | undefined, first: number): void {
    const { memory, kernels, check } = this.#scope.context;
    const count = groups?.length ?? table.groupCount;
    let listed: Address = 0;
    if (groups !== undefined && count > 0) {
      listed = this.#scope.arena.take(count * 4);
      const numbers = memory.u32(listed, count);
      checkedLoop(count, check, (start, end) => numbers.set(groups.subarray(start, end), start));
    }
    this.#into.states.forEach(({ at, seen }, index) => {
      if (at === 0 || count === 0) return;
      const [from, out] = [states[index] ?? 0, at + first * 8];
      if (listed === 0) memory.u8(out, count * 8).set(memory.u8(from, count * 8));
      else kernels.joinValuesI64(from, listed, count, out);
      const seenAt = table.states[index]?.seen ?? 0;
      if (seen === 0) return;
      if (listed === 0) memory.u8(seen + first, count).set(memory.u8(seenAt, count));
      else kernels.joinValuesU8(seenAt, listed, count, seen + first);
    });
  }
}
