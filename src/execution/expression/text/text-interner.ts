// Distinct texts in kernel memory.

import type { Address } from '../../../base/layout.js';
import { type Scratch, takeZeroed } from '../../block/context.js';
import type { InternedTexts, TextRegion } from '../../block/interned-texts.js';
import type { TextPool } from '../vector.js';

const FIRST_CAPACITY = 1 << 11;
const ARENA_BYTES = 1 << 18;

/** Bytes of a slot, and those of an entry with its hash, of which there are half as many. */
const SLOT_BYTES = 8;
const ENTRY_BYTES = 12;

/** The distinct texts that were met, copied, in kernel memory; id 0 is null. They are decoded when they are asked for. */
export class TextInterner implements TextPool {
  readonly #scope: Scratch;
  readonly #counters: Address;
  readonly #part: Address;
  readonly #values: (string | null)[] = [null];
  readonly #regions: TextRegion[] = [];
  #count = 1;
  #slots: Address = 0;
  #capacity = 0;
  #entries: Address = 0;
  #hashes: Address = 0;
  #arena: Address = 0;
  #arenaBytes = 0;

  constructor(scope: Scratch) {
    this.#scope = scope;
    this.#counters = scope.arena.take(8);
    this.#part = scope.arena.take(8);
    scope.context.memory.u32(this.#counters, 2).set([1, 0]);
  }

  get count(): number {
    return this.#count;
  }

  get entries(): Address {
    if (this.#entries === 0) this.#reserve(0);
    return this.#entries;
  }

  get interned(): InternedTexts {
    const entries = this.entries;
    return { entries, hashes: this.#hashes, count: this.#count, regions: this.#regions, slots: this.#slots, capacity: this.#capacity };
  }

  get values(): readonly (string | null)[] {
    const count = this.#count;
    if (this.#values.length === count) return this.#values;
    const { memory } = this.#scope.context;
    const entries = memory.u32(this.#entries, count * 2);
    for (let id = this.#values.length; id < count; id++) {
      const at = entries[id * 2] ?? 0;
      const bytes = memory.u8(at, entries[id * 2 + 1] ?? 0);
      this.#values.push(Buffer.from(bytes.buffer, at, bytes.length).toString());
    }
    return this.#values;
  }

  /** The text of an id below `count`; undefined for null. */
  bytesAt(id: number): Buffer | undefined {
    if (id === 0) return undefined;
    const { memory } = this.#scope.context;
    const [at = 0, length = 0] = memory.u32(this.entries + id * 8, 2);
    const bytes = memory.u8(at, length);
    return Buffer.from(bytes.buffer, at, bytes.length);
  }

  /** Makes room for so many more in one step. */
  expect(n: number): void {
    this.#reserve(n);
  }

  /** Places for entries, of which at most half are taken. */
  get capacity(): number {
    return this.#capacity;
  }

  /** Writes u32 ids of `n` texts to `out`. */
  idsOf(texts: Address, n: number, out: Address): void {
    this.#reserve(n);
    this.#reserveBytes(this.#scope.context.kernels.textBytes(texts, n) + n * 4);
    this.#intern(texts, 0, n, this.#arena, out);
  }

  /**
   * Writes ids of `n` texts to `out`, new ones of which lie where they do for now: their memory is to be taken over, or they are to be copied.
   * @param hashes  as another one knows them; 0: it does not
   */
  referTo(texts: Address, hashes: Address, n: number, out: Address): void {
    this.#reserve(n);
    this.#intern(texts, hashes, n, 0, out);
  }

  /** Bytes of the texts with ids from `from` on. */
  bytesFrom(from: number): number {
    return this.#scope.context.kernels.textBytes(this.entries + from * 8, this.#count - from);
  }

  /** Takes the place of a table without texts: the same ids. The memory of both has been let go. */
  adoptTable({ entries, hashes, count, regions, slots, capacity }: InternedTexts): void {
    const { arena, context } = this.#scope;
    arena.adopt(slots, capacity * SLOT_BYTES);
    arena.adopt(entries, capacity * 4);
    arena.adopt(hashes, capacity * 2);
    for (const region of regions) this.adopt(region);
    [this.#entries, this.#hashes, this.#slots, this.#capacity, this.#count] = [entries, hashes, slots, capacity, count];
    context.memory.u32(this.#counters, 2).set([count, 0]);
  }

  /** Takes over memory that texts lie in, which has been let go. */
  adopt(region: TextRegion): void {
    this.#scope.arena.adopt(region.at, region.bytes);
    this.#regions.push(region);
  }

  /** Copies the texts with ids from `from` to `to`. */
  copy(from: number, to: number): void {
    if (from >= to) return;
    const { kernels, memory } = this.#scope.context;
    const texts = this.entries + from * 8;
    const bytes = kernels.textBytes(texts, to - from);
    this.#reserveBytes(bytes + 16);
    const used = memory.u32(this.#counters, 2);
    memory.u32(this.#part, 2).set([texts, 8]);
    kernels.textConcat(this.#part, 1, to - from, texts, this.#arena + (used[1] ?? 0));
    used[1] = Math.ceil(((used[1] ?? 0) + bytes) / 4) * 4;
  }

  #intern(texts: Address, hashes: Address, n: number, arena: Address, out: Address): void {
    const { kernels, memory } = this.#scope.context;
    kernels.textIntern(texts, hashes, n, this.#slots, this.#capacity, this.#entries, this.#hashes, arena, this.#counters, out);
    this.#count = memory.u32(this.#counters, 1)[0] ?? 0;
  }

  #reserve(n: number): void {
    const { arena, context } = this.#scope;
    const { memory, kernels } = context;
    const count = this.#count;
    const capacity = capacityFor(count + n, this.#capacity);
    if (capacity === this.#capacity) return;
    const entries = arena.take(capacity * 4);
    const hashes = arena.take(capacity * 2);
    if (this.#entries === 0) {
      memory.u32(entries, 2).set([0, 0]);
      memory.u32(hashes, 1)[0] = 0;
    } else {
      kernels.toI64I64(this.#entries, 0, count, 0n, entries);
      kernels.toI64I64(this.#hashes, 0, Math.ceil(count / 2), 0n, hashes);
    }
    for (const at of [this.#slots, this.#entries, this.#hashes]) if (at !== 0 && arena.letGo(at)) memory.free(at);
    [this.#capacity, this.#entries, this.#hashes] = [capacity, entries, hashes];
    this.#slots = takeZeroed(arena, context, capacity * SLOT_BYTES);
    kernels.textRehash(hashes, count, this.#slots, capacity);
  }

  /** Makes room for further bytes; strings copied before stay where they are. At least half of each piece is used. */
  #reserveBytes(bytes: number): void {
    const used = this.#scope.context.memory.u32(this.#counters, 2);
    if (this.#arena !== 0 && (used[1] ?? 0) + bytes <= this.#arenaBytes) return;
    this.#arenaBytes = Math.max(ARENA_BYTES, 2 * bytes);
    this.#arena = this.#scope.arena.take(this.#arenaBytes);
    this.#regions.push({ at: this.#arena, bytes: this.#arenaBytes });
    used[1] = 0;
  }
}

function capacityFor(count: number, least: number): number {
  let capacity = Math.max(FIRST_CAPACITY, least);
  while (count * 2 > capacity) capacity *= 2;
  return capacity;
}

/** Most bytes of the tables of a `TextInterner`, beside the texts, while so many more are added. */
export function tableBytesWith(texts: Pick<TextInterner, 'count' | 'capacity'> | undefined, added: number): number {
  const { count, capacity } = texts ?? { count: 1, capacity: 0 };
  const grown = capacityFor(count + added, capacity);
  return tableBytes(grown) + (grown > capacity ? tableBytes(capacity) : 0);
}

function tableBytes(capacity: number): number {
  return capacity * (SLOT_BYTES + ENTRY_BYTES / 2);
}
