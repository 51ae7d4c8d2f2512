import type { SqlType } from '../../model/statement.js';
import { and, type Bound, boundKey, call, literal, not, settledType, text } from './bound.js';
import type { FunctionCall } from './function-call.js';
import { isInstant, isNumeric, nativeType } from './sql-type.js';

/** An aggregate of a query, over the rows that also meet `filter`. */
export interface BoundAggregate {
  readonly kind: 'count' | 'sum' | 'min' | 'max' | 'distinct';
  /** null for COUNT. */
  readonly operand: Bound | null;
  readonly filter: Bound | null;
  readonly type: SqlType;
}

/** Collects the aggregates of a query, each once. */
export class AggregateList {
  readonly aggregates: BoundAggregate[] = [];
  private readonly indexes = new Map<string, number>();

  add(aggregate: BoundAggregate): Bound {
    const key = [
      aggregate.kind,
      aggregate.type,
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
  APPROX_COUNT_DISTINCT: countDistinct,
  APPROX_COUNT_DISTINCT_BUILTIN: countDistinct,
};

function countDistinct({ call: bound, filter, list }: AggregateUse): Bound {
  if (bound.count !== 1) throw bound.session.source.unsupported(bound.at, `${bound.name} of several values`);
  return list.add({ kind: 'distinct', operand: bound.any(0), filter, type: 'BIGINT' });
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
