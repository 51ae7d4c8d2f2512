// Values of group keys as a thread meets them.

import { assert } from '../../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { Scalar } from '../../../expression/value.js';
import type { Arena } from '../../../kernels/arena.js';
import { type ColumnType, isTextType } from '../../../model/schema.js';
import { ROWS_PER_CHECK } from '../../block/checked-loops.js';
import type { RunContext, Scratch } from '../../block/context.js';
import type { InternedTexts } from '../../block/interned-texts.js';
import { layTexts } from '../../block/text-references.js';
import { VALUE_BYTES, ValuePool } from '../../block/value-pool.js';
import { TextInterner, tableBytesWith } from '../../expression/text/text-interner.js';

/** Values by id, as plain data: strings in kernel memory, anything else as values. */
export type PooledValues = ({ readonly kind: 'texts' } & InternedTexts) | { readonly kind: 'values'; readonly values: readonly Scalar[] };

export const NO_VALUES: PooledValues = { kind: 'values', values: [] };

/** Distinct values in the order in which a thread meets them, each with its id; id 0 is null. */
export interface KeyPool {
  /**
   * Ids of values, those of a segment or another thread: u32 each in the memory of `scratch`, and one more that is 0; 0: they are the same.
   * @param letGo  asked for all the memory that strings lie in, where most of it is new; false: all of it stays whose it is
   */
  add(scratch: Scratch, added: PooledValues, letGo?: LetGo): Address;
  valueOf(id: number): Scalar;
  /** All of them; valid until more are added. */
  readonly values: PooledValues;
  /** Number of them, with null. */
  readonly count: number;
  /** Bytes that they take. */
  readonly bytes: number;
  /** Bytes beside those of strings themselves: now, and at most while so many values are added. */
  readonly tableBytes: number;
  tableBytesWith(values: number): number;
  /** Hands over the memory that the values lie in; the pool must not be used afterwards. */
  detach(): readonly Address[];
  /** Forgets the values; the pool is empty then. */
  free(): void;
}

/** Part of memory that new texts are to take before it is taken over with them. */
const NEW_PART = 1 / 2;

/** Asks for regions of memory that become the asker's: all of them, or none. */
export type LetGo = (regions: readonly Address[]) => boolean;

/** Told of every byte that a pool keeps; throws when there are too many. */
type Charge = (bytes: number) => void;

export function keyPool(context: RunContext, type: ColumnType, charge: Charge): KeyPool {
  return isTextType(type) ? new TextKeyPool(context, charge) : new ValueKeyPool(context, charge);
}

/** Strings in kernel memory: they are neither decoded nor copied to another thread before a result asks for them. */
class TextKeyPool implements KeyPool {
  readonly #context: RunContext;
  readonly #arena: Arena;
  readonly #charge: Charge;
  #texts: TextInterner | undefined;
  /** Bytes of the arena that were told of. */
  #charged = 0;

  constructor(context: RunContext, charge: Charge) {
    this.#context = context;
    this.#charge = charge;
    this.#arena = context.memory.arena();
  }

  get bytes(): number {
    return this.#arena.bytes;
  }

  get count(): number {
    return this.#texts?.count ?? 1;
  }

  get tableBytes(): number {
    return this.#texts === undefined ? 0 : tableBytesWith(this.#texts, 0);
  }

  tableBytesWith(values: number): number {
    return tableBytesWith(this.#texts, values);
  }

  add(scratch: Scratch, added: PooledValues, letGo: LetGo = () => false): Address {
    const count = countOf(added);
    if (this.#texts === undefined) {
      this.#texts = new TextInterner({ context: this.#context, arena: this.#arena });
      if (added.kind === 'texts' && isTableKept(this.#context, added, letGo)) {
        this.#texts.adoptTable(added);
        this.#chargeNew();
        return 0;
      }
      // Values that are added together differ.
      this.#texts.expect(count);
    }
    const ids = scratch.arena.take((count + 1) * 4);
    if (added.kind === 'texts') this.#addTexts(this.#texts, added, ids, letGo);
    else
      for (let from = 0; from < count; from += BLOCK_ROWS) {
        this.#context.check();
        this.#addValues(this.#texts, added.values.slice(from, Math.min(count, from + BLOCK_ROWS)), ids + from * 4);
        this.#chargeNew();
      }
    this.#context.memory.u32(ids + count * 4, 1)[0] = 0;
    return ids;
  }

  /** New texts stay where they are where these take most of the memory that they lie in; else they are copied. */
  #addTexts(texts: TextInterner, { entries, hashes, count, regions }: InternedTexts, ids: Address, letGo: LetGo): void {
    const { check } = this.#context;
    const first = texts.count;
    for (let from = 0; from < count; from += BLOCK_ROWS) {
      check();
      const n = Math.min(BLOCK_ROWS, count - from);
      texts.referTo(entries + from * 8, hashes === 0 ? 0 : hashes + from * 4, n, ids + from * 4);
      this.#chargeNew();
    }
    const size = regions.reduce((sum, { bytes }) => sum + bytes, 0);
    if (regions.length > 0 && texts.bytesFrom(first) >= size * NEW_PART && letGo(regions.map(({ at }) => at))) {
      for (const region of regions) texts.adopt(region);
      this.#chargeNew();
      return;
    }
    for (let from = first; from < texts.count; from += BLOCK_ROWS) {
      check();
      texts.copy(from, Math.min(texts.count, from + BLOCK_ROWS));
      this.#chargeNew();
    }
  }

  #chargeNew(): void {
    const { bytes } = this.#arena;
    const before = this.#charged;
    this.#charged = bytes;
    this.#charge(bytes - before);
  }

  #addValues(texts: TextInterner, values: readonly Scalar[], out: Address): void {
    const { memory } = this.#context;
    const strings = values.map((value) => (value === null ? null : String(value)));
    const arena = memory.arena();
    try {
      texts.idsOf(layTexts(memory, arena, strings), strings.length, out);
    } finally {
      arena.release();
    }
  }

  valueOf(id: number): Scalar {
    return this.#texts?.bytesAt(id)?.toString() ?? null;
  }

  get values(): PooledValues {
    return this.#texts === undefined ? NO_VALUES : { kind: 'texts', ...this.#texts.interned };
  }

  detach(): readonly Address[] {
    this.#texts = undefined;
    this.#charged = 0;
    return this.#arena.handOver();
  }

  free(): void {
    this.#texts = undefined;
    this.#charged = 0;
    this.#arena.release();
  }
}

/** Whether a whole table may be taken over: its texts take most of their memory, and all of that is let go. */
function isTableKept({ kernels }: RunContext, { entries, hashes, slots, count, regions }: InternedTexts, letGo: LetGo): boolean {
  if (slots === 0 || hashes === 0) return false;
  const size = regions.reduce((sum, { bytes }) => sum + bytes, 0);
  if (kernels.textBytes(entries, count) < size * NEW_PART) return false;
  return letGo([hashes, entries, slots, ...regions.map(({ at }) => at)]);
}

class ValueKeyPool implements KeyPool {
  readonly #context: RunContext;
  readonly #charge: Charge;
  #pool = new ValuePool<Exclude<Scalar, null>>();

  constructor(context: RunContext, charge: Charge) {
    this.#context = context;
    this.#charge = charge;
  }

  get bytes(): number {
    return this.#pool.bytes;
  }

  get count(): number {
    return this.#pool.count;
  }

  get tableBytes(): number {
    return this.#pool.bytes;
  }

  tableBytesWith(values: number): number {
    return this.#pool.bytes + values * VALUE_BYTES;
  }

  get values(): PooledValues {
    return { kind: 'values', values: this.#pool.values };
  }

  add(scratch: Scratch, added: PooledValues): Address {
    assert(added.kind === 'values', 'numbers are not kept as strings');
    const count = added.values.length;
    const at = scratch.arena.take((count + 1) * 4);
    const ids = this.#context.memory.u32(at, count + 1);
    const before = this.bytes;
    for (let id = 0; id < count; id++) {
      if (id % ROWS_PER_CHECK === 0) this.#context.check();
      ids[id] = this.#pool.idOf(added.values[id] ?? null);
    }
    ids[count] = 0;
    this.#charge(this.bytes - before);
    return at;
  }

  valueOf(id: number): Scalar {
    return this.#pool.values[id] ?? null;
  }

  detach(): readonly Address[] {
    return [];
  }

  free(): void {
    this.#pool = new ValuePool();
  }
}

/** Hash of each value of a pool by its id: equal values have the same on every thread, null has 0. */
export function hashesOf({ memory, check }: RunContext, pooled: PooledValues): Uint32Array {
  if (pooled.kind === 'texts') return memory.u32(pooled.hashes, pooled.count).slice();
  const { values } = pooled;
  const hashes = new Uint32Array(values.length);
  for (let id = 1; id < values.length; id++) {
    if (id % ROWS_PER_CHECK === 0) check();
    const bytes = Buffer.from(String(values[id] ?? null));
    let hash = bytes.length;
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
    hashes[id] = hash;
  }
  return hashes;
}

/** Bytes of the memory that strings of pools lie in. */
export function textBytesOf(pools: readonly PooledValues[]): number {
  const ofRegions = (pool: PooledValues): number => (pool.kind === 'texts' ? pool.regions.reduce((sum, { bytes }) => sum + bytes, 0) : 0);
  return pools.reduce((sum, pool) => sum + ofRegions(pool), 0);
}

export function countOf(pooled: PooledValues): number {
  return pooled.kind === 'texts' ? pooled.count : pooled.values.length;
}
