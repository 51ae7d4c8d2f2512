// Interface of the engine: runs plans over segments and over rows.

import type { CancelSignal } from '../../base/cancel-signal.js';
import type { Frame } from '../../model/frame.js';
import type { Plan, RowPlan } from '../../model/plan.js';
import type { Profile } from '../../model/profile.js';
import type { RunLimits } from '../../model/run-limits.js';
import type { ColumnSchema } from '../../model/schema.js';
import type { BuildRequest } from '../../model/upload.js';
import type { SegmentStore } from '../../storage/contract.js';
import type { SegmentView } from '../../storage/view.js';
import type { PartialRows } from '../scan/merge-scans.js';

export interface RunOptions {
  readonly ending: 'final' | 'partial';
  readonly deadlineMs: number;
  readonly limits?: RunLimits | undefined;
  /** Higher ones go first, between any two blocks; left out: 0. */
  readonly priority?: number | undefined;
  readonly kernels: string | null;
  /** Rows of a kernel batch, a divisor of BLOCK_ROWS or any smaller number; null: BLOCK_ROWS. For tests. */
  readonly batchRows: number | null;
  /** Added to while the plan runs; complete when the last frame was taken. */
  readonly profile?: Profile | undefined;
}

/** Rows that come as frames. */
export interface GivenRows {
  /** Their columns and types; columns that are not named have the type of the first frames. */
  readonly columns: readonly ColumnSchema[];
  /** Rows placed at a time; null or absent: as many as is good. For tests. */
  readonly chunkRows?: number | null;
}

/** Rows in kernel memory; released once, when no plan uses them any more. */
export interface UploadedRows {
  readonly id: string;
  readonly rowCount: number;
  readonly bytes: number;
  release(): void;
}

export interface RunCounters {
  rowsScanned: number;
  rowsMatched: number;
  segments: number;
}

/**
 * Runs plans over open segments on the processing threads of this process. `threads: 0` runs where it is called
 * (ingestion children, tests). Aborting the signal frees the processor within 100 ms and ends with `cancelled`.
 */
export interface Engine {
  run(plan: RowPlan, store: SegmentStore, segmentIds: readonly string[], options: RunOptions, signal: CancelSignal): AsyncIterable<Frame>;
  /** Runs over columns that the caller uploaded (rows being ingested). Without a `__time` column nothing is cut by time. */
  runViews(plan: RowPlan, views: readonly SegmentView[], options: RunOptions, signal: CancelSignal): AsyncIterable<Frame>;
  /** Joins partial results of several servers and runs the post-processing steps. */
  merge(plan: Plan, partials: readonly PartialRows[], options: RunOptions, signal: CancelSignal): AsyncIterable<Frame>;
  /** Runs over rows that come as frames, with the plan's stages, to the end: `ending` is taken for `final`. */
  runRows(plan: RowPlan, rows: AsyncIterable<Frame>, given: GivenRows, options: RunOptions, signal: CancelSignal): AsyncIterable<Frame>;
  /** Uploads the rows of a join's build side, of which `id` is what stages of this process call them. */
  build(rows: AsyncIterable<Frame>, side: BuildRequest, options: RunOptions, signal: CancelSignal): Promise<UploadedRows>;
  /** Runs over rows that were left in kernel memory under these ids, after each other, on all threads. */
  runUploaded(plan: RowPlan, ids: readonly string[], options: RunOptions, signal: CancelSignal): AsyncIterable<Frame>;
  /** An id for `Upload`, which is released whether or not anything was left under it. */
  reserveUpload(): string;
  releaseUpload(id: string): void;
  readonly counters: RunCounters;
  close(): Promise<void>;
}
