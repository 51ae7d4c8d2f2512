// Caches pins of segments between queries.

import { BoundedCache } from '../base/bounded-cache.js';
import { assert } from '../base/errors.js';
import type { LookedUpFound } from '../model/lookup/looked-up-column.js';
import type { BufferPool, Resident } from './buffer-pool.js';
import type { PinRequest, SegmentPin } from './contract.js';
import type { GlobalDictionary } from './global-dictionaries.js';
import type { SegmentList, SegmentLists, TimedSegments } from './segment-list.js';
import type { GlobalDictionaryView, SegmentView } from './view.js';

/** Cached pin; valid until a segment is evicted or closed. */
export interface CachedPin {
  /** Each as often as it is pinned. */
  readonly pinned: readonly Resident[];
  /** Dictionaries by column, with their views. */
  readonly dictionaries: ReadonlyMap<string, GlobalDictionary>;
  readonly views: readonly SegmentView[];
  readonly dictionaryViews: Readonly<Record<string, GlobalDictionaryView>>;
  readonly lookedUp: ReadonlyMap<string, LookedUpFound>;
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

  keep(request: PinRequest, list: SegmentList, timed: TimedSegments, findings: CachedPin): void {
    this.#kept.keep(keyOf(request, list, timed), findings);
  }

  /** The pin, with everything pinned and the very same views as before; undefined when something has moved. */
  takeAgain(request: PinRequest, list: SegmentList, timed: TimedSegments, lists: SegmentLists): SegmentPin | undefined {
    if (request.leftOut !== undefined) return undefined;
    const key = keyOf(request, list, timed);
    const findings = this.#kept.find(key);
    if (findings === undefined) return undefined;
    const { dictionaries, dictionaryViews, lookedUp, pinned, views } = findings;
    const stands = Object.entries(dictionaryViews).every(
      ([column, { entries, count }]) => dictionaries.get(column)?.isAt(entries, count) === true,
    );
    // A segment that was opened again has columns of its own, and those of the one before are freed.
    if (!stands || !this.#resident.pinAgain(pinned)) {
      this.#kept.delete(key);
      return undefined;
    }
    const held = [...dictionaries.values()].map((dictionary) => dictionary.hold());
    const letGo = lists.hold(list);
    let isReleased = false;
    const release = (): void => {
      assert(!isReleased, 'a pin is released once');
      isReleased = true;
      for (const each of held) each.release();
      for (const each of pinned) this.#resident.unpin(each);
      letGo();
    };
    return { segments: views, dictionaries: dictionaryViews, lookedUp, bytesRead: 0, release };
  }
}

function keyOf(
  { columns, globalDictionaries, lookedUp = [], isSeparate = false }: PinRequest,
  { digest }: SegmentList,
  timed: TimedSegments,
): string {
  const names = lookedUp.map(({ name }) => name);
  return JSON.stringify([columns, globalDictionaries, names, digest, timed === 'all' ? timed : [...timed], isSeparate]);
}
