// The live segments of streaming tasks, as the Broker knows them.

import type { VisibleChunk } from '../../metadata/timeline.js';
import { isLive, type SegmentDescriptor } from '../../model/segment.js';
import { idTextOf } from '../../model/segment-id.js';
import type { LiveDescriptor } from '../../model/stream/live.js';
import type { InventoryUpdate, LiveInventory, SegmentServer } from '../rpc/services.js';
import { LiveStreams } from './live-streams.js';

/** Tasks serve a segment as long as no Historical does. */
const TASK_PRIORITY = -1;

interface Known {
  readonly descriptor: LiveDescriptor;
  /** Replicas that have all rows where there are such, else all of them. */
  readonly servers: readonly SegmentServer[];
}

/** Live segments by the tasks that serve them. */
export class LiveSegments {
  readonly #inventories = new Map<string, LiveInventory>();
  /** Segments that are shown; those of replicas by the one that leads them. */
  #known: ReadonlyMap<string, Known> = new Map();
  /** Segments of all tasks. */
  #ids: ReadonlySet<string> = new Set();
  /** Segments that were seen among the published ones: they are not shown as live ones any more, even if they are replaced. */
  readonly #published = new Set<string>();

  /** Streams that the rows are of. */
  readonly streams: LiveStreams;

  constructor(now: () => number) {
    this.streams = new LiveStreams(now);
  }

  /** Generation of what is known of a task; null: nothing is. */
  generationOf(host: string): string | null {
    return this.#inventories.get(host)?.generation ?? null;
  }

  isTask(host: string): boolean {
    return this.#inventories.has(host);
  }

  /**
   * Takes in what tasks have told.
   * @param hosts  the tasks that are there
   * @returns the datasources of which it may be otherwise than before
   */
  update(updates: readonly LiveInventory[], hosts: ReadonlySet<string>): ReadonlySet<string> {
    const gone = [...this.#inventories.keys()].filter((host) => !hosts.has(host));
    this.streams.update(updates, gone);
    if (gone.length === 0 && updates.length === 0) return NONE;
    for (const host of gone) this.#inventories.delete(host);
    const newer = updates.filter(({ host, generation }) => this.generationOf(host) !== generation);
    for (const update of newer) this.#inventories.set(update.host, update);
    return gone.length === 0 && newer.length === 0 ? NONE : this.#renew();
  }

  /** Has a replica take the place of a task that does not answer. @returns the datasources that are otherwise than before */
  demote(host: string, silent: ReadonlySet<string>): ReadonlySet<string> {
    return this.streams.demote(host, silent) ? this.#renew() : NONE;
  }

  #renew(): ReadonlySet<string> {
    const before = this.#known;
    const all = [...this.#inventories.values()];
    this.#known = knownOf(all.filter(({ host }) => this.streams.leads(host)));
    const changed = new Set<string>();
    for (const [id, { descriptor }] of [...before, ...this.#known])
      if (before.get(id)?.descriptor !== this.#known.get(id)?.descriptor) changed.add(descriptor.id.dataSource);
    this.#ids = new Set(all.flatMap(({ segments }) => segments.map(idTextOf)));
    for (const id of this.#published) if (!this.#ids.has(id)) this.#published.delete(id);
    return changed;
  }

  serversOf(id: string): readonly SegmentServer[] | undefined {
    return this.#known.get(id)?.servers;
  }

  notePublished(id: string): void {
    if (this.#ids.has(id)) this.#published.add(id);
  }

  /**
   * Live segments of a datasource that were never published, as far as is known.
   * @param isPublished  whether a segment of a printed id is
   */
  unpublished(dataSource: string, isPublished: (id: string) => boolean): readonly LiveDescriptor[] {
    const found: LiveDescriptor[] = [];
    for (const [id, { descriptor }] of this.#known) {
      if (descriptor.id.dataSource !== dataSource) continue;
      if (isPublished(id)) this.#published.add(id);
      if (!this.#published.has(id)) found.push(descriptor);
    }
    return found;
  }
}

const NONE: ReadonlySet<string> = new Set();

function knownOf(inventories: readonly LiveInventory[]): ReadonlyMap<string, Known> {
  const replicas = new Map<string, { readonly server: SegmentServer; readonly descriptor: LiveDescriptor }[]>();
  for (const { host, segments } of inventories)
    for (const descriptor of segments) {
      const replica = { server: taskServer(host), descriptor };
      const others = replicas.get(idTextOf(descriptor));
      if (others === undefined) replicas.set(idTextOf(descriptor), [replica]);
      else others.push(replica);
    }
  const known = new Map<string, Known>();
  for (const [id, all] of replicas) {
    const sealed = all.filter(({ descriptor }) => descriptor.isPublished);
    const best = sealed.length > 0 ? sealed : all;
    const [first] = best;
    if (first !== undefined) known.set(id, { descriptor: first.descriptor, servers: best.map(({ server }) => server) });
  }
  return known;
}

function taskServer(host: string): SegmentServer {
  return { host, tier: '_default_tier', priority: TASK_PRIORITY, maxSizeBytes: 0 };
}

/** The segments that a task has all rows of: it serves them like a Historical, once they are published. */
export function sealedInventory({ host, generation, segments }: LiveInventory): InventoryUpdate {
  const sealed = segments.filter(({ isPublished }) => isPublished).map(idTextOf);
  return { ...taskServer(host), currentSizeBytes: 0, generation, segmentIds: sealed, loading: [], failed: {} };
}

/**
 * Chunks with live segments among them, by start and version. Live rows are always visible: whatever replaces a chunk while they come
 * leaves them, or carries them along.
 */
export function withLive(
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  live: readonly SegmentDescriptor[],
): readonly VisibleChunk<SegmentDescriptor>[] {
  if (live.length === 0) return chunks;
  const added = new Map<string, SegmentDescriptor[]>();
  for (const segment of live) {
    const key = keyOf(segment.id);
    const others = added.get(key);
    if (others === undefined) added.set(key, [segment]);
    else others.push(segment);
  }
  const joined = chunks.map((chunk) => {
    const [piece, second] = chunk.visible;
    const isWhole = second === undefined && piece?.start === chunk.interval.start && piece.end === chunk.interval.end;
    const key = keyOf(chunk);
    const own = isWhole ? added.get(key) : undefined;
    if (own === undefined) return chunk;
    added.delete(key);
    return { ...chunk, segments: [...chunk.segments, ...own] };
  });
  for (const segments of added.values()) {
    const [first] = segments;
    if (first !== undefined)
      joined.push({ interval: first.id.interval, version: first.id.version, segments, visible: [first.id.interval] });
  }
  return joined.sort((a, b) => a.interval.start - b.interval.start || (a.version < b.version ? -1 : a.version > b.version ? 1 : 0));
}

function keyOf({ interval, version }: Pick<SegmentDescriptor['id'], 'interval' | 'version'>): string {
  return `${interval.start}/${interval.end}/${version}`;
}

/** Whether some chunk has rows that are still coming, so that no answer over it is good for long. */
export function hasLive(chunks: readonly VisibleChunk<SegmentDescriptor>[]): boolean {
  return chunks.some(({ segments }) => segments.some(isLive));
}
