import { assert } from '../../base/errors.js';

import { resolveTimeline, type VisibleChunk } from '../../metadata/timeline.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';
import type { SegmentsSnapshot, ServerInventory } from '../rpc/services.js';
import type { TableSchema } from './contract.js';
import { tableSchema } from './table-schema.js';

/** What queries of one datasource read: never changed, only replaced as a whole. */
export interface DataSourceView {
  readonly dataSource: string;
  readonly chunks: readonly VisibleChunk<SegmentDescriptor>[];
  readonly schema: TableSchema;
}

interface HeldView {
  readonly view: DataSourceView;
  readonly ids: ReadonlySet<string>;
  /** The newest metadata revision at which this was what is visible. */
  revision: number;
  /** Running queries that read from it. */
  readers: number;
}

/** A view that will not lose its segments until it is released. */
export interface PinnedView {
  readonly view: DataSourceView;
  release(): void;
}

/**
 * The broker's picture of the cluster. A datasource moves to a newer revision only when every segment of that revision
 * is served somewhere, and then all at once: a publish over many chunks is never seen in part. Until then queries stay
 * on the segments they had. Only the first picture after the start is taken as it is.
 */
export class ClusterView {
  readonly #held = new Map<string, HeldView>();
  /** Views that were replaced while queries still read from them. */
  readonly #retired = new Set<HeldView>();
  #servers: ReadonlyMap<string, ServerInventory> = new Map();
  #serversOf: ReadonlyMap<string, readonly ServerInventory[]> = new Map();
  /** The snapshot that was looked at last; null before the first. */
  #seen: { readonly revision: number; readonly dataSources: { has(name: string): boolean } } | null = null;

  dataSources(): readonly string[] {
    return [...this.#held.keys()].sort();
  }

  find(dataSource: string): DataSourceView | undefined {
    return this.#held.get(dataSource)?.view;
  }

  /** Of the snapshot that was looked at last; null before the first. */
  get revision(): number | null {
    return this.#seen?.revision ?? null;
  }

  /** The newest metadata revision at which what queries of it read is what is visible; undefined: not known, or not served. */
  revisionOf(dataSource: string): number | undefined {
    const held = this.#held.get(dataSource);
    if (held !== undefined) return held.revision;
    return this.#seen?.dataSources.has(dataSource) === false ? this.#seen.revision : undefined;
  }

  /** undefined for a datasource without visible segments. */
  pin(dataSource: string): PinnedView | undefined {
    const held = this.#held.get(dataSource);
    if (held === undefined) return undefined;
    held.readers++;
    let released = false;
    return {
      view: held.view,
      release: () => {
        if (released) return;
        released = true;
        held.readers--;
        if (held.readers === 0) this.#retired.delete(held);
      },
    };
  }

  /** Those that serve a segment now, highest priority first, then by host. */
  serversOf(segmentId: string): readonly ServerInventory[] {
    return this.#serversOf.get(segmentId) ?? [];
  }

  /** Per datasource, the oldest revision that the view or a running query may still read from. */
  revisionsInUse(): Readonly<Record<string, number>> {
    const oldest = new Map<string, number>();
    for (const { view, revision } of [...this.#held.values(), ...this.#retired]) {
      oldest.set(view.dataSource, Math.min(oldest.get(view.dataSource) ?? revision, revision));
    }
    return Object.fromEntries(oldest);
  }

  /** False when nothing is different. */
  updateServers(inventories: readonly ServerInventory[]): boolean {
    const servers = new Map(inventories.map((inventory) => [inventory.host, inventory]));
    const unchanged =
      servers.size === this.#servers.size &&
      [...servers].every(([host, inventory]) => this.#servers.get(host)?.generation === inventory.generation);
    if (unchanged) return false;
    const serversOf = new Map<string, ServerInventory[]>();
    for (const inventory of [...inventories].sort((a, b) => b.priority - a.priority || (a.host < b.host ? -1 : 1))) {
      for (const id of inventory.segmentIds) {
        const servers = serversOf.get(id);
        if (servers === undefined) serversOf.set(id, [inventory]);
        else servers.push(inventory);
      }
    }
    this.#servers = servers;
    this.#serversOf = serversOf;
    return true;
  }

  /** Moves each datasource to the snapshot where that is possible. */
  adopt(snapshot: SegmentsSnapshot): void {
    const byDataSource = new Map<string, SegmentDescriptor[]>();
    for (const segment of snapshot.segments) {
      const same = byDataSource.get(segment.id.dataSource);
      if (same === undefined) byDataSource.set(segment.id.dataSource, [segment]);
      else same.push(segment);
    }
    for (const dataSource of new Set([...this.#held.keys(), ...byDataSource.keys()])) {
      this.#adoptDataSource(dataSource, byDataSource.get(dataSource) ?? [], snapshot.revision);
    }
    this.#seen = { revision: snapshot.revision, dataSources: byDataSource };
  }

  #adoptDataSource(dataSource: string, segments: readonly SegmentDescriptor[], revision: number): void {
    const held = this.#held.get(dataSource);
    const ids = new Set(segments.map((segment) => segmentIdText(segment.id)));
    if (held !== undefined && sameSet(held.ids, ids)) {
      held.revision = revision;
      return;
    }
    if (this.#seen !== null && ![...ids].every((id) => this.#serversOf.has(id))) return;
    if (held !== undefined && held.readers > 0) this.#retired.add(held);
    if (segments.length === 0) {
      this.#held.delete(dataSource);
      return;
    }
    const chunks = resolveTimeline(segments);
    assert(chunks.length > 0, `the snapshot of ${dataSource} holds visible segments only`);
    this.#held.set(dataSource, { view: { dataSource, chunks, schema: tableSchema(dataSource, chunks) }, ids, revision, readers: 0 });
  }
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id));
}
