import { maskWord, RUN_BYTES } from './aggregate';
import { isAligned, lanesOf } from './lanes';

// Floating-point sums of runs. Their order is part of the contract: partial sums by position, then a fixed tree.

/** Two rows as f64. */
@inline
function two<T>(at: usize): v128 {
  if (sizeof<T>() == 8) return v128.load(at);
  return f64x2.promote_low_f32x4(v128.load64_zero(at));
}
@inline
function nextTwo<T>(at: usize): v128 {
  if (sizeof<T>() == 8) return v128.load(at, 16);
  return f64x2.promote_low_f32x4(v128.load64_zero(at, 8));
}

/** All rows of [start, end): four quarters at once (as in sumAll), each in four partial sums; the last rows one by one. */
function sumFloatsAll<T>(values: usize, start: u32, end: u32): f64 {
  const size = sizeof<T>();
  const bytes = <usize>((end - start) >> 4) * 4 * size; // of a quarter
  let at = values + <usize>start * size;
  const last = values + <usize>end * size;
  let sum: f64 = 0;
  if (ASC_FEATURE_SIMD) {
    let at1 = at + bytes;
    let at2 = at1 + bytes;
    let at3 = at2 + bytes;
    // Quarter k: low[k] holds rows 0 and 1 of every four, high[k] rows 2 and 3.
    let low0 = f64x2.splat(0);
    let low1 = low0;
    let low2 = low0;
    let low3 = low0;
    let high0 = low0;
    let high1 = low0;
    let high2 = low0;
    let high3 = low0;
    for (const stop = at1; at < stop; at += 4 * size) {
      low0 = f64x2.add(low0, two<T>(at));
      high0 = f64x2.add(high0, nextTwo<T>(at));
      low1 = f64x2.add(low1, two<T>(at1));
      high1 = f64x2.add(high1, nextTwo<T>(at1));
      low2 = f64x2.add(low2, two<T>(at2));
      high2 = f64x2.add(high2, nextTwo<T>(at2));
      low3 = f64x2.add(low3, two<T>(at3));
      high3 = f64x2.add(high3, nextTwo<T>(at3));
      at1 += 4 * size;
      at2 += 4 * size;
      at3 += 4 * size;
    }
    at = at3;
    const low = f64x2.add(f64x2.add(low0, low1), f64x2.add(low2, low3));
    const high = f64x2.add(f64x2.add(high0, high1), f64x2.add(high2, high3));
    const lanes = f64x2.add(low, high);
    sum = f64x2.extract_lane(lanes, 0) + f64x2.extract_lane(lanes, 1);
  } else {
    // Column by column: s<j> of the four quarters.
    let total0: f64 = 0;
    let total1: f64 = 0;
    let total2: f64 = 0;
    let total3: f64 = 0;
    let before0: f64 = 0;
    let before1: f64 = 0;
    let before2: f64 = 0;
    let before3: f64 = 0;
    for (let quarter = 0; quarter < 4; quarter++) {
      let s0: f64 = 0;
      let s1: f64 = 0;
      let s2: f64 = 0;
      let s3: f64 = 0;
      for (const stop = at + bytes; at < stop; at += 4 * size) {
        s0 += <f64>load<T>(at);
        s1 += <f64>load<T>(at + size);
        s2 += <f64>load<T>(at + 2 * size);
        s3 += <f64>load<T>(at + 3 * size);
      }
      if ((quarter & 1) == 0) {
        before0 = s0;
        before1 = s1;
        before2 = s2;
        before3 = s3;
      } else {
        total0 += before0 + s0;
        total1 += before1 + s1;
        total2 += before2 + s2;
        total3 += before3 + s3;
      }
    }
    sum = total0 + total2 + (total1 + total3);
  }
  let tail: f64 = 0;
  for (; at < last; at += size) tail += <f64>load<T>(at);
  return sum + tail;
}

@inline
function one<T>(at: usize, bits: u64, bit: u64): f64 {
  return (bits & bit) != 0 ? <f64>load<T>(at) : 0;
}

/** The selected rows of positions [start, end); lanes of a..d are s0..s7. */
function sumFloatsMasked<T>(values: usize, mask: usize, start: u32, end: u32): f64 {
  const lastWord = (end - 1) >> 6;
  if (ASC_FEATURE_SIMD) {
    let a = f64x2.splat(0);
    let b = f64x2.splat(0);
    let c = f64x2.splat(0);
    let d = f64x2.splat(0);
    for (let word = start >> 6; word <= lastWord; word++) {
      let bits = maskWord(mask, word, start, end);
      let at = values + ((<usize>word << 6) * sizeof<T>());
      if (bits == <u64>-1) {
        for (const stop = at + 64 * sizeof<T>(); at < stop; at += 8 * sizeof<T>()) {
          a = f64x2.add(a, two<T>(at));
          b = f64x2.add(b, two<T>(at + 2 * sizeof<T>()));
          c = f64x2.add(c, two<T>(at + 4 * sizeof<T>()));
          d = f64x2.add(d, two<T>(at + 6 * sizeof<T>()));
        }
        continue;
      }
      // When few rows are selected, groups of eight without one are skipped; the order of additions stays the same.
      if (bits != 0) do {
        if (popcnt<u64>(bits) < 16) {
          const skip = ctz<u64>(bits) & 56;
          at += <usize>skip * sizeof<T>();
          bits >>= skip;
        }
        const spread = i64x2.splat(<i64>bits);
        a = f64x2.add(a, v128.and(two<T>(at), lanesOf<i64>(spread, 0)));
        b = f64x2.add(b, v128.and(two<T>(at + 2 * sizeof<T>()), lanesOf<i64>(spread, 1)));
        c = f64x2.add(c, v128.and(two<T>(at + 4 * sizeof<T>()), lanesOf<i64>(spread, 2)));
        d = f64x2.add(d, v128.and(two<T>(at + 6 * sizeof<T>()), lanesOf<i64>(spread, 3)));
        at += 8 * sizeof<T>();
        bits >>= 8;
      } while (bits != 0);
    }
    const lanes = f64x2.add(f64x2.add(a, c), f64x2.add(b, d));
    return f64x2.extract_lane(lanes, 0) + f64x2.extract_lane(lanes, 1);
  } else {
    let s0: f64 = 0;
    let s1: f64 = 0;
    let s2: f64 = 0;
    let s3: f64 = 0;
    let s4: f64 = 0;
    let s5: f64 = 0;
    let s6: f64 = 0;
    let s7: f64 = 0;
    const size = sizeof<T>();
    for (let word = start >> 6; word <= lastWord; word++) {
      let bits = maskWord(mask, word, start, end);
      let at = values + ((<usize>word << 6) * size);
      while (bits != 0) {
        const skip = ctz<u64>(bits) & 56;
        at += <usize>skip * size;
        bits >>= skip;
        s0 += one<T>(at, bits, 1);
        s1 += one<T>(at + size, bits, 2);
        s2 += one<T>(at + 2 * size, bits, 4);
        s3 += one<T>(at + 3 * size, bits, 8);
        s4 += one<T>(at + 4 * size, bits, 16);
        s5 += one<T>(at + 5 * size, bits, 32);
        s6 += one<T>(at + 6 * size, bits, 64);
        s7 += one<T>(at + 7 * size, bits, 128);
        at += 8 * size;
        bits >>= 8;
      }
    }
    return s0 + s4 + (s2 + s6) + (s1 + s5 + (s3 + s7));
  }
}

export function sumRunsFloat<T>(values: usize, mask: usize, runs: usize, runCount: u32, state: usize): void {
  assert(isAligned<T>(values) && isAligned<u64>(mask) && isAligned<u32>(runs) && isAligned<u64>(state));
  const last = runs + <usize>runCount * RUN_BYTES;
  for (let run = runs; run < last; run += RUN_BYTES) {
    const start = load<u32>(run, 4);
    const end = load<u32>(run, 8);
    if (start >= end) continue;
    const at = state + (<usize>load<u32>(run) << 3);
    store<f64>(at, load<f64>(at) + (mask == 0 ? sumFloatsAll<T>(values, start, end) : sumFloatsMasked<T>(values, mask, start, end)));
  }
}
