// Used segments as the Coordinator tells of them: copies that rules ask for, and segments that no query reads.

import type { LoopTurns } from '../../../base/loop-turns.js';
import type { SegmentDescriptor } from '../../../model/segment.js';
import { idTextOf, parseSegmentId } from '../../../model/segment-id.js';
import type { Copies, SegmentServer, SnapshotUpdate } from '../../rpc/services.js';

/** A used segment that is overshadowed, or that the rules load nowhere. */
export interface OtherSegment {
  readonly segment: SegmentDescriptor;
  readonly isOvershadowed: boolean;
}

const NO_COPIES: Copies = {};
const NO_OTHERS: ReadonlyMap<string, OtherSegment> = new Map();

/** Used segments, kept up by what snapshots tell beside the visible ones. */
export class UsedSegments {
  /** Copies of most visible segments; of the others by printed id. */
  #usual = NO_COPIES;
  readonly #copies = new Map<string, Copies>();
  /** Equal copies are one object. */
  readonly #known = new Map<string, Copies>();
  readonly #others = new Map<string, Map<string, OtherSegment>>();

  /** Takes in a snapshot and gives the event loop its turns: nothing may be read meanwhile. */
  async learn({ segments, copies = [], others = [], overshadowed = [], since }: SnapshotUpdate, turns: LoopTurns): Promise<void> {
    if (since === undefined) {
      this.#copies.clear();
      this.#known.clear();
      this.#others.clear();
      this.#usual = copies[0] === undefined ? NO_COPIES : this.#same(copies[0]);
    }
    for (const id of since?.gone ?? []) {
      this.#copies.delete(id);
      this.#forgetOther(parseSegmentId(id)?.dataSource ?? '', id);
    }
    const told = new Map<Copies, Copies>();
    for (const [at, segment] of segments.entries()) {
      const own = copies[at] ?? NO_COPIES;
      const same = told.get(own) ?? this.#same(own);
      told.set(own, same);
      if (same !== this.#usual) this.#copies.set(idTextOf(segment), same);
      else if (this.#copies.size > 0) this.#copies.delete(idTextOf(segment));
      if (this.#others.size > 0) this.#forgetOther(segment.id.dataSource, idTextOf(segment));
      if (turns.isDue) await turns.give();
    }
    for (const [at, segment] of others.entries()) {
      const { dataSource } = segment.id;
      const known = this.#others.get(dataSource) ?? new Map<string, OtherSegment>();
      this.#others.set(dataSource, known.set(idTextOf(segment), { segment, isOvershadowed: overshadowed[at] === true }));
      if (turns.isDue) await turns.give();
    }
  }

  /** Copies of a visible segment. */
  copiesOf(id: string): Copies {
    return this.#copies.get(id) ?? this.#usual;
  }

  /** Names of the datasources with segments that no query reads. */
  get dataSources(): Iterable<string> {
    return this.#others.keys();
  }

  /** Segments of a datasource that no query reads, by printed id. */
  othersOf(dataSource: string): ReadonlyMap<string, OtherSegment> {
    return this.#others.get(dataSource) ?? NO_OTHERS;
  }

  #forgetOther(dataSource: string, id: string): void {
    const known = this.#others.get(dataSource);
    if (known?.delete(id) === true && known.size === 0) this.#others.delete(dataSource);
  }

  #same(copies: Copies): Copies {
    const key = JSON.stringify(Object.entries(copies).sort());
    const known = this.#known.get(key);
    if (known === undefined) this.#known.set(key, copies);
    return known ?? copies;
  }
}

/** Number of copies over all tiers; one that is wanted everywhere counts once for each server of its tier. */
export function countCopies(copies: Copies, servers: readonly SegmentServer[]): number {
  let sum = 0;
  for (const [tier, count] of Object.entries(copies))
    sum += count === Number.MAX_SAFE_INTEGER ? servers.filter((server) => server.tier === tier).length : count;
  return sum;
}
