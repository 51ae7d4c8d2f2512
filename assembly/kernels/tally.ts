import { isAligned } from './lanes';

// Narrow keys of few groups: ids are the group numbers, counts and sums are taken in one pass. While a call lasts, a
// group's count and integer sum share a word (count in the upper 16 bits: a call has fewer than 2^16 rows, and their
// sum stays below 2^48), so a row costs one addition in memory. Neighbours of one group wait for each other there,
// which four copies avoid; with many groups neighbours differ anyway and copies only fill the cache.

@inline
const COUNT_SHIFT: u64 = 48;
@inline
const ONE: u64 = 1 << COUNT_SHIFT;
@inline
const COPIED_GROUPS_MAX: u32 = 512;

// Offsets from a pointer are given as literals: they are then part of the instruction, where adding them would be one more.

@inline
function addWord(at: usize, value: u64): void {
  store<u64>(at, load<u64>(at) + value);
}

/** The state of the group of a row. */
@inline
function stateAt<G>(id: usize, states: usize, copied: bool): usize {
  return states + (<usize>load<G>(id) << (copied ? 5 : 3));
}

/** Two words, into the states at two addresses. They stay in their vector: taking one out costs as much as adding it. */
@inline
function addTwo(first: usize, second: usize, words: v128): void {
  v128.store64_lane(first, i64x2.add(v128.load64_zero(first), words), 0);
  v128.store64_lane(second, i64x2.add(v128.load64_splat(second), words), 1);
}

/** The same in the first and second copy of the states, or in the third and fourth. */
@inline
function addFirstCopies(first: usize, second: usize, words: v128): void {
  v128.store64_lane(first, i64x2.add(v128.load64_zero(first), words), 0);
  v128.store64_lane(second, i64x2.add(v128.load64_splat(second, 8), words), 1, 8);
}
@inline
function addLastCopies(first: usize, second: usize, words: v128): void {
  v128.store64_lane(first, i64x2.add(v128.load64_zero(first, 16), words), 0, 16);
  v128.store64_lane(second, i64x2.add(v128.load64_splat(second, 24), words), 1, 24);
}

/** Words of eight rows into the states of their groups. */
@inline
function addEight<G>(ids: usize, state: usize, copied: bool, a: v128, b: v128, c: v128, d: v128): void {
  if (copied) {
    addFirstCopies(state + (<usize>load<G>(ids) << 5), state + (<usize>load<G>(ids, sizeof<G>()) << 5), a);
    addLastCopies(state + (<usize>load<G>(ids, 2 * sizeof<G>()) << 5), state + (<usize>load<G>(ids, 3 * sizeof<G>()) << 5), b);
    addFirstCopies(state + (<usize>load<G>(ids, 4 * sizeof<G>()) << 5), state + (<usize>load<G>(ids, 5 * sizeof<G>()) << 5), c);
    addLastCopies(state + (<usize>load<G>(ids, 6 * sizeof<G>()) << 5), state + (<usize>load<G>(ids, 7 * sizeof<G>()) << 5), d);
  } else {
    addTwo(state + (<usize>load<G>(ids) << 3), state + (<usize>load<G>(ids, sizeof<G>()) << 3), a);
    addTwo(state + (<usize>load<G>(ids, 2 * sizeof<G>()) << 3), state + (<usize>load<G>(ids, 3 * sizeof<G>()) << 3), b);
    addTwo(state + (<usize>load<G>(ids, 4 * sizeof<G>()) << 3), state + (<usize>load<G>(ids, 5 * sizeof<G>()) << 3), c);
    addTwo(state + (<usize>load<G>(ids, 6 * sizeof<G>()) << 3), state + (<usize>load<G>(ids, 7 * sizeof<G>()) << 3), d);
  }
}

/** The first, or the second, four of eight values, widened to u32. */
@inline
function firstFour<V>(values: usize): v128 {
  if (sizeof<V>() == 4) return v128.load(values);
  if (sizeof<V>() == 2) return v128.load_ext<u16>(values);
  return i32x4.extend_low_i16x8_u(v128.load_ext<u8>(values));
}
@inline
function lastFour<V>(values: usize): v128 {
  if (sizeof<V>() == 4) return v128.load(values, 16);
  if (sizeof<V>() == 2) return v128.load_ext<u16>(values, 8);
  return i32x4.extend_high_i16x8_u(v128.load_ext<u8>(values));
}

/** Words of 64 bits from their lower and upper halves: of the first two lanes, and of the other two. */
@inline
function lowWords(lower: v128, upper: v128): v128 {
  return v128.shuffle<u32>(lower, upper, 0, 4, 1, 5);
}
@inline
function highWords(lower: v128, upper: v128): v128 {
  return v128.shuffle<u32>(lower, upper, 2, 6, 3, 7);
}

@inline
function addWords<G, V>(ids: usize, values: usize, n: usize, scratch: usize, copied: bool, summing: bool): void {
  const end = ids + n * sizeof<G>();
  if (ASC_FEATURE_SIMD) {
    const upper = i32x4.splat(<i32>(ONE >> 32));
    const ones = i64x2.splat(ONE);
    for (; ids + 8 * sizeof<G>() <= end; ids += 8 * sizeof<G>(), values += 8 * sizeof<V>()) {
      if (summing) {
        const first = firstFour<V>(values);
        const last = lastFour<V>(values);
        addEight<G>(ids, scratch, copied, lowWords(first, upper), highWords(first, upper), lowWords(last, upper), highWords(last, upper));
      } else addEight<G>(ids, scratch, copied, ones, ones, ones, ones);
    }
  }
  const step: usize = copied ? 8 : 0;
  if (!ASC_FEATURE_SIMD) {
    for (; ids + 4 * sizeof<G>() <= end; ids += 4 * sizeof<G>(), values += 4 * sizeof<V>()) {
      addWord(stateAt<G>(ids, scratch, copied), summing ? ONE | <u64>load<V>(values) : ONE);
      addWord(stateAt<G>(ids + sizeof<G>(), scratch + step, copied), summing ? ONE | <u64>load<V>(values, sizeof<V>()) : ONE);
      addWord(stateAt<G>(ids + 2 * sizeof<G>(), scratch + 2 * step, copied), summing ? ONE | <u64>load<V>(values, 2 * sizeof<V>()) : ONE);
      addWord(stateAt<G>(ids + 3 * sizeof<G>(), scratch + 3 * step, copied), summing ? ONE | <u64>load<V>(values, 3 * sizeof<V>()) : ONE);
    }
  }
  for (; ids < end; ids += sizeof<G>(), values += sizeof<V>())
    addWord(stateAt<G>(ids, scratch, copied), summing ? ONE | <u64>load<V>(values) : ONE);
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
  if (groupCount <= COPIED_GROUPS_MAX) addWords<G, u8>(ids, 0, n, scratch, true, false);
  else addWords<G, u8>(ids, 0, n, scratch, false, false);
  emptyWords(scratch, groupCount, counts, 0);
}

export function tally<G, V>(ids: usize, values: usize, n: u32, groupCount: u32, scratch: usize, counts: usize, sums: usize): void {
  assert(isAligned<G>(ids) && isAligned<V>(values) && isAligned<u64>(scratch) && isAligned<u64>(counts) && isAligned<u64>(sums));
  if (groupCount <= COPIED_GROUPS_MAX) addWords<G, V>(ids, values, n, scratch, true, true);
  else addWords<G, V>(ids, values, n, scratch, false, true);
  emptyWords(scratch, groupCount, counts, sums);
}

// Two sums and the count in one word: the first sum in the lower 26 bits, the count in the next 12, the second sum above.
// The word that a row adds is made of two halves of 32 bits. A copy has room for 1,024 rows of at most 65,535 each, and for
// more rows when values are small; emptying the words of many groups takes as long as adding a thousand rows. So rows are
// added in steps: while all values have been below 2^14, another step fits, whatever its values. The last rows, fewer than
// eight, all go to the first copy, which is why steps are a little shorter than they could be.

@inline
const PAIR_COUNT_SHIFT: u64 = 26;
@inline
const PAIR_SECOND_SHIFT: u64 = 38;
@inline
const PAIR_ONE: u64 = 1 << PAIR_COUNT_SHIFT;
@inline
const PAIR_FIRST_MASK: u64 = PAIR_ONE - 1;
@inline
const PAIR_COUNT_MASK: u64 = (1 << (PAIR_SECOND_SHIFT - PAIR_COUNT_SHIFT)) - 1;
@inline
const LARGE: u32 = 0xc000;
/** Rows of any values that empty words take. */
@inline
const PAIR_ROWS: u32 = 4064;
/** Rows of a step that words take when they have taken fewer than `SMALL_PAIR_ROWS` of small values. */
@inline
const PAIR_STEP_ROWS: u32 = 1016;
@inline
const SMALL_PAIR_ROWS: u32 = 12192;

@inline
function pairOf(a: usize, b: usize): u64 {
  return PAIR_ONE | <u64>load<u16>(a) | (<u64>load<u16>(b) << PAIR_SECOND_SHIFT);
}

/** Whether some value was 2^14 or more. */
@inline
function addPairs<G>(ids: usize, a: usize, b: usize, n: usize, scratch: usize): bool {
  const end = ids + n * sizeof<G>();
  let bits: u32 = 0;
  if (ASC_FEATURE_SIMD) {
    const one = i32x4.splat(<i32>PAIR_ONE);
    let lower = i64x2.splat(0);
    let upper = i64x2.splat(0);
    for (; ids + 8 * sizeof<G>() <= end; ids += 8 * sizeof<G>(), a += 16, b += 16) {
      const lower0 = v128.or(firstFour<u16>(a), one);
      const upper0 = i32x4.shl(firstFour<u16>(b), <i32>(PAIR_SECOND_SHIFT - 32));
      const lower1 = v128.or(lastFour<u16>(a), one);
      const upper1 = i32x4.shl(lastFour<u16>(b), <i32>(PAIR_SECOND_SHIFT - 32));
      lower = v128.or(lower, v128.or(lower0, lower1));
      upper = v128.or(upper, v128.or(upper0, upper1));
      addEight<G>(ids, scratch, true, lowWords(lower0, upper0), highWords(lower0, upper0), lowWords(lower1, upper1), highWords(lower1, upper1));
    }
    const seen = v128.or(lower, i32x4.shr_u(upper, <i32>(PAIR_SECOND_SHIFT - 32)));
    if (v128.any_true(v128.and(seen, i32x4.splat(LARGE)))) bits = LARGE;
  } else {
    for (; ids + 4 * sizeof<G>() <= end; ids += 4 * sizeof<G>(), a += 8, b += 8) {
      bits |= load<u16>(a) | load<u16>(a, 2) | load<u16>(a, 4) | load<u16>(a, 6) | load<u16>(b) | load<u16>(b, 2) | load<u16>(b, 4) | load<u16>(b, 6);
      addWord(stateAt<G>(ids, scratch, true), pairOf(a, b));
      addWord(stateAt<G>(ids + sizeof<G>(), scratch + 8, true), pairOf(a + 2, b + 2));
      addWord(stateAt<G>(ids + 2 * sizeof<G>(), scratch + 16, true), pairOf(a + 4, b + 4));
      addWord(stateAt<G>(ids + 3 * sizeof<G>(), scratch + 24, true), pairOf(a + 6, b + 6));
    }
  }
  for (; ids < end; ids += sizeof<G>(), a += 2, b += 2) {
    bits |= load<u16>(a) | load<u16>(b);
    addWord(stateAt<G>(ids, scratch, true), pairOf(a, b));
  }
  return (bits & LARGE) != 0;
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
      count += (word >> PAIR_COUNT_SHIFT) & PAIR_COUNT_MASK;
      a += word & PAIR_FIRST_MASK;
      b += word >> PAIR_SECOND_SHIFT;
      store<u64>(at + copy, 0);
    }
    if (counts != 0) store<u64>(counts + offset, load<u64>(counts + offset) + count);
    store<u64>(sumsA + offset, load<u64>(sumsA + offset) + a);
    store<u64>(sumsB + offset, load<u64>(sumsB + offset) + b);
  }
}

/** The sum a, the sum b or the count of two words. */
@inline
function part(words: v128, nth: i32): v128 {
  if (nth == 0) return v128.and(words, i64x2.splat(PAIR_FIRST_MASK));
  if (nth == 1) return i64x2.shr_u(words, <i32>PAIR_SECOND_SHIFT);
  return v128.and(i64x2.shr_u(words, <i32>PAIR_COUNT_SHIFT), i64x2.splat(PAIR_COUNT_MASK));
}

/** Adds the lanes of `first` up into the i64 at `at`, those of `second` into the one after it. */
@inline
function addPairOf(at: usize, first: v128, second: v128): void {
  const both = i64x2.add(v128.shuffle<u64>(first, second, 0, 2), v128.shuffle<u64>(first, second, 1, 3));
  v128.store(at, i64x2.add(v128.load(at), both));
}

export function tallyPair<G>(ids: usize, a: usize, b: usize, n: u32, groupCount: u32, scratch: usize, counts: usize, sumsA: usize, sumsB: usize): void {
  assert(isAligned<G>(ids) && isAligned<u16>(a) && isAligned<u16>(b) && isAligned<u64>(scratch) && groupCount <= COPIED_GROUPS_MAX);
  assert(isAligned<u64>(counts) && isAligned<u64>(sumsA) && isAligned<u64>(sumsB));
  let isLarge = false;
  for (let from: u32 = 0, held: u32 = 0; from < n; ) {
    const rows = min<u32>(n - from, isLarge ? PAIR_ROWS : PAIR_STEP_ROWS);
    const i = <usize>from;
    isLarge = addPairs<G>(ids + i * sizeof<G>(), a + (i << 1), b + (i << 1), rows, scratch);
    from += rows;
    held += rows;
    if (!isLarge && held < SMALL_PAIR_ROWS && from < n) continue;
    emptyPairs(scratch, groupCount, counts, sumsA, sumsB);
    held = 0;
  }
}

@inline
function addFloat(at: usize, value: f64): void {
  store<f64>(at, load<f64>(at) + value);
}

@inline
function addFloats<G>(ids: usize, values: usize, n: usize, sums: usize, scratch: usize, copied: bool, counting: bool): void {
  const step: usize = copied ? 8 : 0;
  const end = ids + n * sizeof<G>();
  for (; ids + 4 * sizeof<G>() <= end; ids += 4 * sizeof<G>(), values += 32) {
    const a = <usize>load<G>(ids);
    const b = <usize>load<G>(ids, sizeof<G>());
    const c = <usize>load<G>(ids, 2 * sizeof<G>());
    const d = <usize>load<G>(ids, 3 * sizeof<G>());
    addFloat(sums + (a << 5), load<f64>(values));
    addFloat(sums + 8 + (b << 5), load<f64>(values, 8));
    addFloat(sums + 16 + (c << 5), load<f64>(values, 16));
    addFloat(sums + 24 + (d << 5), load<f64>(values, 24));
    if (!counting) continue;
    const shift: usize = copied ? 5 : 3;
    addWord(scratch + (a << shift), ONE);
    addWord(scratch + step + (b << shift), ONE);
    addWord(scratch + 2 * step + (c << shift), ONE);
    addWord(scratch + 3 * step + (d << shift), ONE);
  }
  for (let copy: usize = 0; ids < end; ids += sizeof<G>(), values += 8, copy += 8) {
    addFloat(sums + copy + (<usize>load<G>(ids) << 5), load<f64>(values));
    if (counting) addWord(stateAt<G>(ids, scratch, copied), ONE);
  }
}

export function tallyF64<G>(ids: usize, values: usize, n: u32, groupCount: u32, scratch: usize, counts: usize, sums: usize): void {
  assert(isAligned<G>(ids) && isAligned<u64>(values) && isAligned<u64>(scratch) && isAligned<u64>(counts) && isAligned<u64>(sums));
  if (counts == 0) {
    addFloats<G>(ids, values, n, sums, 0, false, false);
    return;
  }
  if (groupCount <= COPIED_GROUPS_MAX) addFloats<G>(ids, values, n, sums, scratch, true, true);
  else addFloats<G>(ids, values, n, sums, scratch, false, true);
  emptyWords(scratch, groupCount, counts, 0);
}

/** The first, or the second, eight of sixteen ids widened to u16. */
@inline
function firstEight<T>(at: usize): v128 {
  return sizeof<T>() == 2 ? v128.load(at) : v128.load_ext<u8>(at);
}
@inline
function lastEight<T>(at: usize): v128 {
  return sizeof<T>() == 2 ? v128.load(at, 16) : v128.load_ext<u8>(at, 8);
}

@inline
function narrowAll<T>(values: usize, n: usize, stride: u32, accumulate: bool, out: usize): void {
  const end = values + n * sizeof<T>();
  if (ASC_FEATURE_SIMD) {
    const strides = i16x8.splat(<i16>stride);
    for (; values + 16 * sizeof<T>() <= end; values += 16 * sizeof<T>(), out += 32) {
      const first = i16x8.mul(firstEight<T>(values), strides);
      const last = i16x8.mul(lastEight<T>(values), strides);
      v128.store(out, accumulate ? i16x8.add(first, v128.load(out)) : first);
      v128.store(out, accumulate ? i16x8.add(last, v128.load(out, 16)) : last, 16);
    }
  }
  for (; values < end; values += sizeof<T>(), out += 2) {
    let key = <u32>load<T>(values) * stride;
    if (accumulate) key += load<u16>(out);
    store<u16>(out, <u16>key);
  }
}

export function keyNarrow<T>(values: usize, n: u32, stride: u32, accumulate: u32, out: usize): void {
  assert(isAligned<T>(values) && isAligned<u16>(out));
  if (accumulate != 0) narrowAll<T>(values, n, stride, true, out);
  else narrowAll<T>(values, n, stride, false, out);
}
