// Numbers the dictionary entries that occur in some rows.

import type { ByteDictionary } from './byte-dictionary.js';

/** Numbers the entries of a dictionary that occur, in order of first use. */
export class UsedEntries {
  readonly dictionary: (string | null)[] = [];
  readonly #words: ByteDictionary;
  readonly #places: Int32Array;

  constructor(words: ByteDictionary) {
    this.#words = words;
    this.#places = new Int32Array(words.count).fill(-1);
  }

  place(id: number): number {
    let place = this.#places[id] ?? -1;
    if (place < 0) {
      place = this.dictionary.length;
      this.#places[id] = place;
      this.dictionary.push(this.#words.textOf(id));
    }
    return place;
  }
}
