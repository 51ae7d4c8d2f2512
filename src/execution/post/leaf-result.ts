import type { Interval } from '../../base/instant.js';
import type { Value } from '../../expression/value.js';

/** What the steps need to know of the leaf they follow. */
export interface LeafResult {
  readonly intervals: readonly Interval[];
  /** What columns have for a bucket without rows, where that is not null. */
  readonly emptyValues: ReadonlyMap<string, Value>;
  /** Throws when the query was cancelled or its time is over; called every few thousand rows. */
  check(): void;
}

/** Of leaves without groups. */
export const NO_EMPTY_VALUES: ReadonlyMap<string, Value> = new Map();
