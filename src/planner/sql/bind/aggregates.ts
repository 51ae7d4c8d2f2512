// Table of the SQL aggregate functions.

import { isTextType } from '../../../model/schema.js';
import type { SqlType } from '../../../model/statement.js';
import { isComplex, isInstant, isNumeric, nativeType } from '../parse/sql-type.js';
import { and, type Bound, call, isNull, isNullLiteral, literal, not, settledType } from '../relation/bound.js';
import { type AggregateFunction, type AggregateUse, collectStates, numericOperand, stateAggregator } from './aggregate-list.js';
import { COLLECTED_AGGREGATES } from './aggregates/collected.js';
import { DISTRIBUTION_AGGREGATES } from './aggregates/distributions.js';
import { branchesOf, rowsWith, sumOfBoth } from './aggregates/row-conditions.js';
import { roundedTheta, SKETCH_AGGREGATES } from './aggregates/sketches.js';
import { castTo } from './cast.js';

/**
 * Every aggregate function of SQL. The approximate counts of distinct values are answered exactly, which is within
 * any error they promise; where states are stored, they are sketches.
 */
export const SQL_AGGREGATES: Readonly<Record<string, AggregateFunction>> = {
  COUNT(use) {
    const { call: bound, distinct, filter, list } = use;
    if (distinct) return countDistinct(use);
    if (bound.count === 1) return countOf(use, bound.any(0));
    // Rows in which all of them are there. A literal that is not null, as in COUNT(1), always is.
    const counted = bound.arguments
      .filter((operand) => operand.kind !== 'literal' || isNullLiteral(operand))
      .reduce((rows, operand) => andFilter(rows, not(isNull(operand))), filter);
    return list.add({ kind: 'count', operands: [], filter: counted, type: 'BIGINT' });
  },
  SUM: (use) => sum(use, numericOperand(use)),
  MIN: (use) => extreme(use, 'min'),
  MAX: (use) => extreme(use, 'max'),
  AVG(use) {
    const operand = numericOperand(use);
    const { distinct, filter, list } = use;
    // A mean is within its values even where their sum is beyond a long, as that of six instants in nanoseconds is.
    const total = distinct
      ? list.add({ kind: 'distinct', operands: [operand], filter, type: 'DOUBLE', fold: { kind: 'sum', type: 'DOUBLE' } })
      : sumOf(use, operand, 'DOUBLE');
    const count = distinct ? list.add({ kind: 'distinct', operands: [operand], filter, type: 'BIGINT' }) : countOf(use, operand);
    return call('DOUBLE', '/', total, count);
  },
  GROUPING: grouping,
  GROUPING_ID: grouping,
  APPROX_COUNT_DISTINCT: approximateCount,
  APPROX_COUNT_DISTINCT_BUILTIN: approximateCount,
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

/** A bit for each argument that is not a key of the row's grouping set. */
function grouping({ call: bound, distinct, filter, list }: AggregateUse): Bound {
  if (distinct || filter !== null) throw bound.error(bound.at, `${bound.name} takes no DISTINCT and no FILTER`);
  return list.add({ kind: 'grouping', operands: bound.arguments, filter: null, type: 'BIGINT' });
}

function variance(use: AggregateUse, result: 'populationVariance' | 'sampleVariance'): Bound {
  return collectStates(use, { type: 'moments', result }, { operand: () => numericOperand(use), type: 'DOUBLE', argumentsMax: 1 });
}

function sumOf({ filter, list, isStored }: AggregateUse, operand: Bound, type: SqlType): Bound {
  const branches = (isStored === true ? undefined : branchesOf(operand)) ?? [{ when: null, value: operand }];
  return branches
    .map(({ when, value }) => list.add({ kind: 'sum', operands: [value], filter: when === null ? filter : andFilter(filter, when), type }))
    .reduce((left, right) => sumOfBoth(type, left, right));
}

/** The number of rows in which it is not null. A literal that is not null, as in COUNT(1), always is there. */
function countOf({ filter, list, isStored }: AggregateUse, operand: Bound): Bound {
  const branches = (isStored === true ? undefined : branchesOf(operand)) ?? [{ when: null, value: operand }];
  return branches
    .map(({ when, value }) => {
      const rows = when === null ? filter : andFilter(filter, when);
      const counted = value.kind === 'literal' && !isNullLiteral(value) ? { operands: [], filter: rows } : rowsWith(value, rows);
      return list.add({ kind: 'count', ...counted, type: 'BIGINT' });
    })
    .reduce((left, right) => call('BIGINT', '+', left, right));
}

function sum(use: AggregateUse, operand: Bound): Bound {
  const { distinct, filter, list } = use;
  const type = sumType(operand);
  return distinct
    ? list.add({ kind: 'distinct', operands: [operand], filter, type, fold: { kind: 'sum', type: type === 'BIGINT' ? 'LONG' : 'DOUBLE' } })
    : sumOf(use, operand, type);
}

function countDistinct(use: AggregateUse): Bound {
  const { call: bound, filter, list } = use;
  if (bound.count > 1 || use.isRow) return countCombinations(use);
  const operand = bound.any(0);
  return operand.type !== 'NULL' && isComplex(operand.type)
    ? countStored({ ...use, distinct: false }, operand.type)
    : list.add({ kind: 'distinct', operands: [operand], filter, type: 'BIGINT' });
}

/** Exact in a result; a state of it is the sketch that its name promises. */
function approximateCount(use: AggregateUse): Bound {
  if (use.isStored !== true || use.call.count > 1 || isComplexOperand(use.call.any(0))) return countDistinct(use);
  const settings = { operand: () => use.call.any(0), type: 'BIGINT', argumentsMax: 1 } as const;
  return collectStates({ ...use, distinct: false }, { type: 'cardinality', byRow: false, round: true }, settings);
}

function isComplexOperand({ type }: Bound): boolean {
  return type !== 'NULL' && isComplex(type);
}

/** COUNT(DISTINCT a, b): lists of the values as texts tell combinations apart; those with a null do not count, but in a row, COUNT(DISTINCT (a, b)). */
function countCombinations({ call: bound, distinct, isRow, filter, list }: AggregateUse): Bound {
  if (!distinct) throw bound.error(bound.at, `${bound.name} takes one argument, found ${bound.count}`);
  const parts = bound.arguments.map((operand, index) => {
    const part = castTo(operand, 'VARCHAR', bound.session.timeZone);
    if (part === undefined || part.type === 'NULL') throw bound.mismatch(index, 'a value that can be read as VARCHAR');
    return part;
  });
  const present = isRow ? filter : bound.arguments.reduce((rows, operand) => andFilter(rows, not(isNull(operand))), filter);
  return list.add({ kind: 'distinct', operands: [call('ARRAY<VARCHAR>', 'array', ...parts)], filter: present, type: 'BIGINT' });
}

/** A count over a column of sketches counts the values they have seen, not the sketches. */
function countStored(use: AggregateUse, type: SqlType): Bound {
  const settings = { operand: () => use.call.any(0), type: 'BIGINT', argumentsMax: 1 } as const;
  switch (type) {
    case 'COMPLEX<hyperUnique>':
      return collectStates(use, { type: 'cardinality', byRow: false, round: true }, settings);
    case 'COMPLEX<HLLSketch>':
      return collectStates(use, { type: 'hll', lgK: 12, target: 4, round: true, stringEncoding: 'utf16le' }, settings);
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
    return stateAggregator({ ...use, distinct: false }, { type: kind, valueType }, { operands: [operand], type, argumentsMax: 1 });
  if (!isNumeric(type) && !isInstant(type) && type !== 'BOOLEAN')
    throw bound.mismatch(0, 'a number, text, BOOLEAN, TIMESTAMP, DATE or ARRAY');
  const [branch, ...others] = branchesOf(operand) ?? [];
  if (branch !== undefined && others.length === 0)
    return list.add({ kind, operands: [branch.value], filter: andFilter(filter, branch.when), type });
  return list.add({ kind, operands: [operand.type === 'NULL' ? literal('BIGINT', null) : operand], filter, type });
}

function andFilter(filter: Bound | null, condition: Bound): Bound {
  return filter === null ? condition : and([filter, condition]);
}
