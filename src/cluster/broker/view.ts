// The Broker's view of the cluster: which segments of each datasource are served, and where.

import { assert } from '../../base/errors.js';

import { resolveTimeline, type VisibleChunk } from '../../metadata/timeline.js';
import type { SegmentDescriptor, UnreadableSegment } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';
import type { SegmentsSnapshot, ServerInventory } from '../rpc/services.js';
import type { TableSchema } from './contract.js';
import type { Serving } from './scatter.js';
import { tableSchema } from './table-schema.js';

/** Immutable view of one datasource that queries read; replaced as a whole. */
export interface DataSourceView {
  readonly dataSource: string;
  readonly chunks: readonly VisibleChunk<SegmentDescriptor>[];
  /** Used segments whose metadata cannot be read: queries that touch one are refused. */
  readonly unreadable: readonly UnreadableSegment[];
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

/** One datasource's part of a snapshot. */
interface SnapshotPart {
  readonly segments: readonly SegmentDescriptor[];
  readonly unreadable: readonly UnreadableSegment[];
  readonly ids: ReadonlySet<string>;
  /** One that was served nowhere at the last look: as long as it is not, the others need not be looked at. */
  awaited: string | undefined;
}

const NO_SEGMENTS: SnapshotPart = { segments: [], unreadable: [], ids: new Set(), awaited: undefined };

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
  #serving: Serving = { of: () => [] };
  #grouped: { readonly snapshot: SegmentsSnapshot; readonly byDataSource: ReadonlyMap<string, SnapshotPart> } | undefined;
  /** The snapshot that was looked at last; null before the first. */
  #seen: { readonly revision: number; readonly dataSources: { has(name: string): boolean } } | null = null;

  dataSources(): readonly string[] {
    return [...this.#held.keys()].sort();
  }

  find(dataSource: string): DataSourceView | undefined {
    return this.#held.get(dataSource)?.view;
  }

  /** Revision of the last snapshot; null before the first. */
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

  /** Servers that serve a segment now, highest priority first, then by host. */
  serversOf(segmentId: string): readonly ServerInventory[] {
    return this.#serving.of(segmentId);
  }

  /** Another one whenever a server, or what one serves, has changed. */
  get serving(): Serving {
    return this.#serving;
  }

  /** Oldest revision by datasource that the view or a running query may still read from. */
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
    this.#serving = { of: (id) => serversOf.get(id) ?? [] };
    return true;
  }

  /** Moves each datasource to the snapshot where that is possible. */
  adopt(snapshot: SegmentsSnapshot): void {
    const byDataSource = this.#groupedBy(snapshot);
    for (const dataSource of new Set([...this.#held.keys(), ...byDataSource.keys()])) {
      this.#adoptDataSource(dataSource, byDataSource.get(dataSource) ?? NO_SEGMENTS, snapshot.revision);
    }
    this.#seen = { revision: snapshot.revision, dataSources: byDataSource };
  }

  /** The same snapshot is looked at again whenever something was loaded: it is taken apart once. */
  #groupedBy(snapshot: SegmentsSnapshot): ReadonlyMap<string, SnapshotPart> {
    if (this.#grouped?.snapshot === snapshot) return this.#grouped.byDataSource;
    const byDataSource = new Map<string, ReturnType<typeof newPart>>();
    const partOf = (dataSource: string): ReturnType<typeof newPart> => {
      const part = byDataSource.get(dataSource) ?? newPart();
      byDataSource.set(dataSource, part);
      return part;
    };
    for (const segment of snapshot.segments) {
      const part = partOf(segment.id.dataSource);
      part.segments.push(segment);
      part.ids.add(segmentIdText(segment.id));
    }
    for (const segment of snapshot.unreadable ?? []) partOf(segment.dataSource).unreadable.push(segment);
    this.#grouped = { snapshot, byDataSource };
    return byDataSource;
  }

  #isServed(part: SnapshotPart): boolean {
    if (part.awaited !== undefined && !this.#serversOf.has(part.awaited)) return false;
    part.awaited = undefined;
    for (const id of part.ids) {
      if (this.#serversOf.has(id)) continue;
      part.awaited = id;
      return false;
    }
    return true;
  }

  #adoptDataSource(dataSource: string, part: SnapshotPart, revision: number): void {
    const { segments, unreadable, ids } = part;
    const held = this.#held.get(dataSource);
    if (held !== undefined && sameSet(held.ids, ids) && sameSet(idsOf(held.view.unreadable), idsOf(unreadable))) {
      held.revision = revision;
      return;
    }
    if (this.#seen !== null && !this.#isServed(part)) return;
    if (held !== undefined && held.readers > 0) this.#retired.add(held);
    if (segments.length === 0 && unreadable.length === 0) {
      this.#held.delete(dataSource);
      return;
    }
    const chunks = resolveTimeline(segments);
    assert(chunks.length > 0 || segments.length === 0, `the snapshot of ${dataSource} holds visible segments only`);
    this.#held.set(dataSource, {
      view: { dataSource, chunks, unreadable, schema: tableSchema(dataSource, chunks) },
      ids,
      revision,
      readers: 0,
    });
  }
}

function newPart() {
  const [segments, unreadable]: [SegmentDescriptor[], UnreadableSegment[]] = [[], []];
  return { segments, unreadable, ids: new Set<string>(), awaited: undefined };
}

function idsOf(segments: readonly UnreadableSegment[]): ReadonlySet<string> {
  return new Set(segments.map(({ id }) => id));
}

function sameSet(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a === b) return true;
  if (a.size !== b.size) return false;
  for (const id of a) if (!b.has(id)) return false;
  return true;
}
