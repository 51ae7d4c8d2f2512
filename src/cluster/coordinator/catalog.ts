// The Coordinator's copy of the segments in metadata, kept up by revision.

import { condenseIntervals, contains } from '../../base/interval.js';
import { LoopTurns } from '../../base/loop-turns.js';
import type { Database } from '../../metadata/database.js';
import { SegmentTimeline, type TimelineBlock } from '../../metadata/segment-timeline.js';
import { currentRevision, type SegmentChange, segmentsChanged } from '../../metadata/segments.js';
import { publishedStreams } from '../../metadata/stream-offsets.js';
import type { VisibleChunk } from '../../metadata/timeline.js';
import type { SegmentDescriptor, UnreadableSegment } from '../../model/segment.js';
import { idTextOf } from '../../model/segment-id.js';
import type { PublishedStream } from '../../model/stream/reach.js';

interface DataSource {
  readonly used: Map<string, SegmentDescriptor>;
  /** Used segments whose document cannot be read. */
  readonly unreadable: Map<string, SegmentChange>;
  readonly timeline: SegmentTimeline<SegmentDescriptor>;
  readonly visible: Set<string>;
}

/** All used segments in memory, kept up to date by reading only what changed since the last revision. */
export class SegmentCatalog {
  readonly #database: Database;
  readonly #dataSources = new Map<string, DataSource>();
  #revision = 0;
  #streams: readonly PublishedStream[] = [];
  #touched = new Map<string, SegmentDescriptor>();
  #applying: Promise<void> | undefined;
  #refreshing: Promise<unknown> = Promise.resolve();

  constructor(database: Database) {
    this.#database = database;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Rows of streams that are published, as of the same revision. */
  get streams(): readonly PublishedStream[] {
    return this.#streams;
  }

  /** Reads what changed; true when something did. One at a time: another call waits, and then looks by itself. */
  refresh(): Promise<boolean> {
    const refreshed = this.#refreshing.then(() => this.#refresh());
    this.#refreshing = refreshed.catch(() => undefined);
    return refreshed;
  }

  async #refresh(): Promise<boolean> {
    const changes = new Map<string, Map<string, SegmentChange>>();
    let streams: readonly PublishedStream[] = [];
    let read = this.#revision;
    // A change between two parts may be missing from them: they are the state of metadata once nothing has changed meanwhile.
    for (;;) {
      const revision = await currentRevision(this.#database);
      if (revision === read) break;
      for await (const part of segmentsChanged(this.#database, read, revision)) {
        for (const change of part) {
          const own = changes.get(change.dataSource) ?? new Map<string, SegmentChange>();
          changes.set(change.dataSource, own.set(change.id, change));
        }
      }
      streams = await publishedStreams(this.#database);
      read = revision;
    }
    if (read === this.#revision) return false;
    this.#applying = this.#apply(changes, { revision: read, streams });
    try {
      await this.#applying;
    } finally {
      this.#applying = undefined;
    }
    return true;
  }

  /** Datasource by datasource, each at once; what has changed is told with the revision, when all have. */
  async #apply(
    changes: ReadonlyMap<string, ReadonlyMap<string, SegmentChange>>,
    { revision, streams }: Pick<SegmentCatalog, 'revision' | 'streams'>,
  ): Promise<void> {
    const turns = new LoopTurns();
    const touched = new Map<string, SegmentDescriptor>();
    for (const [dataSource, own] of changes) {
      this.#change(dataSource, own.values(), touched);
      if (turns.isDue) await turns.give();
    }
    if (this.#touched.size === 0) this.#touched = touched;
    else for (const [id, segment] of touched) this.#touched.set(id, segment);
    this.#revision = revision;
    this.#streams = streams;
  }

  /** A change of revision that is being made; undefined: none is. */
  get applying(): Promise<void> | undefined {
    return this.#applying;
  }

  /**
   * Segments of which it may have changed, since the last call, whether they are used, visible or hidden for good, by
   * printed id: those that were written, and their neighbours.
   */
  takeTouched(): ReadonlyMap<string, SegmentDescriptor> {
    const touched = this.#touched;
    this.#touched = new Map();
    return touched;
  }

  /** Names of datasources with at least one used segment; sorted. */
  dataSources(): readonly string[] {
    return [...this.#dataSources.keys()].sort();
  }

  used(dataSource: string): readonly SegmentDescriptor[] {
    return [...(this.#dataSources.get(dataSource)?.used.values() ?? [])];
  }

  /** Used segments that newer ones hide, or that wait for others of their chunk; looks at none where there are none. */
  overshadowed(dataSource: string): readonly SegmentDescriptor[] {
    const known = this.#dataSources.get(dataSource);
    if (known === undefined || known.used.size === known.visible.size) return [];
    return [...known.used.values()].filter((segment) => !known.visible.has(idTextOf(segment)));
  }

  /** Segments, each one that is used when its turn comes. */
  *allUsed(): Generator<SegmentDescriptor> {
    for (const dataSource of this.dataSources()) yield* this.used(dataSource);
  }

  isUsed(segment: SegmentDescriptor): boolean {
    return this.#dataSources.get(segment.id.dataSource)?.used.has(idTextOf(segment)) === true;
  }

  /** Chunks ordered by the start of their interval. */
  chunks(dataSource: string): readonly VisibleChunk<SegmentDescriptor>[] {
    return this.#dataSources.get(dataSource)?.timeline.blocks.flatMap(({ chunks }) => chunks) ?? [];
  }

  visible(): readonly SegmentDescriptor[] {
    return [...this.#dataSources.keys()].flatMap((dataSource) => this.chunks(dataSource).flatMap(({ segments }) => segments));
  }

  /** Used segments that cannot be read, without those that newer segments overshadow. */
  unreadable(): readonly UnreadableSegment[] {
    return [...this.#dataSources.values()].flatMap(({ unreadable, timeline }) =>
      [...unreadable.values()]
        .filter((change) => !isHidden(change, timeline))
        .map(({ id, dataSource, interval }) => ({ id, dataSource, interval })),
    );
  }

  isOvershadowed(segment: SegmentDescriptor): boolean {
    return this.#dataSources.get(segment.id.dataSource)?.visible.has(idTextOf(segment)) !== true;
  }

  /** Older segments that are visible but for the time of this one and others. */
  hiddenInPart({ id }: SegmentDescriptor): readonly SegmentDescriptor[] {
    const found = this.#dataSources.get(id.dataSource)?.timeline.segmentsWithin(id.interval) ?? [];
    return found.filter((other) => other.id.version < id.version && !this.isOvershadowed(other));
  }

  /** Complete newer versions cover it. One that is only incomplete is hidden as well, but not for good. */
  isHiddenForGood(segment: SegmentDescriptor): boolean {
    const timeline = this.#dataSources.get(segment.id.dataSource)?.timeline;
    return timeline !== undefined && this.isOvershadowed(segment) && isHidden(segment.id, timeline);
  }

  #change(dataSource: string, changes: Iterable<SegmentChange>, touched: Map<string, SegmentDescriptor>): void {
    const known = this.#dataSources.get(dataSource) ?? newDataSource();
    this.#dataSources.set(dataSource, known);
    const [removed, added]: [SegmentDescriptor[], SegmentDescriptor[]] = [[], []];
    for (const change of changes) {
      const { id, used, segment } = change;
      const before = known.used.get(id);
      if (before !== undefined) removed.push(before);
      known.used.delete(id);
      known.unreadable.delete(id);
      if (!used) continue;
      if (segment === undefined) known.unreadable.set(id, change);
      else {
        known.used.set(id, segment);
        added.push(segment);
      }
    }
    const { before, after } = known.timeline.change(removed, added);
    for (const segment of [...removed, ...added]) touched.set(idTextOf(segment), segment);
    for (const segment of segmentsOf(before)) {
      touched.set(idTextOf(segment), segment);
      known.visible.delete(idTextOf(segment));
    }
    for (const segment of segmentsOf(after)) touched.set(idTextOf(segment), segment);
    for (const { chunks } of after) for (const { segments } of chunks) for (const segment of segments) known.visible.add(idTextOf(segment));
    if (known.used.size === 0 && known.unreadable.size === 0) this.#dataSources.delete(dataSource);
  }
}

function* segmentsOf(blocks: readonly TimelineBlock<SegmentDescriptor>[]): Generator<SegmentDescriptor> {
  for (const { segments } of blocks) yield* segments;
}

function newDataSource(): DataSource {
  return { used: new Map(), unreadable: new Map(), timeline: new SegmentTimeline(), visible: new Set() };
}

/** Whether newer chunks cover all of its interval. */
function isHidden(
  { interval, version }: Pick<SegmentChange, 'interval' | 'version'>,
  timeline: SegmentTimeline<SegmentDescriptor>,
): boolean {
  if (interval === null || version === null) return false;
  const newer = timeline.overlapping(interval).flatMap((chunk) => (chunk.version > version ? chunk.visible : []));
  return condenseIntervals(newer).some((each) => contains(each, interval));
}
