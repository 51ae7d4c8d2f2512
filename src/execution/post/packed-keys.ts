// Keys of rows as strings of bits, of which each column of words has as many as its values need.

import { type Check, checkedLoop } from '../block/checked-loops.js';

/** Words less the smallest of them, which fill so many bits of a key, and where these begin: 0 is the highest bit. */
interface Field {
  readonly word: Uint32Array;
  readonly least: number;
  readonly bits: number;
  readonly first: number;
}

const PART_BITS = 32;

/** Keys in parts of 32 bits, the last one of fewer; comparing their parts in turn has the order of the words. */
export class PackedKeys {
  readonly partCount: number;
  readonly #fields: readonly Field[];
  readonly #bits: number;
  readonly #check: Check;

  constructor(words: readonly Uint32Array[], check: Check) {
    const fields: Field[] = [];
    let first = 0;
    for (const word of words) {
      const { least, bits } = rangeOf(word, check);
      if (bits === 0) continue;
      fields.push({ word, least, bits, first });
      first += bits;
    }
    this.#fields = fields;
    this.#bits = first;
    this.#check = check;
    this.partCount = Math.max(1, Math.ceil(first / PART_BITS));
  }

  bitsOf(part: number): number {
    return Math.min(PART_BITS, this.#bits - part * PART_BITS);
  }

  /** A part of the keys of all rows; not to be changed, as it may be a word. */
  part(part: number): Uint32Array {
    const [only] = this.#fields;
    if (only !== undefined && this.#fields.length === 1 && only.least === 0) return only.word;
    const into = new Uint32Array(this.#fields[0]?.word.length ?? 0);
    const start = part * PART_BITS;
    const end = start + this.bitsOf(part);
    const mask = end - start === PART_BITS ? -1 : (1 << (end - start)) - 1;
    for (const { word, least, bits, first } of this.#fields) {
      if (first >= end || first + bits <= start) continue;
      const left = end - first - bits;
      checkedLoop(word.length, this.#check, (from, to) => {
        if (left >= 0) for (let row = from; row < to; row++) into[row] = (into[row] ?? 0) | ((((word[row] ?? 0) - least) << left) & mask);
        else for (let row = from; row < to; row++) into[row] = (into[row] ?? 0) | ((((word[row] ?? 0) - least) >>> -left) & mask);
      });
    }
    return into;
  }
}

/** The smallest of some words, and the bits that the largest needs above it. */
function rangeOf(word: Uint32Array, check: Check): { readonly least: number; readonly bits: number } {
  let [least, largest] = [word[0] ?? 0, word[0] ?? 0];
  checkedLoop(word.length, check, (start, end) => {
    let [low, high] = [least, largest];
    for (let row = start; row < end; row++) {
      const each = word[row] ?? 0;
      if (each < low) low = each;
      if (each > high) high = each;
    }
    [least, largest] = [low, high];
  });
  return { least, bits: PART_BITS - Math.clz32(largest - least) };
}
