// Collects the aggregates of a query.

import type { AggregateState } from '../../../model/aggregate-state.js';
import { stateTraits, stateType } from '../../../model/state-traits.js';
import type { SqlType } from '../../../model/statement.js';
import { isComplex, nativeType } from '../parse/sql-type.js';
import type { BoundAggregate } from '../relation/aggregate.js';
import { type Bound, boundKey, literal } from '../relation/bound.js';
import type { RelationSortKey } from '../relation/relation.js';
import type { FunctionCall } from './function-call.js';

/** Collects the aggregates of a query, each once. */
export class AggregateList {
  readonly aggregates: BoundAggregate[] = [];
  readonly #indexes = new Map<string, number>();

  add(aggregate: BoundAggregate): Bound {
    const { kind, type, state, fold, operands, filter } = aggregate;
    const kept = state === undefined && fold === undefined ? '' : JSON.stringify([state, fold], exactly);
    let key = `${kind}|${type}|${kept}`;
    for (const operand of operands) key += `|${boundKey(operand)}`;
    if (filter !== null) key += `|| ${boundKey(filter)}`;
    let index = this.#indexes.get(key);
    if (index === undefined) {
      index = this.aggregates.push(aggregate) - 1;
      this.#indexes.set(key, index);
    }
    return { kind: 'aggregate', type: aggregate.type, index };
  }
}

function exactly(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}

/** A call of an aggregate function, with what stands around its arguments. */
export interface AggregateUse {
  readonly call: FunctionCall;
  readonly distinct: boolean;
  /** Whether its arguments stand in a row, which is not null where they are. */
  readonly isRow: boolean;
  readonly filter: Bound | null;
  /** ORDER BY among the arguments; only what makes lists is given one. */
  readonly order: readonly RelationSortKey[];
  readonly list: AggregateList;
  /** The time of a row. */
  time(): Bound;
  /** Whether its state is stored in place of its result. */
  readonly isStored?: boolean;
}

export type AggregateFunction = (use: AggregateUse) => Bound;

interface CollectSettings {
  readonly type: SqlType;
  readonly argumentsMax: number;
}

/**
 * An aggregate of values, or of stored states where its argument is a column of them.
 * @param operand  the argument as a value
 */
export function collectStates(
  use: AggregateUse,
  aggregateState: AggregateState,
  { operand, ...settings }: CollectSettings & { readonly operand: () => Bound },
  output: 'value' | 'state' = 'value',
): Bound {
  const given = use.call.any(0);
  if (given.type === 'NULL' || !isComplex(given.type))
    return stateAggregator(use, aggregateState, { ...settings, operands: [operand()] }, output);
  if (given.type !== stateType(aggregateState)) throw use.call.mismatch(0, `values or ${stateType(aggregateState)}`);
  return stateAggregator(use, aggregateState, { ...settings, operands: [given], input: 'states' }, output);
}

/** Adds an aggregate that keeps more than a number. */
export function stateAggregator(
  { call: bound, distinct, filter, list }: AggregateUse,
  aggregateState: AggregateState,
  settings: CollectSettings & { readonly operands: readonly Bound[]; readonly input?: 'values' | 'states' },
  output: 'value' | 'state' = 'value',
): Bound {
  const { operands, type, argumentsMax, input = 'values' } = settings;
  if (bound.count > argumentsMax)
    throw bound.error(bound.at, `${bound.name} takes at most ${argumentsMax} arguments, found ${bound.count}`);
  const [operand] = operands;
  const distinctness = stateTraits(aggregateState).distinct;
  if (distinct && distinctness !== 'nothing') {
    if (operand === undefined || operands.length > 1 || input === 'states' || distinctness === 'refused')
      throw bound.session.source.unsupported(bound.at, `${bound.name}(DISTINCT)`);
    return list.add({ kind: 'distinct', operands, filter, type, fold: { kind: 'state', aggregateState, output, type: nativeType(type) } });
  }
  return list.add({ kind: 'state', operands, filter, type, state: { aggregateState, input, output } });
}

/** The first argument, which must be a number. */
export function numericOperand({ call: bound }: AggregateUse): Bound {
  const operand = bound.number(0);
  return operand.type === 'NULL' ? literal('BIGINT', null) : operand;
}
