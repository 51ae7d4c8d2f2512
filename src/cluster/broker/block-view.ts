// The Broker's view of one datasource: its published and its live segments, as queries read them.

import type { VisibleChunk } from '../../metadata/timeline.js';
import { chunksOfRows, isTombstone } from '../../metadata/tombstones.js';
import type { SegmentDescriptor, UnreadableSegment } from '../../model/segment.js';
import type { TableSchema } from './contract.js';
import { NOTHING_PUBLISHED, type Published } from './known/known-segments.js';
import { withLive } from './live-segments.js';
import { tableSchema } from './table-schema.js';

/** Immutable view of one datasource that queries read; replaced as a whole. */
export interface DataSourceView {
  readonly dataSource: string;
  /** Chunks of segments with rows. */
  readonly chunks: readonly VisibleChunk<SegmentDescriptor>[];
  /** Segments without rows, which hide older ones. */
  readonly tombstones: readonly SegmentDescriptor[];
  /** Used segments whose metadata cannot be read: queries that touch one are refused. */
  readonly unreadable: readonly UnreadableSegment[];
  readonly schema: TableSchema;
  /** The part of it that is published, or that is not. */
  only(part: 'published' | 'live'): DataSourceView;
}

/** A view that makes its list and its schema when they are asked for: most views are replaced before. */
export class BlockView implements DataSourceView {
  readonly dataSource: string;
  readonly unreadable: readonly UnreadableSegment[];
  readonly #published: Published;
  readonly #live: readonly SegmentDescriptor[];
  #chunks: DataSourceView['chunks'] | undefined;
  #schema: TableSchema | undefined;

  constructor(dataSource: string, published: Published, unreadable: readonly UnreadableSegment[], live: readonly SegmentDescriptor[]) {
    this.dataSource = dataSource;
    this.unreadable = unreadable;
    this.#published = published;
    this.#live = live;
  }

  only(part: 'published' | 'live'): DataSourceView {
    if (part === 'live') return new BlockView(this.dataSource, NOTHING_PUBLISHED, [], this.#live);
    return this.#live.length === 0 ? this : new BlockView(this.dataSource, this.#published, this.unreadable, []);
  }

  /** Whether there is nothing to read, and nothing that should be. */
  get isEmpty(): boolean {
    return this.#live.length === 0 && this.unreadable.length === 0 && !this.#published.hasRows;
  }

  get chunks(): DataSourceView['chunks'] {
    this.#chunks ??= withLive(chunksOfRows(this.#published.blocks().flatMap(({ chunks }) => chunks)), this.#live);
    return this.#chunks;
  }

  get tombstones(): readonly SegmentDescriptor[] {
    return this.#published.blocks().flatMap(({ segments }) => segments.filter(isTombstone));
  }

  get schema(): TableSchema {
    const blocks = this.#published.blocks();
    this.#schema ??= tableSchema(this.dataSource, this.#live.length === 0 ? blocks : [...blocks, { chunks: withLive([], this.#live) }]);
    return this.#schema;
  }
}
