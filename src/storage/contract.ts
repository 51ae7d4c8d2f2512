// Interfaces of storage: segment stores, pins, deep storage.

import type { ServiceError } from '../base/errors.js';
import type { Interval } from '../base/instant.js';
import type { LookedUpColumn, LookedUpFound } from '../model/lookup/looked-up-column.js';
import type { ColumnSchema } from '../model/schema.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../model/segment.js';
import type { SegmentFrame } from './columns/packed-column.js';
import type { GlobalDictionaryView, SegmentView } from './view.js';

/** Columns held in kernel memory for one query; `release` exactly once, after which every address is void. */
export interface SegmentPin {
  /** The same array and dictionaries come again for the same request while nothing has moved: they may be known by identity. */
  readonly segments: readonly SegmentView[];
  /** For each column asked for in `globalDictionaries` that is a string column in some segment. */
  readonly dictionaries: Readonly<Record<string, GlobalDictionaryView>>;
  /** Looked-up columns that were asked for and are there in all segments, by name: there is room for them, and they are strings everywhere. */
  readonly lookedUp: ReadonlyMap<string, LookedUpFound>;
  /** Bytes of segment files that had to be read for it. */
  readonly bytesRead: number;
  release(): void;
}

export interface PinRequest {
  readonly segmentIds: readonly string[];
  /** Columns to load; names a segment lacks are simply absent from its view. */
  readonly columns: readonly string[];
  /** String columns whose ids must be comparable between these segments; looked-up ones too. */
  readonly globalDictionaries: readonly string[];
  /** Columns that are made of others, which are among `columns`. */
  readonly lookedUp?: readonly LookedUpColumn[];
  /** `__time` is not loaded of segments that lie in one of these as a whole, unless it is named; absent: of all. */
  readonly timeCutBy?: readonly Interval[];
  /** Columns that need not be loaded, by segment: conditions on them were answered by an index. */
  readonly leftOut?: Readonly<Record<string, readonly string[]>>;
  /** Small segments have views of their own, rather than one for a run of them. */
  readonly isSeparate?: boolean;
}

/** The open segments of a process. */
export interface SegmentStore {
  /** Verifies the whole file (magic, version, every checksum) before it is served; throws `segment_corrupt`. */
  open(file: string, descriptor: SegmentDescriptor): Promise<void>;
  /** Waits for pins on it to end, then closes the file and forgets its columns. */
  close(segmentId: string): Promise<void>;
  /** Calls back for each open segment whose file turns out to be damaged or gone; the last listener counts. */
  onDamage(listener: (segmentId: string, error: ServiceError) => void): void;
  has(segmentId: string): boolean;
  /** Whether `close` would wait. */
  isPinned(segmentId: string): boolean;
  schema(segmentId: string): readonly ColumnSchema[];
  span(segmentId: string): SegmentSpan;
  /** Loads what is not resident, evicting least recently used unpinned columns; throws `resource_limit`. */
  pin(request: PinRequest): Promise<SegmentPin>;
  /** Segments of these that are read by themselves: columns of the others are read together with those of their neighbours. */
  large(segmentIds: readonly string[]): Promise<readonly string[]>;
  /** Facts about a STRING column that is not loaded; null when it is loaded or is not such a column. */
  unloaded(segmentId: string, column: string): UnloadedColumn | null;
  /**
   * Ascending rows of which some value is among the texts, from the bitmap index of a column that has one. Reads what
   * little it needs from the file and keeps none of it.
   */
  findStrings(segmentId: string, column: string, texts: readonly string[]): Promise<Uint32Array>;
  analyze(segmentId: string, columns: readonly string[] | 'all', analyses: readonly string[]): Promise<SegmentAnalysis>;
  readonly residentBytes: number;
}

/** Rows of a segment, and the first and the last instant of them. */
export interface SegmentSpan {
  readonly rowCount: number;
  readonly timeMin: number;
  readonly timeMax: number;
}

/** A STRING column that is in its file only. */
export interface UnloadedColumn {
  /** Smallest and largest value; null: it has none. */
  readonly min: string | null;
  readonly max: string | null;
  /** Different values, null among them. */
  readonly valueCount: number;
  /** Whether it has a bitmap index that is better used than the column loaded: it was not used often of late. */
  readonly prefersIndex: boolean;
}

/** Input of a segment file; rows in any order. `__time` is a `long` without nulls. */
export interface SegmentInput {
  readonly frame: SegmentFrame;
  /** Sort order after `__time`, and what is listed as dimensions. */
  readonly dimensions: readonly string[];
  readonly metrics: readonly string[];
  /** Aggregators as written in the spec, kept in the file for segmentMetadata. */
  readonly aggregators: readonly unknown[] | null;
  readonly timestampSpec: unknown;
  readonly queryGranularity: unknown;
  readonly rollup: boolean;
}

export interface DeepStorage {
  /** Type of the load specs of what is pushed: `{type, path}` is then the one of a key. */
  readonly type: string;
  /** Moves finished local files in, each whole or not at all; they are on disk when this resolves. Returns their load specs. */
  push(
    files: readonly { readonly localFile: string; readonly key: string }[],
  ): Promise<readonly { readonly type: string; readonly path: string }[]>;
  /** Brings a copy of the file to `localFile`, whole or not at all unless the machine fails; throws `not_found`. */
  pull(loadSpec: { readonly type: string; readonly path: string }, localFile: string): Promise<void>;
  /** Bytes of the file; throws `not_found`. */
  size(loadSpec: { readonly type: string; readonly path: string }): Promise<number>;
  /** The bytes of the file, or of a part of it; throws `not_found`. */
  read(
    loadSpec: { readonly type: string; readonly path: string },
    range?: { readonly at: number; readonly bytes: number },
  ): AsyncIterable<Uint8Array>;
  /** Removes a file; not an error when it is absent. */
  remove(loadSpec: { readonly type: string; readonly path: string }): Promise<void>;
  /** Every stored segment file, for finding orphans. */
  list(): AsyncIterable<{ readonly path: string; readonly sizeBytes: number; readonly modifiedMs: number }>;
  /** The record of who publishes here, kept beside the segments and not among those listed; undefined: there is none. */
  readRecord(): Promise<string | undefined>;
  /** Replaces the record, durably and as a whole. */
  writeRecord(text: string): Promise<void>;
}
