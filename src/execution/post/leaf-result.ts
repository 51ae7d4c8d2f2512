// Facts about a plan's leaf that post-processing steps need.

import type { Interval } from '../../base/instant.js';
import type { Value } from '../../expression/value.js';
import type { RunContext } from '../block/context.js';

/** Facts about the leaf that the steps after it need. */
export interface LeafResult {
  readonly intervals: readonly Interval[];
  /** Values for a bucket without rows, for columns where they are not null. */
  readonly emptyValues: ReadonlyMap<string, Value>;
  /** Throws when the query was cancelled or its time is over; called every few thousand rows. */
  check(): void;
  /** Context of the thread, where there is one: numbers are computed by its kernels then. */
  readonly context?: RunContext;
}

/** Empty values of leaves without groups. */
export const NO_EMPTY_VALUES: ReadonlyMap<string, Value> = new Map();
