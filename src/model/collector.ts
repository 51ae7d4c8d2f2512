import type { ColumnType } from './schema.js';

/**
 * What a `collect` aggregator keeps for a group when that is more than one number. Plain data; `columns` of the
 * aggregator are what it reads, in the order named here.
 */
export type Collector =
  /**
   * [value, time] → the value at the smallest or largest time. Nulls are values, rows without a time do not count. At
   * equal times the smallest (`first`) or largest (`last`) value that is not null wins, so that the answer does not
   * depend on the order of rows. Without a time column all times are equal: any value, namely the smallest.
   */
  | { readonly type: 'first' | 'last'; readonly valueType: ColumnType; readonly maxStringBytes: number }
  /** [number] → count, mean and squared deviations; nulls do not count. */
  | { readonly type: 'moments'; readonly result: 'mean' | 'populationVariance' | 'sampleVariance' };

/** Name of the column in which a `collect` aggregator puts out its state beside its value. */
export function stateColumn(name: string): string {
  return `$state of ${name}`;
}
