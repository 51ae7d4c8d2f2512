// Rows in the order of a window.

import type { SortKey } from '../../../model/plan.js';
import type { Check } from '../../block/checked-loops.js';
import type { ResultTable } from '../../block/result-table.js';
import type { Runs } from './runs.js';

/** Sorted rows with their partitions, and with their peers in these. */
export interface WindowRows {
  readonly table: ResultTable;
  readonly order: readonly SortKey[];
  readonly partitions: Runs;
  /** Found when they are first asked for. */
  readonly peers: () => Runs;
  readonly check: Check;
}
