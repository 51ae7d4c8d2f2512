import type { VisibleChunk } from '../../metadata/timeline.js';
import type { Frame } from '../../model/frame.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';
import { cacheKey, type FrameCache } from '../frame-cache.js';
import type { QueryOptions } from './contract.js';
import { chunksWithin } from './scatter.js';
import type { RowsPlan } from './segment-runs.js';

export interface ResultCache {
  readonly frames: FrameCache;
  /** `svc.broker.cache.useResultLevelCache`, `svc.broker.cache.populateResultLevelCache`. */
  readonly reads: boolean;
  readonly writes: boolean;
}

/**
 * The result of a plan from the cache, or made and put there. The key names every segment that is read, with its
 * version, and the part of it that is visible: another publish is another key, so nothing stale is found. Scans are not
 * kept: they are as large as what they read.
 */
export async function* throughCache(
  cache: ResultCache | null,
  plan: RowsPlan,
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  options: QueryOptions,
  make: () => AsyncGenerator<Frame>,
): AsyncGenerator<Frame> {
  const { caching, profile, kernels } = options;
  const reads = cache?.reads === true && caching?.useResultLevelCache !== false;
  const writes = cache?.writes === true && caching?.populateResultLevelCache !== false;
  // Joined rows lie in memory under a name that nobody uses twice.
  const isJoined = plan.stages?.some(({ kind }) => kind === 'join') === true;
  if (cache === null || plan.operator === 'scan' || isJoined || (!reads && !writes)) {
    yield* make();
    return;
  }
  const segments = chunksWithin(chunks, plan.intervals).map(({ visible, segments: each }) => [
    visible,
    each.map(({ id }) => segmentIdText(id)),
  ]);
  const key = cacheKey('result', plan, kernels, segments);
  const found = reads ? cache.frames.find(key) : undefined;
  if (profile !== undefined && reads) profile[found === undefined ? 'resultCacheMisses' : 'resultCacheHits']++;
  if (found !== undefined) yield* found;
  else yield* writes ? cache.frames.keep(key, make()) : make();
}
