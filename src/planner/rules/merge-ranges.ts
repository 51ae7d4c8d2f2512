// Plan rule: joins two bounds of a column into one range filter.

import type { Filter } from '../../model/filter.js';
import { askOf, carried, changed } from '../places/recording.js';

type Range = Extract<Filter, { kind: 'range' }>;

/** Joins `x >= a` and `x < b` of one AND into a single range, which is one pass over the column instead of two. */
export function mergeRanges(filters: readonly Filter[]): readonly Filter[] {
  const merged: Filter[] = [];
  for (const filter of filters) {
    const partner = filter.kind === 'range' ? merged.findIndex((earlier) => earlier.kind === 'range' && complete(earlier, filter)) : -1;
    const earlier = merged[partner];
    if (filter.kind === 'range' && earlier?.kind === 'range') merged[partner] = joined(earlier, filter);
    else merged.push(filter);
  }
  return merged;
}

/** Whether one bounds from below alone and the other from above alone, in the same order of the same column. */
function complete(one: Range, other: Range): boolean {
  return (
    one.column === other.column &&
    one.type === other.type &&
    one.ordering === other.ordering &&
    isBounded(one, 'lower') !== isBounded(one, 'upper') &&
    isBounded(one, 'lower') !== isBounded(other, 'lower') &&
    isBounded(one, 'upper') !== isBounded(other, 'upper')
  );
}

function isBounded(range: Range, end: 'lower' | 'upper'): boolean {
  return askOf(range, end, (value) => value !== null);
}

function joined(one: Range, other: Range): Range {
  const [low, high] = isBounded(one, 'lower') ? [one, other] : [other, one];
  const { upperStrict } = high;
  return changed(
    low,
    carried(high, 'upper', (upper) => ({ upper, upperStrict })),
  );
}
