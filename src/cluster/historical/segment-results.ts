// The historical's cache of partial results of single segments.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { intersect } from '../../base/interval.js';
import type { Engine, RunOptions } from '../../execution/run/engine.js';
import type { Frame } from '../../model/frame.js';
import type { GroupPlan } from '../../model/plan.js';
import { parseSegmentId } from '../../model/segment-id.js';
import type { SegmentStore } from '../../storage/contract.js';
import { cacheKey, type FrameCache } from '../frame-cache.js';

export interface SegmentResultsOptions {
  readonly frames: FrameCache;
  /** `svc.historical.cache.useCache`, `svc.historical.cache.populateCache`. */
  readonly reads: boolean;
  readonly writes: boolean;
}

/**
 * Partial results of grouping, kept for single segments. A segment never changes, so an entry is right for as long as it
 * is kept; its key has the plan without post-processing steps and the part of the intervals that lies in the segment, so that a
 * window that moves on still finds the segments it covers as a whole.
 */
export class SegmentResults {
  readonly #options: SegmentResultsOptions;

  constructor(options: SegmentResultsOptions) {
    this.#options = options;
  }

  /** Whether anything is to be looked up or kept. */
  serves(plan: GroupPlan, use: { readonly useCache: boolean; readonly populateCache: boolean }): boolean {
    // The one bucket of `all` begins where the intervals do, not where a segment does.
    const hasOwnRows = plan.stages?.some(({ kind }) => kind === 'join') !== true;
    const dependsOnSegmentOnly = hasOwnRows && plan.keys.every((key) => key.kind !== 'time' || key.granularity.kind !== 'all');
    const { reads, writes } = this.#options;
    return dependsOnSegmentOnly && ((reads && use.useCache) || (writes && use.populateCache));
  }

  run(
    plan: GroupPlan,
    request: {
      readonly engine: Pick<Engine, 'run' | 'merge'>;
      readonly store: SegmentStore;
      readonly segmentIds: readonly string[];
      readonly useCache: boolean;
      readonly populateCache: boolean;
    },
    options: RunOptions,
    signal: CancelSignal,
  ): AsyncIterable<Frame> {
    const { engine, store, segmentIds } = request;
    const { frames } = this.#options;
    const reads = this.#options.reads && request.useCache;
    const writes = this.#options.writes && request.populateCache;
    const leaf: GroupPlan = { ...plan, post: [] };
    const partial: RunOptions = { ...options, ending: 'partial' };
    const partials: AsyncIterable<Frame>[] = [];
    const missing: string[] = [];
    for (const id of segmentIds) {
      const key = keyOf(leaf, id, options.kernels);
      const found = reads ? frames.find(key) : undefined;
      if (options.profile !== undefined && reads) options.profile[found === undefined ? 'segmentCacheMisses' : 'segmentCacheHits']++;
      if (found !== undefined) partials.push(streamOf(found));
      else if (writes) partials.push(frames.keep(key, engine.run(leaf, store, [id], partial, signal)));
      else missing.push(id);
    }
    if (missing.length > 0) partials.push(engine.run(leaf, store, missing, partial, signal));
    return engine.merge(plan, partials, options, signal);
  }
}

function keyOf(leaf: GroupPlan, segmentId: string, kernels: string | null): string {
  const interval = parseSegmentId(segmentId)?.interval;
  const intervals = interval === undefined ? leaf.intervals : leaf.intervals.flatMap((each) => intersect(each, interval) ?? []);
  return cacheKey('segment', segmentId, kernels, { ...leaf, intervals });
}

async function* streamOf(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}
