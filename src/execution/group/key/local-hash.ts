// Hash table of the groups of one segment.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { clear, grownPlaces, takeZeroed } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';

/** Groups that a hash has room for at first: as many as the segment has rows, up to two blocks of them. */
export function roomForGroups({ view: { rowCount } }: SegmentScope): number {
  return Math.min(BLOCK_ROWS * 2, Math.max(64, 2 ** Math.ceil(Math.log2(rowCount))));
}

/** The packed keys of the groups of one segment; grows. Memory is the segment's. */
export class LocalHash {
  keys: Address;
  count = 0;
  readonly #scope: SegmentScope;
  readonly #words: number;
  /** Set where keys are ids below it: groups are found by their place in a list of all ids rather than by hash. */
  readonly #idsEnd: (() => number) | undefined;
  #capacity: number;
  #slots: Address;
  #slotCount: number;

  constructor(scope: SegmentScope, words: number, idsEnd?: () => number) {
    this.#scope = scope;
    this.#words = words;
    this.#idsEnd = idsEnd;
    this.#capacity = roomForGroups(scope);
    this.#slotCount = this.#capacity * 2;
    this.keys = scope.arena.take(this.#capacity * words * 8);
    this.#slots = takeZeroed(scope.arena, scope.context, this.#slotCount * 4);
  }

  /** Writes the group indexes of `n` packed keys. */
  find(packed: Address, n: number, out: Address): void {
    const { kernels } = this.#scope.context;
    if (this.count + n > this.#capacity) this.#grow(this.count + n);
    if (this.#idsEnd === undefined) {
      this.count = kernels.hashKeys(packed, n, this.#words, this.#slots, this.#slotCount, this.keys, this.count, out);
      return;
    }
    this.#reservePlaces(this.#idsEnd());
    this.count = kernels.numberKeys(packed, n, 0, this.#slots, this.keys, this.count, out);
  }

  /** Forgets all groups. */
  reset(): void {
    this.count = 0;
    clear(this.#scope.context, this.#slots, this.#slotCount * 4);
  }

  #grow(count: number): void {
    const { arena, context } = this.#scope;
    const { memory, kernels } = context;
    while (this.#capacity < count) this.#capacity *= 2;
    const keys = arena.take(this.#capacity * this.#words * 8);
    const bytes = this.count * this.#words * 8;
    memory.u8(keys, bytes).set(memory.u8(this.keys, bytes));
    this.keys = keys;
    if (this.#idsEnd !== undefined) return;
    this.#slotCount = this.#capacity * 2;
    this.#slots = takeZeroed(arena, context, this.#slotCount * 4);
    kernels.rehash(this.keys, this.count, this.#words, this.#slots, this.#slotCount);
  }

  #reservePlaces(count: number): void {
    const { arena, context } = this.#scope;
    const grown = grownPlaces(context, { at: this.#slots, count: this.#slotCount }, count, (bytes) => arena.take(bytes));
    if (grown !== undefined) [this.#slots, this.#slotCount] = [grown.at, grown.count];
  }
}
