import { isAligned } from './lanes';

// Joins by ranges: numbers in order → places between bounds → pairs of rows.

const MOST: i64 = 0x7fffffffffffffff;

@inline
function rankAt(ranks: usize, place: u32): i64 {
  return load<i64>(ranks + (<usize>place << 3));
}

/** Bit of a row; 0 where there are no bits. */
@inline
function isNull(nulls: usize, row: u32): bool {
  return nulls != 0 && ((load<u8>(nulls + <usize>(row >> 3)) >> <u8>(row & 7)) & 1) != 0;
}

/** Places that are looked at in turn behind the last one that was found, before all that are left are halved. */
@inline
const NEAR: u32 = 8;

/** First of the places [from, to) whose rank is not below the value; `to`: there is none. Rows near each other often lead to places near each other. */
@inline
function placeOf(ranks: usize, from: u32, to: u32, value: i64, near: u32): u32 {
  let low = from;
  let left: u32;
  const place = min(max(near, from), to);
  if (place < to && rankAt(ranks, place) < value) {
    low = place + 1;
    left = to - low;
    if (left > NEAR) {
      if (rankAt(ranks, low + NEAR - 1) < value) {
        low += NEAR;
        left -= NEAR;
      } else left = NEAR;
    }
  } else {
    if (place == from || rankAt(ranks, place - 1) < value) return place;
    left = place - 1 - from;
  }
  while (left > 0) {
    const half = left >> 1;
    const isBelow = rankAt(ranks, low + half) < value;
    low = select<u32>(low + half + 1, low, isBelow);
    left = select<u32>(left - half - 1, half, isBelow);
  }
  return low;
}

export function rangeNarrow(values: usize, nulls: usize, n: u32, ranks: usize, isAbove: u32, isEnd: u32, places: usize): void {
  assert(isAligned<u64>(values) && isAligned<u64>(ranks) && isAligned<u32>(places));
  let near: u32 = 0;
  for (let row: u32 = 0; row < n; row++) {
    const at = places + (<usize>row << 3);
    const from = load<u32>(at);
    const to = load<u32>(at, 4);
    if (from == to) continue;
    if (isNull(nulls, row)) {
      store<u32>(at, from, 4);
      continue;
    }
    const value = load<i64>(values + (<usize>row << 3));
    near = isAbove != 0 && value == MOST ? to : placeOf(ranks, from, to, value + <i64>isAbove, near);
    if (isEnd != 0) store<u32>(at, near, 4);
    else store<u32>(at, near);
  }
}

export function rangeLimits(values: usize, nulls: usize, n: u32, isFlipped: u32, isStrict: u32, places: usize, out: usize): void {
  assert(isAligned<u64>(values) && isAligned<u32>(places) && isAligned<u64>(out));
  const flip = -<i64>isFlipped;
  for (let row: u32 = 0; row < n; row++) {
    const limit = load<i64>(values + (<usize>row << 3)) ^ flip;
    store<i64>(out + (<usize>row << 3), limit + <i64>isStrict);
    if (!isNull(nulls, row) && (isStrict == 0 || limit != MOST)) continue;
    const at = places + (<usize>row << 3);
    store<u32>(at, load<u32>(at), 4);
  }
}

/** Numbers of one level for each of the next one, as a power of two. */
@inline
const STEP: u32 = 4;
@inline
const STEP_MASK: u32 = 15;

export function rangeMost(values: usize, n: u32, out: usize): void {
  assert(isAligned<u64>(values) && isAligned<u64>(out));
  let to = out;
  for (let start: u32 = 0; start < n; start += STEP_MASK + 1, to += 8) {
    let most = rankAt(values, start);
    for (let at = start + 1, end = min(n, start + STEP_MASK + 1); at < end; at++) most = max(most, rankAt(values, at));
    store<i64>(to, most);
  }
}

export function rangePairs(
  places: usize, limits: usize, met: usize, n: u32, rows: usize, levels: usize, levelCount: u32, each: u32, cursor: usize, capacity: u32, outLeft: usize, outRight: usize,
): u32 {
  assert(isAligned<u32>(places) && isAligned<u64>(limits) && isAligned<u32>(rows) && isAligned<u32>(levels) && isAligned<u32>(cursor) && isAligned<u32>(outLeft) && isAligned<u32>(outRight));
  const last = levelCount - 1;
  let row = load<u32>(cursor);
  let count: u32 = 0;
  for (; row < n; row++) {
    const place = places + (<usize>row << 3);
    let at = load<u32>(place);
    const end = load<u32>(place, 4);
    if (at >= end || (met != 0 && load<u8>(met + <usize>row) != 0)) continue;
    const limit = load<i64>(limits + (<usize>row << 3));
    let left = min(each, capacity - count);
    let level: u32 = 0;
    let node = at;
    at = end;
    while (true) {
      // A node that is the first of its parent's is looked at by way of it.
      while (level < last && (node & STEP_MASK) == 0) {
        node >>= STEP;
        level++;
      }
      let isBelow = true;
      while (<u64>node << (level * STEP) < <u64>end) {
        isBelow = rankAt(<usize>load<u32>(levels + (<usize>level << 2)), node) < limit;
        if (isBelow || level == 0) break;
        level--;
        node <<= STEP;
      }
      if (<u64>node << (level * STEP) >= <u64>end) break;
      if (!isBelow) {
        store<u32>(outLeft + (<usize>count << 2), row);
        store<u32>(outRight + (<usize>count << 2), load<u32>(rows + (<usize>node << 2)));
        count++;
        if (--left == 0) {
          at = node + 1;
          break;
        }
      }
      node++;
    }
    store<u32>(place, at);
    if (count == capacity) break;
  }
  store<u32>(cursor, row);
  return count;
}
