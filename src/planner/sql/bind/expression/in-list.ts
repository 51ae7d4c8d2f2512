// Binds IN over lists of values and rows.

import type { SqlType } from '../../../../model/statement.js';
import { ask, placed } from '../../../places/recording.js';
import type { SqlExpression } from '../../parse/syntax.js';
import { and, type Bound, literal, not, or } from '../../relation/bound.js';
import { castTo } from '../cast.js';
import { compare } from '../comparison.js';
import type { Session } from '../session.js';
import type { BindOperand, Of } from './place.js';

/** Type in which a literal of a list compares with the operand without being converted; undefined where it may have to be. */
function sameValueDomain(operand: Bound['type'], item: Bound['type']): SqlType | undefined {
  if (item === 'NULL') return undefined;
  if (item === operand) return item;
  return operand === 'BIGINT' && item === 'INTEGER' ? 'BIGINT' : undefined;
}

/** Repeats in longer lists stay: they do no harm, and to find them takes longer than all the rest of planning. */
const TOLD_APART_MAX = 1000;

/** `operand IN (…)`: one list of values per type they compare in, and comparisons for items that are not literals. */
export function inList(session: Session, expression: Of<'in'>, bind: BindOperand): Bound {
  const operand = bind(expression.operand);
  const domain = ask(expression, ({ items }) => commonDomain(operand.type, items));
  if (domain !== undefined) {
    const found = inValues(operand, domain, expression);
    return expression.negated ? not(found) : found;
  }
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
    const bound = bind(item);
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
    return { kind: 'in', type: 'BOOLEAN', domain, operand, values: toldApart(list) };
  });
  const found = or([...lists, ...others]);
  return expression.negated ? not(found) : found;
}

/** Rows of values, equal when all their parts are. */
export function compareRows(session: Session, { left, right, operator, at }: Of<'compare'>, bind: BindOperand): Bound {
  const { source } = session;
  if (left.kind !== 'row' || right.kind !== 'row' || left.elements.length !== right.elements.length)
    throw source.error('sql_plan_invalid', at, 'a row is compared with a row of as many values');
  if (operator !== '=' && operator !== '<>') throw source.unsupported(at, `${operator} between rows`);
  const equal = and(
    left.elements.map((element, index) => compare(session, at, '=', bind(element), bind(right.elements[index] ?? element))),
  );
  return operator === '=' ? equal : not(equal);
}

/** The type in which all items, none of them null, compare with the operand as they are; undefined where there is none. */
function commonDomain(operand: Bound['type'], items: readonly SqlExpression[]): SqlType | undefined {
  let common: SqlType | undefined;
  for (const item of items) {
    const domain = item.kind === 'literal' && item.value !== null ? sameValueDomain(operand, item.type) : undefined;
    if (domain === undefined || (common !== undefined && domain !== common)) return undefined;
    common = domain;
  }
  return common;
}

/** IN over literals that need no conversion. */
function inValues(operand: Bound, domain: SqlType, expression: Of<'in'>): Bound {
  if (ask(expression, ({ items }) => items.length === 1)) {
    const right = placed(
      expression,
      (each) => valuesOf(each)[0] ?? null,
      (value) => literal(domain, value),
    );
    return { kind: 'compare', type: 'BOOLEAN', operator: '=', domain, left: operand, right };
  }
  return placed(
    expression,
    (each) => toldApart(valuesOf(each)),
    (values): Bound => ({ kind: 'in', type: 'BOOLEAN', domain, operand, values }),
  );
}

function valuesOf({ items }: Of<'in'>): readonly (string | bigint | number)[] {
  const values: (string | bigint | number)[] = [];
  for (const item of items) if (item.kind === 'literal' && item.value !== null) values.push(item.value);
  return values;
}

function toldApart(values: readonly (string | bigint | number)[]): readonly (string | bigint | number)[] {
  return values.length > TOLD_APART_MAX ? values : [...new Set(values)];
}

/** `(a, b) IN ((…), …)`. */
export function inRows(session: Session, expression: Of<'in'>, elements: readonly SqlExpression[], bind: BindOperand): Bound {
  const { at, negated } = expression;
  const found = or(
    expression.items.map((item) =>
      compareRows(session, { kind: 'compare', at: item.at, operator: '=', left: { kind: 'row', at, elements }, right: item }, bind),
    ),
  );
  return negated ? not(found) : found;
}
