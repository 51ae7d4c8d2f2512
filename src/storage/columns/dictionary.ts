// Sorts the dictionary of a column.

import { type PackedTexts, packTexts, sortTexts, textAt } from './packed-strings.js';

/** Distinct values ascending as JS compares strings; see `DictionaryView`. */
export interface SortedDictionary extends PackedTexts {
  readonly count: number;
  /** Null is id 0 and has no bytes. */
  readonly hasNull: boolean;
}

/**
 * Sorts what is used of a frame's dictionary, which may repeat entries and hold entries no row has.
 * @param needsNull  adds null even when no id stands for it
 * @returns          `remap[id of the frame]` is the id in the sorted dictionary, for used ids
 */
export function sortDictionary(
  ids: Uint32Array,
  entries: readonly (string | null)[],
  needsNull: boolean,
): { dictionary: SortedDictionary; remap: Uint32Array } {
  const isUsed = new Uint8Array(entries.length);
  for (let i = 0; i < ids.length; i++) isUsed[ids[i] ?? 0] = 1;
  let hasNull = needsNull;
  const usedIds: number[] = [];
  const texts: string[] = [];
  for (let id = 0; id < entries.length; id++) {
    if (isUsed[id] === 0) continue;
    const entry = entries[id] ?? null;
    if (entry === null) hasNull = true;
    else {
      usedIds.push(id);
      texts.push(entry);
    }
  }
  const packed = packTexts(texts);
  const order = sortTexts(packed);
  const sorted = new DistinctTexts(packed, hasNull);
  const remap = new Uint32Array(entries.length); // ids of null stay 0
  for (let at = 0; at < order.length; at++) {
    const text = order[at] ?? 0;
    remap[usedIds[text] ?? 0] = sorted.add(text);
  }
  return { dictionary: sorted.dictionary(), remap };
}

/** Smallest and largest value that is not null. */
export function extremesOf(dictionary: SortedDictionary): { min: string | null; max: string | null } {
  const first = dictionary.hasNull ? 1 : 0;
  if (dictionary.count === first) return { min: null, max: null };
  return { min: textAt(dictionary, first), max: textAt(dictionary, dictionary.count - 1) };
}

/** Takes texts in ascending order and keeps one of each. */
class DistinctTexts {
  readonly #from: PackedTexts;
  readonly #hasNull: boolean;
  readonly #bytes: Uint8Array;
  readonly #ends: Uint32Array;
  #count: number;
  #end = 0;

  constructor(from: PackedTexts, hasNull: boolean) {
    this.#from = from;
    this.#hasNull = hasNull;
    this.#bytes = new Uint8Array(from.bytes.length);
    this.#ends = new Uint32Array(from.ends.length + 1);
    this.#count = hasNull ? 1 : 0;
  }

  /** Returns the id of the text, that of the one before when they are equal. */
  add(text: number): number {
    const { bytes, ends } = this.#from;
    const start = text === 0 ? 0 : (ends[text - 1] ?? 0);
    const length = (ends[text] ?? 0) - start;
    if (this.#isLast(start, length)) return this.#count - 1;
    for (let i = 0; i < length; i++) this.#bytes[this.#end + i] = bytes[start + i] ?? 0;
    this.#end += length;
    this.#ends[this.#count] = this.#end;
    return this.#count++;
  }

  dictionary(): SortedDictionary {
    return {
      count: this.#count,
      hasNull: this.#hasNull,
      ends: this.#ends.subarray(0, this.#count),
      bytes: this.#bytes.subarray(0, this.#end),
    };
  }

  #isLast(start: number, length: number): boolean {
    if (this.#count === (this.#hasNull ? 1 : 0)) return false;
    const lastStart = this.#count === 1 ? 0 : (this.#ends[this.#count - 2] ?? 0);
    if (this.#end - lastStart !== length) return false;
    for (let i = 0; i < length; i++) if (this.#bytes[lastStart + i] !== this.#from.bytes[start + i]) return false;
    return true;
  }
}
