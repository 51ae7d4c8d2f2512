// The group table of a thread: keys and states of all its segments.

import { assert, ServiceError } from '../../../base/errors.js';
import type { Address } from '../../../base/layout.js';
import { StateObjects } from '../../aggregate-state/state-objects.js';
import type { GroupStates } from '../../aggregate-state/state-operations.js';
import { clear, grownPlaces, type RunContext } from '../../block/context.js';
import { type PairMemory, PairSet } from '../../block/pair-set.js';
import { I64_MAX, I64_MIN } from '../../filter/number-bounds.js';
import { type KeyPool, keyPool } from '../key/key-pool.js';
import { type AggregatorLayout, type GroupLayout, hasOneGroup, onlyInternedKey } from '../key/layout.js';
import { GroupSpill } from '../spill/group-spill.js';
import { DIVISION_BITS, type Division, type GroupTableParts, PARTS, type SpilledGroups } from './group-parts.js';

/** The state of one aggregator over all groups; addresses of one entry per group. */
export interface StateColumn {
  /** i64 or f64; 0 for distinct. */
  at: Address;
  /** u8: 1 where some row took part. 0 when that needs no telling. */
  seen: Address;
  /** distinct, kind bits. */
  bits: Address;
  /** distinct, kind pairs. */
  pairs: PairSet | undefined;
  /** collect. */
  objects: GroupStates | undefined;
}

const FIRST_CAPACITY = 1 << 14;
/** Bounds of the parts of a block. */
const BOUND_BYTES = (PARTS + 1) * 4;
/** Blocks of a divided table that there is room for at first. */
const FIRST_BLOCKS = 64;
/** Smallest spilling table: large enough for the groups of a few blocks. */
const SPILLING_TABLE_BYTES_MIN = 1 << 24;

/** The groups of one thread over all its segments. Lives across segments in memory of its own, until `free`. */
export class GroupTable {
  readonly layout: GroupLayout;
  readonly context: RunContext;
  readonly states: StateColumn[];
  /** Pools of interned values, of keys and of distinct columns, by position. */
  readonly pools: readonly KeyPool[];
  readonly distinctPools: readonly KeyPool[];
  /** Pool whose ids are the keys: then `slots` has the number of each id's group, and one. */
  readonly onlyPool: KeyPool | undefined;
  /** dense: u8 per cell, 1 where the group exists. */
  present: Address = 0;
  /** hash: u64[words] per group. */
  keys: Address = 0;
  slots: Address = 0;
  slotCount = 0;
  /** Groups met (hash) or cells (dense). */
  groupCount = 0;
  /** Groups there is room for. */
  capacity: number;
  /** Groups of the divided table at the last look for equal ones. */
  groupsLooked = 0;
  /** Whether too many groups were equal for the table to be divided. */
  hasManyEqual = false;
  /** Set while groups are added without a look for equal ones, by parts of their hash. */
  #division: (Division & { readonly room: number }) | undefined;
  readonly #owned = new Map<Address, number>();
  readonly #bytesMax: number;
  #bytes = 0;
  #spill: GroupSpill | undefined;

  constructor(layout: GroupLayout, context: RunContext) {
    this.layout = layout;
    this.context = context;
    const charge = (bytes: number): void => this.#charge(bytes);
    this.pools = layout.keys.map(({ domain }) => keyPool(context, domain.type, charge));
    this.distinctPools = layout.aggregators.map((aggregator) =>
      keyPool(context, aggregator.kind === 'distinct' ? aggregator.domain.type : aggregator.type, charge),
    );
    const only = onlyInternedKey(layout);
    this.onlyPool = only === undefined ? undefined : this.pools[only];
    this.states = layout.aggregators.map(() => ({ at: 0, seen: 0, bits: 0, pairs: undefined, objects: undefined }));
    const { indexLayout } = layout;
    this.capacity = indexLayout.kind === 'dense' ? indexLayout.cells : FIRST_CAPACITY;
    this.#bytesMax = context.spill === undefined ? context.groupBytesMax : Math.max(context.groupBytesMax, SPILLING_TABLE_BYTES_MIN);
    this.#allocate();
  }

  /** Current size, including aggregate states in the thread's heap. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether there is something that spilling would make room by. */
  get canSpill(): boolean {
    if (this.context.spill === undefined) return false;
    if (this.layout.indexLayout.kind === 'hash') return this.groupCount > 0;
    return this.states.some(({ pairs, objects }) => (pairs?.count ?? 0) > 0 || objects?.isEmpty === false);
  }

  get hasSpilled(): boolean {
    return this.#spill !== undefined;
  }

  /**
   * Writes all groups to disk and forgets them, with the values in pools. Numbers of groups and ids of values are void afterwards.
   * @returns everything this table has written; it is the table's until it is detached or freed
   */
  spill(level: number): GroupSpill {
    const { spill } = this.context;
    assert(spill !== undefined, 'a group table has nowhere to spill to');
    this.#spill ??= new GroupSpill(this.layout, this.context, spill);
    this.#spill.write(this.#parts([], null), level);
    this.freeMemory();
    this.#allocate();
    return this.#spill;
  }

  get division(): Division | undefined {
    return this.#division;
  }

  /** Begins to add groups without a look for equal ones; there are none yet. */
  divide(): void {
    assert(this.layout.indexLayout.kind === 'hash' && this.groupCount === 0, 'only an empty table of hashed groups is divided');
    this.give(this.slots);
    this.slots = this.slotCount = 0;
    this.#division = { starts: this.take(FIRST_BLOCKS * BOUND_BYTES), blocks: 0, room: FIRST_BLOCKS };
  }

  /** Forgets all groups, and keeps the memory. Of tables whose states are numbers. */
  clear(): void {
    this.groupCount = 0;
    clear(this.context, this.slots, this.slotCount * 4);
    this.layout.aggregators.forEach((aggregator, index) => {
      const state = this.states[index];
      if (state === undefined) return;
      this.#initialise(aggregator, state.at, 0, this.capacity);
      if (state.seen !== 0) clear(this.context, state.seen, this.capacity);
    });
  }

  #allocate(): void {
    const { indexLayout } = this.layout;
    this.groupCount = 0;
    this.#division = undefined;
    this.capacity = indexLayout.kind === 'dense' ? indexLayout.cells : FIRST_CAPACITY;
    try {
      if (indexLayout.kind === 'dense') {
        this.present = this.#zeroed(indexLayout.cells);
        this.groupCount = indexLayout.cells;
      } else {
        this.keys = this.take(this.capacity * indexLayout.words * 8);
        this.slotCount = this.capacity * 2;
        this.slots = this.#zeroed(this.slotCount * 4);
      }
      this.layout.aggregators.forEach((aggregator, index) => this.#makeState(aggregator, index));
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** Makes room for so many different groups in one step, where there are none yet. */
  expect(groups: number): void {
    const { indexLayout } = this.layout;
    if (indexLayout.kind === 'hash' && this.groupCount === 0) this.#reserve(groups, indexLayout.words);
  }

  /**
   * Finds or adds the groups of `n` packed keys and writes their numbers to `out` (hash tables only); makes room
   * first, so addresses of states may change.
   */
  findGroups(keys: Address, n: number, out: Address): void {
    const { indexLayout } = this.layout;
    if (indexLayout.kind !== 'hash') return;
    this.#reserve(this.groupCount + n, indexLayout.words);
    if (this.#division !== undefined) {
      const starts = this.#nextBlock(this.#division);
      this.context.kernels.divideKeys(keys, n, indexLayout.words, DIVISION_BITS, this.keys, this.groupCount, starts, out);
      this.groupCount += n;
      return;
    }
    if (this.onlyPool !== undefined) {
      this.#reservePlaces(this.onlyPool.count);
      this.groupCount = this.context.kernels.numberKeys(keys, n, 0, this.slots, this.keys, this.groupCount, out);
      return;
    }
    this.groupCount = this.context.kernels.hashKeys(
      keys,
      n,
      indexLayout.words,
      this.slots,
      this.slotCount,
      this.keys,
      this.groupCount,
      out,
    );
  }

  /** Address of the bounds of another block. */
  #nextBlock({ starts, blocks, room }: Division & { readonly room: number }): Address {
    const isFull = blocks === room;
    const at = isFull ? this.#enlarge(starts, room * BOUND_BYTES, room * 2 * BOUND_BYTES) : starts;
    this.#division = { starts: at, blocks: blocks + 1, room: isFull ? room * 2 : room };
    return at + blocks * BOUND_BYTES;
  }

  take(bytes: number): Address {
    this.#charge(bytes);
    const at = this.context.memory.allocate(bytes);
    this.#owned.set(at, bytes);
    return at;
  }

  give(at: Address): void {
    const bytes = this.#owned.get(at);
    if (bytes === undefined) return;
    this.#owned.delete(at);
    this.#bytes -= bytes;
    this.context.memory.free(at);
  }

  /** Takes over the memory of pairs, where there are none yet. @param letGo  of both of its regions; told before they are the table's own */
  adoptPairs(index: number, pairs: PairMemory, letGo: () => void): void {
    const set = this.states[index]?.pairs;
    if (set === undefined) return;
    const [keyBytes, slotBytes] = [pairs.capacity * set.words * 8, pairs.capacity * 8];
    this.#charge(keyBytes + slotBytes);
    letGo();
    this.#owned.set(pairs.keys, keyBytes).set(pairs.slots, slotBytes);
    set.adopt(pairs);
  }

  /** Hands the table's memory over; the table must not be used afterwards. */
  detach(): GroupTableParts {
    const values = this.#parts([], null);
    const ofPools = [...this.pools, ...this.distinctPools].flatMap((pool) => pool.detach());
    const ofStates = this.states.flatMap(({ objects }) => objects?.handOver() ?? []);
    const parts = { ...values, owned: [...this.#owned.keys(), ...ofPools, ...ofStates], spilled: this.#spill?.handOver() ?? null };
    this.#owned.clear();
    this.#spill = undefined;
    return parts;
  }

  /** The groups as they are, whose memory stays the table's. */
  shown(): GroupTableParts {
    return this.#parts([], null);
  }

  /** Gives all groups away and forgets them; what has spilled stays. Of tables without interned values, whose states are numbers. */
  moveOut(): GroupTableParts {
    const parts = this.#parts([...this.#owned.keys()], null);
    this.#owned.clear();
    this.#bytes = 0;
    try {
      this.#allocate();
    } catch (error) {
      for (const at of parts.owned) this.context.memory.free(at);
      throw error;
    }
    return parts;
  }

  #parts(owned: readonly Address[], spilled: SpilledGroups | null): GroupTableParts {
    return {
      groupCount: this.groupCount,
      present: this.present,
      cells: 0,
      keys: this.keys,
      states: this.states.map(({ at, seen, bits, pairs, objects }) => ({
        at,
        seen,
        bits,
        pairs: pairs?.memory,
        objects: objects?.parts(),
      })),
      pools: this.pools.map((pool) => pool.values),
      distinctPools: this.distinctPools.map((pool) => pool.values),
      owned,
      spilled,
      division: this.#division,
    };
  }

  free(): void {
    this.freeMemory();
    this.#spill?.close();
    this.#spill = undefined;
  }

  /** Frees the memory; spilled groups stay. The table takes no groups afterwards. */
  freeMemory(): void {
    for (const at of this.#owned.keys()) this.context.memory.free(at);
    this.#owned.clear();
    this.#bytes = 0;
    for (const pool of [...this.pools, ...this.distinctPools]) pool.free();
    for (const { objects } of this.states) objects?.free();
    for (const state of this.states) Object.assign(state, { at: 0, seen: 0, bits: 0, pairs: undefined, objects: undefined });
  }

  /** Counts bytes that are kept: here, by pools, or as aggregate states in the thread's heap. */
  #charge(bytes: number): void {
    if (this.#bytes + bytes > this.#bytesMax) {
      throw new ServiceError(
        'resource_limit',
        `grouping needs more than ${this.#bytesMax} bytes on one processing thread; the limit is svc.query.groupBy.maxMemoryBytes`,
      );
    }
    this.#bytes += bytes;
  }

  #zeroed(bytes: number): Address {
    const at = this.take(bytes);
    clear(this.context, at, bytes);
    return at;
  }

  #makeState(aggregator: AggregatorLayout, index: number): void {
    const state = this.states[index];
    if (state === undefined) return;
    if (aggregator.kind === 'distinct') {
      if (aggregator.store.kind === 'bits') state.bits = this.#zeroed((this.capacity * aggregator.store.bitsPerGroup) / 8);
      else
        state.pairs = new PairSet(
          this.context,
          aggregator.store.words,
          (bytes) => this.take(bytes),
          (at) => this.give(at),
          aggregator.domain.kind === 'interned' && hasOneGroup(this.layout) ? () => this.distinctPools[index]?.count ?? 0 : undefined,
        );
      return;
    }
    if (aggregator.kind === 'state') {
      const charge = (bytes: number): void => this.#charge(bytes);
      state.objects = aggregator.states.store?.(this.context, charge) ?? new StateObjects(this.context.memory, aggregator.states, charge);
      return;
    }
    state.at = this.take(this.capacity * 8);
    this.#initialise(aggregator, state.at, 0, this.capacity);
    if (aggregator.kind !== 'count' && aggregator.nullable) state.seen = this.#zeroed(this.capacity);
  }

  #initialise(aggregator: AggregatorLayout, at: Address, from: number, to: number): void {
    const { memory } = this.context;
    if (aggregator.kind === 'state' || aggregator.kind === 'distinct') return;
    if (aggregator.kind === 'count' || aggregator.kind === 'sum') clear(this.context, at + from * 8, (to - from) * 8);
    else if (aggregator.state === 'F64') memory.f64(at + from * 8, to - from).fill(aggregator.kind === 'min' ? Infinity : -Infinity);
    else memory.i64(at + from * 8, to - from).fill(aggregator.kind === 'min' ? I64_MAX : I64_MIN);
  }

  #reserve(groups: number, words: number): void {
    if (groups <= this.capacity) return;
    const old = this.capacity;
    const capacity = this.capacityFor(groups);
    this.keys = this.#enlarge(this.keys, old * words * 8, capacity * words * 8);
    if (this.#division === undefined && this.onlyPool === undefined) {
      this.give(this.slots);
      this.slotCount = capacity * 2;
      this.slots = this.#zeroed(this.slotCount * 4);
      this.context.kernels.rehash(this.keys, this.groupCount, words, this.slots, this.slotCount);
    }
    this.layout.aggregators.forEach((aggregator, index) => {
      const state = this.states[index];
      if (state === undefined || aggregator.kind === 'distinct' || aggregator.kind === 'state') return;
      state.at = this.#enlarge(state.at, old * 8, capacity * 8);
      this.#initialise(aggregator, state.at, old, capacity);
      if (state.seen === 0) return;
      state.seen = this.#enlarge(state.seen, old, capacity);
      clear(this.context, state.seen + old, capacity - old);
    });
    this.capacity = capacity;
  }

  #reservePlaces(count: number): void {
    const grown = grownPlaces(this.context, { at: this.slots, count: this.slotCount }, count, (bytes) => this.take(bytes));
    if (grown === undefined) return;
    this.give(this.slots);
    [this.slots, this.slotCount] = [grown.at, grown.count];
  }

  /** Groups there would be room for. */
  capacityFor(groups: number): number {
    let { capacity } = this;
    while (capacity < groups) capacity = this.#division === undefined ? capacity * 2 : Math.ceil(capacity / 2 ** 12) * 6 * 2 ** 10;
    return capacity;
  }

  #enlarge(at: Address, oldBytes: number, newBytes: number): Address {
    const larger = this.take(newBytes);
    const { memory } = this.context;
    memory.u8(larger, oldBytes).set(memory.u8(at, oldBytes));
    this.give(at);
    return larger;
  }
}
