// Whole time chunks around intervals.

import type { Interval } from '../base/instant.js';
import { bucketsOf, type Granularity } from '../model/granularity.js';

/** The time chunks that an interval meets, as one interval; null: it is a time chunk itself. */
export function alignedInterval(interval: Interval, granularity: Granularity | null): Interval {
  if (granularity === null) return interval;
  const { floor, next } = bucketsOf(granularity);
  return { start: floor(interval.start), end: next(interval.end - 1) };
}

export interface AlignedGroup<Item> {
  /** Whole time chunks; nothing outside of the group meets it. */
  readonly interval: Interval;
  readonly items: readonly Item[];
}

/** Groups of what shares time chunks, directly or through others; by time. */
export function alignedGroups<Item>(
  items: Iterable<Item>,
  intervalOf: (item: Item) => Interval,
  granularity: Granularity | null,
): readonly AlignedGroup<Item>[] {
  const groups: { interval: Interval; items: Item[] }[] = [];
  for (const item of [...items].sort((a, b) => intervalOf(a).start - intervalOf(b).start)) {
    const interval = alignedInterval(intervalOf(item), granularity);
    const last = groups.at(-1);
    if (last === undefined || interval.start >= last.interval.end) groups.push({ interval, items: [item] });
    else {
      last.items.push(item);
      if (interval.end > last.interval.end) last.interval = { start: last.interval.start, end: interval.end };
    }
  }
  return groups;
}
