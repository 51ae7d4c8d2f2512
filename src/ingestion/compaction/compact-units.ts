// Cuts the input of a compaction into parts that are compacted one after the other.

import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { contains, formatInterval } from '../../base/interval.js';
import { alignedGroups } from '../../metadata/aligned-groups.js';
import { type Buckets, bucketsOf, type Granularity } from '../../model/granularity.js';
import type { VisibleSegment } from '../../model/segment.js';
import { idTextOf } from '../../model/segment-id.js';

/** Segments that are rewritten together: nothing outside has rows in `interval`. */
export interface CompactUnit {
  readonly interval: Interval;
  readonly segments: readonly VisibleSegment[];
  /** Time chunks of the segments that are written. */
  readonly chunks: Buckets;
}

/**
 * Segments that share a time chunk, of the granularity or of their own intervals, are a unit.
 * @param granularity  null: a unit keeps its interval as its only time chunk
 * @param within       intervals that may be replaced
 * @throws ServiceError `input_invalid` when a unit reaches out of them
 */
export function unitsOf(
  segments: readonly VisibleSegment[],
  granularity: Granularity | null,
  within: readonly Interval[],
): readonly CompactUnit[] {
  const units = alignedGroups(segments, ({ segment }) => segment.id.interval, granularity);
  for (const { interval, items: own } of units) {
    const crossing = own.find(({ segment }) => !within.some((outer) => contains(outer, segment.id.interval)));
    if (crossing !== undefined || !within.some((outer) => contains(outer, interval)))
      throw new ServiceError(
        'input_invalid',
        `ioConfig: ${within.map(formatInterval).join(', ')} cuts ${crossing === undefined ? `the time chunk ${formatInterval(interval)}` : `segment ${idTextOf(crossing.segment)}`} in two; widen it to whole segments`,
      );
  }
  return units.map(({ interval, items }) => ({
    interval,
    segments: items,
    chunks: granularity === null ? only(interval) : bucketsOf(granularity),
  }));
}

function only({ start, end }: Interval): Buckets {
  return { floor: () => start, next: () => end };
}
