// Rule: puts the smaller input of a join on the right, which is held in memory.

import type { RunLimits } from '../../../../model/run-limits.js';
import { TIME_COLUMN } from '../../../../model/schema.js';
import { type Bound, column, transform } from '../bound.js';
import { estimate } from '../estimate.js';
import { columnsOf, freeName, freePrefix, type JoinRelation, mapInputs, type ProjectedColumn, type Relation } from '../relation.js';

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
 * Up to so many bytes it is held though it is not the smaller, where a join can then read the left side beside its segments: that of a join with rows
 * which only a right side has is read once it lies in memory, as a whole.
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
  const isKept = (side: Relation, rows: number): boolean => isHeld(side, rows, limits) && (areSet(limits) || !isGathered(side));
  const isBetter =
    node.type === 'full'
      ? isSmaller
      : node.type === 'left'
        ? isSmaller && !isKept(node.right, right)
        : isSmaller || (isHeld(node.left, left, limits) && (left <= right * FACTOR || isKept(node.left, left)));
  return isBetter ? swapped(node, SWAPPED[node.type], limits) : node;
}

/** Whether the rows of a side lie in memory by themselves, before a join reads them on all threads: those of a table, or groups. */
function isGathered(side: Relation): boolean {
  if (side.kind === 'filter' || side.kind === 'project') return isGathered(side.input);
  return side.kind === 'aggregate' || (side.kind === 'source' && side.source.kind === 'table');
}

function isHeld(side: Relation, rows: number, { maxSubqueryRows, maxSubqueryBytes }: RunLimits): boolean {
  // Few of the columns will be needed.
  const bytes = columnsOf(side).reduce((sum, { type }) => sum + (NUMBERS.has(type) ? NUMBER_BYTES : STRING_BYTES), 0);
  // Bytes take precedence where both are set.
  const rowsMax = maxSubqueryBytes == null ? (maxSubqueryRows ?? Infinity) : Infinity;
  return rows <= rowsMax && rows * bytes <= Math.min(HELD_BYTES_MAX, maxSubqueryBytes ?? Infinity);
}

function swapped(join: JoinRelation, type: JoinRelation['type'], limits: RunLimits): Relation {
  const prefix = freePrefix(join.right);
  // Rows that are limited as those of a subquery stay what they are.
  const left = type === 'left' || areSet(limits) ? join.right : withoutTime(join.right);
  const names = new Map(columnsOf(join.right).map(({ name }, at) => [name, columnsOf(left)[at]?.name ?? name]));
  const rename = (name: string): string => {
    if (!name.startsWith(join.prefix)) return prefix + name;
    const own = name.slice(join.prefix.length);
    return names.get(own) ?? own;
  };
  const renamed = (bound: Bound): Bound =>
    transform(bound, (part) => (part.kind === 'column' ? column(part.type, rename(part.name)) : undefined));
  const input: JoinRelation = {
    kind: 'join',
    left,
    right: join.left,
    prefix,
    type,
    condition: join.condition === null ? null : renamed(join.condition),
  };
  const columns = columnsOf(join).map(({ name, type }): ProjectedColumn => ({ name, type, bound: column(type, rename(name)) }));
  return { kind: 'project', input, columns };
}

/** The rows with their time by another name: rows that only the right side of a join has are at none. */
function withoutTime(input: Relation): Relation {
  const columns = columnsOf(input);
  if (!columns.some(({ name }) => name === TIME_COLUMN)) return input;
  const time = freeName('time', columns);
  return {
    kind: 'project',
    input,
    columns: columns.map(
      ({ name, type }): ProjectedColumn => ({ name: name === TIME_COLUMN ? time : name, type, bound: column(type, name) }),
    ),
  };
}

function areSet({ maxSubqueryRows, maxSubqueryBytes }: RunLimits): boolean {
  return (maxSubqueryRows ?? maxSubqueryBytes ?? null) !== null;
}
