// Reference kernels that number the texts of input.

import type { KernelMemory } from '../memory.js';
import { TEXT_PADDING, TEXT_SLOT_BYTES, TEXT_TABLE, type TextIdKernels } from '../text-id-contract.js';

const SLOT_WORDS = TEXT_SLOT_BYTES / 4;

export function textIdKernels(memory: KernelMemory): TextIdKernels {
  return {
    textIds(bytes, startsAt, endsAt, rowsAt, from, count, tableAt, idsAt) {
      const table = memory.u32(tableAt, TEXT_TABLE.words);
      const ids = memory.u32(idsAt, count);
      for (let at = from; at < count; at++) {
        const row = rowsAt === 0 ? at : (memory.u32(rowsAt, count)[at] ?? 0);
        const [start = 0] = memory.i32(startsAt + row * 4, 1);
        const [end = 0] = memory.i32(endsAt + row * 4, 1);
        const id = end < 0 ? 0 : idOf(memory, table, memory.u8(bytes + start, end - start));
        if (id === null) return at;
        ids[at] = id;
      }
      return count;
    },
    textIdSlots(slotsAt, capacity, tableAt) {
      const table = memory.u32(tableAt, TEXT_TABLE.words);
      const from = memory.u32(slotsAt, capacity * SLOT_WORDS);
      for (let slot = 0; slot < capacity; slot++) {
        const words = from.subarray(slot * SLOT_WORDS, (slot + 1) * SLOT_WORDS);
        if (words[1] !== 0) slotOf(memory, table, words[0] ?? 0, () => false).set(words);
      }
    },
  };
}

/** null: there is no room. */
function idOf(memory: KernelMemory, table: Uint32Array, text: Uint8Array): number | null {
  const hash = hashOf(text, table);
  const word = (of: number): number => table[of] ?? 0;
  const arena = memory.u8(word(TEXT_TABLE.arena), word(TEXT_TABLE.arenaBytes));
  const slot = slotOf(memory, table, hash, ([otherHash, , offset = 0, length]) => {
    return otherHash === hash && length === text.length && Buffer.compare(arena.subarray(offset, offset + length), text) === 0;
  });
  const found = slot[1] ?? 0;
  if (found !== 0) return found;
  const id = word(TEXT_TABLE.count);
  const used = word(TEXT_TABLE.arenaUsed);
  if (
    used + text.length + TEXT_PADDING > arena.length ||
    id + 1 >= word(TEXT_TABLE.offsetsMax) ||
    (id + 1) * 4 > word(TEXT_TABLE.capacity) * 3
  ) {
    table[TEXT_TABLE.needed] = text.length;
    return null;
  }
  arena.set(text, used);
  slot.set([hash, id, used, text.length]);
  memory.u32(word(TEXT_TABLE.offsets), id + 2)[id + 1] = used + text.length;
  table[TEXT_TABLE.arenaUsed] = used + text.length;
  table[TEXT_TABLE.count] = id + 1;
  return id;
}

/** The first slot for a hash that is empty, or that is wanted. */
function slotOf(memory: KernelMemory, table: Uint32Array, hash: number, isWanted: (words: Uint32Array) => boolean): Uint32Array {
  const capacity = table[TEXT_TABLE.capacity] ?? 0;
  for (let slot = hash % capacity; ; slot = (slot + 1) % capacity) {
    const words = memory.u32((table[TEXT_TABLE.slots] ?? 0) + slot * TEXT_SLOT_BYTES, SLOT_WORDS);
    if (words[1] === 0 || isWanted(words)) return words;
  }
}

function hashOf(text: Uint8Array, table: Uint32Array): number {
  const key = (at: number): bigint => (BigInt(table[at + 1] ?? 0) << 32n) | BigInt(table[at] ?? 0);
  const [first, second] = [key(TEXT_TABLE.firstMultiplier), key(TEXT_TABLE.secondMultiplier)];
  const mix = (word: bigint): bigint => {
    const once = BigInt.asUintN(64, word * first);
    const twice = BigInt.asUintN(64, (once ^ (once >> 32n)) * second);
    return twice ^ (twice >> 32n);
  };
  let hash = key(TEXT_TABLE.seed);
  for (let at = 0; at < text.length; at += 8) {
    let word = 0n;
    for (let byte = Math.min(8, text.length - at) - 1; byte >= 0; byte--) word = (word << 8n) | BigInt(text[at + byte] ?? 0);
    hash = mix(hash ^ word);
  }
  return Number(BigInt.asUintN(32, mix(hash ^ BigInt(text.length))));
}
