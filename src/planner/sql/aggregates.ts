import type { Collector } from '../../model/collector.js';
import { stateType } from '../../model/state-type.js';
import type { SqlType } from '../../model/statement.js';
import { and, type Bound, boundKey, call, literal, not, settledType, text } from './bound.js';
import type { FunctionCall } from './function-call.js';
import { isComplex, isInstant, isNumeric, nativeType } from './sql-type.js';

/** An aggregate of a query, over the rows that also meet `filter`. */
export interface BoundAggregate {
  readonly kind: 'count' | 'sum' | 'min' | 'max' | 'distinct' | 'collect' | 'grouping';
  /** null for COUNT. */
  readonly operand: Bound | null;
  readonly filter: Bound | null;
  readonly type: SqlType;
  /** Of GROUPING(a, b): a bit for each, set where it is not a key of the row's grouping set. */
  readonly operands?: readonly Bound[];
  /** Of kind collect: what is kept, and whether its value or its state is wanted. */
  readonly collect?: { readonly collector: Collector; readonly input: 'values' | 'states'; readonly output: 'value' | 'state' };
}

/** Collects the aggregates of a query, each once. */
export class AggregateList {
  readonly aggregates: BoundAggregate[] = [];
  private readonly indexes = new Map<string, number>();

  add(aggregate: BoundAggregate): Bound {
    const key = [
      aggregate.kind,
      aggregate.type,
      JSON.stringify(aggregate.collect ?? null),
      (aggregate.operands ?? []).map(boundKey).join(','),
      ...[aggregate.operand, aggregate.filter].map((part) => (part === null ? '' : boundKey(part))),
    ].join('|');
    let index = this.indexes.get(key);
    if (index === undefined) {
      index = this.aggregates.push(aggregate) - 1;
      this.indexes.set(key, index);
    }
    return { kind: 'aggregate', type: aggregate.type, index };
  }
}

/** A call of an aggregate function, with what stands around its arguments. */
interface AggregateUse {
  readonly call: FunctionCall;
  readonly distinct: boolean;
  readonly filter: Bound | null;
  readonly list: AggregateList;
}

type AggregateFunction = (use: AggregateUse) => Bound;

/**
 * Every aggregate function of SQL. The approximate counts of distinct values are answered exactly, which is within
 * any error they promise.
 */
export const SQL_AGGREGATES: Readonly<Record<string, AggregateFunction>> = {
  COUNT(use) {
    const { call: bound, distinct, filter, list } = use;
    if (distinct) return countDistinct(use);
    if (bound.count > 1) throw bound.session.source.unsupported(bound.at, 'COUNT of several values');
    const operand = bound.arguments[0];
    // A literal that is not null, as in COUNT(1), counts every row.
    const counted =
      operand === undefined || (operand.kind === 'literal' && operand.value !== null)
        ? filter
        : andFilter(filter, not({ kind: 'isNull', type: 'BOOLEAN', operand }));
    return list.add({ kind: 'count', operand: null, filter: counted, type: 'BIGINT' });
  },
  SUM(use) {
    const operand = numericOperand(use);
    return use.list.add({ kind: 'sum', operand, filter: use.filter, type: sumType(operand) });
  },
  MIN: (use) => extreme(use, 'min'),
  MAX: (use) => extreme(use, 'max'),
  AVG(use) {
    const operand = numericOperand(use);
    const sum = use.list.add({ kind: 'sum', operand, filter: use.filter, type: sumType(operand) });
    const count = use.list.add({
      kind: 'count',
      operand: null,
      filter: andFilter(use.filter, not({ kind: 'isNull', type: 'BOOLEAN', operand })),
      type: 'BIGINT',
    });
    return call('DOUBLE', '/', call('DOUBLE', 'cast', sum, text('DOUBLE')), count);
  },
  GROUPING(use) {
    const { call: bound, list } = use;
    if (use.distinct || use.filter !== null) throw bound.error(bound.at, 'GROUPING takes no DISTINCT and no FILTER');
    return list.add({ kind: 'grouping', operand: null, operands: bound.arguments, filter: null, type: 'BIGINT' });
  },
  APPROX_COUNT_DISTINCT: countDistinct,
  APPROX_COUNT_DISTINCT_BUILTIN: countDistinct,
  VAR_POP: (use) => variance(use, 'populationVariance'),
  VAR_SAMP: (use) => variance(use, 'sampleVariance'),
  VARIANCE: (use) => variance(use, 'sampleVariance'),
  STDDEV_POP: (use) => call('DOUBLE', 'sqrt', variance(use, 'populationVariance')),
  STDDEV_SAMP: (use) => call('DOUBLE', 'sqrt', variance(use, 'sampleVariance')),
  STDDEV: (use) => call('DOUBLE', 'sqrt', variance(use, 'sampleVariance')),
  APPROX_COUNT_DISTINCT_DS_HLL(use) {
    const lgK = use.call.constantInteger(1, 12);
    if (lgK < 4 || lgK > 21) throw use.call.mismatch(1, 'an integer from 4 to 21');
    const target = use.call.constantText(2, 'HLL_4').toUpperCase();
    if (target !== 'HLL_4' && target !== 'HLL_6' && target !== 'HLL_8') throw use.call.mismatch(2, "'HLL_4', 'HLL_6' or 'HLL_8'");
    const width = target === 'HLL_4' ? 4 : target === 'HLL_6' ? 6 : 8;
    return collect(
      use,
      { type: 'hll', lgK, target: width, round: true },
      { operand: () => use.call.any(0), type: 'BIGINT', argumentsMax: 3 },
    );
  },
  APPROX_COUNT_DISTINCT_DS_THETA(use) {
    const size = use.call.constantInteger(1, 16384);
    if (size < 16 || size > 1 << 26 || !Number.isInteger(Math.log2(size))) throw use.call.mismatch(1, 'a power of 2 from 16 on');
    return roundedTheta(use, size, 2);
  },
  APPROX_QUANTILE_DS(use) {
    const k = use.call.constantInteger(2, 128);
    if (k < 2 || k > 32768 || !Number.isInteger(Math.log2(k))) throw use.call.mismatch(2, 'a power of 2 from 2 to 32768');
    const fraction = use.call.number(1);
    if (fraction.kind !== 'literal' || fraction.value === null || Number(fraction.value) < 0 || Number(fraction.value) > 1)
      throw use.call.mismatch(1, 'a literal number from 0 to 1');
    const state = collect(use, { type: 'quantiles', k }, { operand: () => numericOperand(use), type: 'VARCHAR', argumentsMax: 3 }, 'state');
    return call('DOUBLE', ':quantile', state, text('classic'), literal('DOUBLE', Number(fraction.value)));
  },
};

function variance(use: AggregateUse, result: 'populationVariance' | 'sampleVariance'): Bound {
  return collect(use, { type: 'moments', result }, { operand: () => numericOperand(use), type: 'DOUBLE', argumentsMax: 1 });
}

function roundedTheta(use: AggregateUse, size: number, argumentsMax: number): Bound {
  const estimate = collect(use, { type: 'theta', size }, { operand: () => use.call.any(0), type: 'DOUBLE', argumentsMax });
  return call('BIGINT', 'cast', call('DOUBLE', 'round', estimate), text('LONG'));
}

/**
 * An aggregate of values, or of stored states where its argument is a column of them.
 * @param operand  the argument as a value
 */
function collect(
  { call: bound, distinct, filter, list }: AggregateUse,
  collector: Collector,
  { operand, type, argumentsMax }: { readonly operand: () => Bound; readonly type: SqlType; readonly argumentsMax: number },
  output: 'value' | 'state' = 'value',
): Bound {
  if (distinct) throw bound.session.source.unsupported(bound.at, `${bound.name}(DISTINCT)`);
  if (bound.count > argumentsMax)
    throw bound.error(bound.at, `${bound.name} takes at most ${argumentsMax} arguments, found ${bound.count}`);
  const given = bound.any(0);
  if (!isComplex(given.type))
    return list.add({ kind: 'collect', operand: operand(), filter, type, collect: { collector, input: 'values', output } });
  if (given.type !== stateType(collector)) throw bound.mismatch(0, `values or ${stateType(collector)}`);
  return list.add({ kind: 'collect', operand: given, filter, type, collect: { collector, input: 'states', output } });
}

function countDistinct(use: AggregateUse): Bound {
  const { call: bound, filter, list } = use;
  if (bound.count !== 1) throw bound.session.source.unsupported(bound.at, `${bound.name} of several values`);
  const operand = bound.any(0);
  return isComplex(operand.type)
    ? countStored({ ...use, distinct: false }, operand.type)
    : list.add({ kind: 'distinct', operand, filter, type: 'BIGINT' });
}

/** Of a column of sketches not the sketches are counted but what they have seen. */
function countStored(use: AggregateUse, type: SqlType): Bound {
  const settings = { operand: () => use.call.any(0), type: 'BIGINT', argumentsMax: 1 } as const;
  switch (type) {
    case 'COMPLEX<hyperUnique>':
      return collect(use, { type: 'cardinality', byRow: false, round: true }, settings);
    case 'COMPLEX<HLLSketch>':
      return collect(use, { type: 'hll', lgK: 12, target: 4, round: true }, settings);
    case 'COMPLEX<thetaSketch>':
      return roundedTheta(use, 16384, 1);
    default:
      throw use.call.mismatch(0, 'values or a sketch of distinct values');
  }
}

function numericOperand({ call: bound, distinct }: AggregateUse): Bound {
  if (distinct) throw bound.session.source.unsupported(bound.at, `${bound.name}(DISTINCT)`);
  const operand = bound.number(0);
  return operand.type === 'NULL' ? literal('BIGINT', null) : operand;
}

function sumType(operand: Bound): SqlType {
  return nativeType(settledType(operand.type)) === 'LONG' ? 'BIGINT' : 'DOUBLE';
}

/** DISTINCT changes nothing for an extreme. */
function extreme({ call: bound, filter, list }: AggregateUse, kind: 'min' | 'max'): Bound {
  const operand = bound.any(0);
  const type = operand.type === 'NULL' ? 'BIGINT' : operand.type;
  if (!isNumeric(type) && !isInstant(type)) throw bound.mismatch(0, 'a number, TIMESTAMP or DATE');
  return list.add({ kind, operand: operand.type === 'NULL' ? literal('BIGINT', null) : operand, filter, type });
}

function andFilter(filter: Bound | null, condition: Bound): Bound {
  return filter === null ? condition : and([filter, condition]);
}
