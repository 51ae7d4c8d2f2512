// Hash of strings that whoever writes the input cannot foresee.

import { randomBytes } from 'node:crypto';

/** Hash of the bytes [start, end) behind a view that reads four of them at any place. */
export type TextHash = (words: DataView, start: number, end: number) => number;

/** Secret numbers, of 32 bits each; the multipliers are made odd. */
export interface HashKey {
  readonly seed: number;
  readonly multipliers: readonly [number, number];
}

/** The hash of this process. */
export const textHash = keyedHash(randomKey());

function randomKey(): HashKey {
  const bytes = randomBytes(12);
  return { seed: bytes.readInt32LE(0), multipliers: [bytes.readInt32LE(4), bytes.readInt32LE(8)] };
}

/**
 * A hash whose collisions depend on its key: texts made to collide, with which every look-up would walk over all of them, would need it.
 * Four bytes a step. A step multiplies twice, by secret numbers, and folds the high half down in between: a single multiplication leaves
 * the highest bit of a difference as it is whatever the key, so that two words that differ there and the next two make pairs of one hash.
 * The length comes last, where no word can make up for it; the low bits, which choose the slot, depend on every byte.
 */
export function keyedHash({ seed, multipliers }: HashKey): TextHash {
  const [first, second] = [multipliers[0] | 1, multipliers[1] | 1];
  return (words, start, end) => {
    let hash = seed;
    let at = start;
    for (; at + 4 <= end; at += 4) {
      hash = Math.imul(hash ^ words.getInt32(at, true), first);
      hash = Math.imul(hash ^ (hash >>> 15), second);
      hash ^= hash >>> 13;
    }
    if (at < end) {
      let last = 0;
      for (; at < end; at++) last = (last << 8) | words.getUint8(at);
      hash = Math.imul(hash ^ last, first);
      hash = Math.imul(hash ^ (hash >>> 15), second);
      hash ^= hash >>> 13;
    }
    hash = Math.imul(hash ^ (end - start), first);
    hash = Math.imul(hash ^ (hash >>> 16), second);
    return hash ^ (hash >>> 15);
  };
}
