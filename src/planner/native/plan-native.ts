// Entry of the native planner: the JSON body of a query → plans.

import { extended } from '../../base/names.js';
import type { Plan } from '../../model/plan.js';
import type { Query } from '../../model/query.js';
import type { KnownTables } from '../plan.js';
import { withPlans } from '../source-plans.js';
import { refusingMultiValues } from './column/multi-value-keys.js';
import { planOver } from './query/datasource.js';
import { refuseHiddenColumns, watchedTables } from './query/hidden-columns.js';
import type { ParsedQuery } from './query/parsed-query.js';
import { parseQuery } from './query/query.js';
import { unfinalized } from './unfinalized.js';

export interface PlannedNative extends ParsedQuery {
  readonly query: Query;
  /**
   * The first answers the query; a grand total and the further dimensions of a search have plans of their own. Empty
   * when there is nothing to look at.
   */
  readonly plans: readonly Plan[];
}

/** A native query's body to what execution runs. Pure. */
export function planNative(body: unknown, lenient: boolean, tables: KnownTables): PlannedNative {
  const { watched, restricted } = watchedTables(tables);
  const parsed = parseQuery(body, lenient, watched);
  const plans = planOver(parsed.query, parsed.source, watched);
  refuseHiddenColumns([plans, parsed.source, parsed.query], restricted);
  const named = parsed.source.kind === 'table' ? plans.map(namingSegments) : plans;
  const finished = parsed.context.finalizes ? named : named.map(unfinalized);
  if (parsed.context.unnestsMultiValues) return extended(parsed, { plans: finished });
  const isGroupBy = parsed.query.queryType === 'groupBy';
  return extended(parsed, {
    plans: isGroupBy ? finished.map(refusingMultiValues) : finished,
    source: withPlans(parsed.source, refusingMultiValues),
  });
}

/** Blocks of an unordered scan name their segment. */
function namingSegments(plan: Plan): Plan {
  return plan.operator === 'scan' && plan.timeOrder === null && plan.post.length === 0 ? { ...plan, namesSegments: true } : plan;
}
