// The Broker's view of the cluster: which segments of each datasource are served, and where.

import { LoopTurns } from '../../base/loop-turns.js';
import { isTombstone } from '../../metadata/tombstones.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { idTextOf, parseSegmentId } from '../../model/segment-id.js';
import type { PublishedStream } from '../../model/stream/reach.js';
import type { InventoryUpdate, LiveInventory, SegmentServer, SnapshotUpdate } from '../rpc/services.js';
import { BlockView, type DataSourceView } from './block-view.js';
import { Known, NOTHING_PUBLISHED } from './known/known-segments.js';
import { ServedSegments } from './known/served-segments.js';
import { NOBODY } from './known/server-lists.js';
import { UsedSegments } from './known/used-segments.js';
import { LiveSegments } from './live-segments.js';
import type { LiveStreams } from './live-streams.js';
import type { Serving } from './scatter.js';

interface HeldView {
  readonly view: BlockView;
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
  readonly #known = new Map<string, Known>();
  /** Datasources of which the snapshot may say otherwise than the view. */
  readonly #behind = new Set<string>();
  /** Datasources with segments that cannot be read. */
  readonly #unreadable = new Set<string>();
  /** Views that were replaced while queries still read from them. */
  readonly #retired = new Set<HeldView>();
  /** Segments that are used, beyond those of queries. */
  readonly used = new UsedSegments();
  readonly #live: LiveSegments;
  readonly #servers = new ServedSegments((id, isServed) => this.#updateAwaited(id, !isServed));
  #serving: Serving = this.#newServing();
  /** Revision of the last snapshot; null before the first. */
  #revision: number | null = null;
  /** Whether the first snapshot is shown, all of it. */
  #isShown = false;
  #isMaking = false;
  #term: number | null = null;
  #changes = 0;
  /** Published rows of streams as of the last snapshot, and as they are shown. */
  #streams: readonly PublishedStream[] = [];
  #shownStreams: readonly PublishedStream[] = [];

  constructor(now: () => number = Date.now) {
    this.#live = new LiveSegments(now);
  }

  /** Streams whose rows are shown. */
  get streams(): LiveStreams {
    return this.#live.streams;
  }

  /** Another number whenever something of it may have changed. */
  get changes(): number {
    return this.#changes;
  }

  /** Names of those with segments that have rows. */
  dataSources(): readonly string[] {
    return [...this.#held].flatMap(([name, { view }]) => (view.isEmpty ? [] : [name])).sort();
  }

  find(dataSource: string): DataSourceView | undefined {
    const view = this.#held.get(dataSource)?.view;
    return view?.isEmpty === true ? undefined : view;
  }

  /** Revision of the last snapshot; null before all of the first one is shown. */
  get revision(): number | null {
    return this.#isShown ? this.#revision : null;
  }

  /** Leadership of the Coordinator that told the last snapshot; null: not known. */
  get term(): number | null {
    return this.#term;
  }

  /** The newest metadata revision at which what queries of it read is what is visible; undefined: not known, or not served. */
  revisionOf(dataSource: string): number | undefined {
    const held = this.#held.get(dataSource);
    if (held !== undefined) return held.revision;
    return this.#known.has(dataSource) ? undefined : (this.#revision ?? undefined);
  }

  /** undefined for a datasource without visible segments; one of tombstones only is there. */
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
  serversOf(segmentId: string): readonly SegmentServer[] {
    return this.#serving.of(segmentId);
  }

  /** Visible segments of each datasource as of the last snapshot, which may not be shown yet, by printed id. */
  get visible(): ReadonlyMap<string, Pick<Known, 'segments'>> {
    return this.#known;
  }

  /** Servers, those of sealed live segments among them, of all that are served. */
  get served(): ReadonlyMap<string, readonly SegmentServer[]> {
    return this.#servers.byId;
  }

  /** The Historicals that are there. */
  get servers(): readonly SegmentServer[] {
    return this.#servers.servers.filter(({ host }) => !this.#live.isTask(host));
  }

  /** Whether a server is the process of a task. */
  isTask(host: string): boolean {
    return this.#live.isTask(host);
  }

  /** Another one whenever a server, or who serves a segment that was served, has changed. */
  get serving(): Serving {
    return this.#serving;
  }

  /** Generation of what is known of a server; null: nothing is. */
  generationOf(host: string): string | null {
    return this.#servers.generationOf(host);
  }

  /** The same of a task. */
  liveGenerationOf(host: string): string | null {
    return this.#live.generationOf(host);
  }

  /**
   * Shows the live segments that tasks have told of.
   * @param hosts  the tasks that are there
   */
  updateLive(updates: readonly LiveInventory[], hosts: Iterable<string> = updates.map(({ host }) => host)): void {
    this.#showLive(this.#live.update(updates, new Set(hosts)));
  }

  /**
   * Has replicas serve what a task did that does not answer.
   * @param silent  tasks that do not answer either
   */
  demote(host: string, silent: ReadonlySet<string>): void {
    this.#showLive(this.#live.demote(host, silent));
  }

  #showLive(changed: ReadonlySet<string>): void {
    if (changed.size > 0) this.#changes++;
    for (const dataSource of changed) this.#renew(dataSource, this.#held.get(dataSource)?.revision ?? this.#revision ?? 0);
    if (changed.size > 0) this.#serving = this.#newServing();
  }

  /** Oldest revision by datasource that the view or a running query may still read from. */
  revisionsInUse(): Readonly<Record<string, number>> {
    const oldest = new Map<string, number>();
    for (const { view, revision } of [...this.#held.values(), ...this.#retired]) {
      oldest.set(view.dataSource, Math.min(oldest.get(view.dataSource) ?? revision, revision));
    }
    return Object.fromEntries(oldest);
  }

  /**
   * Takes in what servers have told, one call after the other, and gives the event loop its turns: queries meanwhile find who served
   * a segment before, or who does now.
   * @param hosts  the servers that are there: the segments of others are served no more
   */
  async updateServers(updates: readonly InventoryUpdate[], hosts: Iterable<string> = updates.map(({ host }) => host)): Promise<void> {
    const { isChanged, isOther } = await this.#servers.update(updates, new Set(hosts), new LoopTurns());
    if (isChanged) this.#changes++;
    if (isOther) this.#serving = this.#newServing();
  }

  /** Moves each datasource to the snapshot where that is possible. Gives the event loop its turns, one call after the other. */
  async adopt(snapshot: SnapshotUpdate): Promise<void> {
    const turns = new LoopTurns();
    this.#changes++;
    await this.#learn(snapshot, turns);
    await this.used.learn(snapshot, turns);
    this.#revision = snapshot.revision;
    this.#term = snapshot.term ?? null;
    this.#streams = snapshot.streams ?? [];
    await this.#moveOn(!this.#isShown, turns);
    this.#isShown = true;
  }

  /** Moves each datasource to the last snapshot where that has become possible. */
  catchUp(): Promise<void> {
    return this.#moveOn(false, new LoopTurns());
  }

  /** @param unserved  even to one of which not all is served */
  async #moveOn(unserved: boolean, turns: LoopTurns): Promise<void> {
    if (this.#revision === null) return;
    for (const dataSource of this.#behind) {
      const known = this.#known.get(dataSource);
      if (known === undefined || (!unserved && known.awaited.size > 0)) continue;
      this.#show(dataSource, known);
      this.#behind.delete(dataSource);
      if (turns.isDue) await turns.give();
    }
    for (const [dataSource, held] of this.#held) if (!this.#behind.has(dataSource)) held.revision = this.#revision;
    this.#showStreams();
    if (!this.#isMaking) void this.#makeTimelines();
  }

  /** Makes the timelines that nobody has asked for yet, behind all that waits: a statement over all tables would make them in one piece. */
  async #makeTimelines(): Promise<void> {
    this.#isMaking = true;
    const turns = new LoopTurns();
    for (const { shown } of this.#known.values()) {
      shown.blocks();
      if (turns.isDue) await turns.give();
    }
    this.#isMaking = false;
  }

  /** Offsets of a datasource are those of the snapshot that its segments are of. */
  #showStreams(): void {
    const isBehind = ({ dataSource }: PublishedStream): boolean => this.#behind.has(dataSource);
    const shown = [...this.#streams.filter((each) => !isBehind(each)), ...this.#shownStreams.filter(isBehind)];
    this.#shownStreams = shown;
    this.streams.publish(shown);
  }

  #newServing(): Serving {
    return { of: (id) => this.#servers.byId.get(id) ?? this.#liveServersOf(id) ?? NOBODY };
  }

  /** A replica that still reads is not a server of what is published. */
  #liveServersOf(id: string): readonly SegmentServer[] | undefined {
    const servers = this.#live.serversOf(id);
    return servers !== undefined && this.#known.get(parseSegmentId(id)?.dataSource ?? '')?.isShown(id) !== true ? servers : undefined;
  }

  #updateAwaited(id: string, isAwaited: boolean): void {
    // Before the first snapshot: what is told of then is awaited if nobody serves it.
    if (this.#known.size === 0) return;
    const known = this.#known.get(parseSegmentId(id)?.dataSource ?? '');
    const segment = known?.segments.get(id);
    if (known === undefined || segment === undefined || isTombstone(segment)) return;
    if (isAwaited) known.awaited.add(id);
    else known.awaited.delete(id);
  }

  /** Nothing of it is shown yet, nor told of. */
  async #learn({ segments, unreadable = [], since }: SnapshotUpdate, turns: LoopTurns): Promise<void> {
    const touched = new Set<string>(this.#unreadable);
    if (since === undefined) await this.#forgetAllBut(segments, touched, turns);
    for (const id of since?.gone ?? []) {
      const dataSource = parseSegmentId(id)?.dataSource ?? '';
      this.#known.get(dataSource)?.remove(id);
      touched.add(dataSource);
    }
    for (const segment of segments) {
      this.#setVisible(segment);
      touched.add(segment.id.dataSource);
      if (turns.isDue) await turns.give();
    }
    this.#unreadable.clear();
    for (const { dataSource } of unreadable) {
      this.#knownOf(dataSource);
      this.#unreadable.add(dataSource);
      touched.add(dataSource);
    }
    for (const dataSource of touched) {
      const known = this.#known.get(dataSource);
      if (known === undefined) continue;
      known.unreadable = unreadable.length === 0 ? unreadable : unreadable.filter((segment) => segment.dataSource === dataSource);
      if (known.isBehind) this.#behind.add(dataSource);
      else this.#behind.delete(dataSource);
      // Gone before it was shown.
      if (known.isEmpty && !this.#behind.has(dataSource)) this.#known.delete(dataSource);
      if (turns.isDue) await turns.give();
    }
  }

  async #forgetAllBut(segments: readonly SegmentDescriptor[], touched: Set<string>, turns: LoopTurns): Promise<void> {
    if (this.#known.size === 0) return;
    const there = new Set<string>();
    for (const segment of segments) {
      there.add(idTextOf(segment));
      if (turns.isDue) await turns.give();
    }
    for (const [dataSource, known] of this.#known) {
      touched.add(dataSource);
      for (const id of known.segments.keys()) {
        if (!there.has(id)) known.remove(id);
        if (turns.isDue) await turns.give();
      }
    }
  }

  #setVisible(segment: SegmentDescriptor): void {
    const id = idTextOf(segment);
    const known = this.#knownOf(segment.id.dataSource);
    known.put(id, segment);
    // Tombstones are not read.
    if (!isTombstone(segment) && !this.#servers.byId.has(id)) known.awaited.add(id);
  }

  #knownOf(dataSource: string): Known {
    let known = this.#known.get(dataSource);
    if (known === undefined) {
      known = new Known();
      this.#known.set(dataSource, known);
    }
    return known;
  }

  #show(dataSource: string, known: Known): void {
    known.show((id, { liveId = id }) => this.#live.notePublished(liveId));
    if (known.isEmpty) this.#known.delete(dataSource);
    this.#renew(dataSource, this.#revision ?? 0);
  }

  /** Replaces the view of a datasource by one of what is published and shown, and of what is live. */
  #renew(dataSource: string, revision: number): void {
    const held = this.#held.get(dataSource);
    if (held !== undefined && held.readers > 0) this.#retired.add(held);
    const known = this.#known.get(dataSource);
    const live = this.#live.unpublished(dataSource, (id) => known?.isShown(id) === true);
    const published = known?.shown ?? NOTHING_PUBLISHED;
    const unreadable = known?.shownUnreadable ?? [];
    if (published.isEmpty && unreadable.length === 0 && live.length === 0) this.#held.delete(dataSource);
    else this.#held.set(dataSource, { view: new BlockView(dataSource, published, unreadable, live), revision, readers: 0 });
  }
}
