// The Coordinator's copy of the segments in metadata, kept up by revision.

import { condenseIntervals, contains } from '../../base/interval.js';
import type { Database } from '../../metadata/database.js';
import { currentRevision, type SegmentChange, segmentsChangedAfter } from '../../metadata/segments.js';
import { resolveTimeline, type VisibleChunk } from '../../metadata/timeline.js';
import type { SegmentDescriptor, UnreadableSegment } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';

interface DataSource {
  readonly used: Map<string, SegmentDescriptor>;
  /** Used segments whose document cannot be read. */
  readonly unreadable: Map<string, SegmentChange>;
  chunks: readonly VisibleChunk<SegmentDescriptor>[];
  visible: ReadonlySet<string>;
}

/** All used segments in memory, kept up to date by reading only what changed since the last revision. */
export class SegmentCatalog {
  readonly #database: Database;
  readonly #dataSources = new Map<string, DataSource>();
  #revision = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Reads what changed; true when something did. */
  async refresh(): Promise<boolean> {
    // Rows of this revision and below are visible to the next statement; newer ones are read again the next time.
    const revision = await currentRevision(this.#database);
    if (revision === this.#revision) return false;
    const touched = new Set<string>();
    for (const change of await segmentsChangedAfter(this.#database, this.#revision)) {
      const { id, dataSource, used, segment } = change;
      touched.add(dataSource);
      const known = this.#dataSources.get(dataSource) ?? { used: new Map(), unreadable: new Map(), chunks: [], visible: new Set() };
      this.#dataSources.set(dataSource, known);
      known.used.delete(id);
      known.unreadable.delete(id);
      if (used && segment !== undefined) known.used.set(id, segment);
      else if (used) known.unreadable.set(id, change);
    }
    for (const dataSource of touched) this.#resolve(dataSource);
    this.#revision = revision;
    return true;
  }

  /** Names of datasources with at least one used segment; sorted. */
  dataSources(): readonly string[] {
    return [...this.#dataSources.keys()].sort();
  }

  used(dataSource: string): readonly SegmentDescriptor[] {
    return [...(this.#dataSources.get(dataSource)?.used.values() ?? [])];
  }

  allUsed(): readonly SegmentDescriptor[] {
    return this.dataSources().flatMap((dataSource) => this.used(dataSource));
  }

  /** Chunks ordered by the start of their interval. */
  chunks(dataSource: string): readonly VisibleChunk<SegmentDescriptor>[] {
    return this.#dataSources.get(dataSource)?.chunks ?? [];
  }

  visible(): readonly SegmentDescriptor[] {
    return [...this.#dataSources.values()].flatMap((dataSource) => dataSource.chunks.flatMap((chunk) => chunk.segments));
  }

  /** Used segments that cannot be read, without those that newer segments overshadow. */
  unreadable(): readonly UnreadableSegment[] {
    return [...this.#dataSources.values()].flatMap(({ unreadable, chunks }) =>
      [...unreadable.values()]
        .filter((change) => !isHidden(change, chunks))
        .map(({ id, dataSource, interval }) => ({ id, dataSource, interval })),
    );
  }

  isOvershadowed(segment: SegmentDescriptor): boolean {
    return this.#dataSources.get(segment.id.dataSource)?.visible.has(segmentIdText(segment.id)) !== true;
  }

  #resolve(dataSource: string): void {
    const known = this.#dataSources.get(dataSource);
    if (known === undefined) return;
    if (known.used.size === 0 && known.unreadable.size === 0) {
      this.#dataSources.delete(dataSource);
      return;
    }
    known.chunks = resolveTimeline(known.used.values());
    known.visible = new Set(known.chunks.flatMap((chunk) => chunk.segments.map((segment) => segmentIdText(segment.id))));
  }
}

/** Whether newer chunks cover all of its interval. */
function isHidden({ interval, version }: SegmentChange, chunks: readonly VisibleChunk<SegmentDescriptor>[]): boolean {
  if (interval === null || version === null) return false;
  const newer = condenseIntervals(chunks.flatMap((chunk) => (chunk.version > version ? chunk.visible : [])));
  return newer.some((each) => contains(each, interval));
}
