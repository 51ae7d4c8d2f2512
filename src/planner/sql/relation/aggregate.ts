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
  /** None for COUNT. */
  readonly operands: readonly Bound[];
  readonly filter: Bound | null;
  readonly type: SqlType;
  /** Of kind distinct: what is made of the distinct values. Left out: they are counted. */
  readonly fold?: DistinctFold;
  /** Of kind state: what is kept, and whether its value or its state is wanted, over values or over states. */
  readonly state?: { readonly aggregateState: AggregateState; readonly input: 'values' | 'states'; readonly output: 'value' | 'state' };
}

/** What an aggregate gives of no rows. */
export function valueOfNoRows({ kind, type, fold, state }: Pick<BoundAggregate, 'kind' | 'type' | 'fold' | 'state'>): BoundLiteral {
  const collected = fold?.kind === 'state' ? fold : state;
  const isCount =
    kind === 'count' ||
    (kind === 'distinct' && fold === undefined) ||
    (collected?.output === 'value' && stateTraits(collected.aggregateState).ofNoRows === 0);
  return literal(type, !isCount ? null : nativeType(type) === 'LONG' ? 0n : 0);
}
