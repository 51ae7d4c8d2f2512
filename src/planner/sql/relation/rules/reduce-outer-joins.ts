// Rule: makes outer joins inner where a condition drops the added rows.

import { type Bound, conjuncts } from '../bound.js';
import { type JoinRelation, mapInputs, putsOutRight, type Relation } from '../relation.js';

/** An outer join whose added rows the condition above it drops again is an inner one. */
export function reduceOuterJoins(relation: Relation): Relation {
  if (relation.kind !== 'filter' || relation.input.kind !== 'join') return mapInputs(relation, reduceOuterJoins);
  const join = relation.input;
  const needs = { left: false, right: false };
  for (const part of conjuncts(relation.condition))
    for (const name of neededColumns(part)) needs[name.startsWith(join.prefix) ? 'right' : 'left'] = true;
  const type = putsOutRight(join) ? reduced(join.type, needs) : join.type;
  const input = mapInputs(type === join.type ? join : ({ ...join, type } satisfies JoinRelation), reduceOuterJoins);
  return input === join ? relation : { ...relation, input };
}

type Type = JoinRelation['type'];

/** `needs`: sides that have a column which must not be null. */
function reduced(type: Type, needs: { readonly left: boolean; readonly right: boolean }): Type {
  const keepsLeft = (type === 'left' || type === 'full') && !needs.right;
  const keepsRight = (type === 'right' || type === 'full') && !needs.left;
  return keepsLeft ? (keepsRight ? 'full' : 'left') : keepsRight ? 'right' : 'inner';
}

/** Columns that are not null wherever the condition is true. */
function neededColumns(part: Bound): readonly string[] {
  const named = (bound: Bound): readonly string[] => (bound.kind === 'column' ? [bound.name] : []);
  switch (part.kind) {
    case 'compare':
      return [...named(part.left), ...named(part.right)];
    case 'in':
    case 'like':
      return named(part.operand);
    case 'not':
      return part.operand.kind === 'isNull' ? named(part.operand.operand) : [];
    default:
      return [];
  }
}
