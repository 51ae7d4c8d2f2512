// Native queries, parsed.

import type { Interval } from '../base/instant.js';
import type { Aggregator, VirtualColumn } from './aggregator.js';
import type { Expression } from './expression.js';
import type { Filter, StringOrdering } from './filter.js';
import type { Granularity } from './granularity.js';
import type { ColumnType } from './schema.js';
import type { SegmentAnalysisType, SegmentSlice } from './segment.js';

/** A native query, parsed: every field present, defaults filled in, names resolved. Told apart by `queryType`. */
export type Query =
  | TimeseriesQuery
  | TopNQuery
  | GroupByQuery
  | ScanQuery
  | SearchQuery
  | TimeBoundaryQuery
  | SegmentMetadataQuery
  | DataSourceMetadataQuery;

export interface PostAggregator {
  readonly name: string;
  readonly type: ColumnType;
  readonly expression: Expression;
}

interface BaseQuery {
  readonly dataSource: string;
  /** Intervals as given: sorted or not, perhaps overlapping. Null when the query has none. */
  readonly intervals: readonly Interval[] | null;
  /** Segments of one table to read, and no others; `intervals` are theirs. Absent: all segments. */
  readonly segments?: readonly SegmentSlice[];
  readonly filter: Filter | null;
  readonly virtualColumns: readonly VirtualColumn[];
}

interface AggregationQuery extends BaseQuery {
  readonly intervals: readonly Interval[];
  readonly granularity: Granularity;
  readonly aggregators: readonly Aggregator[];
  /** In order: each may read aggregators, keys and earlier ones. */
  readonly postAggregators: readonly PostAggregator[];
}

/** A column to group by and what it is called in the result. */
export interface DimensionSpec {
  readonly column: string;
  readonly name: string;
  readonly type: ColumnType;
  /** Whether the column holds numbers of `type` as strings, one or several in a row. */
  readonly isParsed?: true;
}

export interface TimeseriesQuery extends AggregationQuery {
  readonly queryType: 'timeseries';
  readonly descending: boolean;
  readonly limit: number | null;
  readonly skipEmptyBuckets: boolean;
  readonly grandTotal: boolean;
}

export type TopNMetric =
  | { readonly kind: 'numeric'; readonly column: string; readonly inverted: boolean }
  | { readonly kind: 'dimension'; readonly ordering: StringOrdering; readonly previousStop: string | null; readonly inverted: boolean };

export interface TopNQuery extends AggregationQuery {
  readonly queryType: 'topN';
  readonly dimension: DimensionSpec;
  readonly threshold: number;
  readonly metric: TopNMetric;
}

export interface OrderBy {
  readonly column: string;
  readonly descending: boolean;
  readonly ordering: StringOrdering;
}

/** A number that says which of some dimensions a part of the answer is not grouped by. */
export interface Grouping {
  readonly name: string;
  /** One bit for each, the first of them the highest: the outputs that show the dimension, none where the query has no such. */
  readonly columns: readonly (readonly string[])[];
}

export interface GroupByQuery extends AggregationQuery {
  readonly queryType: 'groupBy';
  readonly groupings: readonly Grouping[];
  readonly dimensions: readonly DimensionSpec[];
  readonly having: Filter | null;
  readonly orderBy: readonly OrderBy[];
  readonly offset: number;
  readonly limit: number | null;
  readonly sortByDimensionsFirst: boolean;
  /** Names of the dimensions each part of the answer is grouped by, the others being null there. Null: one part, by all. */
  readonly subtotals: readonly (readonly string[])[] | null;
}

export interface ScanQuery extends BaseQuery {
  readonly queryType: 'scan';
  readonly intervals: readonly Interval[];
  /** Null: all columns of the table. */
  readonly columns: readonly string[] | null;
  readonly timeOrder: 'ascending' | 'descending' | null;
  /** Empty: by time alone, or as stored. */
  readonly orderBy: readonly { readonly column: string; readonly descending: boolean }[];
  readonly offset: number;
  readonly limit: number | null;
  /** Most rows of one entry of the result. */
  readonly batchSize: number;
  readonly resultFormat: 'list' | 'compactedList';
}

/** A function of the expression language over (value, text). */
export interface SearchTest {
  readonly function: 'contains_string' | 'icontains_string' | 'regexp_like';
  readonly text: string;
}

export interface SearchQuery extends BaseQuery {
  readonly queryType: 'search';
  readonly intervals: readonly Interval[];
  readonly granularity: Granularity;
  /** Null: all string columns of the table. */
  readonly dimensions: readonly DimensionSpec[] | null;
  /** A value is found when all of them hold. */
  readonly tests: readonly SearchTest[];
  readonly ordering: StringOrdering;
  readonly limit: number;
}

export interface TimeBoundaryQuery extends BaseQuery {
  readonly queryType: 'timeBoundary';
  readonly bound: 'minTime' | 'maxTime' | null;
}

export type AnalysisType = SegmentAnalysisType | 'projections';

export interface SegmentMetadataQuery extends BaseQuery {
  readonly queryType: 'segmentMetadata';
  readonly analysisTypes: readonly AnalysisType[];
  readonly toInclude: { readonly kind: 'all' | 'none' } | { readonly kind: 'list'; readonly names: readonly string[] };
  readonly merge: boolean;
  readonly aggregatorMergeStrategy: 'strict' | 'lenient' | 'earliest' | 'latest';
}

export interface DataSourceMetadataQuery extends BaseQuery {
  readonly queryType: 'dataSourceMetadata';
}
