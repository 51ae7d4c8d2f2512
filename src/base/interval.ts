// Intervals of time: reading, printing and intersecting them.

import { findZone } from './calendar.js';
import { type EpochMs, ETERNITY, type Interval } from './instant.js';
import { addPeriod, formatInstant, parseInstant, parsePeriod } from './time.js';

/**
 * `start/end`, `start/period` or `period/end` (`_` may stand for `/`, as in paths), or `eternity`.
 * @param timeZone  holds for bounds that name no offset, and periods are counted on its clock
 * @returns undefined when it is none of them or ends before it starts; an empty interval is one
 */
export function parseInterval(text: string, timeZone = 'UTC'): Interval | undefined {
  if (text.toLowerCase() === 'eternity') return ETERNITY;
  const [from, to, rest] = text.split(text.includes('/') ? '/' : /[_/]/);
  if (from === undefined || to === undefined || rest !== undefined) return undefined;
  const start = parseBound(from, to, -1, timeZone);
  const end = parseBound(to, from, 1, timeZone);
  return start === undefined || end === undefined || end < start ? undefined : { start, end };
}

function parseBound(text: string, other: string, direction: 1 | -1, timeZone: string): EpochMs | undefined {
  if (!/^[+-]?P/i.test(text)) return parseInstant(text, timeZone);
  const period = parsePeriod(text);
  const anchor = parseInstant(other, timeZone);
  return period === undefined || anchor === undefined ? undefined : addPeriod(anchor, period, direction, findZone(timeZone));
}

export function formatInterval(interval: Interval): string {
  return `${formatInstant(interval.start)}/${formatInstant(interval.end)}`;
}

/** Sorted and disjoint: overlapping and abutting intervals become one, empty ones go. */
export function condenseIntervals(intervals: readonly Interval[]): Interval[] {
  const sorted = intervals.filter(({ start, end }) => start < end).sort((a, b) => a.start - b.start);
  const condensed: Interval[] = [];
  for (const interval of sorted) {
    const last = condensed.at(-1);
    if (last === undefined || interval.start > last.end) condensed.push(interval);
    else if (interval.end > last.end) condensed[condensed.length - 1] = { start: last.start, end: interval.end };
  }
  return condensed;
}

/** Intersection of two intervals; undefined when empty. */
export function intersect(a: Interval, b: Interval): Interval | undefined {
  const start = Math.max(a.start, b.start);
  const end = Math.min(a.end, b.end);
  return start < end ? { start, end } : undefined;
}

export function contains(outer: Interval, inner: Interval): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

export function containsInstant(interval: Interval, instant: EpochMs): boolean {
  return interval.start <= instant && instant < interval.end;
}

/** Whether one of some intervals, sorted and disjoint, contains an interval. */
export function liesWithin(condensed: readonly Interval[], inner: Interval): boolean {
  let [low, high] = [0, condensed.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((condensed[middle]?.end ?? Infinity) >= inner.end) high = middle;
    else low = middle + 1;
  }
  const outer = condensed[low];
  return outer !== undefined && contains(outer, inner);
}

/** Gaps that are joined are no longer than so many times the interval behind them. */
const GAP_FACTOR = 4;

/**
 * Fewer and longer intervals that cover some, sorted and disjoint: those with short gaps between them become one, so all are at most
 * some times as long as what they cover.
 */
export function joinNearby(condensed: readonly Interval[]): readonly Interval[] {
  const joined: Interval[] = [];
  for (const { start, end } of condensed) {
    const last = joined.at(-1);
    if (last !== undefined && start - last.end <= GAP_FACTOR * (end - start)) joined[joined.length - 1] = { start: last.start, end };
    else joined.push({ start, end });
  }
  return joined;
}
