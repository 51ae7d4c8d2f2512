// A set of (group, value) pairs in kernel memory, for counting distinct values.

import type { Address } from '../../base/layout.js';
import { clear, grownPlaces, type RunContext } from './context.js';

const FIRST_CAPACITY = 1 << 12;
/** The bit of a pair of one word that its value begins at. */
const VALUE_SHIFT = 32;

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
  readonly #idsEnd: (() => number) | undefined;
  #slotCount = FIRST_CAPACITY * 2;
  readonly #context: RunContext;
  readonly #take: (bytes: number) => Address;
  readonly #give: (at: Address) => void;

  /**
   * @param idsEnd  of pairs with one group: ids of values are below it, and pairs are found by their place in a list of all ids rather than by
   *   hash; such a set adopts nothing
   */
  constructor(context: RunContext, words: 1 | 2, take: (bytes: number) => Address, give: (at: Address) => void, idsEnd?: () => number) {
    this.#idsEnd = idsEnd;
    this.#context = context;
    this.words = words;
    this.#take = take;
    this.#give = give;
    this.keys = take(FIRST_CAPACITY * words * 8);
    this.#slots = this.#emptySlots(this.#slotCount);
  }

  /** Numbers of the pairs added last, u32: each in the order in which it came first. */
  get numbers(): Address {
    return this.#numbers;
  }

  get canAdopt(): boolean {
    return this.#idsEnd === undefined;
  }

  get memory(): PairMemory {
    return { keys: this.keys, count: this.count, slots: this.#slots, capacity: this.#capacity };
  }

  /** Takes the place of a set without pairs. */
  adopt({ keys, count, slots, capacity }: PairMemory): void {
    this.#give(this.keys);
    this.#give(this.#slots);
    [this.keys, this.count, this.#slots, this.#capacity, this.#slotCount] = [keys, count, slots, capacity, capacity * 2];
  }

  add(keys: Address, n: number): void {
    this.#reserve(this.count + n);
    if (this.#numbersRoom < n) {
      if (this.#numbers !== 0) this.#give(this.#numbers);
      this.#numbersRoom = Math.max(n, FIRST_CAPACITY);
      this.#numbers = this.#take(this.#numbersRoom * 4);
    }
    const { kernels } = this.#context;
    if (this.#idsEnd === undefined) {
      this.count = kernels.hashKeys(keys, n, this.words, this.#slots, this.#slotCount, this.keys, this.count, this.#numbers);
      return;
    }
    this.#reservePlaces(this.#idsEnd());
    this.count = kernels.numberKeys(keys, n, VALUE_SHIFT, this.#slots, this.keys, this.count, this.#numbers);
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
    this.#capacity = capacity;
    if (this.#idsEnd !== undefined) return;
    this.#give(this.#slots);
    this.#slotCount = capacity * 2;
    this.#slots = this.#emptySlots(this.#slotCount);
    kernels.rehash(this.keys, this.count, this.words, this.#slots, this.#slotCount);
  }

  #reservePlaces(count: number): void {
    const grown = grownPlaces(this.#context, { at: this.#slots, count: this.#slotCount }, count, (bytes) => this.#take(bytes));
    if (grown === undefined) return;
    this.#give(this.#slots);
    [this.#slots, this.#slotCount] = [grown.at, grown.count];
  }

  #emptySlots(count: number): Address {
    const at = this.#take(count * 4);
    clear(this.#context, at, count * 4);
    return at;
  }
}
