// Identity and description of a segment, and which rows of its chunk it holds.

import type { Interval } from '../base/instant.js';
import type { ColumnSchema } from './schema.js';

/** Identity of a segment. Its printed form is `segmentIdText`. */
export interface SegmentId {
  readonly dataSource: string;
  readonly interval: Interval;
  /** An instant as ISO text; a later text overshadows an earlier one over the intervals it covers. */
  readonly version: string;
  readonly partitionNumber: number;
}

/** A segment of a known datasource, or a part of its time. */
export interface SegmentSlice {
  readonly interval: Interval;
  readonly version: string;
  readonly partitionNumber: number;
}

/** Part of a chunk by the hash of some columns: the rows whose hash falls into one of as many buckets. */
export interface HashedPart {
  readonly type: 'hashed';
  readonly bucketId: number;
  readonly numBuckets: number;
  /** None: all dimensions and the time count, and no filter says which bucket it needs. */
  readonly partitionDimensions: readonly string[];
  readonly partitionFunction: typeof PARTITION_FUNCTION;
}

/** Part of a chunk by the order of some columns: keys from `start` on, up to `end`, which belongs to the next one. */
export interface RangePart {
  readonly type: 'range';
  readonly dimensions: readonly string[];
  /** Asked for as `single_dim`, and printed so. */
  readonly isSingle: boolean;
  /** null: from the beginning, to the end. Nulls come before all strings. */
  readonly start: PartitionKey | null;
  readonly end: PartitionKey | null;
}

/** Values of the columns that a chunk is divided by. */
export type PartitionKey = readonly (string | null)[];

/** Segments of a chunk that is not divided by values are numbered. */
export type SegmentPart = HashedPart | RangePart;

/**
 * `partitions`: the segments that a chunk is complete with; those that were appended later have numbers above. A tombstone has no rows and no
 * file, and only hides what is older.
 */
export type ShardSpec = ({ readonly type: 'numbered' | 'tombstone' } | SegmentPart) & {
  readonly partitionNum: number;
  readonly partitions: number;
};

/** A shard as the interface prints it. */
export function shardSpecBody(shard: ShardSpec): Readonly<Record<string, unknown>> {
  if (shard.type !== 'range') return { ...shard };
  const { dimensions, isSingle, start, end, partitionNum, partitions } = shard;
  const numbers = { partitionNum, numCorePartitions: partitions };
  if (!isSingle) return { type: 'range', dimensions, start, end, ...numbers };
  return { type: 'single', dimension: dimensions[0], start: start?.[0] ?? null, end: end?.[0] ?? null, ...numbers };
}

export const PARTITION_FUNCTION = 'murmur3_32_abs';

/** A column of a segment, without its count of different values, which stands apart. */
export interface SegmentColumn extends Omit<ColumnSchema, 'distinctCount'> {
  readonly distinctCount?: never;
}

/** Columns of a segment, and apart what they have in common with no other segment. */
export function segmentColumns(columns: readonly ColumnSchema[]): Pick<SegmentFile, 'columns' | 'distinctCounts'> {
  if (columns.every(({ distinctCount }) => distinctCount === undefined)) return { columns: columns as readonly SegmentColumn[] };
  return {
    columns: columns.map(({ distinctCount: _, ...column }): SegmentColumn => column),
    distinctCounts: columns.map(({ distinctCount = -1 }) => distinctCount),
  };
}

/** A pushed segment file: where it is, what it holds. */
export interface SegmentFile {
  /** Location of the file in deep storage: `{type: 'local', path}` or `{type: 's3', path}`, relative to the folder or bucket. */
  readonly loadSpec: { readonly type: string; readonly path: string };
  readonly sizeBytes: number;
  readonly rowCount: number;
  readonly dimensions: readonly string[];
  readonly metrics: readonly string[];
  /** Physical columns, `__time` first: most segments have the same. */
  readonly columns: readonly SegmentColumn[];
  /** Different values but null of each column, in the order of the columns; -1: not known. Left out: none is known. */
  readonly distinctCounts?: readonly number[];
  /** State that the compaction which made it has left, JSON text; left out: none made it. */
  readonly lastCompactionState?: string;
}

/** Payload of a published segment in metadata. */
export interface SegmentDescriptor extends SegmentFile {
  readonly id: SegmentId;
  readonly shardSpec: ShardSpec;
  /** Printed id as which its rows were live, where that was another one. */
  readonly liveId?: string;
}

/** Whether its rows are those of a stream that are not published: nobody has a file of it. */
export function isLive({ loadSpec }: Pick<SegmentFile, 'loadSpec'>): boolean {
  return loadSpec.type === LIVE;
}

/** Type of the load spec of a live segment. */
export const LIVE = 'live';

/** A used segment, and the parts of its interval that no newer ones cover. */
export interface VisibleSegment {
  readonly segment: SegmentDescriptor;
  readonly visible: readonly Interval[];
}

/** A used segment whose document in the metadata store cannot be read: nobody serves it, and answers without it are wrong. */
export interface UnreadableSegment {
  readonly id: string;
  readonly dataSource: string;
  /** null: not known. */
  readonly interval: Interval | null;
}

/** Analyses of segmentMetadata. */
export type SegmentAnalysisType =
  | 'cardinality'
  | 'minmax'
  | 'size'
  | 'interval'
  | 'timestampSpec'
  | 'queryGranularity'
  | 'aggregators'
  | 'rollup';

/** Per-segment answer of segmentMetadata, before merging. */
export interface SegmentAnalysis {
  readonly id: string;
  readonly intervals: readonly Interval[];
  readonly columns: Readonly<Record<string, ColumnAnalysis>>;
  readonly sizeBytes: number;
  readonly numRows: number;
  readonly aggregators: Readonly<Record<string, unknown>> | null;
  readonly timestampSpec: unknown;
  readonly queryGranularity: unknown;
  readonly rollup: boolean | null;
}

export interface ColumnAnalysis {
  readonly type: string;
  readonly hasMultipleValues: boolean;
  readonly hasNulls: boolean;
  readonly sizeBytes: number;
  readonly cardinality: number | null;
  /** Smallest and largest string; null for other types, and when a row is null. */
  readonly minValue: string | null;
  readonly maxValue: string | null;
  readonly errorMessage: string | null;
}
