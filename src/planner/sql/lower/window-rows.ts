// Limits the rows of a window's partition where the context asks for it.

import type { RowSource, RowsPlan } from '../../../model/row-source.js';
import type { PlannedQuery } from '../../../model/statement.js';
import { changed } from '../../places/recording.js';

/** The query, and its subqueries, with windows over at most so many rows in a partition. */
export function withWindowRows(query: PlannedQuery, rowsMax: number | null): PlannedQuery {
  if (rowsMax === null) return query;
  return { ...query, plan: planOf(query.plan, rowsMax), source: sourceOf(query.source, rowsMax) };
}

function planOf(plan: RowsPlan, rowsMax: number): RowsPlan {
  if (!plan.post.some(({ step }) => step === 'window')) return plan;
  const post = plan.post.map((step) => (step.step === 'window' ? { ...step, rowsMax } : step));
  return changed<RowsPlan>(plan, { post });
}

function sourceOf(source: RowSource, rowsMax: number): RowSource {
  switch (source.kind) {
    case 'table':
    case 'inline':
    case 'lookup':
    case 'external':
      return source;
    case 'query':
      return changed(source, { plan: planOf(source.plan, rowsMax), source: sourceOf(source.source, rowsMax) });
    case 'union':
      return changed(source, { sources: source.sources.map((each) => sourceOf(each, rowsMax)) });
    case 'filtered':
    case 'unnest':
      return changed(source, { source: sourceOf(source.source, rowsMax) });
    case 'join':
      return changed(source, { left: sourceOf(source.left, rowsMax), right: sourceOf(source.right, rowsMax) });
  }
}
