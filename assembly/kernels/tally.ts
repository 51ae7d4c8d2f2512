import { isAligned } from './lanes';

// Narrow keys of few groups: ids are the group numbers, counts and sums are taken in one pass. While a call lasts, a
// group's count and integer sum share a word (count in the upper 16 bits: a call has fewer than 2^16 rows, and their
// sum stays below 2^48), so a row costs one addition in memory. Neighbours of one group wait for each other there,
// which four copies avoid; with many groups neighbours differ anyway and copies only fill the cache.

// @ts-ignore: decorator
@inline
const COUNT_SHIFT: u64 = 48;
// @ts-ignore: decorator
@inline
const ONE: u64 = 1 << COUNT_SHIFT;
// @ts-ignore: decorator
@inline
const COPIED_GROUPS_MAX: u32 = 512;

// @ts-ignore: decorator
@inline
function addWord<G>(ids: usize, i: usize, state: usize, shift: usize, value: u64): void {
  const at = state + (<usize>load<G>(ids + i * sizeof<G>()) << shift);
  store<u64>(at, load<u64>(at) + value);
}

// @ts-ignore: decorator
@inline
function one<V>(values: usize, i: usize, summing: bool): u64 {
  return summing ? ONE | <u64>load<V>(values + i * sizeof<V>()) : ONE;
}

// @ts-ignore: decorator
@inline
function addWords<G, V>(ids: usize, values: usize, n: usize, scratch: usize, shift: usize, step: usize, summing: bool): void {
  let i: usize = 0;
  for (; i + 4 <= n; i += 4) {
    addWord<G>(ids, i, scratch, shift, one<V>(values, i, summing));
    addWord<G>(ids, i + 1, scratch + step, shift, one<V>(values, i + 1, summing));
    addWord<G>(ids, i + 2, scratch + 2 * step, shift, one<V>(values, i + 2, summing));
    addWord<G>(ids, i + 3, scratch + 3 * step, shift, one<V>(values, i + 3, summing));
  }
  for (; i < n; i++) addWord<G>(ids, i, scratch, shift, one<V>(values, i, summing));
}

/** Adds the words to counts and sums (0: not wanted) and leaves zeros. */
function emptyWords(scratch: usize, groupCount: u32, counts: usize, sums: usize): void {
  const copied = groupCount <= COPIED_GROUPS_MAX;
  for (let group: usize = 0, end = <usize>groupCount; group < end; group++) {
    let word: u64;
    if (copied) {
      const at = scratch + (group << 5);
      word = load<u64>(at) + load<u64>(at, 8) + (load<u64>(at, 16) + load<u64>(at, 24));
      store<u64>(at, 0);
      store<u64>(at, 0, 8);
      store<u64>(at, 0, 16);
      store<u64>(at, 0, 24);
    } else {
      word = load<u64>(scratch + (group << 3));
      store<u64>(scratch + (group << 3), 0);
    }
    const offset = group << 3;
    if (counts != 0) store<u64>(counts + offset, load<u64>(counts + offset) + (word >> COUNT_SHIFT));
    if (sums != 0) store<u64>(sums + offset, load<u64>(sums + offset) + (word & (ONE - 1)));
  }
}

export function tallyCounts<G>(ids: usize, n: u32, groupCount: u32, scratch: usize, counts: usize): void {
  assert(isAligned<G>(ids) && isAligned<u64>(scratch) && isAligned<u64>(counts));
  if (groupCount <= COPIED_GROUPS_MAX) addWords<G, u8>(ids, 0, n, scratch, 5, 8, false);
  else addWords<G, u8>(ids, 0, n, scratch, 3, 0, false);
  emptyWords(scratch, groupCount, counts, 0);
}

export function tally<G, V>(ids: usize, values: usize, n: u32, groupCount: u32, scratch: usize, counts: usize, sums: usize): void {
  assert(isAligned<G>(ids) && isAligned<V>(values) && isAligned<u64>(scratch) && isAligned<u64>(counts) && isAligned<u64>(sums));
  if (groupCount <= COPIED_GROUPS_MAX) addWords<G, V>(ids, values, n, scratch, 5, 8, true);
  else addWords<G, V>(ids, values, n, scratch, 3, 0, true);
  emptyWords(scratch, groupCount, counts, sums);
}

// Two sums and the count in one word: 26 bits each, 12 above. A copy then takes 1,024 rows, 65,535 at most each.

// @ts-ignore: decorator
@inline
const PAIR_SHIFT: u64 = 26;
// @ts-ignore: decorator
@inline
const PAIR_ONE: u64 = 1 << (2 * PAIR_SHIFT);
// @ts-ignore: decorator
@inline
const PAIR_ROWS: u32 = 4096;

// @ts-ignore: decorator
@inline
function addPair<G>(ids: usize, a: usize, b: usize, i: usize, state: usize): void {
  const value = PAIR_ONE | <u64>load<u16>(a + (i << 1)) | (<u64>load<u16>(b + (i << 1)) << PAIR_SHIFT);
  addWord<G>(ids, i, state, 5, value);
}

function emptyPairs(scratch: usize, groupCount: u32, counts: usize, sumsA: usize, sumsB: usize): void {
  let at = scratch;
  let offset: usize = 0;
  const end = scratch + (<usize>groupCount << 5);
  if (ASC_FEATURE_SIMD) {
    // Two groups at a time; their copies meet when lanes are added up.
    for (; at + 64 <= end; at += 64, offset += 16) {
      const a0 = v128.load(at);
      const a1 = v128.load(at, 16);
      const b0 = v128.load(at, 32);
      const b1 = v128.load(at, 48);
      const zeros = i64x2.splat(0);
      v128.store(at, zeros);
      v128.store(at, zeros, 16);
      v128.store(at, zeros, 32);
      v128.store(at, zeros, 48);
      if (counts != 0) addPairOf(counts + offset, i64x2.add(part(a0, 2), part(a1, 2)), i64x2.add(part(b0, 2), part(b1, 2)));
      addPairOf(sumsA + offset, i64x2.add(part(a0, 0), part(a1, 0)), i64x2.add(part(b0, 0), part(b1, 0)));
      addPairOf(sumsB + offset, i64x2.add(part(a0, 1), part(a1, 1)), i64x2.add(part(b0, 1), part(b1, 1)));
    }
  }
  for (; at < end; at += 32, offset += 8) {
    let count: u64 = 0;
    let a: u64 = 0;
    let b: u64 = 0;
    for (let copy: usize = 0; copy < 32; copy += 8) {
      const word = load<u64>(at + copy);
      count += word >> (2 * PAIR_SHIFT);
      a += word & ((1 << PAIR_SHIFT) - 1);
      b += (word >> PAIR_SHIFT) & ((1 << PAIR_SHIFT) - 1);
      store<u64>(at + copy, 0);
    }
    if (counts != 0) store<u64>(counts + offset, load<u64>(counts + offset) + count);
    store<u64>(sumsA + offset, load<u64>(sumsA + offset) + a);
    store<u64>(sumsB + offset, load<u64>(sumsB + offset) + b);
  }
}

/** The sum a, the sum b or the count of two words. */
// @ts-ignore: decorator
@inline
function part(words: v128, nth: i32): v128 {
  const below = i64x2.splat((1 << PAIR_SHIFT) - 1);
  if (nth == 0) return v128.and(words, below);
  if (nth == 1) return v128.and(i64x2.shr_u(words, <i32>PAIR_SHIFT), below);
  return i64x2.shr_u(words, <i32>(2 * PAIR_SHIFT));
}

/** Adds the lanes of `first` up into the i64 at `at`, those of `second` into the one after it. */
// @ts-ignore: decorator
@inline
function addPairOf(at: usize, first: v128, second: v128): void {
  const both = i64x2.add(v128.shuffle<u64>(first, second, 0, 2), v128.shuffle<u64>(first, second, 1, 3));
  v128.store(at, i64x2.add(v128.load(at), both));
}

export function tallyPair<G>(ids: usize, a: usize, b: usize, n: u32, groupCount: u32, scratch: usize, counts: usize, sumsA: usize, sumsB: usize): void {
  assert(isAligned<G>(ids) && isAligned<u16>(a) && isAligned<u16>(b) && isAligned<u64>(scratch) && groupCount <= COPIED_GROUPS_MAX);
  assert(isAligned<u64>(counts) && isAligned<u64>(sumsA) && isAligned<u64>(sumsB));
  for (let from: u32 = 0; from < n; from += PAIR_ROWS) {
    const to = <usize>min<u32>(n, from + PAIR_ROWS);
    let i = <usize>from;
    for (; i + 4 <= to; i += 4) {
      addPair<G>(ids, a, b, i, scratch);
      addPair<G>(ids, a, b, i + 1, scratch + 8);
      addPair<G>(ids, a, b, i + 2, scratch + 16);
      addPair<G>(ids, a, b, i + 3, scratch + 24);
    }
    for (; i < to; i++) addPair<G>(ids, a, b, i, scratch);
    emptyPairs(scratch, groupCount, counts, sumsA, sumsB);
  }
}

// @ts-ignore: decorator
@inline
function addFloat<G>(ids: usize, values: usize, i: usize, sums: usize, scratch: usize, shift: usize, counting: bool): void {
  const id = <usize>load<G>(ids + i * sizeof<G>());
  const sum = sums + (id << 5);
  store<f64>(sum, load<f64>(sum) + load<f64>(values + (i << 3)));
  if (!counting) return;
  const word = scratch + (id << shift);
  store<u64>(word, load<u64>(word) + ONE);
}

// @ts-ignore: decorator
@inline
function addFloats<G>(ids: usize, values: usize, n: usize, sums: usize, scratch: usize, shift: usize, step: usize, counting: bool): void {
  let i: usize = 0;
  for (; i + 4 <= n; i += 4) {
    addFloat<G>(ids, values, i, sums, scratch, shift, counting);
    addFloat<G>(ids, values, i + 1, sums + 8, scratch + step, shift, counting);
    addFloat<G>(ids, values, i + 2, sums + 16, scratch + 2 * step, shift, counting);
    addFloat<G>(ids, values, i + 3, sums + 24, scratch + 3 * step, shift, counting);
  }
  for (; i < n; i++) addFloat<G>(ids, values, i, sums + ((i & 3) << 3), scratch, shift, counting);
}

export function tallyF64<G>(ids: usize, values: usize, n: u32, groupCount: u32, scratch: usize, counts: usize, sums: usize): void {
  assert(isAligned<G>(ids) && isAligned<u64>(values) && isAligned<u64>(scratch) && isAligned<u64>(counts) && isAligned<u64>(sums));
  if (counts == 0) {
    addFloats<G>(ids, values, n, sums, 0, 0, 0, false);
    return;
  }
  if (groupCount <= COPIED_GROUPS_MAX) addFloats<G>(ids, values, n, sums, scratch, 5, 8, true);
  else addFloats<G>(ids, values, n, sums, scratch, 3, 0, true);
  emptyWords(scratch, groupCount, counts, 0);
}

/** Eight ids widened to u16. */
// @ts-ignore: decorator
@inline
function eight<T>(at: usize): v128 {
  return sizeof<T>() == 2 ? v128.load(at) : i16x8.extend_low_i8x16_u(v128.load64_zero(at));
}

// @ts-ignore: decorator
@inline
function narrowAll<T>(values: usize, end: usize, stride: u32, accumulate: bool, out: usize): void {
  let i: usize = 0;
  if (ASC_FEATURE_SIMD) {
    const strides = i16x8.splat(<i16>stride);
    for (; i + 8 <= end; i += 8) {
      let key = i16x8.mul(eight<T>(values + i * sizeof<T>()), strides);
      if (accumulate) key = i16x8.add(key, v128.load(out + (i << 1)));
      v128.store(out + (i << 1), key);
    }
  }
  for (; i < end; i++) {
    let key = <u32>load<T>(values + i * sizeof<T>()) * stride;
    if (accumulate) key += load<u16>(out + (i << 1));
    store<u16>(out + (i << 1), <u16>key);
  }
}

export function keyNarrow<T>(values: usize, n: u32, stride: u32, accumulate: u32, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u16>(out));
  if (accumulate != 0) narrowAll<T>(values, n, stride, true, out);
  else narrowAll<T>(values, n, stride, false, out);
}
