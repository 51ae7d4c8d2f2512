// Changes the plans of the subqueries that a source of rows is made of.

import type { RowSource, RowsPlan } from '../model/row-source.js';
import { changed } from './places/recording.js';

/** A plan and the rows it is over. */
export interface SourceQuery {
  readonly plan: RowsPlan;
  readonly source: RowSource;
}

/** The source with each plan in it, at any depth, as `change` makes it. */
export function withPlans(source: RowSource, change: (plan: RowsPlan) => RowsPlan): RowSource {
  return withQueries(source, (query) => ({ plan: change(query.plan), source: query.source }));
}

/** The same of plans with the rows they are over, innermost first. */
export function withQueries(source: RowSource, change: (query: SourceQuery) => SourceQuery): RowSource {
  const within = (each: RowSource): RowSource => withQueries(each, change);
  switch (source.kind) {
    case 'table':
    case 'inline':
    case 'lookup':
    case 'external':
      return source;
    case 'query':
      return changed(source, change({ plan: source.plan, source: within(source.source) }));
    case 'union':
      return changed(source, { sources: source.sources.map(within) });
    case 'filtered':
    case 'unnest':
      return changed(source, { source: within(source.source) });
    case 'join':
      return changed(source, { left: within(source.left), right: within(source.right) });
  }
}
