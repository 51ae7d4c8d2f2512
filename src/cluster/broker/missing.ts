// Names what a query cannot read.

import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { condenseIntervals, formatInterval } from '../../base/interval.js';
import { parseSegmentId } from '../../model/segment-id.js';

/** Intervals that a message lists; it counts all. */
const INTERVALS_LISTED_MAX = 20;

/** Segments that nobody serves, and the parts of the query's intervals that they are of. */
export class Missing {
  readonly #intervals: Interval[] = [];
  #count = 0;
  #first: string | undefined;

  /** @param intervals  the parts that are read of it */
  add(id: string, intervals: readonly Interval[]): void {
    this.#first ??= id;
    this.#count++;
    for (const interval of intervals) this.#intervals.push(interval);
  }

  /** @throws ServiceError `segments_unavailable` naming all that was added, if anything was */
  refuse(cause?: unknown): void {
    if (this.#first === undefined) return;
    const what =
      this.#count === 1
        ? `segment ${this.#first} is`
        : `${this.#count} segments of ${parseSegmentId(this.#first)?.dataSource ?? this.#first} are`;
    const message = `${what} served by no Historical at the moment; missing: ${listed(this.#intervals)}`;
    throw new ServiceError('segments_unavailable', message, cause);
  }
}

function listed(intervals: readonly Interval[]): string {
  const condensed = condenseIntervals(intervals);
  const names = condensed.slice(0, INTERVALS_LISTED_MAX).map(formatInterval).join(', ');
  return condensed.length <= INTERVALS_LISTED_MAX ? names : `${names} and ${condensed.length - INTERVALS_LISTED_MAX} more intervals`;
}
