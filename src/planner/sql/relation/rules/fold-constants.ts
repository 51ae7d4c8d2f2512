// Rule: folds expressions that have become constant.

import { ServiceError } from '../../../../base/errors.js';
import { foldConstant } from '../../../../expression/evaluate.js';
import {
  and,
  type Bound,
  type BoundLiteral,
  children,
  computedLiteral,
  FALSE,
  literal,
  mapChildren,
  or,
  TRUE,
  toExpression,
} from '../bound.js';
import { mapInputs, type Relation } from '../relation.js';
import { mapExpressions } from './map-expressions.js';

/** Folds expressions that became constant after binding: columns of subqueries that turned out to be literals. */
export function foldConstants(relation: Relation): Relation {
  return mapExpressions(mapInputs(relation, foldConstants), fold);
}

function fold(bound: Bound): Bound {
  if (bound.kind === 'literal' || bound.kind === 'column') return bound;
  const inner = mapChildren(bound, fold);
  if (inner.kind === 'and' || inner.kind === 'or') return simplified(inner);
  if (inner === bound || (inner.kind === 'call' && inner.function === 'lookup')) return inner;
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
