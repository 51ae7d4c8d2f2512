import { isAligned } from './lanes';

// Numbers by group, and stretches of numbers in order.

@inline
const SIGN: u64 = 1 << 63;
/** Stretches, and parts of them, of up to so many bytes are sorted by insertion. */
@inline
const FEW: usize = 24 << 3;
/** Values of a bucket by the mean, and most buckets. */
@inline
const BUCKET_VALUES: u32 = 4;
@inline
const BUCKETS_MAX: u32 = 1 << 15;

export function placeByGroup(groups: usize, values: usize, n: u32, groupCount: u32, starts: usize, out: usize): u32 {
  assert(isAligned<u32>(groups) && isAligned<f64>(values) && isAligned<u32>(starts) && isAligned<f64>(out));
  memory.fill(starts, 0, (<usize>groupCount + 1) << 2);
  for (let i: usize = 0; i < <usize>n; i++) {
    const value = load<f64>(values + (i << 3));
    const to = starts + (<usize>load<u32>(groups + (i << 2)) << 2);
    store<u32>(to, load<u32>(to) + <u32>(value == value));
  }
  let sum: u32 = 0;
  for (let at = starts, end = starts + (<usize>groupCount << 2); at < end; at += 4) {
    const count = load<u32>(at);
    store<u32>(at, sum);
    sum += count;
  }
  for (let i: usize = 0; i < <usize>n; i++) {
    const value = load<f64>(values + (i << 3));
    if (value != value) continue;
    const to = starts + (<usize>load<u32>(groups + (i << 2)) << 2);
    const place = load<u32>(to);
    store<f64>(out + (<usize>place << 3), value);
    store<u32>(to, place + 1);
  }
  // Each start has become the end.
  memory.copy(starts + 4, starts, <usize>groupCount << 2);
  store<u32>(starts, 0);
  return sum;
}

/** LONGs of the same order as doubles, and back. */
@inline
function sortable(bits: i64): i64 {
  return bits ^ ((bits >> 63) & 0x7fffffffffffffff);
}

function insert(from: usize, end: usize): void {
  for (let at = from + 8; at < end; at += 8) {
    const key = load<i64>(at);
    let place = at;
    for (; place > from && load<i64>(place - 8) > key; place -= 8) store<i64>(place, load<i64>(place - 8));
    store<i64>(place, key);
  }
}

/** Lets the key at a place of a heap sink below the larger ones. */
function sink(heap: usize, from: usize, count: usize): void {
  const key = load<i64>(heap + (from << 3));
  let place = from;
  for (let child: usize = 2 * place + 1; child < count; child = 2 * place + 1) {
    if (child + 1 < count && load<i64>(heap + (child << 3), 8) > load<i64>(heap + (child << 3))) child++;
    const larger = load<i64>(heap + (child << 3));
    if (larger <= key) break;
    store<i64>(heap + (place << 3), larger);
    place = child;
  }
  store<i64>(heap + (place << 3), key);
}

function heapSort(from: usize, end: usize): void {
  const count = (end - from) >> 3;
  for (let at = count >> 1; at > 0; at--) sink(from, at - 1, count);
  for (let last = count - 1; last > 0; last--) {
    const key = load<i64>(from + (last << 3));
    store<i64>(from + (last << 3), load<i64>(from));
    store<i64>(from, key);
    sink(from, 0, last);
  }
}

@inline
function middleOf(a: i64, b: i64, c: i64): i64 {
  return max(min(a, b), min(max(a, b), c));
}

/** Sorts keys by division at a value between; parts that are not halved by `depth` divisions as a heap. */
function divide(from: usize, end: usize, depth: u32): void {
  while (end - from > FEW) {
    if (depth == 0) {
      heapSort(from, end);
      return;
    }
    depth--;
    const pivot = middleOf(load<i64>(from), load<i64>(from + ((end - from) >> 4 << 3)), load<i64>(end - 8));
    let left = from;
    let right = end - 8;
    while (left <= right) {
      while (load<i64>(left) < pivot) left += 8;
      while (load<i64>(right) > pivot) right -= 8;
      if (left > right) break;
      const key = load<i64>(left);
      store<i64>(left, load<i64>(right));
      store<i64>(right, key);
      left += 8;
      right -= 8;
    }
    // Now [from, right] <= pivot <= [left, end), and what lies between equals it.
    if (right + 8 - from < end - left) {
      divide(from, right + 8, depth);
      from = left;
    } else {
      divide(left, end, depth);
      end = right + 8;
    }
  }
  insert(from, end);
}

@inline
function sortKeys(from: usize, end: usize): void {
  if (end - from <= FEW) insert(from, end);
  else divide(from, end, 2 * (64 - <u32>clz<u64>(<u64>(end - from))));
}

/** Moves the keys of doubles to `scratch`, those of each of several buckets behind each other, and sorts each; false where no buckets tell them apart. */
function sortByBuckets(from: usize, end: usize, scratch: usize, counts: usize): bool {
  let least = load<f64>(from);
  let most = least;
  for (let at = from + 8; at < end; at += 8) {
    const value = load<f64>(at);
    least = min(least, value);
    most = max(most, value);
  }
  const buckets = min(BUCKETS_MAX, <u32>((end - from) >> 3) / BUCKET_VALUES);
  const scale = <f64>(buckets - 1) / (most - least);
  // A scale that is no usable number has values that are equal, too far apart or too near.
  if (!(scale > 0 && scale < Infinity)) return false;
  memory.fill(counts, 0, <usize>buckets << 2);
  for (let at = from; at < end; at += 8) {
    const to = counts + (<usize>bucketOf(load<f64>(at), least, scale, buckets) << 2);
    store<u32>(to, load<u32>(to) + 1);
  }
  let sum: u32 = 0;
  for (let at = counts, last = counts + (<usize>buckets << 2); at < last; at += 4) {
    const count = load<u32>(at);
    store<u32>(at, sum);
    sum += count;
  }
  for (let at = from; at < end; at += 8) {
    const to = counts + (<usize>bucketOf(load<f64>(at), least, scale, buckets) << 2);
    const place = load<u32>(to);
    store<i64>(scratch + (<usize>place << 3), sortable(load<i64>(at)));
    store<u32>(to, place + 1);
  }
  // Each start has become the end.
  let start = scratch;
  for (let at = counts, last = counts + (<usize>buckets << 2); at < last; at += 4) {
    const stop = scratch + (<usize>load<u32>(at) << 3);
    if (stop - start > 8) sortKeys(start, stop);
    start = stop;
  }
  return true;
}

@inline
function bucketOf(value: f64, least: f64, scale: f64, buckets: u32): u32 {
  return min(buckets - 1, <u32>((value - least) * scale));
}

export function sortStretches(values: usize, starts: usize, count: u32, scratch: usize, counts: usize): void {
  assert(isAligned<f64>(values) && isAligned<u32>(starts) && isAligned<i64>(scratch) && isAligned<u32>(counts));
  for (let i: usize = 0; i < <usize>count; i++) {
    const from = values + (<usize>load<u32>(starts + (i << 2)) << 3);
    const end = values + (<usize>load<u32>(starts + (i << 2), 4) << 3);
    if (end - from <= 8) continue;
    let keys = from;
    if (end - from > FEW && sortByBuckets(from, end, scratch, counts)) keys = scratch;
    else {
      for (let at = from; at < end; at += 8) store<i64>(at, sortable(load<i64>(at)));
      sortKeys(from, end);
    }
    for (let at = from; at < end; at += 8, keys += 8) store<i64>(at, sortable(load<i64>(keys)));
  }
}
