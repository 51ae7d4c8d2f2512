import { freePrefix } from '../bind-from.js';
import { type Bound, column, transform } from '../bound.js';
import { columnsOf, type JoinRelation, mapInputs, type ProjectedColumn, type Relation } from '../relation.js';
import type { JoinType } from '../syntax.js';

/** The right side of a join is held in memory: it should be the smaller one. A side must be this much smaller to change places. */
const FACTOR = 2;

const SWAPPED: Readonly<Record<JoinType, JoinType>> = { inner: 'inner', left: 'right', right: 'left', full: 'full' };

export function swapJoinSides(relation: Relation): Relation {
  const node = mapInputs(relation, swapJoinSides);
  if (node.kind !== 'join') return node;
  const [left, right] = [rowEstimate(node.left), rowEstimate(node.right)];
  if (left === undefined || right === undefined || right <= left * FACTOR) return node;
  return swapped(node);
}

function swapped(join: JoinRelation): Relation {
  const prefix = freePrefix(join.right);
  const rename = (name: string): string => (name.startsWith(join.prefix) ? name.slice(join.prefix.length) : prefix + name);
  const renamed = (bound: Bound): Bound =>
    transform(bound, (part) => (part.kind === 'column' ? column(part.type, rename(part.name)) : undefined));
  const input: JoinRelation = {
    kind: 'join',
    left: join.right,
    right: join.left,
    prefix,
    type: SWAPPED[join.type],
    condition: join.condition === null ? null : renamed(join.condition),
  };
  const columns = columnsOf(join).map(({ name, type }): ProjectedColumn => ({ name, type, bound: column(type, rename(name)) }));
  return { kind: 'project', input, columns };
}

/** Roughly how many rows a relation has; undefined when nothing is known of one of its tables. */
function rowEstimate(relation: Relation): number | undefined {
  switch (relation.kind) {
    case 'source':
      return relation.source.kind === 'inline' ? relation.source.frame.rowCount : relation.rowCount;
    case 'filter':
      return scaled(rowEstimate(relation.input), 0.25);
    case 'aggregate':
      return relation.keys.length === 0 ? 1 : scaled(rowEstimate(relation.input), 0.1);
    case 'limit': {
      const rows = rowEstimate(relation.input);
      return relation.limit === null ? rows : Math.min(rows ?? Infinity, relation.limit);
    }
    case 'project':
    case 'sort':
    case 'window':
      return rowEstimate(relation.input);
    case 'unnest':
      return scaled(rowEstimate(relation.input), 3);
    case 'union':
      return sum(relation.inputs.map(rowEstimate));
    case 'join': {
      const [left, right] = [rowEstimate(relation.left), rowEstimate(relation.right)];
      return left === undefined || right === undefined ? undefined : relation.condition === null ? left * right : Math.max(left, right);
    }
  }
}

function scaled(rows: number | undefined, by: number): number | undefined {
  return rows === undefined ? undefined : rows * by;
}

function sum(rows: readonly (number | undefined)[]): number | undefined {
  return rows.reduce((so, each) => (so === undefined || each === undefined ? undefined : so + each), 0);
}
