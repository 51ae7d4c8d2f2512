// The timeline of a datasource, kept up by what changes.

import type { EpochMs, Interval } from '../base/instant.js';
import { append } from '../base/lists.js';
import { compareSegments, type Island, islandsOf, resolveIsland, type TimelineSegment, type VisibleChunk } from './timeline.js';

/**
 * A stretch of a timeline: no segment reaches out of it, and those of the blocks before and after it lie before and
 * after. It never changes; a timeline has the same object for it for as long as its segments are the same.
 */
export interface TimelineBlock<Segment extends TimelineSegment> {
  readonly start: EpochMs;
  readonly end: EpochMs;
  /** All of them, the overshadowed ones too. */
  readonly segments: readonly Segment[];
  readonly chunks: readonly VisibleChunk<Segment>[];
}

/** Blocks that went and those that came in their place. */
export interface TimelineChange<Segment extends TimelineSegment> {
  readonly before: readonly TimelineBlock<Segment>[];
  readonly after: readonly TimelineBlock<Segment>[];
}

/** One island in so many ends a block: a change resolves some hundred segments anew, however many there are. */
const END_IN = 256;

/** The visible chunks of a set of segments that changes: like `resolveTimeline` of all of them. */
export class SegmentTimeline<Segment extends TimelineSegment> {
  #blocks: readonly TimelineBlock<Segment>[] = [];

  /** Blocks by time. */
  get blocks(): readonly TimelineBlock<Segment>[] {
    return this.#blocks;
  }

  /** Visible chunks of which the interval shares an instant with this one. */
  overlapping({ start, end }: Interval): readonly VisibleChunk<Segment>[] {
    const found: VisibleChunk<Segment>[] = [];
    for (let at = this.#firstEndingAfter(start); (this.#blocks[at]?.start ?? Infinity) < end; at++)
      for (const chunk of this.#blocks[at]?.chunks ?? []) if (chunk.interval.start < end && chunk.interval.end > start) found.push(chunk);
    return found;
  }

  /** Segments, the overshadowed ones too, that share an instant with an interval. */
  segmentsWithin({ start, end }: Interval): readonly Segment[] {
    const found: Segment[] = [];
    for (let at = this.#firstEndingAfter(start); (this.#blocks[at]?.start ?? Infinity) < end; at++)
      for (const segment of this.#blocks[at]?.segments ?? [])
        if (segment.id.interval.start < end && segment.id.interval.end > start) found.push(segment);
    return found;
  }

  /** Takes segments away, where they are there, and adds others; one that is there already is replaced. */
  change(removed: readonly Segment[], added: readonly Segment[]): TimelineChange<Segment> {
    const changes = [...removed.map((segment) => ({ segment, isAdded: false })), ...added.map((segment) => ({ segment, isAdded: true }))];
    const before: TimelineBlock<Segment>[] = [];
    const after: TimelineBlock<Segment>[] = [];
    const blocks: TimelineBlock<Segment>[] = [];
    let kept = 0;
    for (const { from, to, changes: own } of this.#regionsOf(changes)) {
      append(blocks, this.#blocks.slice(kept, from));
      const replaced = this.#blocks.slice(from, to);
      kept = to;
      const made = blocksOf(changed(replaced, own));
      append(before, replaced);
      append(after, made);
      append(blocks, made);
    }
    append(blocks, this.#blocks.slice(kept));
    this.#blocks = blocks;
    return { before, after };
  }

  /** The blocks that changes meet, as ranges of their places, disjoint and in order. */
  #regionsOf(changes: readonly Change<Segment>[]): readonly Region<Segment>[] {
    const regions: Region<Segment>[] = [];
    for (const change of changes.toSorted((a, b) => compareSegments(a.segment, b.segment))) {
      const { start, end } = change.segment.id.interval;
      // One of no instants is never visible.
      if (start >= end) continue;
      let from = this.#firstEndingAfter(start);
      let to = from;
      while ((this.#blocks[to]?.start ?? Infinity) < end) to++;
      // One between blocks joins the one before it, unless that is complete, or else the one behind it.
      const earlier = this.#blocks[from - 1];
      if (from === to && earlier !== undefined && !endsBlock(earlier.end)) from--;
      else if (from === to && to < this.#blocks.length) to++;
      const last = regions.at(-1);
      const isApart = last === undefined || (from >= last.to && from < to && start >= last.end);
      if (isApart) regions.push({ from, to, end, changes: [change] });
      else {
        last.to = Math.max(last.to, to);
        last.end = Math.max(last.end, end);
        last.changes.push(change);
      }
    }
    return regions;
  }

  /** Place of the first block that ends after an instant. */
  #firstEndingAfter(instant: EpochMs): number {
    let [low, high] = [0, this.#blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#blocks[middle]?.end ?? Infinity) > instant) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

interface Change<Segment extends TimelineSegment> {
  readonly segment: Segment;
  readonly isAdded: boolean;
}

interface Region<Segment extends TimelineSegment> {
  readonly from: number;
  to: number;
  /** The latest end of its changes. */
  end: EpochMs;
  readonly changes: Change<Segment>[];
}

/** The segments of the blocks with the changes made, in order. */
function changed<Segment extends TimelineSegment>(
  blocks: readonly TimelineBlock<Segment>[],
  changes: readonly Change<Segment>[],
): readonly Segment[] {
  const before = blocks.flatMap(({ segments }) => segments);
  const after: Segment[] = [];
  let next = 0;
  // Both are in order. Of changes of one segment, those that add it come last.
  for (let at = 0; at < changes.length; at++) {
    const { segment, isAdded } = changes[at] as Change<Segment>;
    const following = changes[at + 1];
    if (following !== undefined && compareSegments(following.segment, segment) === 0) continue;
    for (; next < before.length && compareSegments(before[next] as Segment, segment) < 0; next++) after.push(before[next] as Segment);
    if (next < before.length && compareSegments(before[next] as Segment, segment) === 0) next++;
    if (isAdded) after.push(segment);
  }
  for (; next < before.length; next++) after.push(before[next] as Segment);
  return after;
}

/** @param segments  in order */
function blocksOf<Segment extends TimelineSegment>(segments: readonly Segment[]): readonly TimelineBlock<Segment>[] {
  const blocks: TimelineBlock<Segment>[] = [];
  let islands: Island<Segment>[] = [];
  const close = (): void => {
    const [first, last] = [islands[0], islands.at(-1)];
    if (first === undefined || last === undefined) return;
    const [chunks, own]: [VisibleChunk<Segment>[], Segment[]] = [[], []];
    for (const island of islands) {
      append(own, island.segments);
      append(chunks, resolveIsland(island));
    }
    blocks.push({ start: first.start, end: last.end, segments: own, chunks });
    islands = [];
  };
  for (const island of islandsOf(segments)) {
    islands.push(island);
    if (endsBlock(island.end)) close();
  }
  close();
  return blocks;
}

/** Depends on the instant at which an island ends, not on its place among others. */
function endsBlock(end: EpochMs): boolean {
  return Math.imul(Math.floor(end / 60_000) | 0, 0x9e3779b1) >>> 0 < 2 ** 32 / END_IN;
}
