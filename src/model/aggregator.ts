// Aggregators of a plan.

import type { AggregateState } from './aggregate-state.js';
import type { Filter } from './filter.js';
import type { ColumnType } from './schema.js';

/**
 * An aggregator over the rows of a group. Null rows do not count; `sum`, `min`, `max` of no rows are null, `count`
 * and `distinct` of none are 0. LONG sums wrap at 64 bits. `column` may be a virtual column.
 * `distinct` counts distinct non-null values exactly, or folds them.
 */
export type Aggregator = {
  readonly name: string;
  /** Only rows that also match take part. */
  readonly filter: Filter | null;
} & (
  | { readonly kind: 'count' }
  | { readonly kind: 'sum' | 'min' | 'max'; readonly column: string; readonly type: 'LONG' | 'FLOAT' | 'DOUBLE' }
  | { readonly kind: 'distinct'; readonly column: string; readonly fold?: DistinctFold }
  | StateAggregator
);

/**
 * `input`: whether `columns` hold values, or the first of them states that were put out before, as texts, or a mixture of
 * texts of states and of numbers. `output`: the value, of type `type`; or the state as text; or both, the state as the
 * column `stateColumn(name)`.
 */
interface StateAggregator {
  readonly kind: 'state';
  readonly aggregateState: AggregateState;
  readonly columns: readonly string[];
  readonly input: 'values' | 'states' | 'mixed';
  readonly output: 'value' | 'state' | 'both';
  readonly type: ColumnType;
}

/**
 * Fold of a group's distinct numbers, each met once and in ascending order: their sum, the bits that an odd
 * number of them has, or what an aggregate state of numbers makes of them. Of none it is null.
 */
export type DistinctFold =
  | { readonly kind: 'sum'; readonly type: 'LONG' | 'DOUBLE' }
  | { readonly kind: 'xor'; readonly type: 'LONG' }
  | { readonly kind: 'state'; readonly aggregateState: AggregateState; readonly output: 'value' | 'state'; readonly type: ColumnType };

export interface VirtualColumn {
  readonly name: string;
  readonly expression: import('./expression.js').Expression;
  /** null: the type the expression has. */
  readonly outputType: ColumnType | null;
  /**
   * A condition on single values of the column that `expression` reads: values for which it is not true are left out of
   * multi-value rows, and a row with none left is null. Left out: all values are kept.
   */
  readonly keeps?: import('./expression.js').Expression;
}
