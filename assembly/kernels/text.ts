import { ANY, find, hashOf, isLike, isSame } from './dictionary';
import { compareTexts } from './join';
import { isAligned } from './lanes';

// Texts by reference: a u64 each, the address in its low half, the length in bytes above, bit 63 where not all is ASCII; 0 is null.
// Loads of 8 or 16 bytes may run past a text, stores up to 16 bytes past the results in a buffer.

const WIDE: u64 = 1 << 63;

@inline
function textOf(at: usize, length: usize, wide: u64): u64 {
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
function copy(to: usize, from: usize, length: usize): void {
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

/** Whether a byte is beyond ASCII. */
@inline
function isWide(at: usize, length: usize): bool {
  let all: u64 = 0;
  let i: usize = 0;
  for (; i + 8 <= length; i += 8) all |= load<u64>(at + i);
  if (i < length) all |= load<u64>(at + i) << (8 * (8 - (length - i)));
  return (all & 0x8080808080808080) != 0;
}

/** UTF-16 code units that the bytes stand for. */
function unitsIn(at: usize, length: usize): usize {
  let units: usize = 0;
  for (const end = at + length; at < end; at++) {
    const byte = load<u8>(at);
    units += <usize>((byte & 0xc0) != 0x80) + <usize>(byte >= 0xf0);
  }
  return units;
}
@inline
function unitsOf(text: u64): usize {
  return (text & WIDE) == 0 ? size(text) : unitsIn(start(text), size(text));
}

@inline
function pointBytes(lead: u8): usize {
  return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** Whether `offsetOf` was last asked for the middle of a surrogate pair. */
let isSplit: bool = false;

/** Byte offset of a code unit in the bytes, their length past their end. */
function offsetOf(at: usize, length: usize, units: usize): usize {
  let offset: usize = 0;
  while (units > 0 && offset < length) {
    const bytes = pointBytes(load<u8>(at + offset));
    const width: usize = bytes == 4 ? 2 : 1;
    if (width > units) {
      isSplit = true;
      return offset;
    }
    units -= width;
    offset += bytes;
  }
  return offset;
}

/** Whether one of the bytes begins a code point that takes two code units. */
function hasPairs(at: usize, length: usize): bool {
  for (const end = at + length; at < end; at++) if (load<u8>(at) >= 0xf0) return true;
  return false;
}

export function textEntries(bytes: usize, offsets: usize, ids: usize, n: u32, hasNull: u32, out: usize): u32 {
  assert(isAligned<u32>(offsets) && isAligned<u32>(ids) && isAligned<u64>(out));
  let withPairs: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
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
function indexOf(at: usize, length: usize, wanted: usize, wantedBytes: u32): isize {
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

export function textSlice(texts: usize, n: u32, kind: u32, from: u32, count: u32, out: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(out) && kind <= 2);
  let splits: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    const at = start(text);
    const length = size(text);
    let first: usize = 0;
    let last: usize = 0;
    isSplit = false;
    if ((text & WIDE) == 0) {
      first = kind == 2 ? length - min(length, <usize>count) : min(length, <usize>from);
      last = kind == 2 ? length : first + min(length - first, <usize>count);
    } else if (kind == 2) {
      const units = unitsIn(at, length);
      first = offsetOf(at, length, units - min(units, <usize>count));
      last = length;
    } else {
      first = offsetOf(at, length, from);
      last = count == <u32>-1 ? length : first + offsetOf(at + first, length - first, count);
    }
    splits += <u32>isSplit;
    const isNull = text == 0 || (kind == 0 && first == length);
    store<u64>(out + (i << 3), isNull ? 0 : textOf(at + first, last - first, text & WIDE));
  }
  return splits;
}

@inline
function isIn(set: usize, byte: u8): bool {
  return (load<u8>(set + <usize>(byte >> 3)) & (1 << (byte & 7))) != 0;
}

export function textTrim(texts: usize, n: u32, set: usize, ends: u32, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    let first = start(text);
    let last = first + size(text);
    if ((ends & 1) != 0) while (first < last && isIn(set, load<u8>(first))) first++;
    if ((ends & 2) != 0) while (first < last && isIn(set, load<u8>(last - 1))) last--;
    store<u64>(out + (i << 3), text == 0 ? 0 : textOf(first, last - first, text & WIDE));
  }
}

/** Bit 5 of those of eight ASCII bytes that lie in [first, first + 25]. */
@inline
function letters(bytes: u64, first: u64): u64 {
  const from = bytes + (0x80 - first) * 0x0101010101010101;
  const past = bytes + (0x80 - 26 - first) * 0x0101010101010101;
  return ((from & ~past) & 0x8080808080808080) >> 2;
}

export function textCase(texts: usize, n: u32, upper: u32, out: usize, buffer: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  const first: u64 = upper != 0 ? 0x61 : 0x41;
  let wide: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    if (text == 0 || (text & WIDE) != 0) {
      wide += <u32>(text != 0);
      store<u64>(out + (i << 3), text);
      continue;
    }
    const from = start(text);
    const length = size(text);
    for (let at: usize = 0; at < length; at += 8) {
      // Bytes past the end of the string may be anything; they do not change the bytes before them.
      const bytes = load<u64>(from + at);
      store<u64>(buffer + at, bytes ^ letters(bytes & 0x7f7f7f7f7f7f7f7f, first));
    }
    store<u64>(out + (i << 3), textOf(buffer, length, 0));
    buffer += length;
  }
  return wide;
}

export function textReverse(texts: usize, n: u32, out: usize, buffer: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    const from = start(text);
    const length = size(text);
    let to = buffer + length;
    if ((text & WIDE) == 0) {
      let at = from;
      for (; to >= buffer + 8; at += 8) {
        to -= 8;
        store<u64>(to, bswap(load<u64>(at)));
      }
      while (to > buffer) store<u8>(--to, load<u8>(at++));
    } else {
      for (let at = from; to > buffer; ) {
        const bytes = pointBytes(load<u8>(at));
        to -= bytes;
        for (let byte: usize = 0; byte < bytes; byte++) store<u8>(to + byte, load<u8>(at + byte));
        at += bytes;
      }
    }
    store<u64>(out + (i << 3), text == 0 ? 0 : textOf(buffer, length, text & WIDE));
    buffer += length;
  }
}

export function textConcat(parts: usize, partCount: u32, n: u32, out: usize, buffer: usize): void {
  assert(isAligned<u32>(parts) && isAligned<u64>(out));
  const partsEnd = parts + (<usize>partCount << 3);
  for (let i: usize = 0; i < <usize>n; i++) {
    if (i % TOUCHED_TOGETHER == 0) {
      let sum: u64 = 0;
      for (let part = parts; part < partsEnd; part += 8) sum += touch(<usize>load<u32>(part), <usize>load<u32>(part, 4), i, <usize>n);
      store<u64>(buffer, sum);
    }
    let to = buffer;
    let wide: u64 = 0;
    let isNull = false;
    for (let part = parts; part < partsEnd; part += 8) {
      const text = load<u64>(<usize>load<u32>(part) + i * <usize>load<u32>(part, 4));
      isNull = isNull || text == 0;
      wide |= text & WIDE;
      copy(to, start(text), size(text));
      to += size(text);
    }
    store<u64>(out + (i << 3), isNull ? 0 : textOf(buffer, to - buffer, wide));
    buffer = isNull ? buffer : to;
  }
}

export function textPad(texts: usize, n: u32, length: u32, padding: usize, paddingBytes: u32, atStart: u32, out: usize, buffer: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(out));
  let wide: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    if (text == 0 || (text & WIDE) != 0) {
      wide += <u32>(text != 0);
      store<u64>(out + (i << 3), text);
      continue;
    }
    const kept = min(size(text), <usize>length);
    const added: usize = paddingBytes == 0 ? <usize>0 : <usize>length - kept;
    const filled = buffer + (atStart != 0 ? <usize>0 : kept);
    copy(buffer + (atStart != 0 ? added : <usize>0), start(text), kept);
    for (let at: usize = 0, from: usize = 0; at < added; at++) {
      store<u8>(filled + at, load<u8>(padding + from));
      from = from + 1 == <usize>paddingBytes ? 0 : from + 1;
    }
    store<u64>(out + (i << 3), textOf(buffer, kept + added, 0));
    buffer += kept + added;
  }
  return wide;
}

export function textReplace(
  texts: usize, n: u32, wanted: usize, wantedBytes: u32, replacement: usize, replacementBytes: u32, out: usize, buffer: usize,
): void {
  assert(isAligned<u64>(texts) && isAligned<u64>(out) && wantedBytes > 0);
  const wide: u64 = isWide(replacement, <usize>replacementBytes) ? WIDE : 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    let at = start(text);
    const end = at + size(text);
    let found = indexOf(at, end - at, wanted, wantedBytes);
    if (found < 0) {
      store<u64>(out + (i << 3), text);
      continue;
    }
    let to = buffer;
    for (; found >= 0; found = indexOf(at, end - at, wanted, wantedBytes)) {
      copy(to, at, <usize>found);
      copy(to + <usize>found, replacement, <usize>replacementBytes);
      to += <usize>found + <usize>replacementBytes;
      at += <usize>found + <usize>wantedBytes;
    }
    copy(to, at, end - at);
    to += end - at;
    store<u64>(out + (i << 3), textOf(buffer, to - buffer, (text & WIDE) | wide));
    buffer = to;
  }
}

export function textOfLongs(values: usize, nulls: usize, n: u32, out: usize, buffer: usize): void {
  assert(isAligned<i64>(values) && isAligned<u64>(nulls) && isAligned<u64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    if (nulls != 0 && (load<u64>(nulls + ((i >> 6) << 3)) & (<u64>1 << (i & 63))) != 0) {
      store<u64>(out + (i << 3), 0);
      continue;
    }
    const value = load<i64>(values + (i << 3));
    let left: u64 = value < 0 ? 0 - <u64>value : <u64>value;
    let length: usize = value < 0 ? 2 : 1;
    for (let rest = left / 10; rest != 0; rest /= 10) length++;
    let to = buffer + length;
    do {
      store<u8>(--to, 0x30 + <u8>(left % 10));
      left /= 10;
    } while (left != 0);
    if (value < 0) store<u8>(buffer, 0x2d);
    store<u64>(out + (i << 3), textOf(buffer, length, 0));
    buffer += length;
  }
}

/** Digits of a number that an i64, and one that a double holds exactly. */
const LONG_DIGITS: usize = 18;
const DOUBLE_DIGITS: usize = 15;

export function textLongs(texts: usize, n: u32, out: usize, others: usize): u32 {
  return numbersOf<i64>(texts, n, out, others);
}

export function textDoubles(texts: usize, n: u32, out: usize, others: usize): u32 {
  return numbersOf<f64>(texts, n, out, others);
}

// @ts-ignore: decorator
@inline
function numbersOf<T>(texts: usize, n: u32, out: usize, others: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(out) && isAligned<u64>(others));
  let count: u32 = 0;
  let bits: u64 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    let digits: i64 = 0;
    let scale: i64 = 1;
    let isOther: u64 = 1;
    let isNegative = false;
    if (text != 0) {
      let at = start(text);
      const end = at + size(text);
      isNegative = at < end && load<u8>(at) == 0x2d;
      if (isNegative) at++;
      const first = at;
      let point: usize = 0;
      for (; at < end; at++) {
        const digit = <u32>load<u8>(at) - 0x30;
        if (digit <= 9) {
          if (at - first >= LONG_DIGITS) break;
          digits = digits * 10 + <i64>digit;
          if (point != 0) scale *= 10;
        } else if (isFloat<T>() && point == 0 && at > first && load<u8>(at) == 0x2e) point = 1;
        else break;
      }
      if (at == end && at > first && (isInteger<T>() || at - first - point <= DOUBLE_DIGITS)) isOther = 0;
    }
    if (isInteger<T>()) store<i64>(out + (i << 3), isOther != 0 ? 0 : isNegative ? -digits : digits);
    else store<f64>(out + (i << 3), isOther != 0 ? 0 : (isNegative ? -<f64>digits : <f64>digits) / <f64>scale);
    count += <u32>isOther;
    bits |= isOther << (i & 63);
    if ((i & 63) == 63 || i + 1 == <usize>n) {
      store<u64>(others + ((i >> 6) << 3), bits);
      bits = 0;
    }
  }
  return count;
}

export function textIntern(texts: usize, n: u32, slots: usize, capacity: u32, entries: usize, arena: usize, counters: usize, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u32>(slots) && isAligned<u32>(entries) && isAligned<u32>(counters) && isAligned<u32>(out));
  assert(popcnt(capacity) == 1 && (<u64>load<u32>(counters) + n) * 2 <= capacity);
  const mask = capacity - 1;
  let entryCount = load<u32>(counters);
  let free = arena + <usize>load<u32>(counters, 4);
  for (let i: usize = 0; i < <usize>n; i++) {
    if (i % TOUCHED_TOGETHER == 0) store<u32>(out + (i << 2), <u32>touch(texts, 8, i, <usize>n));
    const text = load<u64>(texts + (i << 3));
    let found: u32 = 1;
    if (text != 0) {
      const at = start(text);
      const length = size(text);
      let slot = hashOf(at, <u32>length) & mask;
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
