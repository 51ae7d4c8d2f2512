// Centroids of a streaming histogram.

import { BinaryHeap } from '../base/binary-heap.js';

/** A value that stands for so many; exact while all of them are this value. */
export interface Centroid {
  readonly value: number;
  readonly count: number;
  readonly isExact: boolean;
}

export function joined(a: Centroid, b: Centroid): Centroid {
  const count = a.count + b.count;
  if (a.value === b.value) return { value: a.value, count, isExact: a.isExact && b.isExact };
  return { value: Math.fround((a.value * a.count + b.value * b.count) / count), count, isExact: false };
}

/** Merges two lists that are ascending and without repeats. */
export function mergedCentroids(a: readonly Centroid[], b: readonly Centroid[]): Centroid[] {
  const merged: Centroid[] = [];
  let [left, right] = [0, 0];
  for (;;) {
    const [first, second] = [a[left], b[right]];
    if (first === undefined) return [...merged, ...b.slice(right)];
    if (second === undefined) return [...merged, ...a.slice(left)];
    if (first.value <= second.value) left++;
    if (second.value <= first.value) right++;
    merged.push(first.value === second.value ? joined(first, second) : first.value < second.value ? first : second);
  }
}

/**
 * At most `limit` centroids: again and again the two that are nearest to each other become one, of pairs that are as near
 * the first.
 * @param given  ascending
 */
export function joinNearest(given: readonly Centroid[], limit: number): Centroid[] {
  if (given.length <= limit) return [...given];
  const values = Float64Array.from(given, ({ value }) => value);
  const counts = Float64Array.from(given, ({ count }) => count);
  const isExact = Uint8Array.from(given, (centroid) => (centroid.isExact ? 1 : 0));
  const size = given.length;
  const next = Int32Array.from(given, (_, index) => index + 1);
  const previous = Int32Array.from(given, (_, index) => index - 1);
  const gaps = new GapHeap(Float64Array.from(given, (_, index) => (values[index + 1] ?? Infinity) - (values[index] ?? 0)));
  for (let count = size; count > limit; count--) {
    const left = gaps.first;
    const right = next[left] ?? size;
    if (right >= size) break;
    const a = counts[left] ?? 0;
    const b = counts[right] ?? 0;
    values[left] = Math.fround(((values[left] ?? 0) * a + (values[right] ?? 0) * b) / (a + b));
    counts[left] = a + b;
    isExact[left] = 0;
    counts[right] = 0;
    const after = next[right] ?? size;
    next[left] = after;
    if (after < size) previous[after] = left;
    gaps.set(right, Infinity);
    gaps.set(left, after < size ? (values[after] ?? 0) - (values[left] ?? 0) : Infinity);
    const before = previous[left] ?? -1;
    if (before >= 0) gaps.set(before, (values[left] ?? 0) - (values[before] ?? 0));
  }
  const kept: Centroid[] = [];
  for (let index = 0; index < size; index++)
    if (counts[index] !== 0) kept.push({ value: values[index] ?? 0, count: counts[index] ?? 0, isExact: isExact[index] === 1 });
  return kept;
}

/** Indexes with a gap each, the least first, and of those that are the same the lowest index. Gaps may change. */
class GapHeap {
  readonly #gaps: Float64Array;
  readonly #heap: BinaryHeap<number>;
  /** Position of each index in the heap. */
  readonly #places: Int32Array;

  constructor(gaps: Float64Array) {
    this.#gaps = gaps;
    this.#places = new Int32Array(gaps.length);
    const places = this.#places;
    this.#heap = new BinaryHeap(
      gaps.keys(),
      (a, b) => {
        const left = gaps[a] ?? 0;
        const right = gaps[b] ?? 0;
        return left === right ? b - a : left < right ? 1 : -1;
      },
      (index, place) => {
        places[index] = place;
      },
    );
  }

  get first(): number {
    return this.#heap.first ?? 0;
  }

  set(index: number, gap: number): void {
    this.#gaps[index] = gap;
    this.#heap.update(this.#places[index] ?? 0);
  }
}
