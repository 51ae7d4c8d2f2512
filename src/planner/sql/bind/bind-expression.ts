// Binds SQL expressions: names, types, conversions, constants.

import { parseInstant } from '../../../base/time.js';
import { carried } from '../../places/recording.js';
import { arrayOf, elementOf, isArray, isNumeric } from '../parse/sql-type.js';
import type { SqlExpression } from '../parse/syntax.js';
import { and, type Bound, call, computedLiteral, literal, NULL, not, or, settledType } from '../relation/bound.js';
import { castTo } from './cast.js';
import { compare } from './comparison.js';
import { arithmetic } from './expression/arithmetic.js';
import { functionCall } from './expression/call.js';
import { asCondition, isNull, like, notDistinct, simplified } from './expression/conditions.js';
import { compareRows, inList, inRows } from './expression/in-list.js';
import type { Of, Place, Subqueries } from './expression/place.js';
import { describe, folded, unify } from './function-call.js';

/** Functions that are called without parentheses, where the parser takes them for names. */
const NILADIC_FUNCTIONS: readonly string[] = ['CURRENT_TIMESTAMP', 'CURRENT_DATE', 'PI'];

/**
 * Resolves names, finds types, makes conversions explicit and computes what is constant.
 * @throws ServiceError `sql_plan_invalid` or `unsupported` with the position
 */
export function bindExpression(place: Place, expression: SqlExpression): Bound {
  return folded(bind(place, expression), place.session, expression.at);
}

function bind(whole: Place, expression: SqlExpression): Bound {
  const place: Place = whole.positive === true ? { ...whole, positive: false } : whole;
  const { session } = place;
  const { source } = session;
  const { at } = expression;
  const inner = (operand: SqlExpression): Bound => bindExpression(place, operand);
  switch (expression.kind) {
    case 'literal':
      return carried(expression, 'value', (value) => literal(expression.type, value));
    case 'instant': {
      const { type } = expression;
      const { timeZone } = session;
      const read = computedLiteral(expression, ({ text }) => {
        const instant = readInstant(text, timeZone);
        return instant === undefined ? undefined : literal(type, BigInt(instant));
      });
      if (read !== undefined) return read;
      throw source.error(
        'sql_plan_invalid',
        at,
        `'${expression.text}' is no ${type}; expected 2015-09-12${type === 'DATE' ? '' : ' 13:00:00'}`,
      );
    }
    case 'interval':
      throw source.unsupported(at, 'an INTERVAL that is not added to or subtracted from a timestamp');
    case 'parameter': {
      const value = session.parameters[expression.index];
      if (value === undefined)
        throw source.error(
          'sql_plan_invalid',
          at,
          `no value was given for parameter ${expression.index + 1}; ${session.parameters.length} were given`,
        );
      return value;
    }
    case 'name':
      return name(place, expression);
    case 'star':
      throw source.error('sql_plan_invalid', at, '* can only stand in the select list and in COUNT(*)');
    case 'negate': {
      const operand = inner(expression.operand);
      if (operand.type !== 'NULL' && !isNumeric(operand.type))
        throw source.error('sql_plan_invalid', at, `cannot negate ${describe(operand)}`);
      return call(operand.type, '-', operand);
    }
    case 'not':
      return not(condition(place, expression.operand));
    case 'and':
      return simplified(and(expression.operands.map((operand) => condition(whole, operand))));
    case 'or':
      return simplified(or(expression.operands.map((operand) => condition(whole, operand))));
    case 'arithmetic':
      return arithmetic(session, expression, inner);
    case 'compare':
      if (expression.left.kind === 'row' || expression.right.kind === 'row') return compareRows(session, expression, inner);
      return compare(session, at, expression.operator, inner(expression.left), inner(expression.right));
    case 'distinctFrom': {
      const same = notDistinct(session, at, inner(expression.left), inner(expression.right));
      return expression.negated ? same : not(same);
    }
    case 'is': {
      if (expression.what === 'NULL') return isNull(inner(expression.operand), expression.negated);
      const operand = condition(place, expression.operand);
      if (expression.what === 'UNKNOWN') return isNull(operand, expression.negated);
      return call('BOOLEAN', `is${expression.negated ? 'not' : ''}${expression.what.toLowerCase()}`, operand);
    }
    case 'between': {
      const [operand, low, high] = [inner(expression.operand), inner(expression.low), inner(expression.high)];
      const within = (from: Bound, to: Bound): Bound =>
        and([compare(session, at, '>=', operand, from), compare(session, at, '<=', operand, to)]);
      const between = expression.symmetric ? or([within(low, high), within(high, low)]) : within(low, high);
      return expression.negated ? not(between) : between;
    }
    case 'in':
      return expression.operand.kind === 'row'
        ? inRows(session, expression, expression.operand.elements, inner)
        : inList(session, expression, inner);
    case 'inQuery': {
      const found = subqueriesOf(place, at).in(
        place,
        expression,
        expression.operands.map(inner),
        whole.positive === true && !expression.negated,
      );
      return expression.negated ? not(found) : found;
    }
    case 'exists':
      return subqueriesOf(place, at).exists(place, expression.query);
    case 'scalarQuery':
      return subqueriesOf(place, at).scalar(place, expression.query);
    case 'row':
      throw source.error('sql_plan_invalid', at, 'a row of several values can only be compared with = and <>, or stand before IN');
    case 'array':
      return arrayOfValues(place, expression);
    case 'element': {
      const array = inner(expression.array);
      if (array.type === 'NULL' || !isArray(array.type))
        throw source.error('sql_plan_invalid', at, `a subscript needs an ARRAY, found ${describe(array)}`);
      const index = inner(expression.index);
      if (index.type !== 'INTEGER' && index.type !== 'BIGINT')
        throw source.error('sql_plan_invalid', at, `a subscript is an integer, found ${describe(index)}`);
      return call(elementOf(array.type), 'array_ordinal', array, index);
    }
    case 'like':
      return like(session, expression, inner);
    case 'case':
      return caseWhen(place, expression);
    case 'cast': {
      const operand = inner(expression.operand);
      const cast = castTo(operand, expression.type, session.timeZone);
      if (cast === undefined) throw source.error('sql_plan_invalid', at, `cannot cast ${describe(operand)} to ${expression.type}`);
      return cast;
    }
    case 'call':
      return functionCall(place, expression, bindExpression);
  }
}

function readInstant(text: string, timeZone: string): number | undefined {
  const written = text.trim();
  return /^[+-]?\d{4}/.test(written) ? parseInstant(written, timeZone, 'later') : undefined;
}

function name(place: Place, { path, at }: Of<'name'>): Bound {
  const { aliases } = place;
  const item = path.length === 1 ? aliases?.items.get(path[0] ?? '') : undefined;
  const isColumn = place.scope.has(path);
  if (item !== undefined && (aliases?.before === true || !isColumn))
    return aliases?.bound.get(path[0] ?? '') ?? bindExpression(withoutAliases(place), item);
  const niladic = isColumn || path.length !== 1 ? '' : (path[0] ?? '').toUpperCase();
  if (NILADIC_FUNCTIONS.includes(niladic)) {
    const plain = { unit: null, returning: null, distinct: false, filter: null, orderBy: [], over: null };
    return functionCall(withoutAliases(place), { kind: 'call', at, name: niladic, arguments: [], ...plain }, bindExpression);
  }
  return place.scope.resolve(place.session.source, at, path);
}

function withoutAliases({ aliases, ...own }: Place): Place {
  return own;
}

/** An operand that must be a truth value. */
export function condition(place: Place, expression: SqlExpression): Bound {
  return asCondition(place.session, expression.at, bindExpression(place, expression));
}

function subqueriesOf(place: Place, at: number): Subqueries {
  if (typeof place.subqueries === 'string') throw place.session.source.unsupported(at, `a subquery ${place.subqueries}`);
  return place.subqueries;
}

function arrayOfValues(place: Place, { elements, at }: Of<'row' | 'array'>): Bound {
  const { type, arguments: values } = unify(
    elements.map((element) => bindExpression(place, element)),
    (index, found) =>
      place.session.source.error('sql_plan_invalid', elements[index]?.at ?? at, `ARRAY has ${found} here and another type before`),
    place.session,
  );
  return call(arrayOf(settledType(type)), 'array', ...values);
}

function caseWhen(place: Place, expression: Of<'case'>): Bound {
  const { session } = place;
  const operand = expression.operand === null ? null : bindExpression(place, expression.operand);
  const conditions = expression.whens.map(({ when }) =>
    operand === null ? condition(place, when) : compare(session, when.at, '=', operand, bindExpression(place, when)),
  );
  const results = [...expression.whens.map(({ then }) => then), ...(expression.otherwise === null ? [] : [expression.otherwise])];
  const { type, arguments: values } = unify(
    results.map((result) => bindExpression(place, result)),
    (index, found) =>
      session.source.error('sql_plan_invalid', results[index]?.at ?? expression.at, `CASE gives ${found} here and another type before`),
    session,
  );
  const branches: Bound[] = [];
  for (const [index, when] of conditions.entries()) branches.push(when, values[index] ?? NULL);
  return call(type, 'case_searched', ...branches, expression.otherwise === null ? NULL : (values.at(-1) ?? NULL));
}
