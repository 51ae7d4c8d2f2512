// Binds conditions: AND, OR, NOT, IS, LIKE.

import { askOf, placed } from '../../../places/recording.js';
import type { SqlExpression } from '../../parse/syntax.js';
import { and, type Bound, type BoundLiteral, call, FALSE, isNullLiteral, literal, not, or, TRUE } from '../../relation/bound.js';
import { castTo } from '../cast.js';
import { compare } from '../comparison.js';
import { describe } from '../function-call.js';
import type { Session } from '../session.js';
import type { BindOperand, Of } from './place.js';

/** An operand that must be a truth value. */
export function asCondition(session: Session, at: number, bound: Bound): Bound {
  if (bound.type === 'NULL') return literal('BOOLEAN', null);
  if (bound.type !== 'BOOLEAN') throw session.source.error('sql_plan_invalid', at, `expected a condition, found ${describe(bound)}`);
  return bound;
}

/** A condition without what cannot change an AND or OR: constants come from parameters and generated SQL. */
export function simplified(bound: Bound): Bound {
  if (bound.kind !== 'and' && bound.kind !== 'or') return bound;
  const [neutral, absorbing] = bound.kind === 'and' ? [TRUE, FALSE] : [FALSE, TRUE];
  const isLiteral = (operand: Bound, value: Bound): boolean =>
    operand.kind === 'literal' && value.kind === 'literal' && operand.value === value.value;
  if (bound.operands.some((operand) => isLiteral(operand, absorbing))) return absorbing;
  const kept = bound.operands.filter((operand) => !isLiteral(operand, neutral));
  return kept.length === 0 ? neutral : bound.kind === 'and' ? and(kept) : or(kept);
}

/** IS NULL, or IS NOT NULL when `negated`. */
export function isNull(operand: Bound, negated: boolean): Bound {
  const bound: Bound = { kind: 'isNull', type: 'BOOLEAN', operand };
  return negated ? not(bound) : bound;
}

/** IS NOT DISTINCT FROM, never unknown: two nulls are the same, a null and a value are not. */
export function notDistinct(session: Session, at: number, left: Bound, right: Bound): Bound {
  if (right.type === 'NULL' || isNullLiteral(right)) return isNull(left, false);
  if (left.type === 'NULL' || isNullLiteral(left)) return isNull(right, false);
  const equal = compare(session, at, '=', left, right);
  if (right.kind === 'literal') return and([isNull(left, true), equal]);
  if (left.kind === 'literal') return and([isNull(right, true), equal]);
  return equal.kind === 'compare' ? call('BOOLEAN', 'notdistinctfrom', equal.left, equal.right) : equal;
}

/** LIKE with a pattern and an escape that are literals. */
export function like(session: Session, expression: Of<'like'>, bind: BindOperand): Bound {
  const constant = (part: SqlExpression, what: string): BoundLiteral => {
    const bound = bind(part);
    if (bound.kind !== 'literal' || !askOf(bound, 'value', (value) => value === null || typeof value === 'string'))
      throw session.source.unsupported(part.at, `a LIKE ${what} that is not a literal string`);
    return bound;
  };
  const pattern = constant(expression.pattern, 'pattern');
  const escape = expression.escape === null ? null : stringOf(constant(expression.escape, 'escape'));
  if (expression.escape !== null && (escape === null || [...escape].length !== 1))
    throw session.source.error('sql_plan_invalid', expression.escape.at, 'the ESCAPE of LIKE is one character');
  const operand = castTo(bind(expression.operand), 'VARCHAR', session.timeZone);
  if (operand === undefined) throw session.source.error('sql_plan_invalid', expression.at, 'LIKE needs a VARCHAR');
  if (isNullLiteral(pattern)) return literal('BOOLEAN', null);
  const bound = placed(pattern, stringOf, (written): Bound => ({ kind: 'like', type: 'BOOLEAN', operand, pattern: written ?? '', escape }));
  return expression.negated ? not(bound) : bound;
}

function stringOf({ value }: BoundLiteral): string | null {
  return typeof value === 'string' ? value : null;
}
