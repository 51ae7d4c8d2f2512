// Timeline of a datasource: which segments are visible and which are overshadowed.

import { BinaryHeap } from '../base/binary-heap.js';
import type { EpochMs, Interval } from '../base/instant.js';
import { highest } from '../base/lists.js';
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
  const chunks = groupIntoChunks(segments).filter(isComplete).sort(compareStarts);
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

function groupIntoChunks<Segment extends TimelineSegment>(segments: Iterable<Segment>): Chunk<Segment>[] {
  const chunks = new Map<string, { interval: Interval; version: string; segments: Segment[] }>();
  for (const segment of segments) {
    const { interval, version } = segment.id;
    const key = `${interval.start}/${interval.end}/${version}`;
    const chunk = chunks.get(key);
    if (chunk === undefined) chunks.set(key, { interval, version, segments: [segment] });
    else chunk.segments.push(segment);
  }
  for (const chunk of chunks.values()) chunk.segments.sort((a, b) => a.id.partitionNumber - b.id.partitionNumber);
  return [...chunks.values()];
}

function isComplete<Segment extends TimelineSegment>(chunk: Chunk<Segment>): boolean {
  const present = new Set(chunk.segments.map((segment) => segment.id.partitionNumber));
  const core = highest(chunk.segments.map((segment) => segment.shardSpec.partitions));
  for (let partition = 0; partition < core; partition++) if (!present.has(partition)) return false;
  return chunk.interval.start < chunk.interval.end;
}

function compareStarts(a: Chunk<TimelineSegment>, b: Chunk<TimelineSegment>): number {
  return a.interval.start - b.interval.start || (a.version < b.version ? -1 : a.version > b.version ? 1 : a.interval.end - b.interval.end);
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
