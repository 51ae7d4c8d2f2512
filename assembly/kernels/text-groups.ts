import { hashOf, isSame } from './dictionary';
import { compareTexts } from './join';
import { isAligned } from './lanes';
import { copy, size, start, textOf, TOUCHED_TOGETHER, touch, WIDE } from './text';

// Distinct texts, and the best text of each group, by reference (text.ts).

/** Slots above which a table of texts is larger than the cache that is close. */
@inline
const SLOTS_CLOSE: u32 = 1 << 15;

/** Sum of a byte of each entry that slots lead to, which brings slots, entries and their texts into the cache side by side. */
@inline
function touchEntries(found: usize, end: usize, slots: usize, entries: usize): u32 {
  let sum: u32 = 0;
  for (let at = found; at < end; at += 4) {
    const entry = load<u32>(slots + (<usize>load<u32>(at) << 2));
    sum += <u32>load<u8>(<usize>load<u32>(entries + (<usize>(entry - <u32>(entry != 0)) << 3)));
  }
  return sum;
}

export function textIntern(texts: usize, n: u32, slots: usize, capacity: u32, entries: usize, arena: usize, counters: usize, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u32>(slots) && isAligned<u32>(entries) && isAligned<u32>(counters) && isAligned<u32>(out));
  assert(popcnt(capacity) == 1 && (<u64>load<u32>(counters) + n) * 2 <= capacity);
  const mask = capacity - 1;
  let entryCount = load<u32>(counters);
  let free = arena + <usize>load<u32>(counters, 4);
  for (let first: usize = 0; first < <usize>n; first += TOUCHED_TOGETHER) {
    const last = min(<usize>n, first + TOUCHED_TOGETHER);
    // Counters are written at the end.
    store<u32>(counters, <u32>touch(texts, 8, first, <usize>n));
    for (let i = first; i < last; i++) {
      const text = load<u64>(texts + (i << 3));
      store<u32>(out + (i << 2), text == 0 ? 0 : hashOf(start(text), <u32>size(text)) & mask);
    }
    if (capacity > SLOTS_CLOSE) store<u32>(counters, touchEntries(out + (first << 2), out + (last << 2), slots, entries));
    for (let i = first; i < last; i++) {
      const text = load<u64>(texts + (i << 3));
      let found: u32 = 1;
      if (text != 0) {
        const at = start(text);
        const length = size(text);
        let slot = load<u32>(out + (i << 2));
        for (found = load<u32>(slots + (<usize>slot << 2)); found != 0; found = load<u32>(slots + (<usize>slot << 2))) {
          const known = entries + (<usize>(found - 1) << 3);
          if (<usize>load<u32>(known, 4) == length && isSame(<usize>load<u32>(known), at, length)) break;
          slot = (slot + 1) & mask;
        }
        if (found == 0) {
          if (arena != 0) {
            memory.copy(free, at, length);
            store<u32>(entries + (<usize>entryCount << 3), <u32>free);
            free += (length + 3) & ~3;
          } else store<u32>(entries + (<usize>entryCount << 3), <u32>at);
          store<u32>(entries + (<usize>entryCount << 3), <u32>length, 4);
          found = ++entryCount;
          store<u32>(slots + (<usize>slot << 2), found);
        }
      }
      store<u32>(out + (i << 2), found - 1);
    }
  }
  store<u32>(counters, entryCount);
  store<u32>(counters, <u32>(free - arena), 4);
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
