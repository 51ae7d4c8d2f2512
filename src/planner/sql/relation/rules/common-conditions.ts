// Rule: takes conditions that all branches of an OR share out of it.

import { and, type Bound, boundKey, conjuncts, mapChildren, or } from '../bound.js';
import { mapInputs, type Relation } from '../relation.js';
import { mapExpressions } from './map-expressions.js';

/**
 * `(a AND b) OR (a AND c)` becomes `a AND (b OR c)`: what all branches ask for can be pushed down, and be the key of a join. The same
 * for a, b and c that are unknown.
 */
export function liftCommonConditions(relation: Relation): Relation {
  const node = mapInputs(relation, liftCommonConditions);
  return node.kind === 'filter' || node.kind === 'join' ? mapExpressions(node, lifted) : node;
}

function lifted(bound: Bound): Bound {
  const inner = mapChildren(bound, lifted);
  if (inner.kind === 'and' && inner !== bound) return and(inner.operands);
  if (inner.kind !== 'or') return inner;
  const branches = inner.operands.map((operand) => new Map(conjuncts(operand).map((part) => [boundKey(part), part])));
  const [first, ...others] = branches;
  const common = [...(first?.keys() ?? [])].filter((key) => others.every((branch) => branch.has(key)));
  if (first === undefined || common.length === 0) return inner;
  const shared = common.map((key) => first.get(key)).filter((part) => part !== undefined);
  const rests = branches.map((branch) => [...branch].flatMap(([key, part]) => (common.includes(key) ? [] : [part])));
  // A branch that asks for nothing else makes the others' further conditions void.
  return rests.some((rest) => rest.length === 0) ? and(shared) : and([...shared, or(rests.map(and))]);
}
