// Sorts packed strings by a kernel.

import { ServiceError } from '../../base/errors.js';
import type { KernelSet } from '../../kernels/contract.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { PackedTexts } from './packed-strings.js';

/** Different texts in the order in which JS compares strings. */
export interface DistinctTexts extends PackedTexts {
  /** The id of each of the given texts. */
  readonly ranks: Uint32Array;
}

/**
 * Sorts texts, with ids from `first` (0, or 1 behind an id of no bytes) on.
 * @returns undefined where that is no gain, or kernel memory has no room for it
 */
export type SortDistinct = (texts: PackedTexts, first: 0 | 1) => DistinctTexts | undefined;

/** Fewer texts are sorted faster than they are copied. */
const TEXTS_MIN = 256;
/** Bytes that kernels may touch behind texts. */
const BEHIND = 16;
/** Room of the kernel, for each text and for all. */
const [ROOM_EACH, ROOM_ALL] = [40, 1088];

export function sortByKernel(memory: KernelMemory, kernels: Pick<KernelSet, 'textSort'>): SortDistinct {
  return (texts, first) => {
    const count = texts.ends.length;
    if (count < TEXTS_MIN) return undefined;
    const arena = memory.arena();
    try {
      const length = texts.ends[count - 1] ?? 0;
      const [bytes, out] = [arena.take(length + BEHIND), arena.take(length + BEHIND)];
      const [references, room] = [arena.take(count * 8), arena.take(count * ROOM_EACH + ROOM_ALL)];
      const [ranks, ends] = [arena.take(count * 4), arena.take((count + 1) * 4)];
      memory.u8(bytes, length).set(texts.bytes.subarray(0, length));
      const words = memory.u32(references, count * 2);
      let start = 0;
      for (let at = 0; at < count; at++) {
        const end = texts.ends[at] ?? 0;
        words[at * 2] = bytes + start;
        words[at * 2 + 1] = end - start;
        start = end;
      }
      const behind = kernels.textSort(references, count, first, room, ranks, ends, out);
      const sortedEnds = memory.u32(ends, behind).slice();
      return { ranks: memory.u32(ranks, count).slice(), ends: sortedEnds, bytes: memory.u8(out, sortedEnds.at(-1) ?? 0).slice() };
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'resource_limit') return undefined;
      throw error;
    } finally {
      arena.release();
    }
  };
}
