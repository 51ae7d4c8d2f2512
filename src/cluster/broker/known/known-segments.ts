// A datasource as the Broker knows it, and as it shows it.

import { SegmentTimeline, type TimelineBlock } from '../../../metadata/segment-timeline.js';
import { isTombstone } from '../../../metadata/tombstones.js';
import type { SegmentDescriptor, UnreadableSegment } from '../../../model/segment.js';

/** Published segments that a view shows. They never change. */
export interface Published {
  /** Blocks of their timeline, made when they are first asked for. */
  readonly blocks: () => readonly TimelineBlock<SegmentDescriptor>[];
  readonly isEmpty: boolean;
  /** Whether one of them is no tombstone. */
  readonly hasRows: boolean;
}

export const NOTHING_PUBLISHED: Published = { blocks: () => [], isEmpty: true, hasRows: false };

/** A datasource as of the last snapshot, and what of it the view shows otherwise. */
export class Known {
  readonly #segments = new Map<string, SegmentDescriptor>();
  /** Segments by printed id that the view shows otherwise, as it shows them; undefined: not at all. None before anything is shown. */
  readonly #otherwise = new Map<string, SegmentDescriptor | undefined>();
  readonly #timeline = new SegmentTimeline<SegmentDescriptor>();
  #isAnyShown = false;
  #shown = NOTHING_PUBLISHED;
  #shownUnreadable: readonly UnreadableSegment[] = [];
  unreadable: readonly UnreadableSegment[] = [];
  /** Segments of the snapshot that are served nowhere. */
  readonly awaited = new Set<string>();

  /** Visible segments by printed id. */
  get segments(): ReadonlyMap<string, SegmentDescriptor> {
    return this.#segments;
  }

  get shown(): Published {
    return this.#shown;
  }

  /** Segments that could not be read as of what is shown: they stay refused until what took their place is shown. */
  get shownUnreadable(): readonly UnreadableSegment[] {
    return this.#shownUnreadable;
  }

  /** Whether the snapshot has nothing of it. */
  get isEmpty(): boolean {
    return this.#segments.size === 0 && this.unreadable.length === 0;
  }

  /** Whether the snapshot may say otherwise than the view. */
  get isBehind(): boolean {
    const segments = this.#isAnyShown ? this.#otherwise.size : this.#segments.size;
    return segments > 0 || !sameIds(this.#shownUnreadable, this.unreadable);
  }

  isShown(id: string): boolean {
    return this.#shownAs(id) !== undefined;
  }

  /** A segment is visible as of the snapshot. */
  put(id: string, segment: SegmentDescriptor): void {
    if (this.#isAnyShown) {
      if (this.#shownAs(id) === undefined) this.#otherwise.set(id, undefined);
      else this.#otherwise.delete(id);
    }
    this.#segments.set(id, segment);
  }

  /** A segment is not visible any more. */
  remove(id: string): void {
    if (!this.#segments.has(id)) return;
    const shown = this.#shownAs(id);
    if (shown !== undefined) this.#otherwise.set(id, shown);
    else this.#otherwise.delete(id);
    this.#segments.delete(id);
    this.awaited.delete(id);
  }

  /**
   * Shows what the snapshot has.
   * @param note  told of each segment that was not shown before
   */
  show(note: (id: string, segment: SegmentDescriptor) => void): void {
    // Blocks of the view before are of its own segments: they are made before these change.
    this.#shown.blocks();
    const [removed, added]: [SegmentDescriptor[], SegmentDescriptor[]] = [[], []];
    for (const [id, before] of this.#isAnyShown ? this.#otherwise : []) {
      const now = this.#segments.get(id);
      if (before !== undefined) removed.push(before);
      if (now === undefined) continue;
      added.push(now);
      note(id, now);
    }
    if (!this.#isAnyShown) {
      for (const [id, segment] of this.#segments) {
        added.push(segment);
        note(id, segment);
      }
    }
    this.#otherwise.clear();
    this.#isAnyShown = true;
    this.#shownUnreadable = this.unreadable;
    this.#shown = {
      blocks: changedLater(this.#timeline, removed, added),
      isEmpty: this.#segments.size === 0,
      hasRows: hasRows(this.#segments),
    };
  }

  #shownAs(id: string): SegmentDescriptor | undefined {
    if (!this.#isAnyShown) return undefined;
    return this.#otherwise.has(id) ? this.#otherwise.get(id) : this.#segments.get(id);
  }
}

/** Blocks of a timeline behind a change that is made when they are first asked for. */
function changedLater(
  timeline: SegmentTimeline<SegmentDescriptor>,
  removed: readonly SegmentDescriptor[],
  added: readonly SegmentDescriptor[],
): Published['blocks'] {
  let waiting: { readonly removed: typeof removed; readonly added: typeof added } | undefined = { removed, added };
  let blocks: readonly TimelineBlock<SegmentDescriptor>[] = [];
  return () => {
    if (waiting !== undefined) {
      timeline.change(waiting.removed, waiting.added);
      waiting = undefined;
      blocks = timeline.blocks;
    }
    return blocks;
  };
}

function hasRows(segments: ReadonlyMap<string, SegmentDescriptor>): boolean {
  for (const segment of segments.values()) if (!isTombstone(segment)) return true;
  return false;
}

function sameIds(a: readonly UnreadableSegment[], b: readonly UnreadableSegment[]): boolean {
  if (a === b) return true;
  const ids = new Set(a.map(({ id }) => id));
  return ids.size === b.length && b.every(({ id }) => ids.has(id));
}
