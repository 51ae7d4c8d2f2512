// The Broker's cache of whole results, keyed by plan and segments.

import type { VisibleChunk } from '../../metadata/timeline.js';
import type { Frame } from '../../model/frame.js';
import type { RowsPlan } from '../../model/row-source.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';
import { cacheKey, type FrameCache } from '../frame-cache.js';
import type { QueryOptions, ResultUse } from './contract.js';
import { chunksWithin } from './scatter.js';
import type { DataSourceView } from './view.js';

export interface ResultCache {
  readonly frames: FrameCache;
  /** `svc.broker.cache.useResultLevelCache`, `svc.broker.cache.populateResultLevelCache`. */
  readonly reads: boolean;
  readonly writes: boolean;
}

interface KnownKey {
  /** The view that the plan read. */
  readonly view: DataSourceView;
  readonly kernels: string | null;
  readonly key: string;
}

/** Cache keys of plans over one table, kept while its segments stay the same so that they need not be named again. */
export class ResultKeys {
  readonly #keys = new WeakMap<RowsPlan, KnownKey>();

  note(plan: RowsPlan, known: KnownKey): void {
    this.#keys.set(plan, known);
  }

  /** The result of this very plan over this very view, if it is still in the cache and may be used. */
  find(cache: ResultCache | null, plan: RowsPlan, view: DataSourceView, use: ResultUse): readonly Frame[] | undefined {
    if (!readsFrom(cache, use)) return undefined;
    const known = this.#keys.get(plan);
    return known?.view === view && known.kernels === use.kernels ? cache.frames.find(known.key) : undefined;
  }
}

function readsFrom(cache: ResultCache | null, { caching }: ResultUse): cache is ResultCache {
  return cache?.reads === true && caching?.useResultLevelCache !== false;
}

/**
 * The result of a plan from the cache, or made and put there. The key names every segment that is read, with its
 * version, and the part of it that is visible: another publish is another key, so nothing stale is found. Scans are not
 * kept: they are as large as what they read.
 * @param noteKey  told the key, where there is one
 */
export async function* throughCache(
  cache: ResultCache | null,
  plan: RowsPlan,
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  options: QueryOptions,
  make: () => AsyncGenerator<Frame>,
  noteKey?: (key: string) => void,
): AsyncGenerator<Frame> {
  const { caching, profile, kernels } = options;
  const reads = readsFrom(cache, options);
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
  noteKey?.(key);
  const found = reads ? cache.frames.find(key) : undefined;
  if (profile !== undefined && reads) profile[found === undefined ? 'resultCacheMisses' : 'resultCacheHits']++;
  if (found !== undefined) yield* found;
  else yield* writes ? cache.frames.keep(key, make()) : make();
}
