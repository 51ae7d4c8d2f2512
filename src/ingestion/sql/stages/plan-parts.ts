// Cuts the plan of a statement into what its stages do.

import type { GroupPlan, PostStep, ScanPlan, SortKey } from '../../../model/plan.js';
import type { RowsPlan } from '../../../model/row-source.js';
import type { PlannedQuery } from '../../../model/statement.js';
import { planOverArrivals } from '../external-plan.js';

/** A plan cut where rows of all shares of the input have to meet. */
export interface PlanParts {
  /** The plan over a share of the input: rows, or of a grouping parts of groups. */
  readonly read: RowsPlan;
  /** Merges parts of groups, those of some keys at a time where there are keys; null: readers give rows. */
  readonly merge: GroupPlan | null;
  /** Keys by whose hash parts of groups are shuffled; 0: all parts are merged together. */
  readonly keyCount: number;
  /** Steps that look at all rows, in one place. */
  readonly last: readonly PostStep[];
}

/** The plan of a statement whose input, or the rows of its subquery, is read in shares, or of one over files, which is read in any order. */
export function planParts({ source, plan }: PlannedQuery): PlanParts {
  switch (source.kind) {
    case 'table':
      return cut(plan);
    case 'external':
    case 'inline':
    case 'query':
      return cut(planOverArrivals(plan));
    default:
      return wholly(plan);
  }
}

/** Subqueries, each over the next, that have stages of their own before those of what reads their rows; 0: the statement has none such. */
export function depthOf({ plan, source }: PlannedQuery): number {
  let depth = 0;
  let reader = plan;
  let below = source;
  for (; below.kind === 'query'; depth++) {
    if (!readsAnyOrder(reader)) return 0;
    [reader, below] = [below.plan, below.source];
  }
  return below.kind === 'external' || below.kind === 'table' ? depth : 0;
}

/** The subquery of a level: 0 is the statement itself. */
export function queryAt(query: PlannedQuery, level: number): PlannedQuery {
  if (level === 0 || query.source.kind !== 'query') return query;
  return queryAt({ plan: query.source.plan, source: query.source.source, columns: [] }, level - 1);
}

/** Whether a plan can be run over rows as they come. */
function readsAnyOrder(plan: RowsPlan): boolean {
  return plan.operator === 'group' ? plan.withinData !== true : plan.operator === 'scan' && plan.timeOrder === null;
}

/** The same where one reader reads all: a broker gives the rows of the result. */
export function planPartsOfAll(query: PlannedQuery): PlanParts {
  const { kind } = query.source;
  return kind === 'external' || kind === 'inline' ? planParts(query) : wholly(query.plan);
}

/** Steps that leave fewer rows of each share, as many as the last steps may want of it. */
export function earlySteps({ last: [first] }: PlanParts): readonly PostStep[] {
  if (first === undefined || (first.step !== 'sort' && first.step !== 'limit') || first.limit === null) return [];
  return [{ ...first, offset: 0, limit: first.offset + first.limit }];
}

function wholly(plan: RowsPlan): PlanParts {
  return { read: plan, merge: null, keyCount: 0, last: [] };
}

function cut(plan: RowsPlan): PlanParts {
  if (plan.operator === 'scan') return cutScan(plan);
  return plan.operator === 'group' ? cutGroups(plan) : wholly(plan);
}

function cutScan(plan: ScanPlan): PlanParts {
  const { offset, limit, post } = plan;
  if (offset > 0 || limit !== null) {
    const read: ScanPlan = { ...plan, offset: 0, limit: limit === null ? null : offset + limit, post: [] };
    return { read, merge: null, keyCount: 0, last: [{ step: 'limit', offset, limit }, ...post] };
  }
  const { rowWise, others } = divided(post);
  return { read: { ...plan, post: rowWise }, merge: null, keyCount: 0, last: others };
}

/** Groups of some keys are whole by themselves; empty buckets of time are filled in between all of them. */
function cutGroups(plan: GroupPlan): PlanParts {
  const { keys, post } = plan;
  if (keys.length === 0 || post.some(({ step }) => step === 'fillBuckets')) return { read: plan, merge: plan, keyCount: 0, last: [] };
  const { rowWise, others } = divided(post);
  const names = keys.map(({ name }) => name);
  const last = withTieBreaks(others, rowWise.reduce(renamed, names));
  return { read: plan, merge: { ...plan, post: rowWise }, keyCount: keys.length, last };
}

function divided(steps: readonly PostStep[]): { readonly rowWise: readonly PostStep[]; readonly others: readonly PostStep[] } {
  const at = steps.findIndex(({ step }) => step !== 'compute' && step !== 'filter' && step !== 'project');
  return at < 0 ? { rowWise: steps, others: [] } : { rowWise: steps.slice(0, at), others: steps.slice(at) };
}

/** Sorts that name the keys of groups, which break ties: rows of groups, once they are merged, are rows like any others. */
function withTieBreaks(steps: readonly PostStep[], keys: readonly string[]): readonly PostStep[] {
  let names = keys;
  return steps.map((step) => {
    const known = names;
    names = renamed(names, step);
    if (step.step !== 'sort' && step.step !== 'topPerBucket') return step;
    const isOrderedBy = (name: string): boolean => step.by.some(({ column, ordering }) => column === name && ordering === 'lexicographic');
    const ties = known
      .filter((name) => !isOrderedBy(name))
      .map((column): SortKey => ({ column, descending: false, nulls: 'first', ordering: 'lexicographic' }));
    return { ...step, by: [...step.by, ...ties] };
  });
}

function renamed(names: readonly string[], step: PostStep): readonly string[] {
  return step.step === 'project' ? step.columns.flatMap(({ name, from }) => (names.includes(from) ? [name] : [])) : names;
}
