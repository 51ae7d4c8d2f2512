// Reach of rows in their stream, as plain data: which of them a task shows, and which are published.

import type { Offsets } from './offsets.js';

/** Rows of a partition that a task shows. */
export interface PartitionReach {
  /** Offset from which on it shows rows: that of its first sequence which it has not dropped. */
  readonly start: string;
  /** Every row before this offset is shown. */
  readonly least: string;
  /** No row from this offset on is shown. */
  readonly most: string;
}

/** Rows of a stream that a task shows. */
export interface StreamReach {
  readonly dataSource: string;
  readonly supervisorId: string;
  readonly stream: string;
  /** The same in replicas. */
  readonly baseSequenceName: string;
  readonly partitions: ReadonlyMap<string, PartitionReach>;
}

/** Rows of a supervisor's stream that are published, as of one revision of metadata. */
export interface PublishedStream {
  readonly supervisorId: string;
  readonly dataSource: string;
  readonly stream: string;
  /** Rows before these are published. */
  readonly offsets: Offsets;
  /** Number of times that the offsets were set by hand or forgotten. */
  readonly resets: number;
  /** Whether a supervisor keeps tasks running: false for one that is suspended or terminated. */
  readonly isRunning: boolean;
}
