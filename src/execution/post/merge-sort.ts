// Sorts numbers by comparing them, a few at a time.

import { type Check, ROWS_PER_CHECK } from '../block/checked-loops.js';

/** The order of two numbers. */
export type CompareRows = (a: number, b: number) => number;

/** Pieces of so many items are sorted by moving each to its place. */
const SORTED_PIECE = 8;

/** Sorted pieces merged pairwise, so that no step takes long. May return `items` or another array of its length. */
export function mergeSort(items: Uint32Array, compare: CompareRows, check: Check): Uint32Array {
  for (let start = 0; start < items.length; start += SORTED_PIECE) {
    if (start % ROWS_PER_CHECK === 0) check();
    sortPiece(items, start, Math.min(items.length, start + SORTED_PIECE), compare);
  }
  let from: Uint32Array = items;
  let into: Uint32Array = new Uint32Array(items.length);
  for (let width = SORTED_PIECE; width < items.length; width *= 2) {
    for (let start = 0; start < items.length; start += 2 * width) {
      const middle = Math.min(items.length, start + width);
      const end = Math.min(items.length, start + 2 * width);
      let [left, right] = [start, middle];
      for (let at = start; at < end; at++) {
        if (at % ROWS_PER_CHECK === 0) check();
        const takesLeft = left < middle && (right >= end || compare(from[left] ?? 0, from[right] ?? 0) <= 0);
        into[at] = from[takesLeft ? left++ : right++] ?? 0;
      }
    }
    [from, into] = [into, from];
  }
  return from;
}

function sortPiece(items: Uint32Array, start: number, end: number, compare: CompareRows): void {
  for (let next = start + 1; next < end; next++) {
    const item = items[next] ?? 0;
    let at = next;
    for (; at > start && compare(items[at - 1] ?? 0, item) > 0; at--) items[at] = items[at - 1] ?? 0;
    items[at] = item;
  }
}
