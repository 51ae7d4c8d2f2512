// Caches pins of segments between queries.

import { createHash } from 'node:crypto';
import { BoundedCache } from '../base/bounded-cache.js';
import { assert } from '../base/errors.js';
import type { BufferPool, Resident } from './buffer-pool.js';
import type { PinRequest, SegmentPin } from './contract.js';
import type { GlobalDictionary } from './global-dictionaries.js';
import type { OpenSegment } from './open-segment.js';
import type { GlobalDictionaryView, SegmentView } from './view.js';

/** Cached pin; valid until a segment is evicted or closed. */
export interface CachedPin {
  readonly segments: readonly OpenSegment[];
  /** Each as often as it is pinned. */
  readonly pinned: readonly Resident[];
  /** Dictionaries by column, with their views. */
  readonly dictionaries: ReadonlyMap<string, GlobalDictionary>;
  readonly views: readonly SegmentView[];
  readonly dictionaryViews: Readonly<Record<string, GlobalDictionaryView>>;
}

/** A few plans over the same segments are most of what a server is asked. */
const KEPT_COUNT = 64;

/** Findings by request. They hold on to nothing: what they name may be evicted or closed, and is then found anew. */
export class PinCache {
  readonly #resident: BufferPool;
  readonly #kept = new BoundedCache<string, CachedPin>(KEPT_COUNT);

  constructor(resident: BufferPool) {
    this.#resident = resident;
  }

  keep(request: PinRequest, withTime: readonly OpenSegment[], findings: CachedPin): void {
    this.#kept.keep(keyOf(request, withTime), findings);
  }

  /** The pin, with everything pinned and the very same views as before; undefined when something has moved. */
  takeAgain(request: PinRequest, withTime: readonly OpenSegment[]): SegmentPin | undefined {
    if (request.leftOut !== undefined) return undefined;
    const key = keyOf(request, withTime);
    const findings = this.#kept.find(key);
    if (findings === undefined) return undefined;
    const { segments, dictionaries, dictionaryViews, pinned, views } = findings;
    const stands =
      segments.every((segment) => segment.isOpen) &&
      Object.entries(dictionaryViews).every(([column, { entries, count }]) => dictionaries.get(column)?.isAt(entries, count) === true);
    if (!stands || !this.#resident.pinAgain(pinned)) {
      this.#kept.delete(key);
      return undefined;
    }
    const held = [...dictionaries.values()].map((dictionary) => dictionary.hold());
    for (const segment of segments) segment.use();
    let isReleased = false;
    const release = (): void => {
      assert(!isReleased, 'a pin is released once');
      isReleased = true;
      for (const each of held) each.release();
      for (const each of pinned) this.#resident.unpin(each);
      for (const segment of segments) segment.letGo();
    };
    return { segments: views, dictionaries: dictionaryViews, bytesRead: 0, release };
  }
}

/** @param withTime  of these `__time` is found, whether or not it is named */
function keyOf({ segmentIds, columns, globalDictionaries, isSeparate = false }: PinRequest, withTime: readonly OpenSegment[]): string {
  const time = withTime.length === segmentIds.length ? 'all' : withTime.map(({ id }) => id);
  return JSON.stringify([columns, globalDictionaries, digestOf(segmentIds), time, isSeparate]);
}

const DIGESTS = new WeakMap<readonly string[], string>();

/** Short for long lists, and found again for the same one. */
function digestOf(segmentIds: readonly string[]): string {
  const digest = DIGESTS.get(segmentIds) ?? createHash('sha256').update(JSON.stringify(segmentIds)).digest('base64');
  DIGESTS.set(segmentIds, digest);
  return digest;
}
