// Limits the rows of a window's partition where the context asks for it.

import type { RowsPlan } from '../../../model/row-source.js';
import type { PlannedQuery } from '../../../model/statement.js';
import { changed } from '../../places/recording.js';
import { withPlans } from '../../source-plans.js';

/** The query, and its subqueries, with windows over at most so many rows in a partition. */
export function withWindowRows(query: PlannedQuery, rowsMax: number | null): PlannedQuery {
  if (rowsMax === null) return query;
  const limited = (plan: RowsPlan): RowsPlan => planOf(plan, rowsMax);
  return { ...query, plan: limited(query.plan), source: withPlans(query.source, limited) };
}

function planOf(plan: RowsPlan, rowsMax: number): RowsPlan {
  if (!plan.post.some(({ step }) => step === 'window')) return plan;
  const post = plan.post.map((step) => (step.step === 'window' ? { ...step, rowsMax } : step));
  return changed<RowsPlan>(plan, { post });
}
