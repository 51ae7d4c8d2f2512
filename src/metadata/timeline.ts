// Timeline of a datasource: which segments are visible and which are overshadowed.

import { BinaryHeap } from '../base/binary-heap.js';
import type { EpochMs, Interval } from '../base/instant.js';
import { append, highest } from '../base/lists.js';
import type { SegmentId, ShardSpec } from '../model/segment.js';

/** Fields of a segment that the timeline needs; `SegmentDescriptor` has them. */
export interface TimelineSegment {
  readonly id: SegmentId;
  readonly shardSpec: ShardSpec;
}

/** The segments of one interval and version, by partition number; together they are all rows of that chunk. */
export interface Chunk<Segment extends TimelineSegment> {
  readonly interval: Interval;
  readonly version: string;
  readonly segments: readonly Segment[];
}

export interface VisibleChunk<Segment extends TimelineSegment> extends Chunk<Segment> {
  /** The parts of `interval` that no newer complete chunk covers: sorted, disjoint, not touching, not empty. */
  readonly visible: readonly Interval[];
}

/**
 * Decides which of a datasource's used segments answer for which instants.
 *
 * A chunk counts once it is complete: every core partition 0..partitions-1 of its shard specs is present (appended
 * segments carry numbers above and are never waited for). At any instant the complete chunk of the greatest version
 * wins, as a whole; among equal versions (which publishing never makes) the earlier start, then the longer one.
 *
 * @param segments  of one datasource, without repeats, in any order
 * @returns         chunks with some visible part, by start of their interval, then version
 */
export function resolveTimeline<Segment extends TimelineSegment>(segments: Iterable<Segment>): readonly VisibleChunk<Segment>[] {
  const visible: VisibleChunk<Segment>[] = [];
  for (const island of islandsOf([...segments].sort(compareSegments))) append(visible, resolveIsland(island));
  return visible;
}

/** Segments that share instants with each other, directly or through others; nothing else does with one of them. */
export interface Island<Segment extends TimelineSegment> {
  readonly start: EpochMs;
  readonly end: EpochMs;
  readonly segments: readonly Segment[];
}

/** @param segments  in the order of `compareSegments` */
export function islandsOf<Segment extends TimelineSegment>(segments: readonly Segment[]): readonly Island<Segment>[] {
  const islands: Island<Segment>[] = [];
  let island: { start: EpochMs; end: EpochMs; segments: Segment[] } | undefined;
  for (const segment of segments) {
    const { start, end } = segment.id.interval;
    if (island === undefined || start >= island.end) {
      island = { start, end, segments: [] };
      islands.push(island);
    }
    island.segments.push(segment);
    if (end > island.end) island.end = end;
  }
  return islands;
}

/** Order by start, version, end and partition number: segments of a chunk lie next to each other, chunks in the order of a timeline. */
export function compareSegments({ id: a }: TimelineSegment, { id: b }: TimelineSegment): number {
  return (
    a.interval.start - b.interval.start ||
    (a.version < b.version ? -1 : a.version > b.version ? 1 : a.interval.end - b.interval.end || a.partitionNumber - b.partitionNumber)
  );
}

/** The visible chunks of an island, see `resolveTimeline`. */
export function resolveIsland<Segment extends TimelineSegment>({ segments }: Island<Segment>): readonly VisibleChunk<Segment>[] {
  const chunks = chunksOf(segments).filter(isComplete);
  // Nearly all islands: nothing hides a part of another.
  if (chunks.length <= 1)
    return chunks.map(({ interval, version, segments: own }) => ({ interval, version, segments: own, visible: [interval] }));
  const boundaries = [...new Set(chunks.flatMap(({ interval }) => [interval.start, interval.end]))].sort((a, b) => a - b);
  const visible = new Map<Chunk<Segment>, Interval[]>();
  // Chunks that have started. Ended ones leave only once they are the first.
  const open = new BinaryHeap<Chunk<Segment>>([], precedence);
  let next = 0;
  for (const [at, start] of boundaries.entries()) {
    for (let chunk = chunks[next]; chunk !== undefined && chunk.interval.start === start; chunk = chunks[++next]) open.push(chunk);
    while (open.first !== undefined && open.first.interval.end <= start) open.dropFirst();
    const winner = open.first;
    const end = boundaries[at + 1];
    if (winner === undefined || end === undefined) continue;
    extend(visible, winner, start, end);
  }
  return chunks.flatMap((chunk) => {
    const pieces = visible.get(chunk);
    return pieces === undefined ? [] : [{ ...chunk, visible: pieces }];
  });
}

/** The segments of chunks with some visible part: "used and not overshadowed". */
export function visibleSegments<Segment extends TimelineSegment>(segments: Iterable<Segment>): readonly Segment[] {
  return resolveTimeline(segments).flatMap((chunk) => chunk.segments);
}

/** @param segments  in the order of `compareSegments` */
function chunksOf<Segment extends TimelineSegment>(segments: readonly Segment[]): Chunk<Segment>[] {
  const chunks: Chunk<Segment>[] = [];
  let current: { readonly interval: Interval; readonly version: string; readonly segments: Segment[] } | undefined;
  for (const segment of segments) {
    const { interval, version } = segment.id;
    if (
      current === undefined ||
      current.interval.start !== interval.start ||
      current.interval.end !== interval.end ||
      current.version !== version
    ) {
      current = { interval, version, segments: [] };
      chunks.push(current);
    }
    current.segments.push(segment);
  }
  return chunks;
}

function isComplete<Segment extends TimelineSegment>(chunk: Chunk<Segment>): boolean {
  if (chunk.interval.start >= chunk.interval.end) return false;
  const only = chunk.segments.length === 1 ? chunk.segments[0] : undefined;
  if (only !== undefined) return only.shardSpec.partitions <= (only.id.partitionNumber === 0 ? 1 : 0);
  const present = new Set(chunk.segments.map((segment) => segment.id.partitionNumber));
  const core = highest(chunk.segments.map((segment) => segment.shardSpec.partitions));
  for (let partition = 0; partition < core; partition++) if (!present.has(partition)) return false;
  return true;
}

function extend<Key>(visible: Map<Key, Interval[]>, key: Key, start: EpochMs, end: EpochMs): void {
  const pieces = visible.get(key);
  const last = pieces?.at(-1);
  if (pieces === undefined) visible.set(key, [{ start, end }]);
  else if (last?.end === start) pieces[pieces.length - 1] = { start: last.start, end };
  else pieces.push({ start, end });
}

/** Precedence of two segments: above 0 when `a` overshadows `b` where both overlap. */
function precedence(a: Chunk<TimelineSegment>, b: Chunk<TimelineSegment>): number {
  if (a.version !== b.version) return a.version > b.version ? 1 : -1;
  return b.interval.start - a.interval.start || a.interval.end - b.interval.end;
}
