// Binds arithmetic, concatenation and INTERVAL arithmetic.

import { commonType, isInstant, isNumeric } from '../../parse/sql-type.js';
import { type Bound, call, literal } from '../../relation/bound.js';
import { castTo } from '../cast.js';
import { decimalResult } from '../decimal.js';
import { describe } from '../function-call.js';
import { INTERVAL_UNITS, type IntervalValue, intervalValue } from '../interval-literal.js';
import type { Session } from '../session.js';
import { addInterval } from '../time-arithmetic.js';
import type { BindOperand, Of } from './place.js';

/**
 * Sums, differences, products, quotients and concatenations of two operands; with an INTERVAL, a shifted instant; of two instants
 * the milliseconds between them.
 */
export function arithmetic(session: Session, expression: Of<'arithmetic'>, bind: BindOperand): Bound {
  const { operator, at } = expression;
  const { source } = session;
  if (expression.right.kind === 'interval' || expression.left.kind === 'interval') return withInterval(session, expression, bind);
  const [left, right] = [bind(expression.left), bind(expression.right)];
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
    if (isInstant(left.type) && isInstant(right.type) && operator === '-') return call('BIGINT', '-', left, right);
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

function withInterval(session: Session, { operator, left, right, at }: Of<'arithmetic'>, bind: BindOperand): Bound {
  const { source } = session;
  const [time, interval] = right.kind === 'interval' ? [left, right] : [right, left];
  if (interval.kind !== 'interval' || (operator !== '+' && !(operator === '-' && interval === right)))
    throw source.unsupported(at, `${operator} with an INTERVAL`);
  const instant = bind(time);
  if (instant.type === 'NULL' || !isInstant(instant.type))
    throw source.error('sql_plan_invalid', at, `an INTERVAL is added to a TIMESTAMP or DATE, found ${describe(instant)}`);
  const value = readInterval(session, interval);
  return addInterval(session, instant, operator === '+' ? value : { months: -value.months, milliseconds: -value.milliseconds });
}

export function readInterval(session: Session, interval: Of<'interval'>): IntervalValue {
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
