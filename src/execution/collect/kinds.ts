import type { Aggregator } from '../../model/aggregator.js';
import type { Collector } from '../../model/collector.js';
import { bloomKind } from './bloom.js';
import { kllKind, quantilesKind } from './distribution.js';
import { exactSumKind } from './exact-sum.js';
import { expressionFoldKind } from './expression-fold.js';
import { extremeKind } from './extreme.js';
import { firstLastKind } from './first-last.js';
import { fixedHistogramKind, histogramKind } from './histogram.js';
import { cardinalityKind, hllKind } from './hll.js';
import { momentsKind } from './moments.js';
import { orderedListKind } from './ordered-list.js';
import type { StateKind } from './state-kind.js';
import { thetaKind } from './theta.js';
import { tupleKind } from './tuple.js';

/** A collector without a kind of state does not compile. */
const KINDS: { readonly [Type in Collector['type']]: (collector: Extract<Collector, { type: Type }>) => StateKind<unknown> } = {
  first: firstLastKind as (collector: Collector) => StateKind<unknown>,
  last: firstLastKind as (collector: Collector) => StateKind<unknown>,
  min: extremeKind as (collector: Collector) => StateKind<unknown>,
  max: extremeKind as (collector: Collector) => StateKind<unknown>,
  hll: hllKind as (collector: Collector) => StateKind<unknown>,
  cardinality: cardinalityKind as (collector: Collector) => StateKind<unknown>,
  theta: thetaKind as (collector: Collector) => StateKind<unknown>,
  quantiles: quantilesKind as (collector: Collector) => StateKind<unknown>,
  kll: kllKind as (collector: Collector) => StateKind<unknown>,
  exactSum: exactSumKind as (collector: Collector) => StateKind<unknown>,
  moments: momentsKind as (collector: Collector) => StateKind<unknown>,
  tuple: tupleKind as (collector: Collector) => StateKind<unknown>,
  histogram: histogramKind as (collector: Collector) => StateKind<unknown>,
  fixedHistogram: fixedHistogramKind as (collector: Collector) => StateKind<unknown>,
  bloom: bloomKind as (collector: Collector) => StateKind<unknown>,
  list: orderedListKind as (collector: Collector) => StateKind<unknown>,
  expression: expressionFoldKind as (collector: Collector) => StateKind<unknown>,
};

/** What an aggregator keeps per group; the type of its states is known to their kind alone. */
export function stateKind(collector: Collector): StateKind<unknown> {
  const make = KINDS[collector.type] as (collector: Collector) => StateKind<unknown>;
  return make(collector);
}

/** Whether a plan has states whose order of merging shows. */
export function hasOrderedStates(aggregators: readonly Aggregator[]): boolean {
  return aggregators.some((each) => each.kind === 'collect' && stateKind(each.collector).isOrdered);
}
