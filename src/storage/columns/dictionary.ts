// Sorts the dictionary of a column.

import type { PackedEntries } from './packed-column.js';
import { type PackedTexts, packTexts, textAt } from './packed-strings.js';
import type { SortDistinct } from './sort-by-kernel.js';
import { sortTexts } from './sort-texts.js';

/** Distinct values ascending as JS compares strings; see `DictionaryView`. */
export interface SortedDictionary extends PackedTexts {
  readonly count: number;
  /** Null is id 0 and has no bytes. */
  readonly hasNull: boolean;
}

/**
 * Sorts what is used of a frame's dictionary, which may repeat entries and hold entries no row has.
 * @param needsNull  adds null even when no id stands for it
 * @param sort       sorts by a kernel; left out: there is none
 * @returns          `remap[id of the frame]` is the id in the sorted dictionary, for used ids
 */
export function sortDictionary(
  ids: Uint32Array,
  entries: readonly (string | null)[],
  needsNull: boolean,
  sort?: SortDistinct,
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
  const remap = new Uint32Array(entries.length); // ids of null stay 0
  const keep = (text: number, id: number): void => {
    remap[usedIds[text] ?? 0] = id;
  };
  const dictionary = sortDistinct(packTexts(texts), hasNull, keep, sort);
  return { dictionary, remap };
}

/** The same of packed entries, all of which are used but null. `remap` null: every id stays what it is. */
export function sortPacked(
  ids: Uint32Array,
  { bytes, ends, isSorted }: PackedEntries,
  needsNull: boolean,
  sort?: SortDistinct,
): { dictionary: SortedDictionary; remap: Uint32Array | null } {
  const hasNull = needsNull || ids.includes(0);
  const texts = { bytes, ends: ends.subarray(1) };
  if (isSorted && hasNull) return { dictionary: { ...texts, ends, count: ends.length, hasNull }, remap: null };
  const remap = new Uint32Array(ends.length);
  const keep = (text: number, id: number): void => {
    remap[text + 1] = id;
  };
  if (!isSorted) return { dictionary: sortDistinct(texts, hasNull, keep, sort), remap };
  for (let text = 0; text < texts.ends.length; text++) keep(text, text);
  return { dictionary: { ...texts, count: texts.ends.length, hasNull }, remap };
}

/** @param keep  told the id of each text, by its place */
function sortDistinct(
  texts: PackedTexts,
  hasNull: boolean,
  keep: (text: number, id: number) => void,
  sort: SortDistinct | undefined,
): SortedDictionary {
  const found = sort?.(texts, hasNull ? 1 : 0);
  if (found !== undefined) {
    const { bytes, ends, ranks } = found;
    for (let text = 0; text < ranks.length; text++) keep(text, ranks[text] ?? 0);
    return { count: ends.length, hasNull, ends, bytes };
  }
  const sorted = new DistinctTexts(texts, hasNull);
  for (const text of sortTexts(texts)) keep(text, sorted.add(text));
  return sorted.dictionary();
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
