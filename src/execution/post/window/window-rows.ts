// Rows in the order of a window.

import type { SortKey } from '../../../model/plan.js';
import type { Check } from '../../block/checked-loops.js';
import type { ResultTable } from '../../block/result-table.js';
import type { Runs } from './runs.js';
import type { Spans } from './window-frame.js';

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
