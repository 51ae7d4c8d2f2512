// Reference kernels: dictionaries and LIKE.

import type { Address } from '../../base/layout.js';
import { LIKE_ANY, LIKE_ONE } from '../../base/like-pattern.js';
import type { KernelMemory } from '../memory.js';

export function dictionaryKernels(memory: KernelMemory) {
  return {
    dictionaryLike(bytes: Address, offsets: Address, start: number, end: number, pattern: Address, patternBytes: number, out: Address) {
      const bounds = memory.u32(offsets, end + 1);
      const text = memory.u8(bytes, bounds[end] ?? 0);
      const wanted = memory.u8(pattern, patternBytes);
      const bits = memory.u32(out, Math.ceil(end / 64) * 2);
      for (let entry = start; entry < end; entry++) {
        const bit = 1 << (entry & 31);
        const others = (bits[entry >>> 5] ?? 0) & ~bit;
        bits[entry >>> 5] = isLike(text, bounds[entry] ?? 0, bounds[entry + 1] ?? 0, wanted) ? others | bit : others;
      }
      // Bits past `end` in its last 64-bit word become 0.
      for (let past = end; start < end && (past & 63) !== 0; past++) bits[past >>> 5] = (bits[past >>> 5] ?? 0) & ~(1 << (past & 31));
    },

    dictionaryIntern(
      bytes: Address,
      offsets: Address,
      count: number,
      nullEntry: number,
      slots: Address,
      capacity: number,
      entries: Address,
      arena: Address,
      counters: Address,
      remap: Address,
    ) {
      const bounds = memory.u32(offsets, count + 1);
      const table = memory.u32(slots, capacity);
      const known = memory.u32(entries);
      const result = memory.u32(remap, count);
      const used = memory.u32(counters, 2);
      const all = memory.u8(0);
      let entryCount = used[0] ?? 0;
      let arenaUsed = used[1] ?? 0;
      for (let entry = 0; entry < count; entry++) {
        if (entry === nullEntry) {
          result[entry] = 0;
          continue;
        }
        const at = bytes + (bounds[entry] ?? 0);
        const length = (bounds[entry + 1] ?? 0) - (bounds[entry] ?? 0);
        let slot = hashOf(all, at, length) & (capacity - 1);
        for (; ; slot = (slot + 1) & (capacity - 1)) {
          const found = (table[slot] ?? 0) - 1;
          if (found < 0) {
            all.copyWithin(arena + arenaUsed, at, at + length);
            known[entryCount * 2] = arena + arenaUsed;
            known[entryCount * 2 + 1] = length;
            arenaUsed += (length + 3) & ~3;
            result[entry] = entryCount++;
            table[slot] = entryCount;
            break;
          }
          if (known[found * 2 + 1] === length && isSame(all, known[found * 2] ?? 0, at, length)) {
            result[entry] = found;
            break;
          }
        }
      }
      used[0] = entryCount;
      used[1] = arenaUsed;
    },

    dictionaryRehash(entries: Address, entryCount: number, slots: Address, capacity: number) {
      const known = memory.u32(entries, entryCount * 2);
      const table = memory.u32(slots, capacity);
      const all = memory.u8(0);
      for (let entry = 1; entry < entryCount; entry++) {
        let slot = hashOf(all, known[entry * 2] ?? 0, known[entry * 2 + 1] ?? 0) & (capacity - 1);
        while (table[slot] !== 0) slot = (slot + 1) & (capacity - 1);
        table[slot] = entry + 1;
      }
    },
  };
}

/** Remembers the last LIKE_ANY and gives it one code point more whenever the rest does not fit. */
export function isLike(text: Uint8Array, start: number, end: number, pattern: Uint8Array): boolean {
  let at = start;
  let wanted = 0;
  let retryWanted = -1;
  let retryAt = 0;
  while (at < end) {
    const symbol = pattern[wanted];
    if (symbol === LIKE_ANY) {
      retryWanted = ++wanted;
      retryAt = at;
    } else if (symbol === LIKE_ONE) {
      at = nextCodePoint(text, at, end);
      wanted++;
    } else if (symbol !== undefined && symbol === text[at]) {
      at++;
      wanted++;
    } else if (retryWanted >= 0) {
      at = retryAt = nextCodePoint(text, retryAt, end);
      wanted = retryWanted;
    } else return false;
  }
  while (pattern[wanted] === LIKE_ANY) wanted++;
  return wanted === pattern.length;
}

function nextCodePoint(text: Uint8Array, at: number, end: number): number {
  let next = at + 1;
  while (next < end && ((text[next] ?? 0) & 0xc0) === 0x80) next++;
  return next;
}

export function isSame(all: Uint8Array, a: number, b: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (all[a + i] !== all[b + i]) return false;
  return true;
}

/** Hash over little-endian 32-bit words, the last one filled with zeros; the same in every set. */
export function hashOf(all: Uint8Array, at: number, length: number): number {
  let hash = length;
  for (let i = 0; i < length; i += 4) {
    let word = 0;
    for (let byte = 0; byte < 4 && i + byte < length; byte++) word |= (all[at + i + byte] ?? 0) << (byte * 8);
    hash = Math.imul(((hash << 5) | (hash >>> 27)) ^ word, 0x9e3779b1);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
