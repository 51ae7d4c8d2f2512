// Interface for sketches that are built of hashes.

/** Words of a hash: 128 bits as four halves, the lower half of a word first. */
export const HASH_HALVES = 4;

/** A sketch that takes hashes in, many at a time. */
export interface TakesHashes {
  /** @param places  hash `places[i]` begins at `words[places[i] * HASH_HALVES]`; those of [from, to) are taken */
  addHashes(words: Uint32Array, places: Uint32Array, from: number, to: number): void;
}

/** Places of a single hash at the beginning of its words. */
export const FIRST_PLACE = Uint32Array.of(0);
