// Rule: keys of groups that are constants leave them.

import { type Bound, column, integer, literal, settledType } from '../bound.js';
import {
  type AggregateRelation,
  columnsOf,
  identity,
  mapInputs,
  type NamedAggregate,
  type NamedBound,
  type ProjectedColumn,
  type Relation,
} from '../relation.js';
import { mergeProjects } from './merge-projects.js';

/** Groups differ in no constant: it is written beside them, and rows are grouped by the other keys alone. */
export function constantKeys(relation: Relation): Relation {
  const so = { hasChanged: false };
  const without = withoutConstants(relation, so);
  return so.hasChanged ? mergeProjects(without) : relation;
}

function withoutConstants(relation: Relation, so: { hasChanged: boolean }): Relation {
  const node = mapInputs(relation, (input) => withoutConstants(input, so));
  if (node.kind !== 'aggregate' || !node.keys.some(isConstant)) return node;
  so.hasChanged = true;
  const keys = node.keys.filter((key) => !isConstant(key));
  const constants = new Map(node.keys.filter(isConstant).map(({ name, bound }) => [name, constantOf(bound)]));
  const columns = identity(columnsOf(node)).map((each): ProjectedColumn => ({ ...each, bound: constants.get(each.name) ?? each.bound }));
  return { kind: 'project', input: keys.length === 0 ? groupOfSomeRows(node) : { ...node, keys }, columns };
}

function isConstant({ bound }: NamedBound): boolean {
  return bound.kind === 'literal';
}

function constantOf(bound: Bound): Bound {
  return bound.type === 'NULL' ? literal(settledType(bound.type), null) : bound;
}

/** All rows as one group, which is not there without a row: of no keys there would be one. */
function groupOfSomeRows(node: AggregateRelation): Relation {
  const taken = new Set(columnsOf(node).map(({ name }) => name));
  let name = 'rows';
  while (taken.has(name)) name += ' ';
  const rows: NamedAggregate = { kind: 'count', name, operands: [], filter: null, type: 'BIGINT' };
  return {
    kind: 'filter',
    input: { ...node, keys: [], aggregates: [...node.aggregates, rows] },
    condition: { kind: 'compare', type: 'BOOLEAN', operator: '>', domain: 'BIGINT', left: column('BIGINT', name), right: integer(0) },
  };
}
