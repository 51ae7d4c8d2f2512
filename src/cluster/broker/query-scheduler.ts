// Admits queries by lanes and priorities, and refuses those above a lane's limit.

import { ServiceError } from '../../base/errors.js';
import type { EpochMs, Interval } from '../../base/instant.js';
import { intersect } from '../../base/interval.js';
import { lowest } from '../../base/lists.js';
import type { SegmentDescriptor } from '../../model/segment.js';

/** Strategy that divides running queries into lanes with limits of their own. */
export type Laning =
  | { readonly strategy: 'none' }
  /** Queries of a priority below 0 share the lane `low`. */
  | { readonly strategy: 'hilo'; readonly maxLowPercent: number }
  /** The context names the lane; one that has no limit here is as good as none. */
  | { readonly strategy: 'manual'; readonly lanes: ReadonlyMap<string, number>; readonly isLimitPercent: boolean };

/** Thresholds above which the priority that a query asks for is lowered; null: never. */
export interface PriorityThresholds {
  /** Age of the oldest instant it reads. */
  readonly periodMs: number | null;
  /** Length of its intervals together. */
  readonly durationMs: number | null;
  readonly segmentCount: number | null;
  /** Length of the segments it reads together. */
  readonly segmentRangeMs: number | null;
  /** Priority subtracted, once, when any threshold is passed. */
  readonly adjustment: number;
}

export interface QuerySchedulerOptions {
  /** Queries that may run at a time; null: any number. */
  readonly capacity: number | null;
  readonly laning: Laning;
  readonly thresholds: PriorityThresholds | null;
  readonly now: () => EpochMs;
  /** Segments that a query over the intervals reads. */
  readonly segmentsOf: (dataSource: string, intervals: readonly Interval[]) => readonly SegmentDescriptor[];
}

export interface AskedQuery {
  readonly priority: number;
  readonly lane: string | null;
  readonly dataSource: string;
  readonly intervals: readonly Interval[];
}

/** Priority and lane, which decide where there must be room. */
type Place = Pick<AskedQuery, 'priority' | 'lane'>;

/** Lets queries run, or refuses them at once when there is no room; decides what priority they run with. */
export class QueryScheduler {
  readonly #options: QuerySchedulerOptions;
  readonly #running = new Map<string, number>();
  #total = 0;

  constructor(options: QuerySchedulerOptions) {
    this.#options = options;
  }

  /**
   * Runs a query and counts it until its last item was taken.
   * @throws ServiceError `capacity_exceeded` naming the property, with the first item
   */
  async *during<Item>(asked: AskedQuery, run: (priority: number) => AsyncIterable<Item>): AsyncGenerator<Item> {
    const priority = this.priorityOf(asked);
    const release = this.admit({ priority, lane: asked.lane });
    try {
      yield* run(priority);
    } finally {
      release();
    }
  }

  /** @throws ServiceError `capacity_exceeded` */
  admit(asked: Place): () => void {
    const lane = this.#room(asked);
    this.#total++;
    if (lane !== undefined) this.#running.set(lane, (this.#running.get(lane) ?? 0) + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#total--;
      if (lane !== undefined) this.#running.set(lane, (this.#running.get(lane) ?? 0) - 1);
    };
  }

  /**
   * Admits a query that is over at once.
   * @throws ServiceError `capacity_exceeded`
   */
  pass(asked: AskedQuery): void {
    this.#room({ priority: this.priorityOf(asked), lane: asked.lane });
  }

  /** The lane that a query counts in, if it is one with a limit. */
  #room({ priority, lane }: Place): string | undefined {
    const { capacity, laning } = this.#options;
    if (capacity !== null && this.#total >= capacity)
      throw new ServiceError('capacity_exceeded', `${this.#total} queries are running, as many as svc.query.scheduler.numThreads allows`);
    const limited = limitOf(laning, { priority, lane }, capacity);
    if (limited === undefined) return undefined;
    const inLane = this.#running.get(limited.lane) ?? 0;
    if (inLane >= limited.limit)
      throw new ServiceError(
        'capacity_exceeded',
        `${inLane} queries are running in the lane ${limited.lane}, as many as ${limited.property} allows`,
      );
    return limited.lane;
  }

  /** The priority asked for, lowered when the query passes a threshold. */
  priorityOf(asked: AskedQuery): number {
    const { thresholds } = this.#options;
    return thresholds !== null && this.#passes(asked, thresholds) ? asked.priority - thresholds.adjustment : asked.priority;
  }

  #passes({ dataSource, intervals }: AskedQuery, thresholds: PriorityThresholds): boolean {
    const { periodMs, durationMs, segmentCount, segmentRangeMs } = thresholds;
    const oldest = lowest(intervals.map(({ start }) => start));
    if (periodMs !== null && oldest < this.#options.now() - periodMs) return true;
    if (durationMs !== null && lengthOf(intervals) > durationMs) return true;
    if (segmentCount === null && segmentRangeMs === null) return false;
    const segments = this.#options.segmentsOf(dataSource, intervals);
    if (segmentCount !== null && segments.length > segmentCount) return true;
    return segmentRangeMs !== null && rangeOf(segments) > segmentRangeMs;
  }
}

function limitOf(
  laning: Laning,
  { priority, lane }: Place,
  capacity: number | null,
): { readonly lane: string; readonly limit: number; readonly property: string } | undefined {
  switch (laning.strategy) {
    case 'none':
      return undefined;
    case 'hilo':
      if (priority >= 0 || capacity === null) return undefined;
      return { lane: 'low', limit: share(capacity, laning.maxLowPercent), property: 'svc.query.scheduler.laning.maxLowPercent' };
    case 'manual': {
      const limit = lane === null ? undefined : laning.lanes.get(lane);
      if (lane === null || limit === undefined) return undefined;
      const property = 'svc.query.scheduler.laning.lanes';
      return { lane, limit: laning.isLimitPercent && capacity !== null ? share(capacity, limit) : limit, property };
    }
  }
}

/** Share of the capacity, at least one, so that a lane is never shut. */
function share(capacity: number, percent: number): number {
  return Math.max(1, Math.ceil((capacity * percent) / 100));
}

function lengthOf(intervals: readonly Interval[]): number {
  return intervals.reduce((sum, { start, end }) => sum + end - start, 0);
}

/** Segments of one interval count once. */
function rangeOf(segments: readonly SegmentDescriptor[]): number {
  const distinct: Interval[] = [];
  for (const { id } of segments) if (!distinct.some((each) => intersect(each, id.interval) !== undefined)) distinct.push(id.interval);
  return lengthOf(distinct);
}
