// Rule: puts the smaller input of a join on the right, which is held in memory.

import type { RunLimits } from '../../../../model/run-limits.js';
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

/**
 * Up to so many bytes it is held though it is the larger, where a join can then read the left side beside its segments, on all threads: rows
 * that only a right side has come from one.
 */
const HELD_BYTES_MAX = 320 << 20;
/** Bytes of a value, roughly. */
const NUMBER_BYTES = 8;
const STRING_BYTES = 32;
const NUMBERS: ReadonlySet<string> = new Set(['BIGINT', 'INTEGER', 'DOUBLE', 'FLOAT', 'TIMESTAMP', 'DATE', 'BOOLEAN']);

/** @param limits  of the rows and bytes of a right side */
export function swapJoinSides(relation: Relation, limits: RunLimits): Relation {
  const node = mapInputs(relation, (input) => swapJoinSides(input, limits));
  if (node.kind !== 'join' || !isSwapped(node.type)) return node;
  const [left, right] = [estimate(node.left)?.rows, estimate(node.right)?.rows];
  if (left === undefined || right === undefined) return node;
  const isSmaller = right > left * FACTOR;
  const isBetter =
    node.type === 'full'
      ? isSmaller
      : node.type === 'left'
        ? isSmaller && !isHeld(node.right, right, limits)
        : isSmaller || isHeld(node.left, left, limits);
  return isBetter ? swapped(node, SWAPPED[node.type]) : node;
}

function isHeld(side: Relation, rows: number, { maxSubqueryRows, maxSubqueryBytes }: RunLimits): boolean {
  // Few of the columns will be needed.
  const bytes = columnsOf(side).reduce((sum, { type }) => sum + (NUMBERS.has(type) ? NUMBER_BYTES : STRING_BYTES), 0);
  // Bytes take precedence where both are set.
  const rowsMax = maxSubqueryBytes == null ? (maxSubqueryRows ?? Infinity) : Infinity;
  return rows <= rowsMax && rows * bytes <= Math.min(HELD_BYTES_MAX, maxSubqueryBytes ?? Infinity);
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
