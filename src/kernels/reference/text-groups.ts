// Reference kernels that number texts, sort them, and find the first and last of them.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { isSame } from './dictionary.js';
import { compareTexts, textMemory, WIDE } from './text-memory.js';
import { selectBest } from './top.js';

export function textGroupKernels(memory: KernelMemory) {
  const { textAt, put } = textMemory(memory);
  return {
    textIntern(
      texts: Address,
      hashes: Address,
      n: number,
      slots: Address,
      capacity: number,
      entries: Address,
      known: Address,
      arena: Address,
      counters: Address,
      out: Address,
    ) {
      const [table, places, used, all] = [memory.u32(slots, capacity * 2), memory.u32(entries), memory.u32(counters, 2), memory.u8(0)];
      let [entryCount = 0, arenaUsed = 0] = used;
      for (let i = 0; i < n; i++) {
        const [at = 0, high = 0] = memory.u32(texts + i * 8, 2);
        const length = high & ~WIDE;
        let entry = 0;
        const hash = hashes === 0 ? textHash(all, at, at === 0 ? 0 : length) : (memory.u32(hashes, n)[i] ?? 0);
        for (let slot = hash & (capacity - 1); at !== 0; slot = (slot + 1) & (capacity - 1)) {
          entry = (table[slot * 2] ?? 0) - 1;
          if (entry < 0) {
            entry = entryCount++;
            if (arena !== 0) all.copyWithin(arena + arenaUsed, at, at + length);
            places.set([arena === 0 ? at : arena + arenaUsed, length], entry * 2);
            memory.u32(known + entry * 4, 1)[0] = hash;
            if (arena !== 0) arenaUsed += (length + 3) & ~3;
            table.set([entryCount, hash], slot * 2);
            break;
          }
          if (places[entry * 2 + 1] === length && isSame(all, places[entry * 2] ?? 0, at, length)) break;
        }
        memory.u32(out + i * 4, 1)[0] = entry;
      }
      used.set([entryCount, arenaUsed]);
    },
    textRehash(known: Address, entryCount: number, slots: Address, capacity: number) {
      const [hashes, table] = [memory.u32(known, entryCount), memory.u32(slots, capacity * 2)];
      for (let entry = 1; entry < entryCount; entry++) {
        const hash = hashes[entry] ?? 0;
        let slot = hash & (capacity - 1);
        while (table[slot * 2] !== 0) slot = (slot + 1) & (capacity - 1);
        table.set([entry + 1, hash], slot * 2);
      }
    },
    textBest(texts: Address, groups: Address, n: number, largest: number, state: Address, buffer: Address): number {
      let free = buffer;
      for (let i = 0; i < n; i++) {
        const group = memory.u32(groups, n)[i] ?? 0;
        const [found, best] = [textAt(texts, i), textAt(state, group)];
        if (found === null) continue;
        const order = best === null ? 0 : compareTexts(found.text, best.text);
        if (best !== null && (largest === 1 ? order <= 0 : order >= 0)) continue;
        memory.u8(free, found.length).set(memory.u8(found.at, found.length));
        put(state, group, free, found.length, found.isWide);
        free += found.length;
      }
      return free - buffer;
    },
    textSort(texts: Address, n: number, first: number, _room: Address, ranks: Address, ends: Address, out: Address): number {
      const all = Array.from({ length: n }, (_, i) => textAt(texts, i)?.text ?? '');
      const distinct = [...new Set(all)].sort(compareTexts);
      const idOf = new Map(distinct.map((text, at) => [text, first + at]));
      memory.u32(ranks, n).set(all.map((text) => idOf.get(text) ?? 0));
      const written = memory.u32(ends, first + distinct.length);
      let end = 0;
      if (first > 0) written[0] = 0;
      for (const [at, text] of distinct.entries()) {
        const bytes = Buffer.from(text);
        memory.u8(out + end, bytes.length).set(bytes);
        written[first + at] = end += bytes.length;
      }
      return first + distinct.length;
    },
    textTop(texts: Address, n: number, k: number, descending: number, heap: Address, out: Address): number {
      const all = Array.from({ length: n }, (_, i) => textAt(texts, i)?.text ?? '');
      const isWorse = (a: number, b: number): boolean => {
        const order = compareTexts(all[a] ?? '', all[b] ?? '');
        return order === 0 ? a > b : order < 0 === (descending === 1);
      };
      return selectBest(memory, isWorse, { present: 0, n, k, heap, out });
    },
  };
}

const PRIME = 0x9e3779b97f4a7c15n;

function textHash(all: Uint8Array, at: Address, length: number): number {
  let hash = BigInt(length);
  for (let from = 0; from < length; from += 8) {
    let word = 0n;
    for (let byte = Math.min(length, from + 8) - 1; byte >= from; byte--) word = (word << 8n) | BigInt(all[at + byte] ?? 0);
    const turned = BigInt.asUintN(64, (hash << 23n) | (hash >> 41n));
    hash = BigInt.asUintN(64, (turned ^ word) * PRIME);
  }
  hash = BigInt.asUintN(64, (hash ^ (hash >> 32n)) * 0xd6e8feb86659fd93n);
  return Number(BigInt.asUintN(32, hash ^ (hash >> 32n)));
}
