import { bitsWithin, isAligned, lanesOf, sharing, spreadOf } from './lanes';

// Runs {u32 group, u32 start, u32 end}; a mask of 0 selects every row. Masked loops go word by word: an empty word is
// skipped, a sparse one walked bit by bit, any other summed whole with its lanes masked.

@inline
export const RUN_BYTES: usize = 12;

@inline
export function maskWord(mask: usize, word: u32, start: u32, end: u32): u64 {
  return bitsWithin(load<u64>(mask + (<usize>word << 3)), word, start, end);
}

export function countRuns(mask: usize, runs: usize, runCount: u32, state: usize): void {
  assert(isAligned<u64>(mask) && isAligned<u32>(runs) && isAligned<u64>(state));
  const last = runs + <usize>runCount * RUN_BYTES;
  for (let run = runs; run < last; run += RUN_BYTES) {
    const start = load<u32>(run, 4);
    const end = load<u32>(run, 8);
    if (start >= end) continue;
    let count: u64 = end - start;
    if (mask != 0) {
      count = 0;
      const lastWord = (end - 1) >> 6;
      for (let word = start >> 6; word <= lastWord; word++) count += popcnt<u64>(maskWord(mask, word, start, end));
    }
    const at = state + (<usize>load<u32>(run) << 3);
    store<u64>(at, load<u64>(at) + count);
  }
}

export function presentRuns(mask: usize, runs: usize, runCount: u32, state: usize): void {
  assert(isAligned<u64>(mask) && isAligned<u32>(runs));
  const last = runs + <usize>runCount * RUN_BYTES;
  for (let run = runs; run < last; run += RUN_BYTES) {
    const start = load<u32>(run, 4);
    const end = load<u32>(run, 8);
    if (start >= end) continue;
    let any: u64 = 1;
    if (mask != 0) {
      any = 0;
      const lastWord = (end - 1) >> 6;
      for (let word = start >> 6; word <= lastWord && any == 0; word++) any |= maskWord(mask, word, start, end);
    }
    if (any != 0) store<u8>(state + load<u32>(run), 1);
  }
}

// ── Integer sums: exact in any order ─────────────────────────────────────────────────────────────────────────────

@inline
const BIAS: u64 = 32768;

/** Adds the lanes of `v` to sums of 64 bits (u32, i64) or 32 bits (u8, u16). */
@inline
function addLanes<T>(sums: v128, v: v128): v128 {
  // A pair of bytes fits a signed i16, so the dot product (one instruction) adds pairs of pairs.
  if (sizeof<T>() == 1) return i32x4.add(sums, i32x4.dot_i16x8_s(i16x8.extadd_pairwise_i8x16_u(v), i16x8.splat(1)));
  // Dot products are signed: each u16 counts BIAS too little.
  if (sizeof<T>() == 2) return i32x4.add(sums, i32x4.dot_i16x8_s(v128.xor(v, i16x8.splat(-32768)), i16x8.splat(1)));
  if (sizeof<T>() == 4) return i64x2.add(sums, i64x2.add(v128.and(v, i64x2.splat(0xffffffff)), i64x2.shr_u(v, 32)));
  return i64x2.add(sums, v);
}

@inline
function totalOf<T>(sums: v128): u64 {
  if (sizeof<T>() >= 4) return i64x2.extract_lane(sums, 0) + i64x2.extract_lane(sums, 1);
  return (
    <i64>i32x4.extract_lane(sums, 0) +
    <i64>i32x4.extract_lane(sums, 1) +
    <i64>i32x4.extract_lane(sums, 2) +
    <i64>i32x4.extract_lane(sums, 3)
  );
}

/** Rows that four vectors of signed 32-bit lanes can sum: a lane grows by 2^16 a step, in 2^12 steps. */
@inline
const LANE_ROWS: usize = 131072;

function sumAll<T>(values: usize, start: u32, end: u32): u64 {
  const size = sizeof<T>();
  let at = values + <usize>start * size;
  const last = values + <usize>end * size;
  let total: u64 = 0;
  if (ASC_FEATURE_SIMD) {
    // Four quarters at once: the processor fetches ahead within a page, so four pages come four times as early.
    while (at + 64 <= last) {
      const quarter = (min<usize>(last - at, LANE_ROWS * size) >> 2) & ~15;
      const stop = at + quarter;
      let s0 = i64x2.splat(0);
      let s1 = i64x2.splat(0);
      let s2 = i64x2.splat(0);
      let s3 = i64x2.splat(0);
      let at1 = at + quarter;
      let at2 = at1 + quarter;
      let at3 = at2 + quarter;
      do {
        s0 = addLanes<T>(s0, v128.load(at));
        s1 = addLanes<T>(s1, v128.load(at1));
        s2 = addLanes<T>(s2, v128.load(at2));
        s3 = addLanes<T>(s3, v128.load(at3));
        at += 16;
        at1 += 16;
        at2 += 16;
        at3 += 16;
      } while (at < stop);
      at = at3;
      if (sizeof<T>() == 2) total += (<u64>quarter << 1) * BIAS;
      total += totalOf<T>(s0) + totalOf<T>(s1) + totalOf<T>(s2) + totalOf<T>(s3);
    }
  } else {
    let second: u64 = 0;
    for (; at + 4 * size <= last; at += 4 * size) {
      total += <u64>load<T>(at) + <u64>load<T>(at, sizeof<T>());
      second += <u64>load<T>(at, 2 * sizeof<T>()) + <u64>load<T>(at, 3 * sizeof<T>());
    }
    total += second;
  }
  for (; at < last; at += size) total += <u64>load<T>(at);
  return total;
}

/** Up to how many set bits of a word are cheaper walked than masked. */
@inline
function walkLimit<T>(): u64 {
  if (!ASC_FEATURE_SIMD) return 64;
  return sizeof<T>() == 1 ? 4 : sizeof<T>() == 2 ? 8 : 28;
}

function sumMasked<T>(values: usize, mask: usize, start: u32, end: u32): u64 {
  let total: u64 = 0;
  let sums = ASC_FEATURE_SIMD ? i64x2.splat(0) : 0;
  const lastWord = (end - 1) >> 6;
  for (let word = start >> 6; word <= lastWord; word++) {
    if (ASC_FEATURE_SIMD && sizeof<T>() <= 2 && (word & 1023) == 0) {
      total += totalOf<T>(sums);
      sums = i64x2.splat(0);
    }
    let bits = maskWord(mask, word, start, end);
    if (bits == 0) continue;
    const first = values + ((<usize>word << 6) * sizeof<T>());
    if (popcnt<u64>(bits) <= walkLimit<T>()) {
      for (; bits != 0; bits &= bits - 1) total += <u64>load<T>(first + <usize>ctz<u64>(bits) * sizeof<T>());
      continue;
    }
    if (ASC_FEATURE_SIMD) {
      const end64 = first + 64 * sizeof<T>();
      let at = first;
      do {
        const spread = spreadOf<T>(bits);
        sums = addLanes<T>(sums, v128.and(v128.load(at), lanesOf<T>(spread, 0)));
        if (sharing<T>() >= 2) sums = addLanes<T>(sums, v128.and(v128.load(at, 16), lanesOf<T>(spread, 1)));
        if (sharing<T>() == 4) {
          sums = addLanes<T>(sums, v128.and(v128.load(at, 32), lanesOf<T>(spread, 2)));
          sums = addLanes<T>(sums, v128.and(v128.load(at, 48), lanesOf<T>(spread, 3)));
        }
        bits >>= (16 / sizeof<T>()) * sharing<T>();
        at += 16 * sharing<T>();
      } while (at < end64);
      if (sizeof<T>() == 2) total += 64 * BIAS;
    }
  }
  if (ASC_FEATURE_SIMD) total += totalOf<T>(sums);
  return total;
}

export function sumRuns<T>(values: usize, mask: usize, runs: usize, runCount: u32, state: usize): void {
  assert(isAligned<T>(values) && isAligned<u64>(mask) && isAligned<u32>(runs) && isAligned<u64>(state));
  const last = runs + <usize>runCount * RUN_BYTES;
  for (let run = runs; run < last; run += RUN_BYTES) {
    const start = load<u32>(run, 4);
    const end = load<u32>(run, 8);
    if (start >= end) continue;
    const at = state + (<usize>load<u32>(run) << 3);
    store<u64>(at, load<u64>(at) + (mask == 0 ? sumAll<T>(values, start, end) : sumMasked<T>(values, mask, start, end)));
  }
}

// ── Minimum and maximum ──────────────────────────────────────────────────────────────────────────────────────────

/** The better of the two; where `b` is NaN it is `a`, which never is. */
@inline
function better<T>(wantMin: bool, a: T, b: T): T {
  return select<T>(b, a, wantMin ? b < a : b > a);
}

@inline
function betterLanes<T>(wantMin: bool, a: v128, b: v128): v128 {
  if (isFloat<T>()) return wantMin ? v128.pmin<T>(a, b) : v128.pmax<T>(a, b);
  if (sizeof<T>() == 8) return v128.bitselect(b, a, wantMin ? i64x2.gt_s(a, b) : i64x2.gt_s(b, a));
  return wantMin ? v128.min<T>(a, b) : v128.max<T>(a, b);
}

@inline
function worst<T>(wantMin: bool): T {
  if (isFloat<T>()) return <T>(wantMin ? Infinity : -Infinity);
  if (isSigned<T>()) return <T>(wantMin ? i64.MAX_VALUE : i64.MIN_VALUE);
  return <T>(wantMin ? -1 : 0);
}

@inline
function bestLane<T>(wantMin: bool, lanes: v128): T {
  lanes = betterLanes<T>(wantMin, lanes, v128.shuffle<u64>(lanes, lanes, 1, 0));
  if (sizeof<T>() <= 4) lanes = betterLanes<T>(wantMin, lanes, v128.shuffle<u32>(lanes, lanes, 1, 0, 3, 2));
  if (sizeof<T>() <= 2) lanes = betterLanes<T>(wantMin, lanes, v128.shuffle<u16>(lanes, lanes, 1, 0, 3, 2, 5, 4, 7, 6));
  if (sizeof<T>() == 1) {
    lanes = betterLanes<T>(wantMin, lanes, v128.shuffle<u8>(lanes, lanes, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
  }
  return v128.extract_lane<T>(lanes, 0);
}

@inline
function bestAll<T>(wantMin: bool, values: usize, start: u32, end: u32): T {
  let best = worst<T>(wantMin);
  let at = values + <usize>start * sizeof<T>();
  const last = values + <usize>end * sizeof<T>();
  if (ASC_FEATURE_SIMD) {
    if (at + 64 <= last) {
      const quarter = ((last - at) >> 2) & ~15; // as in sumAll
      const stop = at + quarter;
      let a = v128.splat<T>(best);
      let b = a;
      let c = a;
      let d = a;
      let at1 = at + quarter;
      let at2 = at1 + quarter;
      let at3 = at2 + quarter;
      do {
        a = betterLanes<T>(wantMin, a, v128.load(at));
        b = betterLanes<T>(wantMin, b, v128.load(at1));
        c = betterLanes<T>(wantMin, c, v128.load(at2));
        d = betterLanes<T>(wantMin, d, v128.load(at3));
        at += 16;
        at1 += 16;
        at2 += 16;
        at3 += 16;
      } while (at < stop);
      at = at3;
      a = betterLanes<T>(wantMin, betterLanes<T>(wantMin, a, b), betterLanes<T>(wantMin, c, d));
      best = bestLane<T>(wantMin, a);
    }
  }
  for (; at < last; at += sizeof<T>()) best = better<T>(wantMin, best, load<T>(at));
  return best;
}

@inline
function betterWhere<T>(wantMin: bool, best: v128, at: usize, selected: v128): v128 {
  return betterLanes<T>(wantMin, best, v128.bitselect(v128.load(at), best, selected));
}

@inline
function bestMasked<T, S>(wantMin: bool, values: usize, mask: usize, start: u32, end: u32): S {
  let any: u64 = 0;
  let best = worst<T>(wantMin);
  let lanes = ASC_FEATURE_SIMD ? v128.splat<T>(best) : 0;
  const lastWord = (end - 1) >> 6;
  for (let word = start >> 6; word <= lastWord; word++) {
    let bits = maskWord(mask, word, start, end);
    if (bits == 0) continue;
    any |= bits;
    const first = values + ((<usize>word << 6) * sizeof<T>());
    if (popcnt<u64>(bits) <= walkLimit<T>()) {
      for (; bits != 0; bits &= bits - 1) best = better<T>(wantMin, best, load<T>(first + <usize>ctz<u64>(bits) * sizeof<T>()));
      continue;
    }
    if (ASC_FEATURE_SIMD) {
      const end64 = first + 64 * sizeof<T>();
      let at = first;
      do {
        const spread = spreadOf<T>(bits);
        lanes = betterWhere<T>(wantMin, lanes, at, lanesOf<T>(spread, 0));
        if (sharing<T>() >= 2) lanes = betterWhere<T>(wantMin, lanes, at + 16, lanesOf<T>(spread, 1));
        if (sharing<T>() == 4) {
          lanes = betterWhere<T>(wantMin, lanes, at + 32, lanesOf<T>(spread, 2));
          lanes = betterWhere<T>(wantMin, lanes, at + 48, lanesOf<T>(spread, 3));
        }
        bits >>= (16 / sizeof<T>()) * sharing<T>();
        at += 16 * sharing<T>();
      } while (at < end64);
    }
  }
  if (ASC_FEATURE_SIMD) best = better<T>(wantMin, best, bestLane<T>(wantMin, lanes));
  return any != 0 ? <S>best : worst<S>(wantMin); // the worst u8 is better than the worst u32
}

/** `S` is the type of the state: u32, i64 or f64. */
@inline
function bestRuns<T, S>(wantMin: bool, values: usize, mask: usize, runs: usize, runCount: u32, state: usize): void {
  assert(isAligned<T>(values) && isAligned<u64>(mask) && isAligned<u32>(runs) && isAligned<S>(state));
  const last = runs + <usize>runCount * RUN_BYTES;
  for (let run = runs; run < last; run += RUN_BYTES) {
    const start = load<u32>(run, 4);
    const end = load<u32>(run, 8);
    if (start >= end) continue;
    const best = mask == 0 ? <S>bestAll<T>(wantMin, values, start, end) : bestMasked<T, S>(wantMin, values, mask, start, end);
    const at = state + <usize>load<u32>(run) * sizeof<S>();
    const kept = better<S>(wantMin, load<S>(at), best);
    store<S>(at, isFloat<S>() ? kept + <S>0 : kept); // -0 becomes +0
  }
}

export function minRuns<T, S>(values: usize, mask: usize, runs: usize, runCount: u32, state: usize): void {
  bestRuns<T, S>(true, values, mask, runs, runCount, state);
}

export function maxRuns<T, S>(values: usize, mask: usize, runs: usize, runCount: u32, state: usize): void {
  bestRuns<T, S>(false, values, mask, runs, runCount, state);
}
