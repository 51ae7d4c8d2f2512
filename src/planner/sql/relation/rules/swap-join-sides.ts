// Rule: puts the smaller input of a join on the right, which is held in memory.

import { type Bound, column, transform } from '../bound.js';
import { estimate } from '../estimate.js';
import { columnsOf, freePrefix, type JoinRelation, mapInputs, type ProjectedColumn, type Relation } from '../relation.js';

/**
 * The right side of a join is held in memory: it should be the smaller one. A side must be this much smaller to change places.
 * Inner joins are a matter of `order-joins`.
 */
const FACTOR = 2;

const SWAPPED = { left: 'right', right: 'left', full: 'full' } as const;

function isSwapped(type: JoinRelation['type']): type is keyof typeof SWAPPED {
  return Object.hasOwn(SWAPPED, type);
}

export function swapJoinSides(relation: Relation): Relation {
  const node = mapInputs(relation, swapJoinSides);
  if (node.kind !== 'join' || !isSwapped(node.type)) return node;
  const [left, right] = [estimate(node.left)?.rows, estimate(node.right)?.rows];
  if (left === undefined || right === undefined || right <= left * FACTOR) return node;
  return swapped(node, SWAPPED[node.type]);
}

function swapped(join: JoinRelation, type: JoinRelation['type']): Relation {
  const prefix = freePrefix(join.right);
  const rename = (name: string): string => (name.startsWith(join.prefix) ? name.slice(join.prefix.length) : prefix + name);
  const renamed = (bound: Bound): Bound =>
    transform(bound, (part) => (part.kind === 'column' ? column(part.type, rename(part.name)) : undefined));
  const input: JoinRelation = {
    kind: 'join',
    left: join.right,
    right: join.left,
    prefix,
    type,
    condition: join.condition === null ? null : renamed(join.condition),
  };
  const columns = columnsOf(join).map(({ name, type }): ProjectedColumn => ({ name, type, bound: column(type, rename(name)) }));
  return { kind: 'project', input, columns };
}
