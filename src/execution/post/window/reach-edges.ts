// Edges of frames that reach as far as a value: RANGE BETWEEN 5 PRECEDING, for example.

import { assert } from '../../../base/errors.js';
import { compareValues } from '../../../expression/value.js';
import { columnNamed, type ResultColumn, valueAt } from '../../block/result-table.js';
import { halvesOf } from '../typed-values.js';
import { eachPiece } from './runs.js';
import type { WindowRows } from './window-rows.js';

/**
 * For each row the first row of its partition whose key is not before (or at the `end` is behind) the value that the row has
 * in column `reach`. Where that is null or not a number, nothing has a distance from there: `otherwise`.
 */
export function reachEdges(
  { table, order, partitions, check }: WindowRows,
  reach: string,
  side: 'start' | 'end',
  otherwise: Uint32Array,
): Uint32Array {
  const [key] = order;
  assert(key !== undefined && order.length === 1, 'a frame with a distance needs an order of one key');
  const [keys, reaches] = [columnNamed(table, key.column), columnNamed(table, reach)];
  const compare = comparison(keys, reaches);
  const isAlike = likeBefore(reaches);
  const [keyed, reached] = [placeTest(keys), placeTest(reaches)];
  const found = new Uint32Array(table.rowCount);
  let [low, high] = [0, 0];
  let at = 0;
  /** Whether a row comes before the edge of another one. */
  const isBefore = (row: number, own: number): boolean => {
    const order = key.descending ? -compare(row, own) : compare(row, own);
    return order < 0 || (side === 'end' && order === 0);
  };
  eachPiece(partitions, check, (from, to, start, end) => {
    if (from === start) {
      // Nulls, and what is not a number, stand at the ends.
      for (low = start; low < end && !keyed(low); ) low++;
      for (high = end; high > low && !keyed(high - 1); ) high--;
      at = low;
    }
    for (let row = from; row < to; row++) {
      if (!reached(row)) {
        found[row] = otherwise[row] ?? 0;
        continue;
      }
      if (row > from && isAlike(row) && reached(row - 1)) {
        found[row] = at;
        continue;
      }
      at = edgeFrom(at, low, high, (each) => isBefore(each, row));
      found[row] = at;
    }
  });
  return found;
}

/** Steps to an edge that are taken one by one. */
const STEPS_MAX = 8;

/** The first of rows [low, high) that is not before an edge, which is mostly near `from`. */
function edgeFrom(from: number, low: number, high: number, isBefore: (row: number) => boolean): number {
  let at = from;
  for (let steps = 0; steps < STEPS_MAX && at < high && isBefore(at); steps++) at++;
  if (at > from && (at === high || !isBefore(at))) return at;
  if (at === from && (at === low || isBefore(at - 1))) return at;
  let [first, end] = at > from ? [at, high] : [low, at];
  while (first < end) {
    const middle = (first + end) >>> 1;
    if (isBefore(middle)) first = middle + 1;
    else end = middle;
  }
  return first;
}

/** The order of the key of one row and the reach of another. */
function comparison(keys: ResultColumn, reaches: ResultColumn): (row: number, own: number) => number {
  if (keys.kind === 'double' && reaches.kind === 'double') {
    const [left, right] = [keys.values, reaches.values];
    return (row, own) => (left[row] ?? 0) - (right[own] ?? 0) || 0;
  }
  if (keys.kind === 'long' && reaches.kind === 'long') {
    const [left, right] = [halvesOf(keys.values), halvesOf(reaches.values)];
    return (row, own) => ((left[row * 2 + 1] ?? 0) | 0) - ((right[own * 2 + 1] ?? 0) | 0) || (left[row * 2] ?? 0) - (right[own * 2] ?? 0);
  }
  return (row, own) => compareValues(valueAt(keys, row) ?? 0n, valueAt(reaches, own) ?? 0n) ?? 0;
}

/** Whether a row reaches as far as the one before it, as peers do; where that is not known, it does not. */
function likeBefore(reaches: ResultColumn): (row: number) => boolean {
  if (reaches.kind !== 'long' && reaches.kind !== 'double') return () => false;
  const halves = halvesOf(reaches.values);
  return (row) => halves[row * 2] === halves[row * 2 - 2] && halves[row * 2 + 1] === halves[row * 2 - 1];
}

/** Whether a row has a place among numbers. */
function placeTest(column: ResultColumn): (row: number) => boolean {
  return (row) => {
    if (column.kind === 'long') return column.nulls === null || column.nulls[row] !== 1;
    const value = valueAt(column, row);
    return value !== null && !Number.isNaN(value);
  };
}
