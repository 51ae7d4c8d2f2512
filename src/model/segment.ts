// Identity and description of a segment.

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

export type ShardSpec =
  | { readonly type: 'numbered'; readonly partitionNum: number; readonly partitions: number }
  | {
      readonly type: 'hashed';
      readonly partitionNum: number;
      readonly partitions: number;
      readonly partitionDimensions: readonly string[];
    }
  | {
      readonly type: 'range';
      readonly partitionNum: number;
      readonly partitions: number;
      readonly dimensions: readonly string[];
      readonly start: readonly (string | null)[] | null;
      readonly end: readonly (string | null)[] | null;
    };

/** A pushed segment file: where it is, what it holds. */
export interface SegmentFile {
  /** Location of the file in deep storage: `{type: 'local', path}` and, later, others. `path` is relative to the storage directory. */
  readonly loadSpec: { readonly type: string; readonly path: string };
  readonly sizeBytes: number;
  readonly rowCount: number;
  readonly dimensions: readonly string[];
  readonly metrics: readonly string[];
  /** Physical columns, `__time` first. */
  readonly columns: readonly ColumnSchema[];
}

/** Payload of a published segment in metadata. */
export interface SegmentDescriptor extends SegmentFile {
  readonly id: SegmentId;
  readonly shardSpec: ShardSpec;
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
