// Aggregates of statements that store states rather than values (context key `finalizeAggregations`).

import { isNumberType } from '../../../../model/schema.js';
import { stateType } from '../../../../model/state-traits.js';
import type { StoredAggregator } from '../../../../model/statement.js';
import { nativeType } from '../../parse/sql-type.js';
import type { BoundAggregate } from '../../relation/aggregate.js';
import { type Bound, transform } from '../../relation/bound.js';
import { type AggregateFunction, AggregateList, type AggregateUse } from '../aggregate-list.js';
import type { StoredAs } from '../binding.js';

/**
 * Binds an aggregate whose result is stored, or is a part of what is.
 * @throws ServiceError `unsupported` naming the aggregate, where its value would be stored though it has a state
 */
export function storedAggregate(aggregate: AggregateFunction, use: Omit<AggregateUse, 'isStored'>, storedAs: StoredAs): Bound {
  const isStored = storedAs === 'state';
  const list = new AggregateList();
  const bound = aggregate({ ...use, list, isStored });
  const { call } = use;
  const refuse = (what: string): never => {
    throw call.session.source.unsupported(call.at, `${what}, while context.finalizeAggregations is false,`);
  };
  if (isStored) {
    const only = bound.kind === 'aggregate' ? list.aggregates[bound.index] : undefined;
    if (only?.kind === 'grouping') return use.list.add(only);
    const stored = only === undefined ? undefined : withState(only);
    if (stored === undefined || aggregatorOf(stored, '') === undefined)
      return refuse(call.name === 'AVG' ? 'AVG in place of SUM and COUNT' : `${call.name}, which has no state that can be stored`);
    return use.list.add(stored);
  }
  if (list.aggregates.some(isFinished))
    return refuse(`the value of ${call.name} in an expression, a subquery or distinct rows that are stored`);
  return transform(bound, (part) => {
    const each = part.kind === 'aggregate' ? list.aggregates[part.index] : undefined;
    return each === undefined ? undefined : use.list.add(each);
  });
}

/** Whether its result is less than what further rows could be added to. */
function isFinished({ kind, state }: BoundAggregate): boolean {
  return kind === 'distinct' || (kind === 'state' && state?.output === 'value');
}

function withState(aggregate: BoundAggregate): BoundAggregate {
  const { state } = aggregate;
  if (aggregate.kind !== 'state' || state === undefined) return aggregate;
  return { ...aggregate, type: stateType(state.aggregateState), state: { ...state, output: 'state' } };
}

/** The native aggregator that adds up stored results of an aggregate; `undefined`: there is none. */
export function aggregatorOf({ kind, type, state, operands }: BoundAggregate, name: string): StoredAggregator | undefined {
  const fieldName = name;
  const native = nativeType(type);
  switch (kind) {
    case 'count':
      return { type: 'longSum', name, fieldName };
    case 'sum':
    case 'min':
    case 'max':
      return isNumberType(native) ? { type: `${native.toLowerCase()}${capital(kind)}`, name, fieldName } : undefined;
    default:
  }
  if (kind !== 'state' || state === undefined) return undefined;
  const { aggregateState } = state;
  switch (aggregateState.type) {
    case 'hll':
      return { type: 'HLLSketchMerge', name, fieldName, lgK: aggregateState.lgK, tgtHllType: `HLL_${aggregateState.target}`, round: true };
    case 'theta':
      return { type: 'thetaSketch', name, fieldName, size: aggregateState.size };
    case 'quantiles':
      return { type: 'quantilesDoublesSketch', name, fieldName, k: aggregateState.k };
    case 'cardinality':
      return { type: 'hyperUnique', name, fieldName, round: true };
    case 'moments':
      return { type: 'varianceFold', name, fieldName, estimator: aggregateState.result === 'populationVariance' ? 'population' : 'sample' };
    case 'first':
    case 'last': {
      const { valueType, maxStringBytes } = aggregateState;
      const isPair = operands.length === 2 || state.input === 'states';
      if (!isPair || !(isNumberType(valueType) || valueType === 'STRING')) return undefined;
      const bytes = valueType === 'STRING' ? { maxStringBytes } : {};
      return { type: `${valueType.toLowerCase()}${capital(aggregateState.type)}`, name, fieldName, timeColumn: '__time', ...bytes };
    }
    default:
      return undefined;
  }
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
