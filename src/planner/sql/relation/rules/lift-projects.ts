// Rule: computes columns above joins rather than below them.

import { type Bound, column, columnNames, transform } from '../bound.js';
import {
  columnsOf,
  freeName,
  freePrefix,
  type JoinRelation,
  keepsLeft,
  mapInputs,
  type ProjectedColumn,
  type ProjectRelation,
  type Relation,
} from '../relation.js';
import { mayHaveSeveral } from '../several-values.js';
import { isSmall } from './expression-size.js';
import { mergeProjects } from './merge-projects.js';

/**
 * Columns that the left side of a join computes are computed above it: the rows of a projection are a plan's, which come as frames, and those
 * below it are joined where they lie.
 */
export function liftProjects(relation: Relation): Relation {
  const node = mapInputs(relation, liftProjects);
  if (node.kind !== 'join' || node.left.kind !== 'project' || !keepsLeft(node)) return node;
  const left = node.left.input.kind === 'project' ? mergeProjects(node.left) : node.left;
  return left.kind === 'project' && isRows(left.input) ? lifted(node, left) : node;
}

/** Whether a join can read rows where they lie, rather than the result of a plan. */
function isRows(relation: Relation): boolean {
  if (relation.kind === 'filter') return relation.input.kind !== 'union' && relation.input.kind !== 'filter' && isRows(relation.input);
  return relation.kind === 'source' || relation.kind === 'join' || relation.kind === 'unnest' || relation.kind === 'union';
}

function lifted(join: JoinRelation, project: ProjectRelation): Relation {
  const { input } = project;
  const prefix = freePrefix(input);
  const meanings = new Map(project.columns.map(({ name, bound }) => [name, bound]));
  const rename = (name: string): string => prefix + name.slice(join.prefix.length);
  const below = (bound: Bound): Bound =>
    transform(bound, (part) => {
      if (part.kind !== 'column') return undefined;
      return part.name.startsWith(join.prefix) ? column(part.type, rename(part.name)) : meanings.get(part.name);
    });
  if (isOfSeveral(join, project)) return join;
  const condition = join.condition === null ? null : below(join.condition);
  const computed = project.columns.map(({ bound }) => bound);
  if (condition !== null && join.condition !== null && !isSmall([condition], [join.condition, ...computed])) return join;
  const mark = join.mark === undefined ? undefined : freeName(join.mark, columnsOf(input));
  const columns = columnsOf(join).map(({ name, type }): ProjectedColumn => {
    if (name === join.mark) return { name, type, bound: column(type, mark ?? name) };
    return { name, type, bound: meanings.get(name) ?? column(type, rename(name)) };
  });
  const own: JoinRelation = { ...join, left: input, prefix, condition, ...(mark === undefined ? {} : { mark }) };
  return { kind: 'project', input: own, columns };
}

/** Whether a join compares what is computed of several values in a row: those of a column can be keys, those of an expression cannot. */
function isOfSeveral({ condition }: JoinRelation, { columns, input }: ProjectRelation): boolean {
  const names = condition === null ? new Set() : columnNames(condition);
  return columns.some(({ name, bound }) => names.has(name) && bound.kind !== 'column' && mayHaveSeveral(bound, input));
}
