import { own } from '../../../base/names.js';
import { parseInstant } from '../../../base/time.js';
import { TIME_COLUMN } from '../../../model/schema.js';
import type { SqlType } from '../../../model/statement.js';
import { arrayOf, commonType, elementOf, isArray, isInstant, isNumeric } from '../parse/sql-type.js';
import type { SqlExpression, SqlQuery } from '../parse/syntax.js';
import { and, type Bound, call, FALSE, literal, NULL, not, or, settledType, TRUE } from '../relation/bound.js';
import { valueOrder } from '../relation/relation.js';
import type { AggregateList } from './aggregate-list.js';
import { ORDERED_AGGREGATES } from './aggregates/collected.js';
import { SQL_AGGREGATES } from './aggregates.js';
import { castTo } from './cast.js';
import { compare } from './comparison.js';
import { decimalResult } from './decimal.js';
import { describe, FunctionCall, folded, unify } from './function-call.js';
import { SQL_FUNCTIONS, UNSUPPORTED_SQL_FUNCTIONS } from './functions.js';
import { INTERVAL_UNITS, type IntervalValue, intervalValue } from './interval-literal.js';
import { type Scope, suggestion } from './scope.js';
import type { Session } from './session.js';
import { addInterval } from './time-arithmetic.js';

/** Functions that are called without parentheses, where the parser takes them for names. */
const NILADIC_FUNCTIONS: readonly string[] = ['CURRENT_TIMESTAMP', 'CURRENT_DATE', 'PI'];

/** Subqueries in expressions: what `subquery.ts` makes of them, seen from here. */
interface Subqueries {
  scalar(place: Place, query: SqlQuery): Bound;
  exists(place: Place, query: SqlQuery): Bound;
  in(place: Place, expression: Extract<SqlExpression, { kind: 'inQuery' }>, operands: readonly Bound[], positive: boolean): Bound;
}

/** Window functions: what `window-list.ts` makes of them, seen from here. */
interface Windows {
  add(place: Place, expression: Extract<SqlExpression, { kind: 'call' }>): Bound;
}

interface Aliases {
  readonly items: ReadonlyMap<string, SqlExpression>;
  /** Those that are not bound anew. */
  readonly bound: ReadonlyMap<string, Bound>;
  readonly before: boolean;
}

/** Position of an expression: the columns it may name and whether it may aggregate. */
export interface Place {
  readonly session: Session;
  readonly scope: Scope;
  /** Takes the aggregates of the query; text: why there can be none here. */
  readonly aggregates: AggregateList | string;
  /** Takes the subqueries of the clause; text: why there can be none here. */
  readonly subqueries: Subqueries | string;
  /** Takes those inside of aggregates, which are met before grouping; left out: `subqueries` does. */
  readonly rowSubqueries?: Subqueries;
  /** Takes window functions; left out: there can be none here. */
  readonly windows?: Windows | undefined;
  /** In a filter, and under nothing but AND and OR: unknown is as good as false there. */
  readonly positive?: boolean;
  /** Select items by their names, for clauses that may name them: `before` or after the columns of the tables. */
  readonly aliases?: Aliases;
}

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
      return literal(expression.type, expression.value);
    case 'instant': {
      const instant = parseInstant(expression.text.trim(), session.timeZone);
      if (instant === undefined)
        throw source.error(
          'sql_plan_invalid',
          at,
          `'${expression.text}' is no ${expression.type}; expected 2015-09-12${expression.type === 'DATE' ? '' : ' 13:00:00'}`,
        );
      return literal(expression.type, BigInt(instant));
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
      return arithmetic(place, expression);
    case 'compare':
      if (expression.left.kind === 'row' || expression.right.kind === 'row') return compareRows(place, expression);
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
      return expression.operand.kind === 'row' ? inRows(place, expression, expression.operand.elements) : inList(place, expression);
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
      return like(place, expression);
    case 'case':
      return caseWhen(place, expression);
    case 'cast': {
      const operand = inner(expression.operand);
      const cast = castTo(operand, expression.type, session.timeZone);
      if (cast === undefined) throw source.error('sql_plan_invalid', at, `cannot cast ${describe(operand)} to ${expression.type}`);
      return cast;
    }
    case 'call':
      return functionCall(place, expression);
  }
}

function name(place: Place, { path, at }: Extract<SqlExpression, { kind: 'name' }>): Bound {
  const { aliases, ...own } = place;
  const item = path.length === 1 ? aliases?.items.get(path[0] ?? '') : undefined;
  const isColumn = place.scope.has(path);
  if (item !== undefined && (aliases?.before === true || !isColumn)) return aliases?.bound.get(path[0] ?? '') ?? bindExpression(own, item);
  if (!isColumn && path.length === 1 && NILADIC_FUNCTIONS.includes((path[0] ?? '').toUpperCase()))
    return functionCall(own, {
      kind: 'call',
      at,
      name: (path[0] ?? '').toUpperCase(),
      arguments: [],
      unit: null,
      returning: null,
      distinct: false,
      filter: null,
      orderBy: [],
      over: null,
    });
  return place.scope.resolve(place.session.source, at, path);
}

/** An operand that must be a truth value. */
export function condition(place: Place, expression: SqlExpression): Bound {
  const bound = bindExpression(place, expression);
  if (bound.type === 'NULL') return literal('BOOLEAN', null);
  if (bound.type !== 'BOOLEAN')
    throw place.session.source.error('sql_plan_invalid', expression.at, `expected a condition, found ${describe(bound)}`);
  return bound;
}

/** Drops what cannot change an AND or OR: constants come from parameters and generated SQL. */
function simplified(bound: Bound): Bound {
  if (bound.kind !== 'and' && bound.kind !== 'or') return bound;
  const [neutral, absorbing] = bound.kind === 'and' ? [TRUE, FALSE] : [FALSE, TRUE];
  const isLiteral = (operand: Bound, value: Bound): boolean =>
    operand.kind === 'literal' && value.kind === 'literal' && operand.value === value.value;
  if (bound.operands.some((operand) => isLiteral(operand, absorbing))) return absorbing;
  const kept = bound.operands.filter((operand) => !isLiteral(operand, neutral));
  return kept.length === 0 ? neutral : bound.kind === 'and' ? and(kept) : or(kept);
}

function isNull(operand: Bound, negated: boolean): Bound {
  const bound: Bound = { kind: 'isNull', type: 'BOOLEAN', operand };
  return negated ? not(bound) : bound;
}

/** Never unknown: two nulls are the same, a null and a value are not. */
function notDistinct(session: Session, at: number, left: Bound, right: Bound): Bound {
  if (right.type === 'NULL' || (right.kind === 'literal' && right.value === null)) return isNull(left, false);
  if (left.type === 'NULL' || (left.kind === 'literal' && left.value === null)) return isNull(right, false);
  const equal = compare(session, at, '=', left, right);
  if (right.kind === 'literal') return and([isNull(left, true), equal]);
  if (left.kind === 'literal') return and([isNull(right, true), equal]);
  return equal.kind === 'compare' ? call('BOOLEAN', 'notdistinctfrom', equal.left, equal.right) : equal;
}

/** In which a literal of a list compares with the operand without being converted; undefined where it may have to be. */
function sameValueDomain(operand: Bound['type'], item: Bound['type']): SqlType | undefined {
  if (item === 'NULL') return undefined;
  if (item === operand) return item;
  return operand === 'BIGINT' && item === 'INTEGER' ? 'BIGINT' : undefined;
}

function inList(place: Place, expression: Extract<SqlExpression, { kind: 'in' }>): Bound {
  const { session } = place;
  const operand = bindExpression(place, expression.operand);
  const values = new Map<SqlType, { domain: SqlType; values: (string | bigint | number)[] }>();
  const others: Bound[] = [];
  let latest: { domain: SqlType; values: (string | bigint | number)[] } | undefined;
  const add = (domain: SqlType, value: string | bigint | number): void => {
    if (latest?.domain !== domain) {
      latest = values.get(domain) ?? { domain, values: [] };
      values.set(domain, latest);
    }
    latest.values.push(value);
  };
  const isTexts = operand.type === 'VARCHAR' && expression.items.some((item) => item.kind === 'literal' && item.type === 'VARCHAR');
  for (const item of expression.items) {
    // Most lists are long and of the operand's own type, or of integers: nothing to convert.
    const domain = item.kind === 'literal' && item.value !== null ? sameValueDomain(operand.type, item.type) : undefined;
    if (domain !== undefined && item.kind === 'literal' && item.value !== null) {
      add(domain, item.value);
      continue;
    }
    const bound = bindExpression(place, item);
    // A number among texts is a text too.
    const given = isTexts && bound.kind === 'literal' ? (castTo(bound, 'VARCHAR', session.timeZone) ?? bound) : bound;
    const equal = compare(session, item.at, '=', operand, given);
    const value = equal.kind === 'compare' && equal.right.kind === 'literal' ? equal.right.value : null;
    if (equal.kind === 'compare' && value !== null && equal.left === operand) add(equal.domain, value);
    else others.push(equal);
  }
  const lists = [...values.values()].map(({ domain, values: list }): Bound => {
    const [only] = list;
    if (list.length === 1 && only !== undefined)
      return { kind: 'compare', type: 'BOOLEAN', operator: '=', domain, left: operand, right: literal(domain, only) };
    return { kind: 'in', type: 'BOOLEAN', domain, operand, values: [...new Set(list)] };
  });
  const found = or([...lists, ...others]);
  return expression.negated ? not(found) : found;
}

function subqueriesOf(place: Place, at: number): Subqueries {
  if (typeof place.subqueries === 'string') throw place.session.source.unsupported(at, `a subquery ${place.subqueries}`);
  return place.subqueries;
}

/** Equal when all their parts are. */
function compareRows(place: Place, { left, right, operator, at }: Extract<SqlExpression, { kind: 'compare' }>): Bound {
  const { source } = place.session;
  if (left.kind !== 'row' || right.kind !== 'row' || left.elements.length !== right.elements.length)
    throw source.error('sql_plan_invalid', at, 'a row is compared with a row of as many values');
  if (operator !== '=' && operator !== '<>') throw source.unsupported(at, `${operator} between rows`);
  const equal = and(
    left.elements.map((element, index) =>
      compare(place.session, at, '=', bindExpression(place, element), bindExpression(place, right.elements[index] ?? element)),
    ),
  );
  return operator === '=' ? equal : not(equal);
}

function inRows(place: Place, expression: Extract<SqlExpression, { kind: 'in' }>, elements: readonly SqlExpression[]): Bound {
  const { at, negated } = expression;
  const found = or(
    expression.items.map((item) =>
      compareRows(place, { kind: 'compare', at: item.at, operator: '=', left: { kind: 'row', at, elements }, right: item }),
    ),
  );
  return negated ? not(found) : found;
}

function arrayOfValues(place: Place, { elements, at }: Extract<SqlExpression, { kind: 'row' | 'array' }>): Bound {
  const { type, arguments: values } = unify(
    elements.map((element) => bindExpression(place, element)),
    (index, found) =>
      place.session.source.error('sql_plan_invalid', elements[index]?.at ?? at, `ARRAY has ${found} here and another type before`),
    place.session,
  );
  return call(arrayOf(settledType(type)), 'array', ...values);
}

function like(place: Place, expression: Extract<SqlExpression, { kind: 'like' }>): Bound {
  const { session } = place;
  const constant = (part: SqlExpression, what: string): string | null => {
    const bound = bindExpression(place, part);
    if (bound.kind !== 'literal' || (bound.value !== null && typeof bound.value !== 'string'))
      throw session.source.unsupported(part.at, `a LIKE ${what} that is not a literal string`);
    return bound.value;
  };
  const pattern = constant(expression.pattern, 'pattern');
  const escape = expression.escape === null ? null : constant(expression.escape, 'escape');
  if (expression.escape !== null && (escape === null || [...escape].length !== 1))
    throw session.source.error('sql_plan_invalid', expression.escape.at, 'the ESCAPE of LIKE is one character');
  const operand = castTo(bindExpression(place, expression.operand), 'VARCHAR', session.timeZone);
  if (operand === undefined) throw session.source.error('sql_plan_invalid', expression.at, 'LIKE needs a VARCHAR');
  if (pattern === null) return literal('BOOLEAN', null);
  const bound: Bound = { kind: 'like', type: 'BOOLEAN', operand, pattern, escape };
  return expression.negated ? not(bound) : bound;
}

function caseWhen(place: Place, expression: Extract<SqlExpression, { kind: 'case' }>): Bound {
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
  const branches = conditions.flatMap((when, index) => [when, values[index] ?? NULL]);
  return call(type, 'case_searched', ...branches, expression.otherwise === null ? NULL : (values.at(-1) ?? NULL));
}

function arithmetic(place: Place, expression: Extract<SqlExpression, { kind: 'arithmetic' }>): Bound {
  const { session } = place;
  const { operator, at } = expression;
  const { source } = session;
  if (expression.right.kind === 'interval' || expression.left.kind === 'interval') return withInterval(place, expression);
  const [left, right] = [bindExpression(place, expression.left), bindExpression(place, expression.right)];
  if (operator === '||') {
    const parts = [left, right].map((part) => castTo(part, 'VARCHAR', session.timeZone) ?? part);
    return call(
      'VARCHAR',
      'concat',
      ...parts.flatMap((part) => (part.kind === 'call' && part.function === 'concat' ? part.arguments : [part])),
    );
  }
  if (left.type === 'NULL' || right.type === 'NULL') return literal(left.type === 'NULL' ? right.type : left.type, null);
  const [one, other] = [asNumber(session, left, right), asNumber(session, right, left)];
  const type =
    one.type !== 'NULL' && other.type !== 'NULL' && isNumeric(one.type) && isNumeric(other.type)
      ? commonType(one.type, other.type)
      : undefined;
  if (type === undefined) {
    if (isInstant(left.type) && isInstant(right.type) && operator === '-')
      throw source.unsupported(at, 'the difference of two timestamps; use TIMESTAMPDIFF');
    throw source.error('sql_plan_invalid', at, `cannot compute ${describe(left)} ${operator} ${describe(right)}`);
  }
  return (type === 'DECIMAL' ? decimalResult(operator, one, other) : undefined) ?? call(type, operator, one, other);
}

/** A text is read as a number of the other operand's type; two texts are as doubles. */
function asNumber(session: Session, bound: Bound, other: Bound): Bound {
  if (bound.type !== 'VARCHAR') return bound;
  const type = other.type !== 'NULL' && isNumeric(other.type) ? other.type : 'DOUBLE';
  return castTo(bound, type, session.timeZone) ?? bound;
}

function withInterval(place: Place, { operator, left, right, at }: Extract<SqlExpression, { kind: 'arithmetic' }>): Bound {
  const { source } = place.session;
  const [time, interval] = right.kind === 'interval' ? [left, right] : [right, left];
  if (interval.kind !== 'interval' || (operator !== '+' && !(operator === '-' && interval === right)))
    throw source.unsupported(at, `${operator} with an INTERVAL`);
  const instant = bindExpression(place, time);
  if (instant.type === 'NULL' || !isInstant(instant.type))
    throw source.error('sql_plan_invalid', at, `an INTERVAL is added to a TIMESTAMP or DATE, found ${describe(instant)}`);
  const value = readInterval(place.session, interval);
  return addInterval(place.session, instant, operator === '+' ? value : { months: -value.months, milliseconds: -value.milliseconds });
}

export function readInterval(session: Session, interval: Extract<SqlExpression, { kind: 'interval' }>): IntervalValue {
  const value = intervalValue(interval.text, interval.from, interval.to);
  if (value === undefined) {
    const units = interval.to === null ? interval.from : `${interval.from} TO ${interval.to}`;
    throw session.source.error(
      'sql_plan_invalid',
      interval.at,
      `'${interval.text}' is no interval of ${units}; units: ${INTERVAL_UNITS.join(', ')}`,
    );
  }
  return value;
}

function functionCall(place: Place, expression: Extract<SqlExpression, { kind: 'call' }>): Bound {
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
  const inner: Place = aggregate === undefined ? place : { ...place, windows: undefined, aggregates: `inside ${name}`, subqueries: rows };
  const written = isStar ? [] : expression.arguments;
  const bind = (): FunctionCall =>
    new FunctionCall(
      expression,
      written.map((argument) => bindExpression(inner, argument)),
      written.map((argument) => argument.at),
      session,
    );
  if (aggregate !== undefined) {
    if (typeof place.aggregates === 'string')
      throw source.error('sql_plan_invalid', at, `the aggregate ${name} cannot stand ${place.aggregates}`);
    const filter = expression.filter === null ? null : condition(inner, expression.filter);
    if (expression.orderBy.length > 0 && !ORDERED_AGGREGATES.includes(name))
      throw source.unsupported(expression.orderBy[0]?.expression.at ?? at, `ORDER BY in ${name}`);
    const order = valueOrder(expression.orderBy.map((item) => ({ ...item, bound: bindExpression(inner, item.expression) })));
    if (written.length === 0 && !isStar) throw source.error('sql_plan_invalid', at, `${name} needs an argument`);
    const { aggregates: list } = place;
    return aggregate({
      call: bind(),
      distinct: expression.distinct,
      filter,
      order,
      list,
      time: () => inner.scope.resolve(source, at, [TIME_COLUMN]),
    });
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
