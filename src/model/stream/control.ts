// Conversation between a supervisor and the tasks that read its stream.

import type { EpochMs } from '../../base/instant.js';
import type { Offsets, StreamPosition } from './offsets.js';

/** Stage of a streaming task. A paused one holds its rows and reads none. */
export type StreamTaskStatus = 'NOT_STARTED' | 'STARTING' | 'READING' | 'PAUSED' | 'PUBLISHING';

/** Rows of a task so far. */
export interface RowCounts {
  readonly processed: number;
  readonly processedBytes: number;
  readonly processedWithError: number;
  readonly thrownAway: number;
  readonly unparseable: number;
}

/** Rows in all, and a second as means over the last minutes. */
export interface RowRates {
  readonly totals: RowCounts;
  readonly movingAverages: { readonly '1m': RowCounts; readonly '5m': RowCounts; readonly '15m': RowCounts };
}

/** A row that could not be read. */
export interface ParseErrorEntry {
  readonly timeOfExceptionMs: EpochMs;
  readonly errorType: string;
  /** The beginning of the record. */
  readonly input: string;
  readonly details: readonly string[];
}

/**
 * A running streaming task, as its supervisor and the chat paths see it. Methods throw ServiceError: `conflict` in a state that does not
 * allow them, `input_invalid` for offsets of foreign partitions, `unavailable` while the task starts.
 */
export interface StreamTaskControl {
  status(): Promise<StreamTaskStatus>;
  /** When it began to read; null before. */
  startTime(): Promise<EpochMs | null>;
  /** Its place in each partition: see `Offsets` for what an offset of each kind means. */
  offsets(): Promise<Offsets>;
  endOffsets(): Promise<Offsets>;
  /** Stops reading between two records, and returns where; throws `conflict` once it publishes. Asked again it returns the same. */
  pause(): Promise<Offsets>;
  resume(): Promise<void>;
  /**
   * Ends the sequence of rows that it reads at these offsets, none of which is before where it is, and resumes. `finish`: the task ends
   * there, publishes and is done; else the next sequence begins there, and the rows of this one are published beside it.
   */
  setEndOffsets(offsets: Offsets, finish: boolean): Promise<void>;
  /** Starts of the sequences that are not published, by their numbers from 0. */
  checkpoints(): Promise<ReadonlyMap<number, Offsets>>;
  rowStats(): Promise<RowRates>;
  parseErrors(): Promise<readonly ParseErrorEntry[]>;
  /** Ends the task without publishing what it has read since its last sequence. */
  stop(): Promise<void>;
}

/** A task of a group that has read enough rows for the sequence that it reads, or whose stream has lost what comes next. */
export interface CheckpointRequest {
  readonly supervisorId: string;
  readonly taskId: string;
  readonly taskGroupId: number;
  /** Start of that sequence: a request for one that ended meanwhile changes nothing. */
  readonly start: StreamPosition;
  /** The group is to publish and end, rather than go on with its next sequence. */
  readonly finish: boolean;
}

/** Offsets that a task has to read and that the stream does not have any more. */
export interface OffsetsLost {
  readonly supervisorId: string;
  readonly taskId: string;
  readonly lost: StreamPosition;
}

/** The supervisor, as its tasks see it. */
export interface StreamSupervision {
  /** Asks to end the sequence that it reads; the supervisor pauses the whole group and then sets one end for all of it. */
  checkpoint(request: CheckpointRequest): Promise<void>;
  /** Has the stored offsets of these partitions forgotten, and the tasks that read them replaced. */
  offsetsLost(lost: OffsetsLost): Promise<void>;
}
