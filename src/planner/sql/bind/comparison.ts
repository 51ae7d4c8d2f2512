// Binds comparisons: the type in which two operands are compared.

import type { SqlType } from '../../../model/statement.js';
import { commonType, isArray, isComplex, isInstant, isNumeric } from '../parse/sql-type.js';
import type { CompareOperator } from '../parse/syntax.js';
import { type Bound, computedLiteral, literal, settledType } from '../relation/bound.js';
import { castTo } from './cast.js';
import { describe, folded } from './function-call.js';
import type { Session } from './session.js';

const MIRRORED: Readonly<Record<CompareOperator, CompareOperator>> = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/**
 * `left operator right` in the type both can be compared in, with a literal moved to the right.
 * Text beside a number or an instant is read as one, except that a column of text is equal to the digits of a whole
 * number, as in Druid: 7 is not the text '007', and a text that is no number is not equal rather than unknown.
 */
export function compare(session: Session, at: number, operator: CompareOperator, left: Bound, right: Bound): Bound {
  if (left.kind === 'literal' && right.kind !== 'literal') return compare(session, at, MIRRORED[operator], right, left);
  const domain = isTextEqualToDigits(operator, left, right) ? 'VARCHAR' : comparisonDomain(left, right);
  if (domain === undefined) throw session.source.error('sql_plan_invalid', at, `cannot compare ${describe(left)} with ${describe(right)}`);
  if (isComplex(domain) && operator !== '=' && operator !== '<>')
    throw session.source.error('sql_plan_invalid', at, `${operator} between values of ${domain}, which have no order; accepted: = and <>`);
  return {
    kind: 'compare',
    type: 'BOOLEAN',
    operator,
    domain,
    left: operandIn(session, at, left, domain),
    right: asFloat(left, operandIn(session, at, right, domain)),
  };
}

/** A literal beside a FLOAT is the float nearest to it: a column that holds 0.1 as a float is equal to 0.1. */
function asFloat(left: Bound, right: Bound): Bound {
  if (left.type !== 'FLOAT' || right.kind !== 'literal') return right;
  return computedLiteral(right, ({ type, value }) => (typeof value === 'number' ? literal(type, Math.fround(value)) : undefined)) ?? right;
}

function isTextEqualToDigits(operator: CompareOperator, left: Bound, right: Bound): boolean {
  return (
    (operator === '=' || operator === '<>') &&
    left.kind === 'column' &&
    left.type === 'VARCHAR' &&
    right.kind === 'literal' &&
    (right.type === 'BIGINT' || right.type === 'INTEGER')
  );
}

function comparisonDomain(left: Bound, right: Bound): SqlType | undefined {
  if (left.type === 'NULL' || right.type === 'NULL') return settledType(left.type === 'NULL' ? right.type : left.type);
  const common = commonType(left.type, right.type);
  if (common !== undefined) return common;
  for (const [one, other] of [
    [left.type, right.type],
    [right.type, left.type],
  ] as const)
    if (one === 'VARCHAR' && (isNumeric(other) || isInstant(other) || other === 'BOOLEAN')) return other;
  return undefined;
}

/** Numbers of different types compare as they are; only their literals take the type of the comparison. */
function operandIn(session: Session, at: number, operand: Bound, domain: SqlType): Bound {
  if (operand.type === 'NULL') return literal(domain, null);
  if (operand.kind !== 'literal' && isNumeric(operand.type) && isNumeric(domain)) return operand;
  const converted = castTo(operand, domain, session.timeZone);
  const cast = converted !== undefined && isArray(domain) ? folded(converted, session, at) : converted;
  if (cast === undefined || (operand.kind === 'literal' && cast.kind !== 'literal'))
    throw session.source.error('sql_plan_invalid', at, `${describe(operand)} cannot be read as ${domain}`);
  return cast;
}
