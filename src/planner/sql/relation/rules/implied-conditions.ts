// Rule: derives conditions on each side of a join from an OR over both.

import { and, type Bound, boundKey, conjuncts, or } from '../bound.js';
import { sideOf, unprefixed } from '../join-condition.js';
import { type JoinRelation, mapInputs, type Relation } from '../relation.js';
import { pushFilters } from './push-filters.js';

/**
 * Derives from an OR over both sides of an inner join a condition on each side: `(l.x = 1 AND r.y = 2) OR (l.x = 3 AND r.y = 4)` implies that l.x is 1 or 3. The
 * sides are filtered by it, and the OR stays.
 */
export function impliedConditions(relation: Relation): Relation {
  if (relation.kind !== 'join' || relation.type !== 'inner') return mapInputs(relation, impliedConditions);
  return mapInputs(withImplied(relation), impliedConditions);
}

function withImplied(join: JoinRelation): JoinRelation {
  const parts = conjuncts(join.condition);
  const of = (side: 'left' | 'right'): readonly Bound[] =>
    parts.flatMap((part) => implied(part, (each) => sideOf(each, join.prefix) === side) ?? []);
  const [left, right] = [of('left'), of('right').map((part) => unprefixed(part, join.prefix))];
  if (left.length + right.length === 0) return join;
  return { ...join, left: filtered(join.left, left), right: filtered(join.right, right) };
}

/** The conditions of each branch that are about one side alone; undefined where a branch has none. */
function implied(part: Bound, isOwn: (part: Bound) => boolean): Bound | undefined {
  if (part.kind !== 'or') return undefined;
  const branches = new Map<string, Bound>();
  for (const branch of part.operands) {
    const own = conjuncts(branch).flatMap((each) => (isOwn(each) ? [each] : (implied(each, isOwn) ?? [])));
    if (own.length === 0) return undefined;
    const asked = and(own);
    branches.set(boundKey(asked), asked);
  }
  return or([...branches.values()]);
}

/** Filters as far down as possible, which may again be over both sides of another join. */
function filtered(input: Relation, conditions: readonly Bound[]): Relation {
  return conditions.length === 0 ? input : pushFilters({ kind: 'filter', input, condition: and(conditions) });
}
