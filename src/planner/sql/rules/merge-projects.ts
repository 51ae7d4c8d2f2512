import { type Bound, substitute } from '../bound.js';
import { columnsOf, mapInputs, type ProjectedColumn, type Relation } from '../relation.js';
import { isSmall } from './expression-size.js';
import { mapExpressions } from './map-expressions.js';
import { expressionsOf } from './verify-relation.js';

/** Columns are computed once, at the top: projections move above orders and limits, and into what reads them. */
export function mergeProjects(relation: Relation): Relation {
  const node = mapInputs(relation, mergeProjects);
  if (node.kind === 'join' || node.kind === 'union' || node.kind === 'source') return node;
  const project = node.input;
  if (project.kind !== 'project') return node;
  const meanings = new Map(project.columns.map(({ name, bound }) => [name, bound]));
  const meaning = (name: string): Bound | undefined => meanings.get(name);
  const merged = mapExpressions({ ...node, input: project.input }, (bound) => substitute(bound, meaning));
  if (!isSmall(expressionsOf(merged))) return node;
  switch (merged.kind) {
    case 'project':
    case 'aggregate':
      return merged;
    case 'filter':
    case 'sort':
    case 'limit':
      return { ...project, input: merged };
    case 'unnest': {
      if (columnsOf(project.input).some(({ name }) => name === merged.name)) return node;
      const { name, type } = merged;
      const columns: ProjectedColumn[] = [...project.columns, { name, type, bound: { kind: 'column', type, name } }];
      return { kind: 'project', input: merged, columns };
    }
    default:
      return node;
  }
}
