// Rule: takes the first rows of each branch of a UNION ALL before those of all.

import { askOf, changed } from '../../../places/recording.js';
import { substitute } from '../bound.js';
import { type LimitRelation, mapInputs, type Relation, type RelationSortKey } from '../relation.js';
import { isSmall } from './expression-size.js';

/** More rows than this are not taken twice. */
const ROWS_MAX = 65_536;

/** The first rows, in an order or in none, are among the first ones of each branch: only these leave the place where a branch is read. */
export function cutBranches(relation: Relation): Relation {
  const node = mapInputs(relation, cutBranches);
  if (node.kind !== 'limit') return node;
  const sort = node.input.kind === 'sort' ? node.input : undefined;
  const union = sort === undefined ? node.input : sort.input;
  if (union.kind !== 'union') return node;
  if (askOf(node, 'limit', (limit) => limit === null || limit > ROWS_MAX)) return node;
  const cut = ofBranch(node);
  const rows: Relation = { kind: 'union', inputs: union.inputs.map((input) => first(input, sort?.by ?? [], cut)) };
  return changed(node, { input: sort === undefined ? rows : { ...sort, input: rows } });
}

/** Rows that are skipped may all be in one branch. */
function ofBranch(node: LimitRelation): LimitRelation {
  if (askOf(node, 'offset', (offset) => offset === 0)) return node;
  return { ...node, offset: 0, limit: (node.limit ?? 0) + node.offset };
}

function first(branch: Relation, by: readonly RelationSortKey[], cut: LimitRelation): Relation {
  if (branch.kind !== 'project') return sorted(branch, by, cut);
  const meanings = new Map(branch.columns.map(({ name, bound }) => [name, bound]));
  const own = by.map((key): RelationSortKey => ({ ...key, bound: substitute(key.bound, (name) => meanings.get(name)) }));
  const bounds = own.map(({ bound }) => bound);
  if (!isSmall(bounds, [...by.map(({ bound }) => bound), ...meanings.values()])) return sorted(branch, by, cut);
  return { ...branch, input: first(branch.input, own, cut) };
}

/** Rows of a branch do not differ in what is constant there. */
function sorted(input: Relation, by: readonly RelationSortKey[], cut: LimitRelation): Relation {
  const keys = by.filter(({ bound }) => bound.kind !== 'literal');
  return changed(cut, { input: keys.length === 0 ? input : { kind: 'sort', input, by: keys } });
}
