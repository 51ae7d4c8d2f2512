// Rule: folds expressions that have become constant.

import { ServiceError } from '../../../../base/errors.js';
import { foldConstant } from '../../../../expression/evaluate.js';
import {
  and,
  type Bound,
  type BoundLiteral,
  children,
  computedLiteral,
  conjuncts,
  FALSE,
  isNullLiteral,
  literal,
  mapChildren,
  NULL,
  or,
  TRUE,
  toExpression,
} from '../bound.js';
import { mapInputs, type NamedAggregate, type Relation } from '../relation.js';
import { mapExpressions } from './map-expressions.js';

/** Folds expressions that became constant after binding: columns of subqueries that turned out to be literals. */
export function foldConstants(relation: Relation): Relation {
  const node = mapExpressions(mapInputs(relation, foldConstants), fold);
  if (node.kind === 'filter' && isNeverTrue(node.condition)) return { ...node, condition: FALSE };
  if (node.kind !== 'aggregate' || !node.aggregates.some(isOfAllOrNone)) return node;
  return { ...node, aggregates: node.aggregates.map((each) => (isOfAllOrNone(each) ? ofAllOrNone(each) : each)) };
}

/** Whether a condition asks for something that is unknown. */
function isNeverTrue(condition: Bound): boolean {
  return conjuncts(condition).some(isNullLiteral);
}

function isOfAllOrNone({ filter }: NamedAggregate): boolean {
  return filter !== null && (isNeverTrue(filter) || (filter.kind === 'literal' && filter.value === 1n));
}

function ofAllOrNone(aggregate: NamedAggregate): NamedAggregate {
  return { ...aggregate, filter: aggregate.filter !== null && isNeverTrue(aggregate.filter) ? FALSE : null };
}

function fold(bound: Bound): Bound {
  if (bound.kind === 'literal' || bound.kind === 'column') return bound;
  const inner = mapChildren(bound, fold);
  if (inner.kind === 'and' || inner.kind === 'or') return simplified(inner);
  if (inner.kind === 'call' && inner.function === 'case_searched') {
    const left = withoutKnownBranches(inner);
    if (left !== inner) return left;
  }
  if (inner.kind === 'call' && inner.function === 'lookup') return inner;
  const operands = children(inner);
  if (operands.length === 0 || !operands.every(({ kind }) => kind === 'literal')) return inner;
  try {
    return computedLiteral(inner, singleConstant) ?? inner;
  } catch (error) {
    // An expression that fails here reports its error where it runs, if it ever runs.
    if (error instanceof ServiceError) return inner;
    throw error;
  }
}

/** CASE without branches that are never taken, and those behind one that always is. */
function withoutKnownBranches(bound: Extract<Bound, { kind: 'call' }>): Bound {
  const parts = bound.arguments;
  const kept: Bound[] = [];
  for (let at = 0; at < parts.length; at += 2) {
    const [part = NULL, value] = [parts[at], parts[at + 1]];
    const isTaken = value === undefined ? null : truthOf(part);
    if (isTaken === false) continue;
    if (isTaken === null) kept.push(part);
    if (value !== undefined) kept.push(value);
    if (isTaken === true) break;
  }
  if (kept.length === parts.length) return bound;
  if (kept.length > 1) return { ...bound, arguments: kept };
  const [only = NULL] = kept;
  if (isNullLiteral(only)) return literal(bound.type, null);
  return only.type === bound.type ? only : bound;
}

/** Null where it is not known. */
function truthOf(condition: Bound): boolean | null {
  if (condition.kind !== 'literal') return null;
  if (condition.value === 1n) return true;
  return condition.value === 0n || condition.value === null ? false : null;
}

/** The value of an expression of literals; undefined where it is several. */
function singleConstant(bound: Bound): BoundLiteral | undefined {
  const value = foldConstant(toExpression(bound));
  return value === undefined || (typeof value === 'object' && value !== null) ? undefined : literal(bound.type, value);
}

function simplified(bound: Extract<Bound, { kind: 'and' | 'or' }>): Bound {
  const [neutral, absorbing] = bound.kind === 'and' ? [TRUE, FALSE] : [FALSE, TRUE];
  const isLiteral = (operand: Bound, value: Bound): boolean =>
    operand.kind === 'literal' && value.kind === 'literal' && operand.value === value.value;
  if (bound.operands.some((operand) => isLiteral(operand, absorbing))) return absorbing;
  const kept = bound.operands.filter((operand) => !isLiteral(operand, neutral));
  if (kept.length === bound.operands.length) return bound;
  return kept.length === 0 ? neutral : bound.kind === 'and' ? and(kept) : or(kept);
}
