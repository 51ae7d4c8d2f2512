// Hash table of the groups of one segment.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { clear, takeZeroed } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';

/** The packed keys of the groups of one segment; grows. Memory is the segment's. */
export class LocalHash {
  keys: Address;
  count = 0;
  readonly #scope: SegmentScope;
  readonly #words: number;
  #capacity = BLOCK_ROWS * 2;
  #slots: Address;

  constructor(scope: SegmentScope, words: number) {
    this.#scope = scope;
    this.#words = words;
    this.keys = scope.arena.take(this.#capacity * words * 8);
    this.#slots = takeZeroed(scope.arena, scope.context, this.#capacity * 2 * 4);
  }

  /** Writes the group indexes of `n` packed keys. */
  find(packed: Address, n: number, out: Address): void {
    if (this.count + n > this.#capacity) this.#grow(this.count + n);
    this.count = this.#scope.context.kernels.hashKeys(packed, n, this.#words, this.#slots, this.#capacity * 2, this.keys, this.count, out);
  }

  /** Forgets all groups. */
  reset(): void {
    this.count = 0;
    clear(this.#scope.context, this.#slots, this.#capacity * 2 * 4);
  }

  #grow(count: number): void {
    const { arena, context } = this.#scope;
    const { memory, kernels } = context;
    while (this.#capacity < count) this.#capacity *= 2;
    const keys = arena.take(this.#capacity * this.#words * 8);
    const bytes = this.count * this.#words * 8;
    memory.u8(keys, bytes).set(memory.u8(this.keys, bytes));
    this.keys = keys;
    this.#slots = takeZeroed(arena, context, this.#capacity * 2 * 4);
    kernels.rehash(this.keys, this.count, this.#words, this.#slots, this.#capacity * 2);
  }
}
