import { isAligned } from './lanes';

// Group indices from key columns: dense composite ids, or packed keys of whole words found in a hash table.

@inline
function rowAt(rows: usize, i: usize): usize {
  return rows == 0 ? i : <usize>load<u32>(rows + (i << 2));
}

/** The first, or the second, four of eight ids widened to u32. */
@inline
function firstFour<T>(at: usize): v128 {
  if (sizeof<T>() == 4) return v128.load(at);
  if (sizeof<T>() == 2) return v128.load_ext<u16>(at);
  return i32x4.extend_low_i16x8_u(v128.load_ext<u8>(at));
}
@inline
function lastFour<T>(at: usize): v128 {
  if (sizeof<T>() == 4) return v128.load(at, 16);
  if (sizeof<T>() == 2) return v128.load_ext<u16>(at, 8);
  return i32x4.extend_high_i16x8_u(v128.load_ext<u8>(at));
}

@inline
function denseAll<T>(values: usize, rows: usize, n: usize, stride: u32, accumulate: bool, out: usize): void {
  const end = out + (n << 2);
  if (ASC_FEATURE_SIMD && rows == 0) {
    const strides = i32x4.splat(stride);
    for (; out + 32 <= end; out += 32, values += 8 * sizeof<T>()) {
      const first = i32x4.mul(firstFour<T>(values), strides);
      const last = i32x4.mul(lastFour<T>(values), strides);
      v128.store(out, accumulate ? i32x4.add(first, v128.load(out)) : first);
      v128.store(out, accumulate ? i32x4.add(last, v128.load(out, 16)) : last, 16);
    }
  }
  for (; out < end; out += 4) {
    let key = <u32>load<T>(rows == 0 ? values : values + <usize>load<u32>(rows) * sizeof<T>()) * stride;
    if (accumulate) key += load<u32>(out);
    store<u32>(out, key);
    if (rows == 0) values += sizeof<T>();
    else rows += 4;
  }
}

export function keyDense<T>(values: usize, rows: usize, n: u32, stride: u32, accumulate: u32, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<u32>(out));
  if (rows == 0) {
    if (accumulate != 0) denseAll<T>(values, 0, n, stride, true, out);
    else denseAll<T>(values, 0, n, stride, false, out);
  } else {
    if (accumulate != 0) denseAll<T>(values, rows, n, stride, true, out);
    else denseAll<T>(values, rows, n, stride, false, out);
  }
}

@inline
function wordAll<T>(values: usize, rows: usize, n: usize, step: usize, shift: u32, assign: bool, out: usize): void {
  let at = out;
  for (let i: usize = 0; i < n; i++, at += step) {
    let word = <u64>load<T>(values + rowAt(rows, i) * sizeof<T>()) << shift;
    if (!assign) word |= load<u64>(at);
    store<u64>(at, word);
  }
}

export function keyWord<T>(values: usize, rows: usize, n: u32, words: u32, word: u32, shift: u32, assign: u32, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<u64>(out) && word < words && shift < 64);
  const first = out + (<usize>word << 3);
  const step = <usize>words << 3;
  if (rows == 0) {
    if (assign != 0) wordAll<T>(values, 0, n, step, shift, true, first);
    else wordAll<T>(values, 0, n, step, shift, false, first);
  } else {
    if (assign != 0) wordAll<T>(values, rows, n, step, shift, true, first);
    else wordAll<T>(values, rows, n, step, shift, false, first);
  }
}

export function keyWordFloat<T>(values: usize, rows: usize, n: u32, words: u32, word: u32, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u32>(rows) && isAligned<u64>(out) && word < words);
  let at = out + (<usize>word << 3);
  for (let i: usize = 0, end = <usize>n; i < end; i++, at += <usize>words << 3) {
    const value = <f64>load<T>(values + rowAt(rows, i) * sizeof<T>()) + 0.0; // -0 becomes +0
    store<u64>(at, value == value ? reinterpret<u64>(value) : 0x7ff8000000000000);
  }
}

export function keyNulls(nulls: usize, rows: usize, n: u32, words: u32, word: u32, flagWord: u32, shift: u32, out: usize): void {
  assert(isAligned<u64>(nulls) && isAligned<u32>(rows) && isAligned<u64>(out) && word < words && flagWord < words && shift < 64);
  let at = out;
  for (let i: usize = 0, end = <usize>n; i < end; i++, at += <usize>words << 3) {
    const row = rowAt(rows, i);
    if (((load<u32>(nulls + ((row >> 5) << 2)) >> <u32>(row & 31)) & 1) == 0) continue;
    store<u64>(at + (<usize>word << 3), 0);
    const flag = at + (<usize>flagWord << 3);
    store<u64>(flag, load<u64>(flag) | (<u64>1 << shift));
  }
}

/** The first run at or after `run` that ends past `row`. */
@inline
function runPast(run: usize, last: usize, row: u32): usize {
  while (run < last && load<u32>(run, 8) <= row) run += 12;
  return run;
}

/** out[i] += key for i in [start, end). */
function addToAll(key: u32, start: u32, end: u32, out: usize): void {
  let at = out + (<usize>start << 2);
  const stop = out + (<usize>end << 2);
  if (ASC_FEATURE_SIMD) {
    const keys = i32x4.splat(key);
    for (; at + 16 <= stop; at += 16) v128.store(at, i32x4.add(v128.load(at), keys));
  }
  for (; at < stop; at += 4) store<u32>(at, load<u32>(at) + key);
}

export function keyRuns(runs: usize, runCount: u32, rows: usize, n: u32, stride: u32, accumulate: u32, out: usize): void {
  assert(isAligned<u32>(runs) && isAligned<u32>(rows) && isAligned<u32>(out));
  if (accumulate == 0) memory.fill(out, 0, <usize>n << 2);
  const last = runs + <usize>runCount * 12;
  let run = runs;
  if (rows == 0) {
    for (; run < last; run += 12) addToAll(load<u32>(run) * stride, load<u32>(run, 4), min<u32>(load<u32>(run, 8), n), out);
    return;
  }
  for (let i: usize = 0, end = <usize>n; i < end; i++) {
    const row = <u32>rowAt(rows, i);
    run = runPast(run, last, row);
    if (run >= last) return;
    if (load<u32>(run, 4) > row) continue;
    store<u32>(out + (i << 2), load<u32>(out + (i << 2)) + load<u32>(run) * stride);
  }
}

export function keyWordRuns(runs: usize, runCount: u32, rows: usize, n: u32, words: u32, word: u32, shift: u32, assign: u32, out: usize): void {
  assert(isAligned<u32>(runs) && isAligned<u32>(rows) && isAligned<u64>(out) && word < words && shift < 64);
  const last = runs + <usize>runCount * 12;
  let run = runs;
  let at = out + (<usize>word << 3);
  for (let i: usize = 0, end = <usize>n; i < end; i++, at += <usize>words << 3) {
    const row = <u32>rowAt(rows, i);
    run = runPast(run, last, row);
    let key: u64 = assign != 0 ? 0 : load<u64>(at);
    if (run < last && load<u32>(run, 4) <= row) key |= <u64>load<u32>(run) << shift;
    store<u64>(at, key);
  }
}

export function expand<T>(
  ids: usize, offsets: usize, rows: usize, n: u32, nullId: u32, outRows: usize, outPositions: usize, outIds: usize, capacity: u32,
): i32 {
  assert(isAligned<T>(ids) && isAligned<u32>(offsets) && isAligned<u32>(rows));
  assert(isAligned<u32>(outRows) && isAligned<u32>(outPositions) && isAligned<u32>(outIds));
  const limit = <usize>capacity << 2;
  let to: usize = 0;
  for (let i: usize = 0, end = <usize>n; i < end; i++) {
    const row = rowAt(rows, i);
    const first = load<u32>(offsets + (row << 2));
    const count = load<u32>(offsets + (row << 2), 4) - first;
    if (to + (<usize>max<u32>(count, 1) << 2) > limit) return -1;
    if (count == 0) {
      store<u32>(outRows + to, <u32>row);
      store<u32>(outPositions + to, <u32>i);
      store<u32>(outIds + to, nullId);
      to += 4;
    }
    for (let value: u32 = 0; value < count; value++, to += 4) {
      store<u32>(outRows + to, <u32>row);
      store<u32>(outPositions + to, <u32>i);
      store<u32>(outIds + to, <u32>load<T>(ids + <usize>(first + value) * sizeof<T>()));
    }
  }
  return <i32>(to >> 2);
}

export function gather<T>(source: usize, index: usize, n: u32, out: usize): void {
  assert(isAligned<T>(source) && isAligned<u32>(index) && isAligned<T>(out));
  for (let i: usize = 0, end = <usize>n; i < end; i++) {
    store<T>(out + i * sizeof<T>(), load<T>(source + <usize>load<u32>(index + (i << 2)) * sizeof<T>()));
  }
}

/** The same in every set (32-bit steps suit JavaScript too), so that a table made by one can be continued by another. */
@inline
function hashWord(hash: u32, word: u64): u32 {
  hash = (hash ^ <u32>word) * 0x9e3779b1;
  hash ^= hash >> 15;
  hash = (hash ^ <u32>(word >> 32)) * 0x85ebca6b;
  return hash ^ (hash >> 13);
}

@inline
function hashEnd(hash: u32): u32 {
  hash *= 0xc2b2ae35;
  return hash ^ (hash >> 16);
}

@inline
function hashOf(words: u32, key: usize): u32 {
  let hash = hashWord(0, load<u64>(key));
  for (let word: u32 = 1; word < words; word++) hash = hashWord(hash, load<u64>(key + (<usize>word << 3)));
  return hashEnd(hash);
}

@inline
export function isSameKey(words: u32, a: usize, b: usize): bool {
  for (let word: u32 = 0; word < words; word++) {
    if (load<u64>(a + (<usize>word << 3)) != load<u64>(b + (<usize>word << 3))) return false;
  }
  return true;
}

/** Keys whose slots are worked out ahead, into `out`, so that the loop of look-ups waits for memory only. */
@inline
export const AHEAD: u32 = 1024;

@inline
export function findSlots(words: u32, input: usize, n: u32, mask: u32, out: usize): void {
  let key = input;
  for (let to = out, end = out + (<usize>n << 2); to < end; to += 4, key += <usize>words << 3) store<u32>(to, hashOf(words, key) & mask);
}

/** Slots above which a table is larger than the cache that is close: what a key needs of it is touched before it is looked up. */
@inline
const SLOTS_CLOSE: u32 = 1 << 18;

/**
 * Sum of a word of each key that slots lead to, which brings slots and keys into the cache side by side: the loop of look-ups, whose
 * branches cannot be foreseen, waits for one after the other.
 */
@inline
function touchKeys(found: usize, end: usize, slots: usize, keys: usize, bytes: usize): u64 {
  let sum: u64 = 0;
  for (let at = found; at < end; at += 4) {
    const entry = load<u32>(slots + (<usize>load<u32>(at) << 2));
    sum += load<u64>(keys + <usize>(entry - <u32>(entry != 0)) * bytes);
  }
  return sum;
}

/** Keys that are touched together. */
@inline
const TOUCHED: usize = 64;

@inline
function hashAll(words: u32, input: usize, n: u32, slots: usize, capacity: u32, keys: usize, groupCount: u32, out: usize): u32 {
  const mask = capacity - 1;
  const bytes = <usize>words << 3;
  let key = input;
  let to = out;
  for (let left = n; left > 0; ) {
    const count = min<u32>(left, AHEAD);
    left -= count;
    findSlots(words, key, count, mask, to);
    for (const last = to + (<usize>count << 2); to < last; ) {
      const end = capacity > SLOTS_CLOSE ? min(last, to + (TOUCHED << 2)) : last;
      // There is room for another key, where the sum is kept.
      if (capacity > SLOTS_CLOSE) store<u64>(keys + <usize>groupCount * bytes, touchKeys(to, end, slots, keys, bytes));
      for (; to < end; to += 4, key += bytes) {
        let slot = load<u32>(to);
        let entry = load<u32>(slots + (<usize>slot << 2));
        while (entry != 0 && !isSameKey(words, keys + <usize>(entry - 1) * bytes, key)) {
          slot = (slot + 1) & mask;
          entry = load<u32>(slots + (<usize>slot << 2));
        }
        if (entry == 0) {
          const added = keys + <usize>groupCount * bytes;
          for (let at: usize = 0; at < bytes; at += 8) store<u64>(added + at, load<u64>(key + at));
          entry = ++groupCount;
          store<u32>(slots + (<usize>slot << 2), entry);
        }
        store<u32>(to, entry - 1);
      }
    }
  }
  return groupCount;
}

export function hashKeys(input: usize, n: u32, words: u32, slots: usize, capacity: u32, keys: usize, groupCount: u32, out: usize): u32 {
  assert(isAligned<u64>(input) && isAligned<u32>(slots) && isAligned<u64>(keys) && isAligned<u32>(out));
  assert(words > 0 && popcnt(capacity) == 1 && (<u64>groupCount + n) * 2 <= capacity);
  if (words == 1) return hashAll(1, input, n, slots, capacity, keys, groupCount, out);
  if (words == 2) return hashAll(2, input, n, slots, capacity, keys, groupCount, out);
  return hashAll(words, input, n, slots, capacity, keys, groupCount, out);
}

export function rehash(keys: usize, groupCount: u32, words: u32, slots: usize, capacity: u32): void {
  assert(isAligned<u64>(keys) && isAligned<u32>(slots) && words > 0 && popcnt(capacity) == 1 && groupCount < capacity);
  const mask = capacity - 1;
  for (let group: u32 = 0; group < groupCount; group++) {
    let slot = hashOf(words, keys + ((<usize>group * words) << 3)) & mask;
    while (load<u32>(slots + (<usize>slot << 2)) != 0) slot = (slot + 1) & mask;
    store<u32>(slots + (<usize>slot << 2), group + 1);
  }
}

export function numberKeys(input: usize, n: u32, shift: u32, places: usize, keys: usize, groupCount: u32, out: usize): u32 {
  assert(isAligned<u64>(input) && isAligned<u32>(places) && isAligned<u64>(keys) && isAligned<u32>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const key = load<u64>(input + (i << 3));
    const place = places + (<usize>(key >> shift) << 2);
    let number = load<u32>(place);
    if (number == 0) {
      store<u64>(keys + (<usize>groupCount << 3), key);
      number = ++groupCount;
      store<u32>(place, number);
    }
    store<u32>(out + (i << 2), number - 1);
  }
  return groupCount;
}

@inline
function divideAll(words: u32, input: usize, n: u32, bits: u32, keys: usize, groupCount: u32, starts: usize, out: usize): void {
  const bytes = <usize>words << 3;
  const end = out + (<usize>n << 2);
  const last = starts + (<usize>4 << bits);
  memory.fill(starts, 0, last - starts);
  let key = input;
  // The part of each key stands where its number will.
  for (let to = out; to < end; to += 4, key += bytes) {
    const part = hashOf(words, key) >> (32 - bits);
    store<u32>(to, part);
    const count = starts + (<usize>part << 2);
    store<u32>(count, load<u32>(count) + 1);
  }
  let place = groupCount;
  for (let at = starts; at < last; at += 4) {
    const count = load<u32>(at);
    store<u32>(at, place);
    place += count;
  }
  key = input;
  for (let to = out; to < end; to += 4, key += bytes) {
    const next = starts + (<usize>load<u32>(to) << 2);
    const number = load<u32>(next);
    store<u32>(next, number + 1);
    store<u32>(to, number);
    const added = keys + <usize>number * bytes;
    for (let at: usize = 0; at < bytes; at += 8) store<u64>(added + at, load<u64>(key + at));
  }
  // Each start has become the end of its part, which is the start of the next one.
  memory.copy(starts + 4, starts, last - starts);
  store<u32>(starts, groupCount);
}

export function divideKeys(input: usize, n: u32, words: u32, bits: u32, keys: usize, groupCount: u32, starts: usize, out: usize): void {
  assert(isAligned<u64>(input) && isAligned<u64>(keys) && isAligned<u32>(starts) && isAligned<u32>(out) && words > 0 && bits > 0 && bits <= 12);
  if (words == 1) divideAll(1, input, n, bits, keys, groupCount, starts, out);
  else if (words == 2) divideAll(2, input, n, bits, keys, groupCount, starts, out);
  else divideAll(words, input, n, bits, keys, groupCount, starts, out);
}

export function listRanges(ranges: usize, count: u32, stride: u32, out: usize): u32 {
  assert(isAligned<u32>(ranges) && isAligned<u32>(out));
  let to = out;
  for (let i: u32 = 0; i < count; i++, ranges += <usize>stride << 2) {
    for (let number = load<u32>(ranges), end = load<u32>(ranges, 4); number < end; number++, to += 4) store<u32>(to, number);
  }
  return <u32>((to - out) >> 2);
}
