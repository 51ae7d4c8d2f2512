// The plan that execution runs: plain data, where native queries and SQL meet.

import type { Interval } from '../base/instant.js';
import type { AggregateState } from './aggregate-state.js';
import type { Aggregator, VirtualColumn } from './aggregator.js';
import type { Expression } from './expression.js';
import type { Filter, StringOrdering } from './filter.js';
import type { Granularity } from './granularity.js';
import type { ColumnType } from './schema.js';
import type { SegmentAnalysisType, SegmentSlice } from './segment.js';
import type { Stage } from './stage.js';
import type { Upload } from './upload.js';
import type { WindowFunction } from './window.js';

/**
 * The plan that execution runs: plain data, printable, the same on every machine. Native queries and SQL both end here
 * (`planner/plan.ts`); nothing in `execution/` knows which of the two it serves.
 *
 * A leaf reads segments. Its `post` steps run in order over the leaf's output columns once all partial results
 * have met: on the historical when one server holds every segment, else on the broker.
 */
export type Plan = RowPlan | SegmentMetadataPlan;
/** Plans that read rows; the engine runs them. */
export type RowPlan = GroupPlan | ScanPlan | TimeBoundaryPlan;

interface Leaf {
  readonly dataSource: string;
  /** Sorted, disjoint. */
  readonly intervals: readonly Interval[];
  /** Segments to read, and no others, whether or not newer ones hide them; the broker looks them up. Absent: all that are visible. */
  readonly segments?: readonly SegmentSlice[];
  /** Rows kept are those for which it is true (not unknown). */
  readonly filter: Filter | null;
  readonly virtualColumns: readonly VirtualColumn[];
  readonly post: readonly PostStep[];
  /** Stages over the stored rows before all of the above; `intervals` apply to the stored `__time`. Absent for none. */
  readonly stages?: readonly Stage[];
  /** The result, after `post`, is to stay in kernel memory; only for a plan that ends on the server that it is sent to. */
  readonly upload?: Upload;
}

/** Grouped aggregation: timeseries, topN and groupBy. Output columns: keys in order, then aggregators in order. */
export interface GroupPlan extends Leaf {
  readonly operator: 'group';
  readonly keys: readonly GroupKey[];
  readonly aggregators: readonly Aggregator[];
  /** Whether no rows give one row rather than none, when there are no keys (or only a `time` key of granularity `all`). */
  readonly emptyGroup: boolean;
  /**
   * Native timeseries: buckets, and the row of no rows, exist only where segments are. The broker narrows `intervals` to
   * the span of the segments it pinned; nothing left gives no rows at all.
   */
  readonly withinData?: boolean;
  /** A key whose column has rows of several values is an error. */
  readonly refusesMultiValues?: boolean;
}

export type GroupKey =
  /** The start of the bucket of `__time`, a LONG; buckets also end at interval bounds only by having no rows there. */
  | { readonly kind: 'time'; readonly name: string; readonly granularity: Granularity }
  /** A stored or virtual column (a missing one is null); multi-value rows count once per value. */
  | { readonly kind: 'column'; readonly name: string; readonly column: string; readonly type: ColumnType | null };

export interface TypedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** Rows as they are stored, or in time order. Output columns: `columns` in order. */
export interface ScanPlan extends Leaf {
  readonly operator: 'scan';
  readonly columns: readonly string[];
  /** Stored columns that segments have of several types, of the type of all of them: servers see some each. Absent for none. */
  readonly types?: readonly TypedColumn[];
  /** null: segment order, which is by interval start, version, partition, row. */
  readonly timeOrder: 'ascending' | 'descending' | null;
  /** Frames hold rows of one segment each and name it; without an order only. */
  readonly namesSegments?: true;
  readonly offset: number;
  /** null: all. */
  readonly limit: number | null;
}

/** Output columns `minTime`, `maxTime`: LONG, one row, or none when no row matches. */
export interface TimeBoundaryPlan extends Leaf {
  readonly operator: 'timeBoundary';
}

/** No rows are read: answers from segment files' own descriptions. Its result is `SegmentAnalysis[]`, not frames. */
export interface SegmentMetadataPlan extends Leaf {
  readonly operator: 'segmentMetadata';
  readonly analyses: readonly SegmentAnalysisType[];
  readonly columns: { readonly kind: 'all' | 'none' } | { readonly kind: 'list'; readonly names: readonly string[] };
  readonly merge: boolean;
}

export type PostStep =
  /** Appends a column computed from earlier ones. */
  | { readonly step: 'compute'; readonly name: string; readonly type: ColumnType; readonly expression: Expression }
  | { readonly step: 'filter'; readonly filter: Filter }
  /**
   * Orders rows; with `limit`, keeps rows [offset, offset + limit) of that order without sorting the rest.
   * Ties are broken by the remaining key columns ascending, so that the order is total and repeatable.
   */
  | { readonly step: 'sort'; readonly by: readonly SortKey[]; readonly offset: number; readonly limit: number | null }
  /** topN: within each value of `bucket`, the best `limit` rows by `by`. Buckets come in order of `bucket`. */
  | { readonly step: 'topPerBucket'; readonly bucket: string; readonly by: readonly SortKey[]; readonly limit: number }
  | { readonly step: 'limit'; readonly offset: number; readonly limit: number | null }
  /** timeseries: one row for every bucket of `granularity` that meets `intervals`; aggregates of an empty group. */
  | { readonly step: 'fillBuckets'; readonly bucket: string; readonly granularity: Granularity }
  /**
   * Appends the places of the states of an aggregator, a LONG from 0 on, in the order that their aggregateState has: that of its
   * comparison, or by how much they hold.
   */
  | {
      readonly step: 'rank';
      readonly name: string;
      readonly state: string;
      readonly aggregateState: AggregateState;
    }
  /** Appends a column for each function, over the rows that are alike in `partition`, in the order of `order`. Rows are sorted. */
  | {
      readonly step: 'window';
      readonly partition: readonly string[];
      readonly order: readonly SortKey[];
      readonly functions: readonly WindowFunction[];
      /** Rows that a partition may have; left out: as many as memory holds. */
      readonly rowsMax?: number;
      /** Nobody sees in which order the rows come out. */
      readonly inAnyOrder?: true;
    }
  /** Keeps, renames and orders columns. */
  | { readonly step: 'project'; readonly columns: readonly { readonly name: string; readonly from: string }[] };

export interface SortKey {
  readonly column: string;
  readonly descending: boolean;
  readonly nulls: 'first' | 'last';
  /** Comparison of STRING values; numbers always compare as numbers. */
  readonly ordering: StringOrdering;
}
