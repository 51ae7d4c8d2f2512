// Empty buckets of statements that are grouped by time.

import { own } from '../../../base/names.js';
import type { PostStep } from '../../../model/plan.js';
import type { RowSource } from '../../../model/row-source.js';
import type { PlannedQuery } from '../../../model/statement.js';

/**
 * The context key `skipEmptyBuckets` of a statement: queries that are grouped by time alone leave buckets without rows out,
 * and have them with `false`; queries without GROUP BY have their one row, and with `true` only if they have found rows, except
 * those over the rows of a subquery.
 */
export function withEmptyBuckets(query: PlannedQuery, context: Readonly<Record<string, unknown>>): PlannedQuery {
  const skips = String(own(context, 'skipEmptyBuckets') ?? '');
  const { plan, source } = query;
  if (skips === '' || plan.operator !== 'group') return query;
  const [key] = plan.keys;
  if (key === undefined) return skips === 'true' && !isSubquery(source) ? { ...query, plan: { ...plan, emptyGroup: false } } : query;
  if (
    source.kind !== 'table' ||
    skips === 'true' ||
    plan.keys.length > 1 ||
    key.kind !== 'time' ||
    !plan.post.every((step) => allowsEmpty(step, key.name))
  )
    return query;
  const fill: PostStep = { step: 'fillBuckets', bucket: key.name, granularity: key.granularity };
  return { ...query, plan: { ...plan, withinData: true, post: [fill, ...plan.post] } };
}

function isSubquery(source: RowSource): boolean {
  return source.kind === 'filtered' ? isSubquery(source.source) : source.kind === 'query';
}

/** Whether it keeps rows in the order of time; HAVING, windows, another order and OFFSET are of the groups that there are. */
function allowsEmpty(step: PostStep, bucket: string): boolean {
  switch (step.step) {
    case 'compute':
    case 'project':
      return true;
    case 'limit':
      return step.offset === 0;
    case 'sort':
      return step.offset === 0 && step.by.length === 1 && step.by[0]?.column === bucket;
    default:
      return false;
  }
}
