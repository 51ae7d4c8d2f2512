// Aggregates in the relational tree.

import type { AggregateState } from '../../../model/aggregate-state.js';
import type { DistinctFold } from '../../../model/aggregator.js';
import { stateTraits } from '../../../model/state-traits.js';
import type { SqlType } from '../../../model/statement.js';
import { nativeType } from '../parse/sql-type.js';
import { type Bound, type BoundLiteral, literal } from './bound.js';

/** An aggregate of a query, over the rows that also meet `filter`. */
export interface BoundAggregate {
  /** `grouping`: a bit for each operand, set where it is not a key of the row's grouping set. */
  readonly kind: 'count' | 'sum' | 'min' | 'max' | 'distinct' | 'state' | 'grouping';
  /** Arguments. For COUNT: expressions that must not be null, usually none. */
  readonly operands: readonly Bound[];
  readonly filter: Bound | null;
  readonly type: SqlType;
  /** Kind distinct only: the fold over the distinct values; absent means counting them. */
  readonly fold?: DistinctFold;
  /** Kind state only: the state, its input (values or states), and whether its value or the state is wanted. */
  readonly state?: { readonly aggregateState: AggregateState; readonly input: 'values' | 'states'; readonly output: 'value' | 'state' };
}

/** Value of an aggregate over no rows. */
export function valueOfNoRows({ kind, type, fold, state }: Pick<BoundAggregate, 'kind' | 'type' | 'fold' | 'state'>): BoundLiteral {
  const collected = fold?.kind === 'state' ? fold : state;
  const isCount =
    kind === 'count' ||
    (kind === 'distinct' && fold === undefined) ||
    (collected?.output === 'value' && stateTraits(collected.aggregateState).ofNoRows === 0);
  return literal(type, !isCount ? null : nativeType(type) === 'LONG' ? 0n : 0);
}
