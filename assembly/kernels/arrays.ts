import { hexadecimalWhole } from './hexadecimal';
import { isAligned } from './lanes';
import { copy, isWide, size, start, textOf, touch, TOUCHED_TOGETHER, WIDE } from './text';

// Arrays as the texts that columns carry (model/array-text.ts), and lists whose values lie one behind the other (array-contract.ts).

// Marks of the text of an array.
@inline
export const END: u8 = 0;
@inline
export const NULL: u8 = 1;
@inline
export const PRESENT: u8 = 2;
@inline
export const SIGN: u64 = 1 << 63;
/** Bytes of a number between its mark and its end. */
@inline
const DIGITS: usize = 16;
/** Bytes of which one is 0: the highest bit of the first such byte, and of no byte before it. */
@inline
function zeros(bytes: u64): u64 {
  return (bytes - 0x0101010101010101) & ~bytes & 0x8080808080808080;
}

/** End of the element that begins at `at`: behind its last byte. */
@inline
function endOfElement(at: usize, end: usize): usize {
  if (load<u8>(at) != PRESENT) return at + 1;
  for (at++; at < end; at += 8) {
    const found = zeros(load<u64>(at));
    if (found != 0) return min(end, at + <usize>(ctz(found) >> 3) + 1);
  }
  return end;
}

export function arrayStarts(texts: usize, n: u32, numbers: u32, starts: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u32>(starts));
  let count: u32 = 0;
  store<u32>(starts, 0);
  let touched: u64 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    if (i % TOUCHED_TOGETHER == 0) touched += touch(texts, 8, i, <usize>n);
    const text = load<u64>(texts + (i << 3));
    const end = start(text) + size(text);
    if (numbers != 0) for (let at = start(text); at < end; at += load<u8>(at) == NULL ? 1 : DIGITS + 2) count++;
    else for (let at = start(text); at < end; at = endOfElement(at, end)) count++;
    store<u32>(starts + (i << 2), count, 4);
  }
  return touched == <u64>-1 ? 0 : count;
}

/** The bits of a number of which `sortable` of lists.ts made these. */
@inline
function unsorted(bits: u64, doubles: u32): u64 {
  return doubles != 0 && (bits & SIGN) == 0 ? ~bits : bits ^ SIGN;
}

export function arrayNumbers(texts: usize, n: u32, doubles: u32, numbers: usize, nulls: usize): i32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(numbers) && isAligned<u64>(nulls));
  let count: usize = 0;
  let nullCount: i32 = 0;
  let word: u64 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    const end = start(text) + size(text);
    for (let at = start(text); at < end; ) {
      let number: u64 = 0;
      if (load<u8>(at) == NULL) {
        word |= <u64>1 << (count & 63);
        nullCount++;
        at++;
      } else {
        if (load<u8>(at) != PRESENT || at + DIGITS + 1 >= end || load<u8>(at, 17) != END) return -1;
        number = unsorted(hexadecimalWhole(at + 1), doubles);
        at += DIGITS + 2;
      }
      store<u64>(numbers + (count << 3), number);
      if ((count & 63) == 63) {
        store<u64>(nulls + ((count >> 6) << 3), word);
        word = 0;
      }
      count++;
    }
  }
  if ((count & 63) != 0) store<u64>(nulls + ((count >> 6) << 3), word);
  return nullCount;
}

export function arrayStrings(texts: usize, n: u32, out: usize, buffer: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  let to = buffer;
  let next = out;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    const end = start(text) + size(text);
    for (let at = start(text); at < end; next += 8) {
      const after = endOfElement(at, end);
      if (load<u8>(at) == NULL) {
        store<u64>(next, 0);
        at = after;
        continue;
      }
      const from = at + 1;
      let length = after - 1 - from;
      let place = from;
      let plain = from;
      for (; plain < from + length && load<u8>(plain) != 1; plain++) {}
      if (plain < from + length) {
        // Two bytes stand for 0 and 1 each.
        place = to;
        for (let byte = from; byte < from + length; byte++) store<u8>(to++, load<u8>(byte) == 1 ? load<u8>(++byte) - 1 : load<u8>(byte));
        length = to - place;
      }
      store<u64>(next, textOf(place, length, isWide(place, length) ? WIDE : 0));
      at = after;
    }
  }
}

@inline
function hasBit(bits: usize, i: usize): bool {
  return bits != 0 && ((load<u64>(bits + ((i >> 6) << 3)) >> (i & 63)) & 1) != 0;
}

export function listJoin(
  starts: usize, texts: usize, n: u32, nulls: usize, separator: usize, separatorBytes: u32, word: usize, wordBytes: u32,
  out: usize, buffer: usize,
): void {
  assert(isAligned<u32>(starts) && isAligned<u64>(texts) && isAligned<u64>(out));
  const first = load<u32>(starts);
  const between: u64 = isWide(separator, <usize>separatorBytes) ? WIDE : 0;
  let to = buffer;
  for (let i: usize = 0; i < <usize>n; i++) {
    const from = texts + (<usize>(load<u32>(starts + (i << 2)) - first) << 3);
    const end = texts + (<usize>(load<u32>(starts + (i << 2), 4) - first) << 3);
    if (hasBit(nulls, i) || (end - from == 8 && load<u64>(from) == 0)) {
      store<u64>(out + (i << 3), 0);
      continue;
    }
    const begin = to;
    let wide: u64 = 0;
    for (let at = from; at < end; at += 8) {
      if (at > from) {
        copy(to, separator, <usize>separatorBytes);
        to += <usize>separatorBytes;
        wide |= between;
      }
      const text = load<u64>(at);
      if (text == 0) {
        copy(to, word, <usize>wordBytes);
        to += <usize>wordBytes;
        continue;
      }
      copy(to, start(text), size(text));
      to += size(text);
      wide |= text;
    }
    store<u64>(out + (i << 3), textOf(begin, to - begin, wide & WIDE));
  }
}

/** Copies bytes, of which 0 and 1 become two. Returns the end. */
export function escape(from: usize, length: usize, to: usize): usize {
  const end = from + length;
  while (from < end) {
    // Eight at a time while none of them is 0 or 1.
    if (from + 8 <= end) {
      const bytes = load<u64>(from);
      if (((bytes - 0x0202020202020202) & ~bytes & 0x8080808080808080) == 0) {
        store<u64>(to, bytes);
        from += 8;
        to += 8;
        continue;
      }
    }
    const byte = load<u8>(from++);
    if (byte > 1) {
      store<u8>(to++, byte);
      continue;
    }
    store<u8>(to, 1);
    store<u8>(to, byte == 0 ? 1 : 2, 1);
    to += 2;
  }
  return to;
}

export function arrayTexts(starts: usize, texts: usize, n: u32, nulls: usize, out: usize, buffer: usize): void {
  assert(isAligned<u32>(starts) && isAligned<u64>(texts) && isAligned<u64>(out));
  const first = load<u32>(starts);
  let to = buffer;
  for (let i: usize = 0; i < <usize>n; i++) {
    if (hasBit(nulls, i)) {
      store<u64>(out + (i << 3), 0);
      continue;
    }
    const from = texts + (<usize>(load<u32>(starts + (i << 2)) - first) << 3);
    const end = texts + (<usize>(load<u32>(starts + (i << 2), 4) - first) << 3);
    const begin = to;
    let wide: u64 = 0;
    for (let at = from; at < end; at += 8) {
      const text = load<u64>(at);
      if (text == 0) {
        store<u8>(to++, NULL);
        continue;
      }
      wide |= text;
      store<u8>(to, PRESENT);
      to = escape(start(text), size(text), to + 1);
      store<u8>(to++, END);
    }
    store<u64>(out + (i << 3), textOf(begin, to - begin, wide & WIDE));
  }
}

export function listPick(starts: usize, values: usize, nulls: usize, n: u32, place: u32, out: usize, absent: usize): void {
  assert(isAligned<u32>(starts) && isAligned<u64>(values) && isAligned<u64>(out) && isAligned<u64>(absent));
  const first = load<u32>(starts);
  for (let i: usize = 0; i < <usize>n; i++) {
    const from = load<u32>(starts + (i << 2)) - first;
    const isThere = load<u32>(starts + (i << 2), 4) - first - from > place;
    const at = <usize>from + <usize>place;
    store<u64>(out + (i << 3), isThere ? load<u64>(values + (at << 3)) : 0);
    if (absent != 0) store<u64>(absent + (i << 3), isThere && !hasBit(nulls, at) ? 0 : 1);
  }
}

export function listFirst(starts: usize, bits: usize, n: u32, out: usize): void {
  assert(isAligned<u32>(starts) && isAligned<u64>(bits) && isAligned<u64>(out));
  const first = load<u32>(starts);
  for (let i: usize = 0; i < <usize>n; i++) {
    const from = <usize>(load<u32>(starts + (i << 2)) - first);
    const end = <usize>(load<u32>(starts + (i << 2), 4) - first);
    let at = from;
    while (at < end && !hasBit(bits, at)) at++;
    store<i64>(out + (i << 3), at == end ? -1 : <i64>(at - from));
  }
}

export function listRows(starts: usize, n: u32, row: u32, out: usize): void {
  assert(isAligned<u32>(starts) && isAligned<u32>(out));
  let to = out;
  for (let i: usize = 0; i < <usize>n; i++)
    for (const end = to + (<usize>(load<u32>(starts + (i << 2), 4) - load<u32>(starts + (i << 2))) << 2); to < end; to += 4)
      store<u32>(to, row + <u32>i);
}
