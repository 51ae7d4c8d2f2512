// Rule: groups the right side of a join first, where many of its rows are alike.

import { columnNames } from '../bound.js';
import { estimate, KEY_DISTINCT } from '../estimate.js';
import { columnsOf, type JoinRelation, mapInputs, putsOutRight, type Relation } from '../relation.js';

/** Rows are worth grouping before they are placed when so many of them, at least, are alike. */
const ALIKE = 0.5;

/**
 * Reduces the right side of a semi, anti or mark join to one row for each combination of the compared columns: rows are
 * grouped where they lie, and fewer are placed.
 */
export function distinctPartners(relation: Relation): Relation {
  const node = mapInputs(relation, distinctPartners);
  if (node.kind !== 'join' || putsOutRight(node) || node.condition === null) return node;
  const read = comparedColumns(node);
  if (read.length === 0 || (node.right.kind === 'aggregate' && node.right.aggregates.length === 0)) return node;
  const rows = estimate(node.right);
  const groups = rows && read.reduce((product, { name }) => product * (rows.distinct(name) ?? rows.rows * KEY_DISTINCT), 1);
  if (rows !== undefined && groups !== undefined && groups > rows.rows * (1 - ALIKE)) return node;
  const keys = read.map(({ name, type }) => ({ name, bound: { kind: 'column', type, name } as const }));
  return { ...node, right: { kind: 'aggregate', input: node.right, keys, aggregates: [] } };
}

function comparedColumns({ right, prefix, condition }: JoinRelation): ReturnType<typeof columnsOf> {
  const names = condition === null ? new Set<string>() : columnNames(condition);
  // A row of several values is in several groups, none of which has all of them.
  const columns = columnsOf(right).filter(({ name }) => names.has(prefix + name));
  return columns.some(({ schema }) => schema?.multiValue === true) ? [] : columns;
}
