// Entries of lists in kernel memory (kernels/list-contract.ts), which grow.

import type { Address } from '../../../base/layout.js';
import type { Scratch } from '../../block/context.js';
import { PairSet } from '../../block/pair-set.js';

const FIRST_ENTRIES = 1 << 12;

/** Pairs of a group and a value: all of them as they come, or each once. */
export interface ListEntries {
  readonly keys: Address;
  readonly count: number;
  readonly words: 1 | 2;
  /** @returns address of those that are in it since, whose number `count` has grown by */
  add(packed: Address, n: number): Address;
}

export function listEntries(scope: Scratch, words: 1 | 2, isSet: boolean): ListEntries {
  const give = (at: Address): void => {
    if (scope.arena.letGo(at)) scope.context.memory.free(at);
  };
  return isSet ? new DistinctEntries(scope, words, give) : new AllEntries(scope, words, give);
}

class DistinctEntries implements ListEntries {
  readonly #pairs: PairSet;

  constructor({ arena, context }: Scratch, words: 1 | 2, give: (at: Address) => void) {
    this.#pairs = new PairSet(context, words, (bytes) => arena.take(bytes), give);
  }

  get keys(): Address {
    return this.#pairs.keys;
  }

  get count(): number {
    return this.#pairs.count;
  }

  get words(): 1 | 2 {
    return this.#pairs.words;
  }

  add(packed: Address, n: number): Address {
    const before = this.count;
    this.#pairs.add(packed, n);
    return this.keys + before * this.words * 8;
  }
}

class AllEntries implements ListEntries {
  readonly words: 1 | 2;
  readonly #scope: Scratch;
  readonly #give: (at: Address) => void;
  keys: Address = 0;
  count = 0;
  #room = 0;

  constructor(scope: Scratch, words: 1 | 2, give: (at: Address) => void) {
    this.#scope = scope;
    this.words = words;
    this.#give = give;
  }

  add(packed: Address, n: number): Address {
    const { arena, context } = this.#scope;
    const bytesEach = this.words * 8;
    if (this.count + n > this.#room) {
      const old = this.keys;
      this.#room = Math.max(FIRST_ENTRIES, this.#room * 2, this.count + n);
      this.keys = arena.take(this.#room * bytesEach);
      context.memory.u8(this.keys, this.count * bytesEach).set(context.memory.u8(old, this.count * bytesEach));
      if (old !== 0) this.#give(old);
    }
    const at = this.keys + this.count * bytesEach;
    context.memory.u8(at, n * bytesEach).set(context.memory.u8(packed, n * bytesEach));
    this.count += n;
    return at;
  }
}
