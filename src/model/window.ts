// Window functions of a plan.

import type { AggregateState } from './aggregate-state.js';
import type { DistinctFold } from './aggregator.js';
import type { ColumnType } from './schema.js';

/** A function over the rows around each row, its *partition*, and of aggregates over a part of these, its *frame*. */
export interface WindowFunction {
  readonly name: string;
  readonly type: ColumnType;
  readonly call: WindowCall;
  /** Arguments of the call; see there. */
  readonly columns: readonly string[];
  /** A LONG column; aggregates only meet rows where it is above 0. null: all of the frame. */
  readonly filter: string | null;
  readonly frame: WindowFrame;
}

export type WindowCall =
  /** [] Places in the order of the partition: from 1, with and without gaps; as fractions of the partition. */
  | { readonly kind: 'rowNumber' | 'rank' | 'denseRank' | 'percentRank' | 'cumulativeDistribution' }
  /** [] Partitions in so many parts of equal size; the first ones have one row more. */
  | { readonly kind: 'tile'; readonly tiles: number }
  /** [value, otherwise?] The value so many rows later; before, where it is negative. Where there is no such row `otherwise`, or null. */
  | { readonly kind: 'shift'; readonly rows: number; readonly ignoresNulls: boolean }
  /** [value] Of the frame, nulls too unless they are ignored. */
  | { readonly kind: 'first' | 'last'; readonly ignoresNulls: boolean }
  /** [] Rows are counted. */
  | { readonly kind: 'count' }
  /** [value] Of values that are not null. */
  | { readonly kind: 'sum' | 'min' | 'max' }
  /** [value] Distinct values that are not null: how many, or what is made of them. */
  | { readonly kind: 'distinct'; readonly fold: DistinctFold | null }
  /** [as the aggregateState reads], or [state]. */
  | {
      readonly kind: 'state';
      readonly aggregateState: AggregateState;
      readonly input: 'values' | 'states';
      readonly output: 'value' | 'state';
    };

/**
 * From one bound to the other, both included, less what is excluded: the row itself, its peers (rows that are alike in the
 * order) and itself, or its peers alone. `Reach`: how a bound names values.
 */
export interface WindowFrame<Reach = string> {
  readonly unit: 'rows' | 'range' | 'groups';
  readonly start: FrameBound<Reach>;
  readonly end: FrameBound<Reach>;
  readonly exclude: 'row' | 'peers' | 'ties' | null;
}

/**
 * Rows after the current one, before it where negative; so many groups of peers; a `range` only knows 0, the peers of the
 * row. Or a `range` reaches to the value that a column has in the row, of what the one key of the order has.
 */
export type FrameBound<Reach = string> = 'unbounded' | number | { readonly reach: Reach };
