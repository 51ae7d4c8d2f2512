// The Broker's cache of whole results, keyed by plan and segments.

import { createHash } from 'node:crypto';
import { BoundedCache } from '../../base/bounded-cache.js';
import type { Interval } from '../../base/instant.js';
import { LoopTurns } from '../../base/loop-turns.js';
import type { VisibleChunk } from '../../metadata/timeline.js';
import type { Frame } from '../../model/frame.js';
import type { RowsPlan } from '../../model/row-source.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { idTextOf } from '../../model/segment-id.js';
import { cacheKey, type FrameCache } from '../frame-cache.js';
import type { DataSourceView } from './block-view.js';
import type { QueryOptions, ResultUse } from './contract.js';
import { hasLive } from './live-segments.js';
import { isWithin } from './scatter.js';

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
export function throughCache(
  cache: ResultCache | null,
  plan: RowsPlan,
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  options: QueryOptions,
  make: () => AsyncIterable<Frame>,
  noteKey?: (key: string) => void,
): AsyncIterable<Frame> {
  const reads = readsFrom(cache, options);
  const writes = cache?.writes === true && options.caching?.populateResultLevelCache !== false;
  // Joined rows lie in memory under a name that nobody uses twice.
  const isJoined = plan.stages?.some(({ kind }) => kind === 'join') === true;
  if (cache === null || plan.operator === 'scan' || isJoined || (!reads && !writes) || hasLive(chunks)) return make();
  return kept(cache.frames, { reads, writes }, plan, chunks, options, make, noteKey);
}

async function* kept(
  frames: FrameCache,
  { reads, writes }: { readonly reads: boolean; readonly writes: boolean },
  plan: RowsPlan,
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  { profile, kernels }: QueryOptions,
  make: () => AsyncIterable<Frame>,
  noteKey: ((key: string) => void) | undefined,
): AsyncGenerator<Frame> {
  const key = cacheKey('result', plan, kernels, await digestOf(chunks, plan.intervals));
  noteKey?.(key);
  const found = reads ? frames.find(key) : undefined;
  if (profile !== undefined && reads) profile[found === undefined ? 'resultCacheMisses' : 'resultCacheHits']++;
  if (found !== undefined) yield* found;
  else yield* writes ? frames.keep(key, make()) : make();
}

/** Different intervals that are asked of one view at a time. */
const INTERVALS_KEPT = 32;
const DIGESTS = new WeakMap<readonly VisibleChunk<SegmentDescriptor>[], BoundedCache<string, string>>();

/** Equal for the same segments and visible parts of them; found once for a view, and with turns for the event loop. */
async function digestOf(chunks: readonly VisibleChunk<SegmentDescriptor>[], intervals: readonly Interval[]): Promise<string> {
  const digests = DIGESTS.get(chunks) ?? new BoundedCache(INTERVALS_KEPT);
  DIGESTS.set(chunks, digests);
  const name = JSON.stringify(intervals);
  let digest = digests.find(name);
  if (digest === undefined) {
    const turns = new LoopTurns();
    const hash = createHash('sha256');
    for (const chunk of chunks) {
      if (isWithin(chunk, intervals)) hash.update(JSON.stringify([chunk.visible, chunk.segments.map(idTextOf)]));
      if (turns.isDue) await turns.give();
    }
    digest = hash.digest('base64');
  }
  digests.keep(name, digest);
  return digest;
}
