import { compareTexts } from './join';
import { isAligned } from './lanes';
import { size, start, TOUCHED_TOGETHER, touch } from './text';

// A heap of the k best so far, the worst of them on top: most states lose against it and cost one comparison. States of type u64 are texts.

/** Whether index a comes after index b in the answer: worse, or as good and a later index. NaN is above all numbers. */
@inline
function isWorse<T>(descending: bool, state: usize, a: u32, b: u32): bool {
  const left = load<T>(state + (<usize>a << 3));
  const right = load<T>(state + (<usize>b << 3));
  if (!isSigned<T>() && !isFloat<T>()) {
    const order = compareTexts(start(left), <u32>size(left), start(right), <u32>size(right));
    return order == 0 ? a > b : order < 0 == descending;
  }
  if (left < right) return descending;
  if (left > right) return !descending;
  if (isFloat<T>() && (left != left) != (right != right)) return (left != left) != descending;
  return a > b;
}

@inline
function at(heap: usize, place: u32): u32 {
  return load<u32>(heap + (<usize>place << 2));
}

@inline
function siftUp<T>(descending: bool, state: usize, heap: usize, count: u32, index: u32): void {
  let place = count;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = at(heap, parent);
    if (!isWorse<T>(descending, state, index, above)) break;
    store<u32>(heap + (<usize>place << 2), above);
    place = parent;
  }
  store<u32>(heap + (<usize>place << 2), index);
}

/** Puts `index` in the place of the top. */
@inline
function siftDown<T>(descending: bool, state: usize, heap: usize, count: u32, index: u32): void {
  let place: u32 = 0;
  while (true) {
    let child = place * 2 + 1;
    if (child >= count) break;
    if (child + 1 < count && isWorse<T>(descending, state, at(heap, child + 1), at(heap, child))) child++;
    const below = at(heap, child);
    if (!isWorse<T>(descending, state, below, index)) break;
    store<u32>(heap + (<usize>place << 2), below);
    place = child;
  }
  if (count > 0) store<u32>(heap + (<usize>place << 2), index);
}

@inline
function select<T>(descending: bool, state: usize, present: usize, n: u32, k: u32, heap: usize, out: usize): u32 {
  let count: u32 = 0;
  for (let index: u32 = 0; index < n; index++) {
    // Whatever lies at `out` is written over below.
    if (!isSigned<T>() && !isFloat<T>() && index % <u32>TOUCHED_TOGETHER == 0) store<u32>(out, <u32>touch(state, 8, index, n));
    if (present != 0 && load<u8>(present + index) == 0) continue;
    if (count < k) siftUp<T>(descending, state, heap, count++, index);
    else if (isWorse<T>(descending, state, at(heap, 0), index)) siftDown<T>(descending, state, heap, count, index);
  }
  for (let left = count; left > 0; left--) {
    store<u32>(out + (<usize>(left - 1) << 2), at(heap, 0));
    siftDown<T>(descending, state, heap, left - 1, at(heap, left - 1));
  }
  return count;
}

export function top<T>(state: usize, present: usize, n: u32, k: u32, descending: u32, heap: usize, out: usize): u32 {
  assert(isAligned<T>(state) && isAligned<u32>(heap) && isAligned<u32>(out));
  if (k == 0) return 0;
  if (descending != 0) return select<T>(true, state, present, n, k, heap, out);
  return select<T>(false, state, present, n, k, heap, out);
}
