// Refuses multi-value keys where the context asks for it.

import type { GroupPlan, Plan } from '../../../model/plan.js';
import type { RowSource } from '../../../model/row-source.js';
import { changed } from '../../places/recording.js';

/** The plan of a groupBy whose context has `groupByEnableMultiValueUnnesting: false`. */
export function refusingMultiValues<Asked extends Plan>(plan: Asked): Asked {
  if (plan.operator !== 'group') return plan;
  const changes: Partial<GroupPlan> = { refusesMultiValues: true };
  return changed(plan, changes as Partial<typeof plan>);
}

/** The same for the plans of its subqueries. */
export function sourceRefusingMultiValues(source: RowSource): RowSource {
  switch (source.kind) {
    case 'table':
    case 'inline':
    case 'lookup':
    case 'external':
      return source;
    case 'query':
      return changed(source, { plan: refusingMultiValues(source.plan), source: sourceRefusingMultiValues(source.source) });
    case 'union':
      return changed(source, { sources: source.sources.map(sourceRefusingMultiValues) });
    case 'filtered':
    case 'unnest':
      return changed(source, { source: sourceRefusingMultiValues(source.source) });
    case 'join':
      return changed(source, { left: sourceRefusingMultiValues(source.left), right: sourceRefusingMultiValues(source.right) });
  }
}
