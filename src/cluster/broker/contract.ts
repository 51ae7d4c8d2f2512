// Interfaces between the Broker, its planner and its routes.

import type { CancelSignal } from '../../base/cancel-signal.js';
import type { Interval } from '../../base/instant.js';
import type { Frame } from '../../model/frame.js';
import type { Plan, SegmentMetadataPlan } from '../../model/plan.js';
import type { Profile } from '../../model/profile.js';
import type { PinnedSegments } from '../../model/publication.js';
import type { RowSource } from '../../model/row-source.js';
import type { RunLimits } from '../../model/run-limits.js';
import type { ColumnSchema } from '../../model/schema.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../../model/segment.js';
import type { Coverage } from './coverage.js';

/** Schema of a table over all of its served segments: the union of columns, each with its widest type. */
export interface TableSchema {
  readonly name: string;
  /** `__time` first. A column that is numeric in some and STRING in others is STRING. */
  readonly columns: readonly ColumnSchema[];
  /** Names of the columns that segments have of several types. */
  readonly mixed: ReadonlySet<string>;
  readonly rowCount: number;
  readonly interval: Interval;
}

interface SchemaSource {
  tables(): readonly string[];
  table(name: string): TableSchema | undefined;
}

export interface QueryOptions {
  readonly queryId: string;
  /** Place of the query in a trace; undefined: it is in none. */
  readonly traceparent?: string | undefined;
  /** Absolute epoch milliseconds. */
  readonly deadlineMs: number;
  readonly priority: number;
  readonly kernels: string | null;
  readonly limits?: RunLimits;
  /** Only what is published is read: tasks would take rows along that are published by others. */
  readonly publishedOnly?: boolean;
  /** Published segments are left out: with no others, tables have no rows. */
  readonly realtimeSegmentsOnly?: boolean;
  /** Whether sums of doubles are exact, whatever the order of rows; null or absent: what the property says. */
  readonly exactSums?: boolean | null;
  /** Parts of groups are given, which are merged elsewhere; of plans over a table. */
  readonly ending?: 'partial';
  /** Segments that are read of a datasource within some intervals, and no others. */
  readonly pinned?: PinnedSegments | null;
  /** Segments that are loaded nowhere and are read as well. */
  readonly unloaded?: UnloadedSegments | undefined;
  readonly signal: CancelSignal;
  /**
   * Called when the query is cancelled, or its time is up, before its last frame was taken: with the ServiceError that
   * the next frame would fail with. A reader that waits for something else would not learn of it.
   */
  readonly onEnd?: (reason: unknown) => void;
  /** Added to while the query runs. */
  readonly profile?: Profile | undefined;
  /** Told of the tables that the query reads. */
  readonly coverage?: Coverage | undefined;
  /** Cache keys of the context; absent allows caches. */
  readonly caching?: CacheUse;
}

/** Segments that are in use and, by the rules, loaded nowhere. */
export interface UnloadedSegments {
  readonly byId: ReadonlyMap<string, SegmentDescriptor>;
  readonly byTable: ReadonlyMap<string, readonly SegmentDescriptor[]>;
}

/** Context keys that decide whether a cached result may be used. */
export type ResultUse = Pick<QueryOptions, 'kernels' | 'exactSums' | 'caching' | 'limits' | 'realtimeSegmentsOnly' | 'publishedOnly'>;

/** Whether a query may read from, and write to, the caches of single segments and of whole results. */
export interface CacheUse {
  readonly useCache: boolean;
  readonly populateCache: boolean;
  readonly useResultLevelCache: boolean;
  readonly populateResultLevelCache: boolean;
}

/** One of the segments that a query reads. */
export interface SegmentToRun {
  readonly id: string;
  /** The part of the query's intervals that it answers for. */
  readonly interval: Interval;
  /** The final result of a plan over it alone. */
  run(plan: Exclude<Plan, SegmentMetadataPlan>): AsyncIterable<Frame>;
}

/** The broker's interface for the query routes (native and SQL). */
export interface BrokerQueries extends SchemaSource {
  /**
   * Pins the segments, scatters, merges. Fails before the first frame when a segment is served nowhere
   * (`segments_unavailable`). An unknown datasource is empty: the planner of SQL refuses it earlier.
   */
  run(plan: Exclude<Plan, SegmentMetadataPlan>, options: QueryOptions): AsyncIterable<Frame>;
  /** The same plans over rows from anywhere; see `RowSource`. */
  runOver(plan: Exclude<Plan, SegmentMetadataPlan>, source: RowSource, options: QueryOptions): AsyncIterable<Frame>;
  /** The whole result of a plan, when it is known and may be used: nothing has to run for it. */
  knownResult(plan: Exclude<Plan, SegmentMetadataPlan>, source: RowSource, use: ResultUse): readonly Frame[] | undefined;
  /** The segments of a table that a query over these intervals reads, in one list, each to be run over by itself; they stay until the iteration ends. */
  bySegment(dataSource: string, asked: Pick<Plan, 'intervals' | 'segments'>, options: QueryOptions): AsyncIterable<readonly SegmentToRun[]>;
  analyze(plan: SegmentMetadataPlan, options: QueryOptions): Promise<readonly SegmentAnalysis[]>;
  /** Segments a query over these intervals would read, with the servers of each. */
  candidates(
    dataSource: string,
    asked: Pick<Plan, 'intervals' | 'segments'>,
  ): readonly { readonly segment: SegmentDescriptor; readonly hosts: readonly ServerLocation[] }[];
  /** Cancels every running query of this id; false when there is none. */
  cancel(queryId: string): boolean;
}

export interface ServerLocation {
  readonly host: string;
  readonly tier: string;
  readonly priority: number;
  readonly maxSizeBytes: number;
}
