// Rule: joins each branch of a UNION ALL by itself.

import { inputsOf, type JoinRelation, keepsLeft, mapInputs, type Relation, type UnionRelation } from '../relation.js';
import { mergeProjects } from './merge-projects.js';

/**
 * `(a UNION ALL b) JOIN c` is `a JOIN c UNION ALL b JOIN c`, where each row of the left side is joined by itself: the branches are then read where
 * their tables lie. What stands in both is made once when the statement runs. Unions of unions become one, without branches that have no rows.
 */
export function distributeJoins(relation: Relation): Relation {
  const node = mapInputs(relation, distributeJoins);
  if (node.kind === 'union') return flat(node);
  if (node.kind !== 'join' || !keepsLeft(node)) return node;
  const union = unionBelow(node.left);
  // Groups lie in memory all together.
  if (union === undefined || !union.inputs.some(readsRows)) return node;
  return { kind: 'union', inputs: union.inputs.map((input): JoinRelation => ({ ...node, left: mergeProjects(over(node.left, input)) })) };
}

function flat(union: UnionRelation): Relation {
  const inputs = union.inputs.flatMap((input) => unionBelow(input)?.inputs.map((each) => over(input, each)) ?? [input]);
  const left = inputs.filter((input) => !isEmpty(input));
  const [first, second] = left.length === 0 ? inputs : left;
  if (first !== undefined && (second === undefined || left.length === 0)) return first;
  return left.length === union.inputs.length && left.every((input, at) => input === union.inputs[at]) ? union : { ...union, inputs: left };
}

/** Whether a condition that is never true leaves no rows. */
function isEmpty(relation: Relation): boolean {
  switch (relation.kind) {
    case 'filter':
      return (relation.condition.kind === 'literal' && relation.condition.value === 0n) || isEmpty(relation.input);
    case 'project':
    case 'sort':
    case 'limit':
    case 'window':
    case 'unnest':
      return isEmpty(relation.input);
    case 'join':
      return (
        (keepsLeft(relation) && isEmpty(relation.left)) ||
        ((relation.type === 'inner' || relation.type === 'semi') && isEmpty(relation.right))
      );
    case 'aggregate':
      return relation.keys.length > 0 && isEmpty(relation.input);
    default:
      return false;
  }
}

/** The union that projections are made of. */
function unionBelow(relation: Relation): UnionRelation | undefined {
  if (relation.kind === 'union') return relation;
  return relation.kind === 'project' ? unionBelow(relation.input) : undefined;
}

/** The projections over another input. */
function over(relation: Relation, input: Relation): Relation {
  return relation.kind === 'project' ? { ...relation, input: over(relation.input, input) } : input;
}

/** Whether the rows of a branch are those of a table, one by one. */
function readsRows(relation: Relation): boolean {
  if (relation.kind === 'source') return true;
  const [input] = inputsOf(relation);
  const isRowWise = relation.kind === 'project' || relation.kind === 'filter' || relation.kind === 'join' || relation.kind === 'unnest';
  return isRowWise && input !== undefined && readsRows(input);
}
