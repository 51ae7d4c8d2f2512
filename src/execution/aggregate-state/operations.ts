// Table of the operations of every kind of aggregate state.

import type { AggregateState } from '../../model/aggregate-state.js';
import type { Aggregator } from '../../model/aggregator.js';
import { kllState, quantilesState } from './distribution.js';
import { exactSumState } from './exact-sum.js';
import { expressionFoldState } from './expression-fold.js';
import { extremeState } from './extreme.js';
import { firstLastState } from './first-last.js';
import { momentsState } from './moments/moments.js';
import { orderedListState } from './ordered-list.js';
import { singleValueState } from './single-value.js';
import { bloomState } from './sketch/bloom.js';
import { breaksHistogramState, fixedHistogramState, histogramState } from './sketch/histogram.js';
import { cardinalityState, hllState } from './sketch/hll.js';
import { thetaState } from './sketch/theta.js';
import { tupleState } from './sketch/tuple.js';
import type { StateOperations } from './state-operations.js';
import { timeExtremeState } from './time-extreme.js';

/** A aggregateState without a kind of state does not compile. */
const KINDS: {
  readonly [Type in AggregateState['type']]: (aggregateState: Extract<AggregateState, { type: Type }>) => StateOperations<unknown>;
} = {
  first: firstLastState as (aggregateState: AggregateState) => StateOperations<unknown>,
  last: firstLastState as (aggregateState: AggregateState) => StateOperations<unknown>,
  min: extremeState as (aggregateState: AggregateState) => StateOperations<unknown>,
  max: extremeState as (aggregateState: AggregateState) => StateOperations<unknown>,
  timeMin: timeExtremeState as (aggregateState: AggregateState) => StateOperations<unknown>,
  timeMax: timeExtremeState as (aggregateState: AggregateState) => StateOperations<unknown>,
  hll: hllState as (aggregateState: AggregateState) => StateOperations<unknown>,
  cardinality: cardinalityState as (aggregateState: AggregateState) => StateOperations<unknown>,
  theta: thetaState as (aggregateState: AggregateState) => StateOperations<unknown>,
  quantiles: quantilesState as (aggregateState: AggregateState) => StateOperations<unknown>,
  kll: kllState as (aggregateState: AggregateState) => StateOperations<unknown>,
  exactSum: exactSumState as (aggregateState: AggregateState) => StateOperations<unknown>,
  moments: momentsState as (aggregateState: AggregateState) => StateOperations<unknown>,
  tuple: tupleState as (aggregateState: AggregateState) => StateOperations<unknown>,
  histogram: histogramState as (aggregateState: AggregateState) => StateOperations<unknown>,
  fixedHistogram: fixedHistogramState as (aggregateState: AggregateState) => StateOperations<unknown>,
  breaksHistogram: breaksHistogramState as (aggregateState: AggregateState) => StateOperations<unknown>,
  single: singleValueState as (aggregateState: AggregateState) => StateOperations<unknown>,
  bloom: bloomState as (aggregateState: AggregateState) => StateOperations<unknown>,
  list: orderedListState as (aggregateState: AggregateState) => StateOperations<unknown>,
  expression: expressionFoldState as (aggregateState: AggregateState) => StateOperations<unknown>,
};

/** Operations on an aggregator's state; only its kind knows the type of the state. */
export function stateOperations(aggregateState: AggregateState): StateOperations<unknown> {
  const make = KINDS[aggregateState.type] as (aggregateState: AggregateState) => StateOperations<unknown>;
  return make(aggregateState);
}

/** Whether a plan has states whose order of merging shows. */
export function hasOrderedStates(aggregators: readonly Aggregator[]): boolean {
  return aggregators.some((each) => each.kind === 'state' && stateOperations(each.aggregateState).isOrdered);
}
