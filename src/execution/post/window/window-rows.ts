// Rows in the order of a window.

import type { SortKey } from '../../../model/plan.js';
import type { Check } from '../../block/checked-loops.js';
import type { ResultTable } from '../../block/result-table.js';
import type { Runs } from './runs.js';

/** For each row, in turn, rows [start, end); none where the end is not behind the start. */
export interface Spans {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** Neither goes back from one row to the next that has any. */
  readonly isMoving: boolean;
}

/** Sorted rows with their partitions, and with their peers in these. */
export interface WindowRows {
  readonly table: ResultTable;
  readonly order: readonly SortKey[];
  readonly partitions: Runs;
  /** Found when they are first asked for. */
  readonly peers: () => Runs;
  /** Frames of functions so far, by what they are. */
  readonly frames: Map<string, readonly Spans[]>;
  readonly check: Check;
}
