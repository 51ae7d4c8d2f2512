import { isAligned } from './lanes';

// Sorted time is cut by searching, not row by row. Narrow values are unsigned offsets from `base`.

@inline
const NO_BUCKET: u32 = 0xffffffff;

/** Whether base + value < bound; `past` is what pastBase makes of them. */
@inline
function isBelow<T>(at: usize, past: i64): bool {
  if (sizeof<T>() == 8) return load<i64>(at) < past;
  return <u64>load<T>(at) < <u64>past;
}

/** `bound` in the terms of the stored values: never negative for unsigned ones. The difference fits u64. */
@inline
function pastBase<T>(base: i64, bound: i64): i64 {
  if (sizeof<T>() == 8) return bound - base;
  return bound > base ? bound - base : 0;
}

/** First row of [start, end) that is not below; no branch depends on the values. */
@inline
function search<T>(values: usize, start: u32, end: u32, past: i64): u32 {
  if (start >= end) return end;
  let at = start;
  for (let left = end - start; left > 1; ) {
    const half = left >> 1;
    at = select<u32>(at + half, at, isBelow<T>(values + <usize>(at + half - 1) * sizeof<T>(), past));
    left -= half;
  }
  return at + u32(isBelow<T>(values + <usize>at * sizeof<T>(), past));
}

export function lowerBound<T>(values: usize, base: i64, start: u32, end: u32, bound: i64): u32 {
  assert(isAligned<T>(values));
  return search<T>(values, start, end, pastBase<T>(base, bound));
}

/** First row of [start, end) that is not below, where a near one is likely. */
@inline
function gallop<T>(values: usize, start: u32, end: u32, past: i64): u32 {
  if (isBelow<T>(values + <usize>(end - 1) * sizeof<T>(), past)) return end;
  let step: u32 = 1;
  let from = start;
  while (end - from > step && isBelow<T>(values + <usize>(from + step) * sizeof<T>(), past)) {
    from += step;
    step <<= 1;
  }
  return search<T>(values, from, min<u32>(end, from + step + 1), past);
}

/** Number of boundaries at or below `value`. */
@inline
function bucketAfter(boundaries: usize, boundaryCount: u32, value: i64): u32 {
  let at: u32 = 0;
  for (let left = boundaryCount; left > 1; ) {
    const half = left >> 1;
    at = select<u32>(at + half, at, load<i64>(boundaries + (<usize>(at + half - 1) << 3)) <= value);
    left -= half;
  }
  return at + u32(load<i64>(boundaries + (<usize>at << 3)) <= value);
}

export function timeRuns<T>(values: usize, base: i64, start: u32, end: u32, boundaries: usize, boundaryCount: u32, out: usize): u32 {
  assert(isAligned<T>(values) && isAligned<i64>(boundaries) && isAligned<u32>(out) && boundaryCount >= 2);
  let to = out;
  let row = search<T>(values, start, end, pastBase<T>(base, load<i64>(boundaries)));
  let bucket: u32 = 0;
  while (row < end) {
    // Mostly the next bucket has rows; otherwise it is searched for.
    const value = <i64>load<T>(values + <usize>row * sizeof<T>()) + base;
    if (bucket + 1 >= boundaryCount || load<i64>(boundaries + (<usize>(bucket + 1) << 3)) <= value) {
      const after = bucketAfter(boundaries, boundaryCount, value);
      if (after == boundaryCount) break;
      bucket = after - 1;
    }
    const runEnd = gallop<T>(values, row, end, pastBase<T>(base, load<i64>(boundaries + (<usize>(bucket + 1) << 3))));
    store<u32>(to, bucket);
    store<u32>(to, row, 4);
    store<u32>(to, runEnd, 8);
    to += 12;
    row = runEnd;
    bucket++;
  }
  return <u32>((to - out) / 12);
}

export function bucketI64(values: usize, rows: u32, boundaries: usize, boundaryCount: u32, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(boundaries) && isAligned<u32>(out) && boundaryCount >= 2);
  let bucket = NO_BUCKET;
  let first: i64 = 0;
  let next: i64 = 0; // the bucket of the row before is [first, next); none at the start
  for (let row: usize = 0, end = <usize>rows; row < end; row++) {
    const value = load<i64>(values + (row << 3));
    if (value < first || value >= next) {
      const after = bucketAfter(boundaries, boundaryCount, value);
      if (after == 0 || after == boundaryCount) {
        store<u32>(out + (row << 2), NO_BUCKET);
        continue;
      }
      bucket = after - 1;
      first = load<i64>(boundaries + (<usize>bucket << 3));
      next = load<i64>(boundaries + (<usize>bucket << 3), 8);
    }
    store<u32>(out + (row << 2), bucket);
  }
}

/** Offsets up to here are exact as f64. */
@inline
const EXACT: i64 = 1 << 50;
/** Adding this to a small f64 leaves its nearest integer in the low bits: far cheaper than a division or conversion. */
@inline
const ROUNDER: f64 = 6755399441055744; // 1.5 × 2^52

export function floorI64(values: usize, rows: u32, width: i64, origin: i64, out: usize): void {
  assert(isAligned<i64>(values) && isAligned<i64>(out) && width > 0);
  if (rows == 0) return;
  const reciprocal = 1.0 / <f64>width;
  const end = <usize>rows << 3;
  let at: usize = 0;
  do {
    const offset = load<i64>(values + at) - origin;
    let past: i64;
    if (<u64>(offset + EXACT) <= <u64>(2 * EXACT)) {
      const nearest = reinterpret<i64>(<f64>offset * reciprocal + ROUNDER) - reinterpret<i64>(ROUNDER);
      past = offset - nearest * width; // from about -width / 2 to width / 2
    } else past = offset % width;
    past += past < 0 ? width : 0;
    store<i64>(out + at, offset - past + origin);
    at += 8;
  } while (at < end);
}
