// Splits aggregates over CASE into aggregates with a filter.

import type { SqlType } from '../../../../model/statement.js';
import { isNumeric } from '../../parse/sql-type.js';
import type { BoundAggregate } from '../../relation/aggregate.js';
import { and, type Bound, call, isNull, isNullLiteral, not, readsStrings } from '../../relation/bound.js';

/** The value of a CASE in the rows for which `when` holds. */
interface Branch {
  readonly when: Bound;
  readonly value: Bound;
}

/**
 * The branches of a CASE that an aggregate reads, each with its condition; null results are left out. Conditions become filters,
 * which are about the row: over a multi-value column an expression would ask them of each value. Undefined for what is no CASE, or
 * one whose conditions read no strings.
 */
export function branchesOf(operand: Bound): readonly Branch[] | undefined {
  if (operand.kind !== 'call' || operand.function !== 'case_searched' || operand.arguments.length > BRANCH_PARTS_MAX) return undefined;
  const parts = operand.arguments;
  const isCondition = (index: number): boolean => index % 2 === 0 && index + 1 < parts.length;
  if (!parts.some((part, index) => isCondition(index) && readsStrings(part))) return undefined;
  const passed: Bound[] = [];
  const branches: Branch[] = [];
  for (let index = 0; index < parts.length; index += 2) {
    const [part, result] = [parts[index], parts[index + 1]];
    if (part === undefined) continue;
    const value = result ?? part;
    const when = and(result === undefined ? passed : [...passed, part]);
    if (!isNullLiteral(value)) branches.push({ when, value });
    passed.push(call('BOOLEAN', 'isnottrue', part));
  }
  return branches.length === 0 ? undefined : branches;
}

const BRANCH_PARTS_MAX = 9;

/** The rows that COUNT(operand) counts. */
export function rowsWith(operand: Bound, filter: Bound | null): Pick<BoundAggregate, 'operands' | 'filter'> {
  // A number made of the strings of a multi-value row is missing, as it is in a sum: of that the row is asked, not each value.
  if (operand.kind !== 'column' && isNumber(operand.type) && readsStrings(operand)) return { operands: [operand], filter };
  const isThere = not(isNull(operand));
  return { operands: [], filter: filter === null ? isThere : and([filter, isThere]) };
}

function isNumber(type: SqlType | 'NULL'): boolean {
  return type !== 'NULL' && isNumeric(type);
}

/** The sum of both, where either may be that of no values. */
export function sumOfBoth(type: SqlType, left: Bound, right: Bound): Bound {
  return call(type, 'case_searched', isNull(left), right, isNull(right), left, call(type, '+', left, right));
}
