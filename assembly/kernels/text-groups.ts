import { compareTexts } from './join';
import { isAligned } from './lanes';
import { copy, size, start, textOf, TOUCHED_TOGETHER, touch, WIDE } from './text';

// Distinct texts, and the best text of each group, by reference (text.ts).

/** Slots above which a table of texts is larger than the cache that is close. */
@inline
const SLOTS_CLOSE: u32 = 1 << 15;

/** Hash over little-endian 64-bit words, the last one filled with zeros; the same in every set. */
@inline
function textHash(at: usize, length: usize): u32 {
  let hash = <u64>length;
  const end = at + length;
  for (; at + 8 <= end; at += 8) hash = (rotl<u64>(hash, 23) ^ load<u64>(at)) * 0x9e3779b97f4a7c15;
  if (at < end) hash = (rotl<u64>(hash, 23) ^ (load<u64>(at) & (<u64>-1 >> (64 - 8 * <u64>(end - at))))) * 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 32)) * 0xd6e8feb86659fd93;
  return <u32>(hash ^ (hash >> 32));
}

/** Whether `length` bytes are the same; loads may run past them. */
@inline
function areSame(a: usize, b: usize, length: usize): bool {
  const end = a + length;
  for (; a + 8 <= end; a += 8, b += 8) if (load<u64>(a) != load<u64>(b)) return false;
  return a == end || (load<u64>(a) ^ load<u64>(b)) << (64 - 8 * <u64>(end - a)) == 0;
}

/** Sum of a byte of each text that a slot has with the same hash, which brings slots, entries and texts into the cache side by side. */
@inline
function touchSlots(hashes: usize, end: usize, slots: usize, mask: u32, entries: usize): u32 {
  let sum: u32 = 0;
  for (let at = hashes; at < end; at += 4) {
    const hash = load<u32>(at);
    const slot = load<u64>(slots + (<usize>(hash & mask) << 3));
    if (<u32>(slot >> 32) == hash && slot != 0) sum += <u32>load<u8>(<usize>load<u32>(entries + (<usize>(<u32>slot - 1) << 3)));
  }
  return sum;
}

// A slot: the number of an entry and one, and its hash in the upper half; 0 is free.

export function textIntern(
  texts: usize, hashes: usize, n: u32, slots: usize, capacity: u32, entries: usize, known: usize, arena: usize, counters: usize, out: usize,
): void {
  assert(isAligned<u64>(texts) && isAligned<u32>(hashes) && isAligned<u64>(slots) && isAligned<u32>(entries) && isAligned<u32>(known));
  assert(isAligned<u32>(counters) && isAligned<u32>(out) && popcnt(capacity) == 1 && (<u64>load<u32>(counters) + n) * 2 <= capacity);
  const mask = capacity - 1;
  let entryCount = load<u32>(counters);
  let free = arena + <usize>load<u32>(counters, 4);
  for (let first: usize = 0; first < <usize>n; first += TOUCHED_TOGETHER) {
    const last = min(<usize>n, first + TOUCHED_TOGETHER);
    // Counters are written at the end.
    if (hashes == 0 || arena != 0) store<u32>(counters, <u32>touch(texts, 8, first, <usize>n));
    for (let i = first; i < last; i++) {
      const text = load<u64>(texts + (i << 3));
      let hash: u32 = 0;
      if (hashes != 0) hash = load<u32>(hashes + (i << 2));
      else if (text != 0) hash = textHash(start(text), size(text));
      store<u32>(out + (i << 2), hash);
    }
    if (capacity > SLOTS_CLOSE) store<u32>(counters, touchSlots(out + (first << 2), out + (last << 2), slots, mask, entries));
    for (let i = first; i < last; i++) {
      const text = load<u64>(texts + (i << 3));
      let found: u32 = 1;
      if (text != 0) {
        const at = start(text);
        const length = size(text);
        const hash = load<u32>(out + (i << 2));
        let place = hash & mask;
        let slot = load<u64>(slots + (<usize>place << 3));
        for (; slot != 0; slot = load<u64>(slots + (<usize>place << 3))) {
          if (<u32>(slot >> 32) == hash) {
            const entry = entries + (<usize>(<u32>slot - 1) << 3);
            if (<usize>load<u32>(entry, 4) == length && areSame(<usize>load<u32>(entry), at, length)) break;
          }
          place = (place + 1) & mask;
        }
        found = <u32>slot;
        if (found == 0) {
          if (arena != 0) {
            memory.copy(free, at, length);
            store<u32>(entries + (<usize>entryCount << 3), <u32>free);
            free += (length + 3) & ~3;
          } else store<u32>(entries + (<usize>entryCount << 3), <u32>at);
          store<u32>(entries + (<usize>entryCount << 3), <u32>length, 4);
          store<u32>(known + (<usize>entryCount << 2), hash);
          found = ++entryCount;
          store<u64>(slots + (<usize>place << 3), <u64>found | (<u64>hash << 32));
        }
      }
      store<u32>(out + (i << 2), found - 1);
    }
  }
  store<u32>(counters, entryCount);
  store<u32>(counters, <u32>(free - arena), 4);
}

export function textRehash(known: usize, entryCount: u32, slots: usize, capacity: u32): void {
  assert(isAligned<u32>(known) && isAligned<u64>(slots) && popcnt(capacity) == 1 && entryCount <= capacity);
  const mask = capacity - 1;
  for (let entry: u32 = 1; entry < entryCount; entry++) {
    const hash = load<u32>(known + (<usize>entry << 2));
    let place = hash & mask;
    while (load<u64>(slots + (<usize>place << 3)) != 0) place = (place + 1) & mask;
    store<u64>(slots + (<usize>place << 3), <u64>(entry + 1) | (<u64>hash << 32));
  }
}

export function textBest(texts: usize, groups: usize, n: u32, largest: u32, state: usize, arena: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u32>(groups) && isAligned<u64>(state));
  let free = arena;
  for (let i: usize = 0; i < <usize>n; i++) {
    if (i % TOUCHED_TOGETHER == 0) store<u64>(free, touch(texts, 8, i, <usize>n));
    const text = load<u64>(texts + (i << 3));
    if (text == 0) continue;
    const to = state + (<usize>load<u32>(groups + (i << 2)) << 3);
    const best = load<u64>(to);
    if (best != 0) {
      const order = compareTexts(start(text), <u32>size(text), start(best), <u32>size(best));
      if (largest != 0 ? order <= 0 : order >= 0) continue;
    }
    copy(free, start(text), size(text));
    store<u64>(to, textOf(free, size(text), text & WIDE));
    free += size(text);
  }
  return <u32>(free - arena);
}
