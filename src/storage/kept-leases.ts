import { assert } from '../base/errors.js';
import type { Lease, LeaseRequest } from './contract.js';
import type { GlobalDictionary } from './global-dictionaries.js';
import type { OpenSegment } from './open-segment.js';
import type { Resident, ResidentMemory } from './resident-memory.js';
import type { GlobalDictionaryView, SegmentView } from './view.js';

/** What a lease found: as long as none of it has moved, the next one of the same kind finds the same. */
export interface LeaseFindings {
  readonly segments: readonly OpenSegment[];
  /** Each as often as it is pinned. */
  readonly pinned: readonly Resident[];
  /** By column, as their views. */
  readonly dictionaries: ReadonlyMap<string, GlobalDictionary>;
  readonly views: readonly SegmentView[];
  readonly dictionaryViews: Readonly<Record<string, GlobalDictionaryView>>;
}

/** A few plans over the same segments are most of what a server is asked. */
const KEPT_COUNT = 64;

/**
 * Findings by request, least recently used first. They hold on to nothing: what they name may be evicted or closed,
 * and is then found anew.
 */
export class KeptLeases {
  readonly #resident: ResidentMemory;
  readonly #kept = new Map<string, LeaseFindings>();

  constructor(resident: ResidentMemory) {
    this.#resident = resident;
  }

  keep(request: LeaseRequest, withTime: readonly OpenSegment[], findings: LeaseFindings): void {
    this.#kept.set(keyOf(request, withTime), findings);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_COUNT && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** The lease, with everything pinned and the very same views as before; undefined when something has moved. */
  takeAgain(request: LeaseRequest, withTime: readonly OpenSegment[]): Lease | undefined {
    if (request.leftOut !== undefined) return undefined;
    const key = keyOf(request, withTime);
    const findings = this.#kept.get(key);
    if (findings === undefined) return undefined;
    this.#kept.delete(key);
    const { segments, dictionaries, dictionaryViews, pinned, views } = findings;
    const stands =
      segments.every((segment) => segment.isOpen) &&
      Object.entries(dictionaryViews).every(([column, { entries, count }]) => dictionaries.get(column)?.isAt(entries, count) === true);
    if (!stands || !this.#resident.pinAgain(pinned)) return undefined;
    this.#kept.set(key, findings);
    const held = [...dictionaries.values()].map((dictionary) => dictionary.hold());
    for (const segment of segments) segment.use();
    let isReleased = false;
    const release = (): void => {
      assert(!isReleased, 'a lease is released once');
      isReleased = true;
      for (const each of held) each.release();
      for (const each of pinned) this.#resident.unpin(each);
      for (const segment of segments) segment.letGo();
    };
    return { segments: views, dictionaries: dictionaryViews, bytesRead: 0, release };
  }
}

/** @param withTime  of these `__time` is found, whether or not it is named */
function keyOf({ segmentIds, columns, globalDictionaries }: LeaseRequest, withTime: readonly OpenSegment[]): string {
  const time = withTime.length === segmentIds.length ? 'all' : withTime.map(({ id }) => id);
  return JSON.stringify([columns, globalDictionaries, segmentIds, time]);
}
