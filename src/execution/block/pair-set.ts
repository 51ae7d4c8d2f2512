// A set of (group, value) pairs in kernel memory, for counting distinct values.

import type { Address } from '../../base/layout.js';
import { clear, type RunContext } from './context.js';

const FIRST_CAPACITY = 1 << 12;

/** Memory of a set: its pairs, and u32[2 * capacity] slots of a hash table over them. */
export interface PairMemory {
  readonly keys: Address;
  readonly count: number;
  readonly slots: Address;
  readonly capacity: number;
}

/**
 * A set of packed keys that grows: pairs (group, value) of `words` u64. One word: group in the lower half, value id in
 * the upper. Two words: group, then the 64 bits of the value.
 */
export class PairSet {
  readonly words: 1 | 2;
  keys: Address;
  count = 0;
  #slots: Address;
  #capacity = FIRST_CAPACITY;
  #numbers: Address = 0;
  #numbersRoom = 0;
  readonly #context: RunContext;
  readonly #take: (bytes: number) => Address;
  readonly #give: (at: Address) => void;

  constructor(context: RunContext, words: 1 | 2, take: (bytes: number) => Address, give: (at: Address) => void) {
    this.#context = context;
    this.words = words;
    this.#take = take;
    this.#give = give;
    this.keys = take(FIRST_CAPACITY * words * 8);
    this.#slots = this.#emptySlots(FIRST_CAPACITY * 2);
  }

  /** Numbers of the pairs added last, u32: each in the order in which it came first. */
  get numbers(): Address {
    return this.#numbers;
  }

  get memory(): PairMemory {
    return { keys: this.keys, count: this.count, slots: this.#slots, capacity: this.#capacity };
  }

  /** Takes the place of a set without pairs. */
  adopt({ keys, count, slots, capacity }: PairMemory): void {
    this.#give(this.keys);
    this.#give(this.#slots);
    [this.keys, this.count, this.#slots, this.#capacity] = [keys, count, slots, capacity];
  }

  add(keys: Address, n: number): void {
    this.#reserve(this.count + n);
    if (this.#numbersRoom < n) {
      if (this.#numbers !== 0) this.#give(this.#numbers);
      this.#numbersRoom = Math.max(n, FIRST_CAPACITY);
      this.#numbers = this.#take(this.#numbersRoom * 4);
    }
    this.count = this.#context.kernels.hashKeys(keys, n, this.words, this.#slots, this.#capacity * 2, this.keys, this.count, this.#numbers);
  }

  #reserve(count: number): void {
    if (count <= this.#capacity) return;
    const { memory, kernels } = this.#context;
    let capacity = this.#capacity;
    while (capacity < count) capacity *= 2;
    const bytes = this.count * this.words * 8;
    const keys = this.#take(capacity * this.words * 8);
    memory.u8(keys, bytes).set(memory.u8(this.keys, bytes));
    this.#give(this.keys);
    this.keys = keys;
    this.#give(this.#slots);
    this.#slots = this.#emptySlots(capacity * 2);
    kernels.rehash(this.keys, this.count, this.words, this.#slots, capacity * 2);
    this.#capacity = capacity;
  }

  #emptySlots(count: number): Address {
    const at = this.#take(count * 4);
    clear(this.#context, at, count * 4);
    return at;
  }
}
