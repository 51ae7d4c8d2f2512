// A segment that a store has open: in a file, or rows that are in memory only.

import type { Interval } from '../base/instant.js';
import type { ColumnSchema } from '../model/schema.js';
import type { SegmentAnalysis } from '../model/segment.js';
import type { UnloadedColumn } from './contract.js';
import type { ReadSegment } from './read-segment.js';

/** A segment of a store, from `open` or `hold` to `close`; what it answers is told at `SegmentStore`. */
export interface StoreSegment extends ReadSegment {
  readonly schema: readonly ColumnSchema[];
  /** Whether the segment is not being closed. */
  readonly isOpen: boolean;
  /** Whether somebody keeps it open. */
  readonly isUsed: boolean;
  /** Whether it is better read together with its neighbours (`combined/`). */
  readonly isSmall: boolean;
  /** Whether every row lies in one of the intervals. */
  liesIn(intervals: readonly Interval[]): boolean;
  unloaded(name: string): UnloadedColumn | null;
  findRows(column: string, ids: readonly number[]): Promise<Uint32Array | null>;
  findStrings(name: string, texts: readonly string[]): Promise<Uint32Array>;
  analyze(columns: readonly string[] | 'all', analyses: readonly string[]): SegmentAnalysis;
  /** Keeps the segment open until the matching `letGo`. */
  use(): void;
  letGo(): void;
  /** Nobody begins to use it from now on. */
  end(): void;
  /** Waits for its users, then frees its columns. */
  close(): Promise<void>;
}
