import { isTextType } from '../../model/schema.js';
import type { SqlType } from '../../model/statement.js';
import { type AggregateFunction, type AggregateUse, collect, collectStates, numericOperand } from './aggregate-list.js';
import { COLLECTED_AGGREGATES } from './aggregates/collected.js';
import { DISTRIBUTION_AGGREGATES } from './aggregates/distributions.js';
import { roundedTheta, SKETCH_AGGREGATES } from './aggregates/sketches.js';
import { and, type Bound, call, isNull, literal, not, settledType, text } from './bound.js';
import { isComplex, isInstant, isNumeric, nativeType } from './sql-type.js';

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
      operand === undefined || (operand.kind === 'literal' && operand.value !== null) ? filter : andFilter(filter, not(isNull(operand)));
    return list.add({ kind: 'count', operands: [], filter: counted, type: 'BIGINT' });
  },
  SUM(use) {
    const operand = numericOperand(use);
    return use.list.add({ kind: 'sum', operands: [operand], filter: use.filter, type: sumType(operand) });
  },
  MIN: (use) => extreme(use, 'min'),
  MAX: (use) => extreme(use, 'max'),
  AVG(use) {
    const operand = numericOperand(use);
    const sum = use.list.add({ kind: 'sum', operands: [operand], filter: use.filter, type: sumType(operand) });
    const count = use.list.add({
      kind: 'count',
      operands: [],
      filter: andFilter(use.filter, not(isNull(operand))),
      type: 'BIGINT',
    });
    return call('DOUBLE', '/', call('DOUBLE', 'cast', sum, text('DOUBLE')), count);
  },
  GROUPING(use) {
    const { call: bound, list } = use;
    if (use.distinct || use.filter !== null) throw bound.error(bound.at, 'GROUPING takes no DISTINCT and no FILTER');
    return list.add({ kind: 'grouping', operands: bound.arguments, filter: null, type: 'BIGINT' });
  },
  APPROX_COUNT_DISTINCT: countDistinct,
  APPROX_COUNT_DISTINCT_BUILTIN: countDistinct,
  VAR_POP: (use) => variance(use, 'populationVariance'),
  VAR_SAMP: (use) => variance(use, 'sampleVariance'),
  VARIANCE: (use) => variance(use, 'sampleVariance'),
  STDDEV_POP: (use) => call('DOUBLE', 'sqrt', variance(use, 'populationVariance')),
  STDDEV_SAMP: (use) => call('DOUBLE', 'sqrt', variance(use, 'sampleVariance')),
  STDDEV: (use) => call('DOUBLE', 'sqrt', variance(use, 'sampleVariance')),
  ...COLLECTED_AGGREGATES,
  ...SKETCH_AGGREGATES,
  ...DISTRIBUTION_AGGREGATES,
};

function variance(use: AggregateUse, result: 'populationVariance' | 'sampleVariance'): Bound {
  return collectStates(use, { type: 'moments', result }, { operand: () => numericOperand(use), type: 'DOUBLE', argumentsMax: 1 });
}

function countDistinct(use: AggregateUse): Bound {
  const { call: bound, filter, list } = use;
  if (bound.count !== 1) throw bound.session.source.unsupported(bound.at, `${bound.name} of several values`);
  const operand = bound.any(0);
  return operand.type !== 'NULL' && isComplex(operand.type)
    ? countStored({ ...use, distinct: false }, operand.type)
    : list.add({ kind: 'distinct', operands: [operand], filter, type: 'BIGINT' });
}

/** Of a column of sketches not the sketches are counted but what they have seen. */
function countStored(use: AggregateUse, type: SqlType): Bound {
  const settings = { operand: () => use.call.any(0), type: 'BIGINT', argumentsMax: 1 } as const;
  switch (type) {
    case 'COMPLEX<hyperUnique>':
      return collectStates(use, { type: 'cardinality', byRow: false, round: true }, settings);
    case 'COMPLEX<HLLSketch>':
      return collectStates(use, { type: 'hll', lgK: 12, target: 4, round: true }, settings);
    case 'COMPLEX<thetaSketch>':
      return roundedTheta(use, 16384, 1);
    default:
      throw use.call.mismatch(0, 'values or a sketch of distinct values');
  }
}

function sumType(operand: Bound): SqlType {
  return nativeType(settledType(operand.type)) === 'LONG' ? 'BIGINT' : 'DOUBLE';
}

/** DISTINCT changes nothing for an extreme. */
function extreme(use: AggregateUse, kind: 'min' | 'max'): Bound {
  const { call: bound, filter, list } = use;
  const operand = bound.any(0);
  const type = operand.type === 'NULL' ? 'BIGINT' : operand.type;
  const valueType = nativeType(type);
  if (isTextType(valueType) && !isComplex(type))
    return collect({ ...use, distinct: false }, { type: kind, valueType }, { operands: [operand], type, argumentsMax: 1 });
  if (!isNumeric(type) && !isInstant(type) && type !== 'BOOLEAN')
    throw bound.mismatch(0, 'a number, text, BOOLEAN, TIMESTAMP, DATE or ARRAY');
  return list.add({ kind, operands: [operand.type === 'NULL' ? literal('BIGINT', null) : operand], filter, type });
}

function andFilter(filter: Bound | null, condition: Bound): Bound {
  return filter === null ? condition : and([filter, condition]);
}
