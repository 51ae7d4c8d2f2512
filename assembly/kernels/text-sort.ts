import { isSame } from './dictionary';
import { compareTexts } from './join';
import { isAligned } from './lanes';
import { copy, size, start } from './text';

// Distinct texts in their order: long ranges are sorted by eight bytes of their texts, digit by digit; what is equal in them by the next eight.

/** Ranges of up to so many are sorted by insertion. */
@inline
const FEW: usize = 24;
@inline
const HIGH_BITS: u64 = 0x8080808080808080;
@inline
const ONES: u64 = 0x0101010101010101;

/** Weight of a byte of a text: of UTF-16 code units (`compareTexts`), from 1 on. */
@inline
function weightOf(byte: u64): u64 {
  return (byte >= 0xf0 ? byte - 2 : byte >= 0xee ? byte + 5 : byte) + 1;
}

/** Weights of the eight bytes behind the first `depth`, the first one highest; 0 behind the end. */
@inline
function keyAt(text: u64, depth: usize): u64 {
  const length = size(text);
  if (length <= depth) return 0;
  const left = length - depth;
  const mask: u64 = left >= 8 ? <u64>-1 : (<u64>-1) << (<u64>(8 - left) << 3);
  const bytes = bswap<u64>(load<u64>(start(text) + depth)) & mask;
  if ((bytes & HIGH_BITS) == 0) return bytes + (ONES & mask);
  let key: u64 = 0;
  for (let at: u64 = 0; at < <u64>min<usize>(left, 8); at++) key |= weightOf((bytes >> (56 - (at << 3))) & 0xff) << (56 - (at << 3));
  return key;
}

/** Whether the texts of two {key, row} of one range are in order; those of equal keys are read on. */
@inline
function isAfter(texts: usize, key: u64, row: u32, other: u64, otherRow: u32, depth: usize): bool {
  if (key != other) return key > other;
  // A last weight of 0 is the end of both.
  if ((key & 0xff) == 0) return false;
  const a = load<u64>(texts + (<usize>row << 3));
  const b = load<u64>(texts + (<usize>otherRow << 3));
  const from = depth + 8;
  return compareTexts(start(a) + from, <u32>(size(a) - from), start(b) + from, <u32>(size(b) - from)) > 0;
}

function insert(texts: usize, from: usize, to: usize, depth: usize): void {
  for (let at = from + 16; at < to; at += 16) {
    const key = load<u64>(at);
    const row = load<u32>(at, 8);
    let place = at;
    for (; place > from && isAfter(texts, load<u64>(place - 16), load<u32>(place - 8), key, row, depth); place -= 16) {
      store<u64>(place, load<u64>(place - 16));
      store<u32>(place, load<u32>(place - 8), 8);
    }
    store<u64>(place, key);
    store<u32>(place, row, 8);
  }
}

/** Sorts {key, row} of a range by the bytes of their keys that differ, the last first. */
function sortKeys(from: usize, to: usize, spare: usize, counts: usize, varying: u64): void {
  const bytes = to - from;
  let a = from;
  let b = spare;
  for (let shift: u64 = 0; shift < 64; shift += 8) {
    if (((varying >> shift) & 0xff) == 0) continue;
    memory.fill(counts, 0, 1024);
    for (let at = a; at < a + bytes; at += 16) {
      const count = counts + (<usize>((load<u64>(at) >> shift) & 0xff) << 2);
      store<u32>(count, load<u32>(count) + 16);
    }
    let next = <u32>b;
    for (let count = counts; count < counts + 1024; count += 4) {
      const these = load<u32>(count);
      store<u32>(count, next);
      next += these;
    }
    for (let at = a; at < a + bytes; at += 16) {
      const key = load<u64>(at);
      const count = counts + (<usize>((key >> shift) & 0xff) << 2);
      const place = load<u32>(count);
      store<u32>(count, place + 16);
      store<u64>(<usize>place, key);
      store<u32>(<usize>place, load<u32>(at, 8), 8);
    }
    const other = a;
    a = b;
    b = other;
  }
  if (a != from) memory.copy(from, a, bytes);
}

export function textSort(texts: usize, n: u32, first: u32, room: usize, ranks: usize, ends: usize, out: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(room) && isAligned<u32>(ranks) && isAligned<u32>(ends));
  const counts = room;
  const keys = counts + 1024;
  const spare = keys + (<usize>n << 4);
  // {start, end, depth} of ranges that are still to sort.
  const pending = spare + (<usize>n << 4);
  for (let row: u32 = 0; row < n; row++) store<u32>(keys + (<usize>row << 4), row, 8);
  store<u32>(pending, 0);
  store<u32>(pending, n, 4);
  store<u32>(pending, 0, 8);
  for (let top = pending + 12; top > pending; ) {
    top -= 12;
    const from = keys + (<usize>load<u32>(top) << 4);
    const to = keys + (<usize>load<u32>(top, 4) << 4);
    const depth = <usize>load<u32>(top, 8);
    let varying: u64 = 0;
    for (let at = from; at < to; at += 16) {
      const key = keyAt(load<u64>(texts + (<usize>load<u32>(at, 8) << 3)), depth);
      store<u64>(at, key);
      varying |= key ^ load<u64>(from);
    }
    if (to - from <= FEW << 4) {
      insert(texts, from, to, depth);
      continue;
    }
    sortKeys(from, to, spare, counts, varying);
    for (let start = from; start < to; ) {
      const key = load<u64>(start);
      let end = start + 16;
      while (end < to && load<u64>(end) == key) end += 16;
      if (end - start > 16 && (key & 0xff) != 0) {
        store<u32>(top, <u32>((start - keys) >> 4));
        store<u32>(top, <u32>((end - keys) >> 4), 4);
        store<u32>(top, <u32>depth + 8, 8);
        top += 12;
      }
      start = end;
    }
  }
  let count = first;
  let free = out;
  let last: u64 = 0;
  if (first != 0) store<u32>(ends, 0);
  for (let at = keys; at < spare; at += 16) {
    const row = <usize>load<u32>(at, 8);
    const text = load<u64>(texts + (row << 3));
    const length = size(text);
    if (last == 0 || size(last) != length || !isSame(start(last), start(text), length)) {
      copy(free, start(text), length);
      free += length;
      store<u32>(ends + (<usize>count << 2), <u32>(free - out));
      count++;
      last = text;
    }
    store<u32>(ranks + (row << 2), count - 1);
  }
  return count;
}
