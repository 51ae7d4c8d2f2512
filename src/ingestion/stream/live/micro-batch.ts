// Rows that become parts together.

import type { Stages } from '../../batch/row-stages.js';
import type { RowStore } from '../../builder/row-store.js';

/** Rows of a stream on their way through the stages of any load, a few at a time. */
export interface MicroBatch {
  readonly store: RowStore;
  readonly stages: Stages;
  /** Time and bytes read when its first row came. */
  sinceMs: number;
  sinceBytes: number;
  rowCount: number;
}
