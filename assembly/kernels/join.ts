import { AHEAD, findSlots, isSameKey } from './keys';
import { isAligned, lowBits } from './lanes';

// Joins: rows of the probe side → numbers of their keys on the build side → pairs of rows → columns gathered by them.

/** Key number of a key that the build side does not have; as a row number, a row of nulls. */
@inline
const ABSENT: u32 = 0xffffffff;

// Kinds of join, by the rows of the probe side that `joinPairs` puts out.
@inline
const LEFT: u32 = 1;
@inline
const SEMI: u32 = 2;

/** Order of UTF-16 code units from UTF-8: lead bytes from 0xf0 stand for surrogates, which come before 0xee and 0xef. */
@inline
export function compareTexts(a: usize, aLength: u32, b: usize, bLength: u32): i32 {
  const length = <usize>min(aLength, bLength);
  let at: usize = 0;
  while (at + 8 <= length && load<u64>(a + at) == load<u64>(b + at)) at += 8;
  for (; at < length; at++) {
    const left = load<u8>(a + at);
    const right = load<u8>(b + at);
    if (left == right) continue;
    const order = left < right ? -1 : 1;
    return left >= 0xee && right >= 0xee && left >= 0xf0 != right >= 0xf0 ? -order : order;
  }
  return <i32>aLength - <i32>bLength;
}

@inline
function textAt(bytes: usize, offsets: usize, entry: u32): usize {
  return bytes + <usize>load<u32>(offsets + (<usize>entry << 2));
}

@inline
function lengthAt(offsets: usize, entry: u32): u32 {
  const at = offsets + (<usize>entry << 2);
  return load<u32>(at, 4) - load<u32>(at);
}

/** The last of texts in order, from one on, that is not above a text; the first of them where all are. */
@inline
function lastUpTo(bytes: usize, offsets: usize, from: u32, count: u32, text: usize, length: u32, firstStep: u32): u32 {
  // Steps double while the place lags behind, then halve.
  let step = firstStep;
  let place = from;
  while (place + step < count && compareTexts(textAt(bytes, offsets, place + step), lengthAt(offsets, place + step), text, length) <= 0) {
    place += step;
    step <<= 1;
  }
  for (; step != 0; step >>= 1) {
    if (place + step < count && compareTexts(textAt(bytes, offsets, place + step), lengthAt(offsets, place + step), text, length) <= 0) place += step;
  }
  return place;
}

/** The next text is likely to be as far away as there are texts for each that is looked for. */
@inline
function firstStepOf(others: u32, texts: u32): u32 {
  return 1 << (31 - <u32>clz<u32>((texts == 0 ? 0 : others / texts) | 1));
}

export function joinTexts(
  bytes: usize, offsets: usize, first: u32, count: u32,
  otherBytes: usize, otherOffsets: usize, otherFirst: u32, otherCount: u32, out: usize,
): void {
  assert(isAligned<u32>(offsets) && isAligned<u32>(otherOffsets) && isAligned<u32>(out));
  let other = otherFirst;
  const firstStep = firstStepOf(max(otherCount, otherFirst) - otherFirst, max(count, first) - first);
  for (let entry: u32 = 0; entry < count; entry++) {
    let found = ABSENT;
    if (entry >= first) {
      const text = textAt(bytes, offsets, entry);
      const length = lengthAt(offsets, entry);
      // Both ascend.
      other = lastUpTo(otherBytes, otherOffsets, other, otherCount, text, length, firstStep);
      if (other < otherCount && compareTexts(textAt(otherBytes, otherOffsets, other), lengthAt(otherOffsets, other), text, length) == 0) found = other;
    }
    store<u32>(out + (<usize>entry << 2), found);
  }
}

export function rangeTexts(
  bytes: usize, offsets: usize, first: u32, count: u32,
  otherBytes: usize, otherOffsets: usize, otherFirst: u32, otherCount: u32, out: usize,
): void {
  assert(isAligned<u32>(offsets) && isAligned<u32>(otherOffsets) && isAligned<u32>(out));
  let other = otherFirst;
  const firstStep = firstStepOf(max(otherCount, otherFirst) - otherFirst, max(count, first) - first);
  for (let entry: u32 = 0; entry < count; entry++) {
    let number = ABSENT;
    if (entry >= first) {
      const text = textAt(bytes, offsets, entry);
      const length = lengthAt(offsets, entry);
      other = lastUpTo(otherBytes, otherOffsets, other, otherCount, text, length, firstStep);
      const order = other < otherCount ? compareTexts(textAt(otherBytes, otherOffsets, other), lengthAt(otherOffsets, other), text, length) : 1;
      number = other * 2 + (order == 0 ? 1 : order < 0 ? 2 : 0);
    }
    store<u32>(out + (<usize>entry << 2), number);
  }
}

export function joinRange<T>(values: usize, base: i64, low: i64, count: u32, n: u32, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(out));
  const shift = <u64>base - <u64>low;
  let at = values;
  for (let to = out, end = out + (<usize>n << 2); to < end; to += 4, at += sizeof<T>()) {
    const number = <u64>load<T>(at) + shift;
    store<u32>(to, number < <u64>count ? <u32>number : ABSENT);
  }
}

/** 1 where the value, counted from `low`, is below `count` and its bit is set. */
@inline
function isWithin<T>(at: usize, shift: u64, count: u64, bits: usize): u64 {
  const number = <u64>load<T>(at) + shift;
  const isBelow = u64(number < count);
  const place = <usize>(isBelow ? number : 0);
  return ((<u64>load<u32>(bits + ((place >> 5) << 2)) >> (place & 31)) & 1) & isBelow;
}

/** Words of which fewer bits are set than this are looked at bit by bit: by bits of keys, and by bytes, which a whole word costs less. */
@inline
const FEW_BY_BITS: i64 = 28;
@inline
const FEW_BY_BYTES: i64 = 14;

export function joinKeep<T>(values: usize, base: i64, low: i64, count: u32, bits: usize, n: u32, kept: usize): void {
  assert(isAligned<T>(values) && isAligned<u64>(bits) && isAligned<u64>(kept));
  const size = sizeof<T>();
  const shift = <u64>base - <u64>low;
  for (let row: u32 = 0; row < n; row += 64) {
    const place = kept + (<usize>row >> 3);
    const asked = load<u64>(place);
    if (asked == 0) continue;
    const first = values + <usize>row * size;
    let word: u64 = 0;
    if (popcnt<i64>(<i64>asked) < FEW_BY_BITS || n - row < 64) {
      for (let left = asked; left != 0; left &= left - 1) {
        const bit = ctz<u64>(left);
        word |= isWithin<T>(first + <usize>bit * size, shift, count, bits) << bit;
      }
    } else {
      for (let i: usize = 0; i < 64; i += 4) {
        const at = first + i * size;
        const low4 = isWithin<T>(at, shift, count, bits) | (isWithin<T>(at + size, shift, count, bits) << 1);
        const high4 = (isWithin<T>(at + 2 * size, shift, count, bits) << 2) | (isWithin<T>(at + 3 * size, shift, count, bits) << 3);
        word |= (low4 | high4) << i;
      }
      word &= asked;
    }
    store<u64>(place, word);
  }
}

/** Word of bits, none outside of `words` of them. */
@inline
function wordAt(bits: usize, word: i64, words: i64): u64 {
  return word >= 0 && word < words ? load<u64>(bits + (<usize>word << 3)) : 0;
}

export function joinShift(bits: usize, low: i64, count: u32, base: i64, n: u32, out: usize): void {
  assert(isAligned<u64>(bits) && isAligned<u64>(out));
  const words = <i64>((<u64>count + 63) >> 6);
  const from = base - low;
  const by = <u64>from & 63;
  let source = from >> 6;
  for (let i: u32 = 0; i < n; i += 64, source++) {
    const word = wordAt(bits, source, words) >> by;
    const whole = by == 0 ? word : word | (wordAt(bits, source + 1, words) << (64 - by));
    store<u64>(out + (<usize>i >> 3), n - i < 64 ? whole & lowBits(n - i) : whole);
  }
}

export function joinBytes(bits: usize, n: u32, out: usize): void {
  assert(isAligned<u64>(bits));
  let i: u32 = 0;
  // Bit i in byte i of eight copies, then whether there is one.
  for (; i + 8 <= n; i += 8) {
    const apart = (<u64>load<u8>(bits + <usize>(i >> 3)) * 0x0101010101010101) & 0x8040201008040201;
    store<u64>(out + <usize>i, ((apart + 0x7f7f7f7f7f7f7f7f) >> 7) & 0x0101010101010101);
  }
  for (; i < n; i++) store<u8>(out + <usize>i, (load<u8>(bits + <usize>(i >> 3)) >> <u8>(i & 7)) & 1);
}

/** The bit of the value at a place, and others above it. */
@inline
function bitOf<T>(at: usize, bits: usize): u32 {
  const value = <u32>load<T>(at);
  return <u32>load<u8>(bits + <usize>(value >> 3)) >> (value & 7);
}

export function joinKeepBits<T>(values: usize, bits: usize, n: u32, kept: usize): void {
  assert(isAligned<T>(values) && isAligned<u64>(kept));
  const size = sizeof<T>();
  for (let row: u32 = 0; row < n; row += 64) {
    const place = kept + (<usize>row >> 3);
    const asked = load<u64>(place);
    if (asked == 0) continue;
    const first = values + <usize>row * size;
    let word: u64 = 0;
    if (popcnt<i64>(<i64>asked) < FEW_BY_BITS || n - row < 64) {
      for (let left = asked; left != 0; left &= left - 1) {
        const bit = ctz<u64>(left);
        word |= <u64>(bitOf<T>(first + <usize>bit * size, bits) & 1) << bit;
      }
    } else {
      for (let i: usize = 0; i < 64; i += 4) {
        const at = first + i * size;
        const low2 = (bitOf<T>(at, bits) & 1) | ((bitOf<T>(at + size, bits) & 1) << 1);
        const high2 = ((bitOf<T>(at + 2 * size, bits) & 1) << 2) | ((bitOf<T>(at + 3 * size, bits) & 1) << 3);
        word |= <u64>(low2 | high2) << i;
      }
      word &= asked;
    }
    store<u64>(place, word);
  }
}

/** The byte of the value at a place. */
@inline
function byteOf<T>(at: usize, bytes: usize): u32 {
  return <u32>load<u8>(bytes + <usize>load<T>(at));
}

/** The bytes of eight values as bits: each doubles those before it, which is one instruction. */
@inline
function bitsOfEight<T>(at: usize, bytes: usize): u32 {
  let low = <u32>load<u8>(bytes + <usize>load<T>(at, 3 * sizeof<T>()));
  let high = <u32>load<u8>(bytes + <usize>load<T>(at, 7 * sizeof<T>()));
  low = (low << 1) + <u32>load<u8>(bytes + <usize>load<T>(at, 2 * sizeof<T>()));
  high = (high << 1) + <u32>load<u8>(bytes + <usize>load<T>(at, 6 * sizeof<T>()));
  low = (low << 1) + <u32>load<u8>(bytes + <usize>load<T>(at, sizeof<T>()));
  high = (high << 1) + <u32>load<u8>(bytes + <usize>load<T>(at, 5 * sizeof<T>()));
  low = (low << 1) + <u32>load<u8>(bytes + <usize>load<T>(at));
  high = (high << 1) + <u32>load<u8>(bytes + <usize>load<T>(at, 4 * sizeof<T>()));
  return low + (high << 4);
}

export function joinKeepBytes<T>(values: usize, bytes: usize, n: u32, kept: usize): void {
  assert(isAligned<T>(values) && isAligned<u64>(kept));
  const size = sizeof<T>();
  for (let row: u32 = 0; row < n; row += 64) {
    const place = kept + (<usize>row >> 3);
    const asked = load<u64>(place);
    if (asked == 0) continue;
    const first = values + <usize>row * size;
    let word: u64 = 0;
    if (popcnt<i64>(<i64>asked) < FEW_BY_BYTES || n - row < 64) {
      for (let left = asked; left != 0; left &= left - 1) {
        const bit = ctz<u64>(left);
        word |= <u64>byteOf<T>(first + <usize>bit * size, bytes) << bit;
      }
    } else {
      for (let i: usize = 0; i < 64; i += 8) word |= <u64>bitsOfEight<T>(first + i * size, bytes) << i;
      word &= asked;
    }
    store<u64>(place, word);
  }
}

@inline
function findAll(words: u32, input: usize, n: u32, slots: usize, capacity: u32, keys: usize, out: usize): void {
  const mask = capacity - 1;
  const bytes = <usize>words << 3;
  let key = input;
  let to = out;
  for (let left = n; left > 0; ) {
    const count = min<u32>(left, AHEAD);
    left -= count;
    findSlots(words, key, count, mask, to);
    for (const end = to + (<usize>count << 2); to < end; to += 4, key += bytes) {
      let slot = load<u32>(to);
      let entry = load<u32>(slots + (<usize>slot << 2));
      while (entry != 0 && !isSameKey(words, keys + <usize>(entry - 1) * bytes, key)) {
        slot = (slot + 1) & mask;
        entry = load<u32>(slots + (<usize>slot << 2));
      }
      store<u32>(to, entry - 1); // an empty slot gives ABSENT
    }
  }
}

export function joinFind(input: usize, n: u32, words: u32, slots: usize, capacity: u32, keys: usize, out: usize): void {
  assert(isAligned<u64>(input) && isAligned<u32>(slots) && isAligned<u64>(keys) && isAligned<u32>(out) && words > 0 && popcnt(capacity) == 1);
  if (words == 1) findAll(1, input, n, slots, capacity, keys, out);
  else if (words == 2) findAll(2, input, n, slots, capacity, keys, out);
  else findAll(words, input, n, slots, capacity, keys, out);
}

export function joinDropNulls(nulls: usize, n: u32, numbers: usize): void {
  assert(isAligned<u64>(nulls) && isAligned<u32>(numbers));
  for (let word: u32 = 0; word << 6 < n; word++) {
    for (let bits = load<u64>(nulls + (<usize>word << 3)); bits != 0; bits &= bits - 1) {
      const row = (word << 6) + <u32>ctz(bits);
      if (row < n) store<u32>(numbers + (<usize>row << 2), ABSENT);
    }
  }
}

export function joinLists(numbers: usize, n: u32, keyCount: u32, starts: usize, rows: usize): u32 {
  assert(isAligned<u32>(numbers) && isAligned<u32>(starts) && isAligned<u32>(rows));
  memory.fill(starts, 0, (<usize>keyCount + 1) << 2);
  const end = numbers + (<usize>n << 2);
  // Counted two places further on, so that writing the rows leaves each start where it belongs.
  let listed: u32 = 0;
  for (let at = numbers; at < end; at += 4) {
    const number = load<u32>(at);
    if (number == ABSENT) continue;
    listed++;
    const place = starts + ((<usize>number + 1) << 2);
    store<u32>(place, load<u32>(place) + 1);
  }
  let before: u32 = 0;
  for (let at = starts + 4, last = starts + (<usize>keyCount << 2); at <= last; at += 4) {
    const count = load<u32>(at);
    store<u32>(at, before);
    before += count;
  }
  for (let at = numbers; at < end; at += 4) {
    const number = load<u32>(at);
    if (number == ABSENT) continue;
    const place = starts + ((<usize>number + 1) << 2);
    const free = load<u32>(place);
    store<u32>(rows + (<usize>free << 2), <u32>((at - numbers) >> 2));
    store<u32>(place, free + 1);
  }
  return listed;
}

export function joinOnly(numbers: usize, n: u32, keyCount: u32, rows: usize): u32 {
  assert(isAligned<u32>(numbers) && isAligned<u32>(rows));
  memory.fill(rows, 0xff, <usize>keyCount << 2);
  for (let at = numbers, end = numbers + (<usize>n << 2); at < end; at += 4) {
    const number = load<u32>(at);
    if (number == ABSENT) continue;
    const place = rows + (<usize>number << 2);
    if (load<u32>(place) != ABSENT) return 0;
    store<u32>(place, <u32>((at - numbers) >> 2));
  }
  return 1;
}

/** Row of a key, absent where there is none; `rows` is readable at 0. */
@inline
function onlyRow(numbers: usize, row: u32, rows: usize): u32 {
  const number = load<u32>(numbers + (<usize>row << 2));
  const isKnown = number != ABSENT;
  const other = load<u32>(rows + (<usize>(isKnown ? number : 0) << 2));
  return isKnown ? other : ABSENT;
}

export function joinOnlyPairs(numbers: usize, start: u32, end: u32, rows: usize, kind: u32, outLeft: usize, outRight: usize): u32 {
  assert(isAligned<u32>(numbers) && isAligned<u32>(rows) && isAligned<u32>(outLeft) && isAligned<u32>(outRight));
  let to: usize = 0;
  if (kind < SEMI) {
    for (let row = start; row < end; row++) {
      const other = onlyRow(numbers, row, rows);
      store<u32>(outLeft + to, row);
      store<u32>(outRight + to, other);
      to += <usize>u32(other != ABSENT || kind == LEFT) << 2;
    }
  } else {
    for (let row = start; row < end; row++) {
      const isThere = onlyRow(numbers, row, rows) != ABSENT;
      store<u32>(outLeft + to, row);
      store<u32>(outRight + to, ABSENT);
      to += <usize>u32(isThere == (kind == SEMI)) << 2;
    }
  }
  return <u32>(to >> 2);
}

export function joinPairs(numbers: usize, n: u32, starts: usize, rows: usize, kind: u32, cursor: usize, capacity: u32, outLeft: usize, outRight: usize): u32 {
  assert(isAligned<u32>(numbers) && isAligned<u32>(starts) && isAligned<u32>(rows) && isAligned<u32>(cursor) && isAligned<u32>(outLeft) && isAligned<u32>(outRight));
  let row = load<u32>(cursor);
  let place = load<u32>(cursor, 4);
  let oneEach = load<u32>(cursor, 8);
  let count: u32 = 0;
  for (; row < n && count < capacity; row++) {
    const number = load<u32>(numbers + (<usize>row << 2));
    const isKnown = u32(number != ABSENT);
    const list = starts + (<usize>(isKnown ? number : 0) << 2);
    let from = load<u32>(list);
    const to = isKnown ? load<u32>(list, 4) : from;
    if (to - from <= 1 && kind < SEMI) {
      // The most frequent case, without a branch: the pair is always written, and counted only if there is one.
      const other = load<u32>(rows + (<usize>from << 2));
      const isOne = to - from;
      const isKept = isOne | u32(kind == LEFT);
      store<u32>(outLeft + (<usize>count << 2), row);
      store<u32>(outRight + (<usize>count << 2), isOne ? other : ABSENT);
      count += isKept;
      oneEach &= isKept;
      continue;
    }
    if (kind >= SEMI) {
      const isKept = u32(from < to == (kind == SEMI));
      store<u32>(outLeft + (<usize>count << 2), row);
      store<u32>(outRight + (<usize>count << 2), ABSENT);
      count += isKept;
      oneEach &= isKept;
      continue;
    }
    oneEach = 0;
    from += place;
    for (const end = min(to, from + (capacity - count)); from < end; from++) {
      store<u32>(outLeft + (<usize>count << 2), row);
      store<u32>(outRight + (<usize>count << 2), load<u32>(rows + (<usize>from << 2)));
      count++;
    }
    if (from < to) {
      place = from - load<u32>(starts + (<usize>number << 2));
      break;
    }
    place = 0;
  }
  store<u32>(cursor, row);
  store<u32>(cursor, place, 4);
  store<u32>(cursor, oneEach, 8);
  return count;
}

export function joinMark(rows: usize, n: u32, marks: usize): void {
  assert(isAligned<u32>(rows));
  for (let at = rows, end = rows + (<usize>n << 2); at < end; at += 4) {
    const row = load<u32>(at);
    if (row != ABSENT) store<u8>(marks + <usize>row, 1);
  }
}

export function joinValues<T>(values: usize, rows: usize, n: u32, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<T>(out));
  let to = out;
  for (let at = rows, end = rows + (<usize>n << 2); at < end; at += 4, to += sizeof<T>()) {
    const row = load<u32>(at);
    store<T>(to, row == ABSENT ? <T>0 : load<T>(values + <usize>row * sizeof<T>()));
  }
}

export function joinNulls(nulls: usize, rows: usize, n: u32, out: usize): u32 {
  assert(isAligned<u64>(nulls) && isAligned<u32>(rows) && isAligned<u64>(out));
  let found: u32 = 0;
  for (let start: u32 = 0; start < n; start += 64) {
    let bits: u64 = 0;
    const last = min<u32>(64, n - start);
    const at = rows + (<usize>start << 2);
    for (let i: u32 = 0; i < last; i++) {
      const row = load<u32>(at + (<usize>i << 2));
      const isNull: u64 = row == ABSENT ? 1 : nulls == 0 ? 0 : <u64>((load<u32>(nulls + ((<usize>row >> 5) << 2)) >> (row & 31)) & 1);
      bits |= isNull << i;
    }
    found += <u32>popcnt(bits);
    store<u64>(out + ((<usize>start >> 6) << 3), bits);
  }
  return found;
}

export function joinOffsets(offsets: usize, rows: usize, n: u32, out: usize): u32 {
  assert(isAligned<u32>(offsets) && isAligned<u32>(rows) && isAligned<u32>(out));
  let end: u32 = 0;
  store<u32>(out, 0);
  for (let i: usize = 0; i < <usize>n; i++) {
    const row = load<u32>(rows + (i << 2));
    if (row != ABSENT) end += lengthAt(offsets, row);
    store<u32>(out + (i << 2), end, 4);
  }
  return end;
}

export function joinListValues<T>(ids: usize, offsets: usize, rows: usize, n: u32, out: usize): void {
  assert(isAligned<T>(ids) && isAligned<u32>(offsets) && isAligned<u32>(rows) && isAligned<T>(out));
  let to = out;
  for (let at = rows, end = rows + (<usize>n << 2); at < end; at += 4) {
    const row = load<u32>(at);
    if (row == ABSENT) continue;
    const bytes = <usize>lengthAt(offsets, row) * sizeof<T>();
    memory.copy(to, ids + <usize>load<u32>(offsets + (<usize>row << 2)) * sizeof<T>(), bytes);
    to += bytes;
  }
}
