// The open segments of a query, found once for as long as they are open.

import { createHash } from 'node:crypto';
import type { Interval } from '../base/instant.js';
import { LoopTurns } from '../base/loop-turns.js';
import type { StoreSegment } from './store-segment.js';

/** Ids that are hashed at a time. */
const IDS_PER_HASH = 1000;

/** Segments that are read together, each once, in the order of their ids, and what is the same for every query over them. */
export interface SegmentList {
  readonly segments: readonly StoreSegment[];
  /** Equal for equal lists of ids. */
  readonly digest: string;
  /** Span of the rows. */
  readonly timeMin: number;
  readonly timeMax: number;
  /** Ids of the segments that are read by themselves: conditions on their columns may be looked up in an index. */
  readonly large: readonly string[];
}

/** Ids of the segments of which `__time` is wanted besides what a request names. */
export type TimedSegments = 'all' | ReadonlySet<string>;

/** Whether every row of all segments lies in one of the intervals: then no segment need be looked at. */
export function liesIn({ timeMin, timeMax }: SegmentList, intervals: readonly Interval[]): boolean {
  return intervals.some(({ start, end }) => start <= timeMin && end > timeMax);
}

interface KnownList {
  readonly list: SegmentList;
  /** Segments of the store that had been closed when all of these were open. */
  closings: number;
}

/** Lists by the array of ids that asked for them: a broker sends the same one for as long as nothing has changed. */
export class SegmentLists {
  readonly #get: (id: string) => StoreSegment;
  readonly #known = new WeakMap<readonly string[], KnownList>();
  readonly #holds = new Set<Hold>();
  #closings = 0;

  /** @param get  throws for a segment that is not open */
  constructor(get: (id: string) => StoreSegment) {
    this.#get = get;
  }

  /** A list that was asked for before, if all of it is still open. */
  find(segmentIds: readonly string[]): SegmentList | undefined {
    const known = this.#known.get(segmentIds);
    if (known === undefined) return undefined;
    if (known.closings !== this.#closings && !known.list.segments.every(({ isOpen }) => isOpen)) return undefined;
    known.closings = this.#closings;
    return known.list;
  }

  /** Makes the list; gives the event loop its turns, after which a segment may be closed again: `find` tells. */
  async make(segmentIds: readonly string[]): Promise<void> {
    const closings = this.#closings;
    const turns = new LoopTurns();
    const segments = new Map<string, StoreSegment>();
    const large: string[] = [];
    let [timeMin, timeMax] = [Infinity, -Infinity];
    for (const id of segmentIds) {
      if (segments.has(id)) continue;
      const segment = this.#get(id);
      segments.set(id, segment);
      if (!segment.isSmall) large.push(id);
      timeMin = Math.min(timeMin, segment.timeMin);
      timeMax = Math.max(timeMax, segment.timeMax);
      if (turns.isDue) await turns.give();
    }
    const hash = createHash('sha256');
    for (let from = 0; from < segmentIds.length; from += IDS_PER_HASH) {
      hash.update(JSON.stringify(segmentIds.slice(from, from + IDS_PER_HASH)));
      if (turns.isDue) await turns.give();
    }
    const list = { segments: [...segments.values()], digest: hash.digest('base64'), timeMin, timeMax, large };
    this.#known.set(segmentIds, { list, closings });
  }

  /** Keeps all segments of a list open until the returned function is called, once. */
  hold(list: SegmentList): () => void {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const hold = { segments: list.segments, released };
    this.#holds.add(hold);
    return () => {
      this.#holds.delete(hold);
      release();
    };
  }

  holds(segment: StoreSegment): boolean {
    return [...this.#holds].some(({ segments }) => segments.includes(segment));
  }

  /** Resolves when nobody holds a segment that has just ended to be open. */
  async left(segment: StoreSegment): Promise<void> {
    this.#closings++;
    for (const { segments, released } of [...this.#holds]) if (segments.includes(segment)) await released;
  }
}

interface Hold {
  readonly segments: readonly StoreSegment[];
  readonly released: Promise<void>;
}
