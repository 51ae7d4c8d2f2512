import type { ExpressionFold } from './collector.js';
import type { ColumnType } from './schema.js';

/** A function over the rows around each row, its *partition*, and of aggregates over a part of these, its *frame*. */
export interface WindowFunction {
  readonly name: string;
  readonly type: ColumnType;
  readonly call: WindowCall;
  /** A LONG column; aggregates only meet rows where it is above 0. null: all of the frame. */
  readonly filter: string | null;
  readonly frame: WindowFrame;
}

export type WindowCall =
  /** Places in the order of the partition: from 1, with and without gaps; as fractions of the partition. */
  | { readonly kind: 'rowNumber' | 'rank' | 'denseRank' | 'percentRank' | 'cumulativeDistribution' }
  /** Partitions in so many parts of equal size; the first ones have one row more. */
  | { readonly kind: 'tile'; readonly tiles: number }
  /** The value so many rows later; before, where it is negative. */
  | { readonly kind: 'shift'; readonly column: string; readonly rows: number }
  /** Of the frame, nulls too. */
  | { readonly kind: 'first' | 'last'; readonly column: string }
  /** null: rows are counted, not values. */
  | { readonly kind: 'count'; readonly column: string | null }
  /** Of values that are not null. */
  | { readonly kind: 'sum' | 'min' | 'max' | 'distinct'; readonly column: string }
  | { readonly kind: 'fold'; readonly column: string; readonly collector: ExpressionFold };

/** From one bound to the other, both included. `range`: rows that are alike in the order go together. */
export interface WindowFrame {
  readonly unit: 'rows' | 'range';
  readonly start: FrameBound;
  readonly end: FrameBound;
}

/** Rows after the current one, before it where negative; a `range` only knows 0. */
export type FrameBound = 'unbounded' | number;
