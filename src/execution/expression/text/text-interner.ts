// Distinct texts in kernel memory.

import type { Address } from '../../../base/layout.js';
import { type Scratch, takeZeroed } from '../../block/context.js';
import type { TextPool } from '../vector.js';

const FIRST_CAPACITY = 1 << 11;
const ARENA_BYTES = 1 << 18;

/** The distinct texts that were met, copied, in kernel memory; id 0 is null. They are decoded when they are asked for. */
export class TextInterner implements TextPool {
  readonly #scope: Scratch;
  readonly #counters: Address;
  readonly #values: (string | null)[] = [null];
  #count = 1;
  #slots: Address = 0;
  #capacity = 0;
  #entries: Address = 0;
  #arena: Address = 0;
  #arenaBytes = 0;

  constructor(scope: Scratch) {
    this.#scope = scope;
    this.#counters = scope.arena.take(8);
    scope.context.memory.u32(this.#counters, 2).set([1, 0]);
  }

  get count(): number {
    return this.#count;
  }

  /** {u32 address, u32 length} by id, those of null 0; as references of texts they can be interned elsewhere. */
  get entries(): Address {
    if (this.#entries === 0) this.#reserve(0);
    return this.#entries;
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

  /** Writes u32 ids of `n` texts to `out`. */
  idsOf(texts: Address, n: number, out: Address): void {
    const { kernels } = this.#scope.context;
    this.#reserve(n);
    this.#reserveBytes(kernels.textBytes(texts, n) + n * 4);
    kernels.textIntern(texts, n, this.#slots, this.#capacity, this.#entries, this.#arena, this.#counters, out);
    this.#count = this.#scope.context.memory.u32(this.#counters, 1)[0] ?? 0;
  }

  #reserve(n: number): void {
    const { arena, context } = this.#scope;
    const count = this.#count;
    if (this.#capacity > 0 && (count + n) * 2 <= this.#capacity) return;
    let capacity = Math.max(FIRST_CAPACITY, this.#capacity);
    while ((count + n) * 2 > capacity) capacity *= 2;
    const entries = arena.take(capacity * 4);
    const known = context.memory.u32(entries, count * 2);
    if (this.#entries === 0) known.set([0, 0]);
    else known.set(context.memory.u32(this.#entries, count * 2));
    [this.#capacity, this.#entries] = [capacity, entries];
    this.#slots = takeZeroed(arena, context, capacity * 4);
    context.kernels.dictionaryRehash(entries, count, this.#slots, capacity);
  }

  /** Makes room for further bytes; strings copied before stay where they are. At least half of each piece is used. */
  #reserveBytes(bytes: number): void {
    const used = this.#scope.context.memory.u32(this.#counters, 2);
    if (this.#arena !== 0 && (used[1] ?? 0) + bytes <= this.#arenaBytes) return;
    this.#arenaBytes = Math.max(ARENA_BYTES, 2 * bytes);
    this.#arena = this.#scope.arena.take(this.#arenaBytes);
    used[1] = 0;
  }
}
