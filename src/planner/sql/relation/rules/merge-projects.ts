// Rule: merges projections, so that columns are computed once.

import { changed } from '../../../places/recording.js';
import { type Bound, substitute } from '../bound.js';
import { columnsOf, identity, mapInputs, type Relation } from '../relation.js';
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
  const merged = mapExpressions(changed(node, { input: project.input }), (bound) => substitute(bound, meaning));
  if (!isSmall(expressionsOf(merged), [...expressionsOf(node), ...expressionsOf(project)])) return node;
  switch (merged.kind) {
    case 'project':
    case 'aggregate':
      return merged;
    case 'filter':
    case 'sort':
    case 'limit':
      return { ...project, input: merged };
    case 'window':
    case 'unnest': {
      // Columns that the node adds keep their names above the columns computed now.
      const added = columnsOf(node).slice(project.columns.length);
      if (columnsOf(project.input).some(({ name }) => added.some((each) => each.name === name))) return node;
      return { kind: 'project', input: merged, columns: [...project.columns, ...identity(added)] };
    }
    default:
      return node;
  }
}
