// Stages of a statement: what their workers are told, and what they give back.

import type { PartitionKey, SegmentSlice } from '../../../model/segment.js';
import type { StageProgress } from '../../contract.js';
import type { ReadCounts } from '../../report/row-statistics.js';
import type { LineRange } from '../../source/line-range.js';
import type { FileRange } from './stage-output.js';

/**
 * `read`: rows of the input, or for a grouping parts of groups. `merge`: whole groups from these parts. `post`: rows that steps over all
 * of them leave, such as sorted ones. `write`: segments of time chunks.
 */
export type StageKind = 'read' | 'merge' | 'post' | 'write';

/** A part of an input source: its place in the list of them, and its name, by which a list that has changed is seen. */
export interface SharedPart {
  readonly at: number;
  readonly name: string;
  /** Lines of it that are read; null: all of it. */
  readonly range: LineRange | null;
}

/** Files or segments that one worker reads, or rows of a subquery. */
export type InputShare =
  | { readonly kind: 'rows'; readonly inputs: readonly StageOutput[]; readonly slices: readonly PartitionSlice[] }
  | { readonly kind: 'all' }
  | { readonly kind: 'parts'; readonly parts: readonly SharedPart[] }
  | { readonly kind: 'segments'; readonly segments: readonly SegmentSlice[] };

/**
 * Partitions that the rows of a stage are shuffled into: buckets by hash of the keys of a grouping, or time chunks. `files`: rows of the
 * result leave as files of an export.
 */
export type Shuffle =
  | { readonly kind: 'none' }
  | { readonly kind: 'files' }
  | { readonly kind: 'hash'; readonly buckets: number }
  | { readonly kind: 'time' };

/** Part of a partition: of all its frames each `slices`th, from `slice` on; or its rows of some ranges. */
export interface PartitionSlice {
  readonly partition: number;
  readonly slice: number;
  readonly slices: number;
  /** The ranges [from, to) of those that begin at these keys, the first apart: rows of all frames. */
  readonly ranges?: { readonly bounds: readonly PartitionKey[]; readonly from: number; readonly to: number };
}

/** Rows that one worker of a stage has left in durable storage. */
export interface StageOutput {
  readonly loadSpec: { readonly type: string; readonly path: string };
  readonly index: FileRange;
}

/** A file of exported rows in durable storage. */
export interface ExportedPart {
  readonly loadSpec: StageOutput['loadSpec'];
  readonly rowCount: number;
}

/** Work of one worker, as plain JSON. */
export type WorkOrder = {
  readonly stage: number;
  readonly worker: number;
  /** Subquery that it is a part of (`queryAt`); left out: the statement itself. */
  readonly level?: number;
} & (
  | { readonly kind: 'read'; readonly share: InputShare; readonly shuffle: Shuffle }
  | {
      readonly kind: 'merge';
      readonly inputs: readonly StageOutput[];
      readonly partitions: readonly number[];
      readonly shuffle: Shuffle;
    }
  | { readonly kind: 'post'; readonly inputs: readonly StageOutput[]; readonly shuffle: Shuffle }
  | { readonly kind: 'write'; readonly inputs: readonly StageOutput[]; readonly partitions: readonly PartitionSlice[] }
);

export interface WorkCounts extends ReadCounts, StageProgress {}

/** Result of an order, as plain JSON. */
export interface WorkResult {
  /** Rows, or a file that lists segments or files of an export. */
  readonly output: StageOutput;
  /** Place of `SampledRows` in the file; left out: chunks are not divided by ranges. */
  readonly samples?: FileRange;
  readonly counts: WorkCounts;
  readonly startMs: number;
  readonly endMs: number;
}
