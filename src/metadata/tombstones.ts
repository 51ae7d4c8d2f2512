// Tombstones: segments without rows, which keep what a publish has replaced hidden where it wrote none.

import { ServiceError } from '../base/errors.js';
import { ETERNITY, type Interval } from '../base/instant.js';
import { condenseIntervals, intersect } from '../base/interval.js';
import { bucketsOf, type Granularity } from '../model/granularity.js';
import { TOMBSTONES_MAX } from '../model/publication.js';
import type { SegmentDescriptor, SegmentId, ShardSpec } from '../model/segment.js';
import type { Chunk } from './timeline.js';

/** Whether a segment has no rows and no file, and only hides what is older. */
export function isTombstone({ shardSpec }: { readonly shardSpec: ShardSpec }): boolean {
  return shardSpec.type === 'tombstone';
}

/** A tombstone under an id whose partition number is 0. Its size is 1, as clients know it. */
export function tombstone(id: SegmentId): SegmentDescriptor {
  return {
    id,
    shardSpec: { type: 'tombstone', partitionNum: 0, partitions: 0 },
    loadSpec: { type: 'tombstone', path: '' },
    sizeBytes: 1,
    rowCount: 0,
    dimensions: [],
    metrics: [],
    columns: [],
  };
}

/** The chunks without tombstones: those of which there is something to read. */
export function chunksOfRows<Some extends Pick<Chunk<SegmentDescriptor>, 'segments'>>(chunks: readonly Some[]): readonly Some[] {
  if (!chunks.some(({ segments }) => segments.some(isTombstone))) return chunks;
  return chunks.flatMap((chunk) => {
    const segments = chunk.segments.filter((segment) => !isTombstone(segment));
    return segments.length === 0 ? [] : [segments.length === chunk.segments.length ? chunk : { ...chunk, segments }];
  });
}

/**
 * Time chunks of the replaced intervals in which nothing is written, but something was.
 * @param replaced     condensed
 * @param granularity  of the time chunks; undefined: what was there in one stretch is one
 * @param written      intervals of the segments that take the place of others
 * @param used         intervals of what was there
 * @returns            sorted and disjoint
 * @throws ServiceError `resource_limit` when there are more than `TOMBSTONES_MAX`
 */
export function emptiedChunks(
  replaced: readonly Interval[],
  granularity: Granularity | undefined,
  written: readonly Interval[],
  used: readonly Interval[],
): readonly Interval[] {
  const buckets = granularity === undefined ? undefined : bucketsOf(granularity);
  const chunks: Interval[] = [];
  const add = ({ start, end }: Interval): void => {
    // Two stretches may share a chunk.
    if (start < (chunks.at(-1)?.end ?? -Infinity)) return;
    if (chunks.length === TOMBSTONES_MAX)
      throw new ServiceError(
        'resource_limit',
        `more than ${TOMBSTONES_MAX} time chunks that had rows would have none; replace a shorter interval at a time, or by longer time chunks`,
      );
    chunks.push({ start, end });
  };
  for (const { free, emptied } of meetings(without(replaced, condenseIntervals(written)), condenseIntervals(used))) {
    if (buckets === undefined || emptied.start <= ETERNITY.start || emptied.end >= ETERNITY.end) {
      add(emptied);
      continue;
    }
    for (let start = buckets.floor(emptied.start); start < emptied.end; start = buckets.next(start)) {
      const chunk = intersect({ start, end: buckets.next(start) }, free);
      if (chunk !== undefined) add(chunk);
    }
  }
  return chunks;
}

/** Intervals that two lists share, each with that of the first which it is a part of; all sorted and disjoint. */
function* meetings(
  frees: readonly Interval[],
  stretches: readonly Interval[],
): Generator<{ readonly free: Interval; readonly emptied: Interval }> {
  let next = 0;
  for (const free of frees) {
    while ((stretches[next]?.end ?? Infinity) <= free.start) next++;
    for (let at = next; (stretches[at]?.start ?? Infinity) < free.end; at++) {
      const stretch = stretches[at];
      const emptied = stretch && intersect(stretch, free);
      if (emptied !== undefined) yield { free, emptied };
    }
  }
}

/** The parts of some intervals that others do not cover; all sorted and disjoint. */
function without(intervals: readonly Interval[], covered: readonly Interval[]): readonly Interval[] {
  const left: Interval[] = [];
  let next = 0;
  for (const { start, end } of intervals) {
    let from = start;
    while ((covered[next]?.end ?? Infinity) <= start) next++;
    for (let at = next; (covered[at]?.start ?? Infinity) < end; at++) {
      const cover = covered[at];
      if (cover === undefined) break;
      if (cover.start > from) left.push({ start: from, end: cover.start });
      from = Math.max(from, cover.end);
    }
    if (from < end) left.push({ start: from, end });
  }
  return left;
}
