// Binds calls of functions, aggregates and window functions.

import { extended, own } from '../../../../base/names.js';
import { TIME_COLUMN } from '../../../../model/schema.js';
import type { SqlExpression } from '../../parse/syntax.js';
import type { Bound } from '../../relation/bound.js';
import { valueOrder } from '../../relation/relation.js';
import { ORDERED_AGGREGATES } from '../aggregates/collected.js';
import { storedAggregate } from '../aggregates/stored.js';
import { SQL_AGGREGATES } from '../aggregates.js';
import { FunctionCall } from '../function-call.js';
import { SQL_FUNCTIONS, UNSUPPORTED_SQL_FUNCTIONS } from '../functions.js';
import { suggestion } from '../scope.js';
import { asCondition } from './conditions.js';
import type { Of, Place } from './place.js';

/**
 * A call of a window function, an aggregate or a function of one row.
 * @param bindAt  binds an operand at a place: those of aggregates have one of their own
 */
export function functionCall(place: Place, expression: Of<'call'>, bindAt: (place: Place, operand: SqlExpression) => Bound): Bound {
  const { name, at } = expression;
  const { session } = place;
  const { source } = session;
  if (expression.over !== null) {
    const { windows, ...inside } = place;
    if (windows === undefined)
      throw source.error('sql_plan_invalid', at, `the window function ${name} can only stand in SELECT, ORDER BY and QUALIFY`);
    return windows.add(inside, expression);
  }
  if (expression.nulls !== undefined)
    throw source.error('sql_plan_invalid', at, `${name} takes no ${expression.nulls.toUpperCase()} NULLS`);
  const isStar = name === 'COUNT' && expression.arguments.length === 1 && expression.arguments[0]?.kind === 'star';
  const aggregate = Object.hasOwn(SQL_AGGREGATES, name) ? own(SQL_AGGREGATES, name) : undefined;
  // The arguments of an aggregate are rows' values: no aggregate may stand in them.
  const rows = place.rowSubqueries ?? place.subqueries;
  const inner: Place =
    aggregate === undefined
      ? place
      : extended(place, { windows: undefined, storedAs: undefined, aggregates: `inside ${name}`, subqueries: rows });
  const row = name === 'COUNT' && expression.distinct && expression.arguments.length === 1 ? expression.arguments[0] : undefined;
  const isRow = row?.kind === 'row';
  const written = isStar ? [] : isRow ? row.elements : expression.arguments;
  const bind = (): FunctionCall =>
    new FunctionCall(
      expression,
      written.map((argument) => bindAt(inner, argument)),
      written.map((argument) => argument.at),
      session,
    );
  if (aggregate !== undefined) {
    if (typeof place.aggregates === 'string')
      throw source.error('sql_plan_invalid', at, `the aggregate ${name} cannot stand ${place.aggregates}`);
    const filter = expression.filter === null ? null : asCondition(session, expression.filter.at, bindAt(inner, expression.filter));
    if (expression.orderBy.length > 0 && !ORDERED_AGGREGATES.includes(name))
      throw source.unsupported(expression.orderBy[0]?.expression.at ?? at, `ORDER BY in ${name}`);
    const order = valueOrder(expression.orderBy.map((item) => ({ ...item, bound: bindAt(inner, item.expression) })));
    if (written.length === 0 && !isStar) throw source.error('sql_plan_invalid', at, `${name} needs an argument`);
    const { aggregates: list } = place;
    const time = (): Bound => inner.scope.resolve(source, at, [TIME_COLUMN]);
    const use = { call: bind(), distinct: expression.distinct, isRow, filter, order, list, time };
    return place.storedAs === undefined ? aggregate(use) : storedAggregate(aggregate, use, place.storedAs);
  }
  if (expression.orderBy.length > 0) throw source.unsupported(expression.orderBy[0]?.expression.at ?? at, `ORDER BY in ${name}`);
  const scalar = SQL_FUNCTIONS.get(name);
  if (scalar === undefined) {
    if (UNSUPPORTED_SQL_FUNCTIONS.has(name)) throw source.unsupported(at, `the function ${name}`);
    throw source.error(
      'sql_plan_invalid',
      at,
      `unknown function ${name}${suggestion(name, [...SQL_FUNCTIONS.keys(), ...Object.keys(SQL_AGGREGATES)])}`,
    );
  }
  if (expression.filter !== null || expression.distinct)
    throw source.error('sql_plan_invalid', at, `${name} is no aggregate: it takes no ${expression.distinct ? 'DISTINCT' : 'FILTER'}`);
  const { minArguments, maxArguments } = scalar;
  if (written.length < minArguments || written.length > maxArguments) {
    const accepted =
      minArguments === maxArguments
        ? String(minArguments)
        : maxArguments === Infinity
          ? `at least ${minArguments}`
          : `${minArguments} to ${maxArguments}`;
    throw source.error('sql_plan_invalid', at, `${name} takes ${accepted} arguments, found ${written.length}`);
  }
  return scalar.bind(bind());
}
