import { ANY, find, isLike, isSame } from './dictionary';
import { compareTexts } from './join';
import { isAligned } from './lanes';

// Texts by reference: a u64 each, the address in its low half, the length in bytes above, bit 63 where not all is ASCII; 0 is null.
// Loads of 8 or 16 bytes may run past a text, stores up to 16 bytes past the results in a buffer.

export const WIDE: u64 = 1 << 63;

@inline
export function textOf(at: usize, length: usize, wide: u64): u64 {
  return <u64>at | (<u64>length << 32) | wide;
}
@inline
export function start(text: u64): usize {
  return <usize>(<u32>text);
}
@inline
export function size(text: u64): usize {
  return <usize>((text & ~WIDE) >> 32);
}
@inline
export function copy(to: usize, from: usize, length: usize): void {
  for (let at: usize = 0; at < length; at += 16) {
    store<u64>(to + at, load<u64>(from + at));
    store<u64>(to + at, load<u64>(from + at, 8), 8);
  }
}

export const TOUCHED_TOGETHER: usize = 64;

/**
 * Sum of a byte at each end of the texts from `i` on, as many as are touched together, which brings them into the cache side by side:
 * a loop over bytes of any length waits for one text after the other.
 */
export function touch(texts: usize, step: usize, i: usize, n: usize): u64 {
  let sum: u64 = 0;
  const end = texts + min(n, i + TOUCHED_TOGETHER) * step;
  for (let at = texts + i * step; at < end; at += step) {
    const text = load<u64>(at);
    sum += <u64>load<u8>(start(text)) + <u64>load<u8>(start(text) + size(text));
  }
  return sum;
}

/** Bit i of `others`, put down by whole words: `bits` of the words begun, to go on with. */
@inline
export function noteOther(others: usize, i: usize, n: usize, bits: u64, isOther: u64): u64 {
  bits |= isOther << (i & 63);
  if ((i & 63) != 63 && i + 1 != n) return bits;
  store<u64>(others + ((i >> 6) << 3), bits);
  return 0;
}

/** Whether a byte is beyond ASCII. */
@inline
export function isWide(at: usize, length: usize): bool {
  let all: u64 = 0;
  let i: usize = 0;
  for (; i + 8 <= length; i += 8) all |= load<u64>(at + i);
  if (i < length) all |= load<u64>(at + i) << (8 * (8 - (length - i)));
  return (all & 0x8080808080808080) != 0;
}

/** UTF-16 code units that the bytes stand for. */
export function unitsIn(at: usize, length: usize): usize {
  let units: usize = 0;
  for (const end = at + length; at < end; at++) {
    const byte = load<u8>(at);
    units += <usize>((byte & 0xc0) != 0x80) + <usize>(byte >= 0xf0);
  }
  return units;
}
@inline
export function unitsOf(text: u64): usize {
  return (text & WIDE) == 0 ? size(text) : unitsIn(start(text), size(text));
}

@inline
export function pointBytes(lead: u8): usize {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** Whether one of the bytes begins a code point that takes two code units. */
function hasPairs(at: usize, length: usize): bool {
  for (const end = at + length; at < end; at++) if (load<u8>(at) >= 0xf0) return true;
  return false;
}

/** Sum of a byte of each of some entries, which brings them into the cache side by side (`touch`). */
function touchEntries(bytes: usize, offsets: usize, ids: usize, first: usize, last: usize): u64 {
  let sum: u64 = 0;
  for (let i = first; i < last; i++) sum += <u64>load<u8>(bytes + <usize>load<u32>(offsets + (<usize>load<u32>(ids + (i << 2)) << 2)));
  return sum;
}

export function textEntries(bytes: usize, offsets: usize, ids: usize, n: u32, hasNull: u32, out: usize): u32 {
  assert(isAligned<u32>(offsets) && isAligned<u32>(ids) && isAligned<u64>(out));
  let withPairs: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    // The place at `out` is written again below.
    if (ids != 0 && i % TOUCHED_TOGETHER == 0)
      store<u64>(out + (i << 3), touchEntries(bytes, offsets, ids, i, min<usize>(<usize>n, i + TOUCHED_TOGETHER)));
    const id = ids == 0 ? <u32>i : load<u32>(ids + (i << 2));
    let text: u64 = 0;
    if (id != 0 || hasNull == 0) {
      const from = <usize>load<u32>(offsets + (<usize>id << 2));
      const length = <usize>load<u32>(offsets + (<usize>id << 2), 4) - from;
      const wide = isWide(bytes + from, length);
      if (wide) withPairs += <u32>hasPairs(bytes + from, length);
      text = textOf(bytes + from, length, wide ? WIDE : 0);
    }
    store<u64>(out + (i << 3), text);
  }
  return withPairs;
}

export function textUnits(texts: usize, n: u32, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<i64>(out));
  for (let i: usize = 0; i < <usize>n; i++) store<i64>(out + (i << 3), <i64>unitsOf(load<u64>(texts + (i << 3))));
}

export function textBytes(texts: usize, n: u32): f64 {
  assert(isAligned<u64>(texts));
  let sum: u64 = 0;
  for (let i: usize = 0; i < <usize>n; i++) sum += <u64>size(load<u64>(texts + (i << 3)));
  return <f64>sum;
}

export function textNulls(texts: usize, n: u32, out: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  let count: u32 = 0;
  for (let first: u32 = 0; first < n; first += 64) {
    const rows = min<u32>(64, n - first);
    let word: u64 = 0;
    for (let row: u32 = 0; row < rows; row++) word |= <u64>(load<u64>(texts + (<usize>(first + row) << 3)) == 0) << row;
    count += <u32>popcnt(word);
    store<u64>(out + (<usize>(first >> 6) << 3), word);
  }
  return count;
}

@inline
function isTrue(a: u64, b: u64, operation: u32): bool {
  if (a == 0 || b == 0) return false;
  if (operation == 0) return size(a) == size(b) && isSame(start(a), start(b), size(a));
  const order = compareTexts(start(a), <u32>size(a), start(b), <u32>size(b));
  return operation == 1 ? order < 0 : order <= 0;
}

export function textCompare(a: usize, b: usize, one: u32, n: u32, operation: u32, out: usize): void {
  assert(isAligned<u64>(a) && isAligned<u64>(b) && isAligned<u64>(out));
  const step: usize = one != 0 ? 0 : 8;
  for (let first: u32 = 0; first < n; first += 64) {
    const rows = min<u32>(64, n - first);
    const to = out + (<usize>(first >> 6) << 3);
    let word: u64 = 0;
    if (operation != 0) store<u64>(to, touch(a, 8, <usize>first, <usize>n) + touch(b, step, <usize>first, <usize>n));
    for (let row: u32 = 0; row < rows; row++) {
      const i = <usize>(first + row);
      word |= <u64>isTrue(load<u64>(a + (i << 3)), load<u64>(b + i * step), operation) << row;
    }
    store<u64>(to, word);
  }
}

export function textLike(texts: usize, n: u32, pattern: usize, patternBytes: u32, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  // The most frequent pattern: a string between two ANYs.
  let plain = patternBytes > 2 && load<u8>(pattern) == ANY && load<u8>(pattern + patternBytes - 1) == ANY;
  for (let i: u32 = 1; i + 1 < patternBytes; i++) plain = plain && load<u8>(pattern + i) < 0xfe;
  for (let first: u32 = 0; first < n; first += 64) {
    const rows = min<u32>(64, n - first);
    let word: u64 = 0;
    for (let row: u32 = 0; row < rows; row++) {
      const text = load<u64>(texts + (<usize>(first + row) << 3));
      if (text == 0) continue;
      const end = start(text) + size(text);
      const holds = plain ? indexOf(start(text), size(text), pattern + 1, patternBytes - 2) >= 0 : isLike(start(text), end, pattern, pattern + patternBytes);
      word |= <u64>holds << row;
    }
    store<u64>(out + (<usize>(first >> 6) << 3), word);
  }
}

/** Byte offset of the first occurrence; -1 for none. */
@inline
export function indexOf(at: usize, length: usize, wanted: usize, wantedBytes: u32): isize {
  if (wantedBytes == 0) return 0;
  if (length < <usize>wantedBytes) return -1;
  const found = find(at, at + length, wanted, wantedBytes);
  return found + <usize>wantedBytes > at + length ? -1 : <isize>(found - at);
}

export function textFind(texts: usize, n: u32, wanted: usize, wantedBytes: u32, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<i64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    let found = text == 0 ? <isize>0 : indexOf(start(text), size(text), wanted, wantedBytes);
    if (found > 0 && (text & WIDE) != 0) found = <isize>unitsIn(start(text), <usize>found);
    store<i64>(out + (i << 3), <i64>found);
  }
}
