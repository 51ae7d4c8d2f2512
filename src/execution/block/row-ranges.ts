// Ranges of rows, and those of a segment that lie within time intervals.

import type { Interval } from '../../base/instant.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { SegmentView } from '../../storage/view.js';
import { kernelFor, type RunContext } from './context.js';

/** Rows [start, end) of a segment. */
export interface RowRange {
  readonly start: number;
  readonly end: number;
}

/** Rows of a segment whose time lies in the intervals, ascending: time is sorted, so they are found by binary search. */
export function rowsWithin({ kernels }: RunContext, view: SegmentView, intervals: readonly Interval[]): RowRange[] {
  const whole = { start: 0, end: view.rowCount };
  if (view.rowCount === 0) return [];
  const time = view.columns[TIME_COLUMN];
  if (time?.kind !== 'number' || time.physical === 'F32' || time.physical === 'F64') return [whole];
  const lowerBound = kernelFor(kernels, 'lowerBound', time.physical);
  const find = (bound: number): number => {
    if (bound <= view.timeMin) return 0;
    return bound > view.timeMax ? view.rowCount : lowerBound(time.values, time.base, 0, view.rowCount, BigInt(bound));
  };
  return intervals.map(({ start, end }) => ({ start: find(start), end: find(end) })).filter(({ start, end }) => start < end);
}

/** Whether a segment may have rows in the intervals at all. */
export function meets(view: SegmentView, intervals: readonly Interval[]): boolean {
  return (
    view.rowCount > 0 &&
    (view.columns[TIME_COLUMN] === undefined || intervals.some(({ start, end }) => start <= view.timeMax && end > view.timeMin))
  );
}
