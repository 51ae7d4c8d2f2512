// Refuses multi-value keys where the context asks for it.

import type { Plan } from '../../../model/plan.js';
import type { RowSource } from '../../../model/row-source.js';

/** The plan of a groupBy whose context has `groupByEnableMultiValueUnnesting: false`. */
export function refusingMultiValues<Asked extends Plan>(plan: Asked): Asked {
  return plan.operator === 'group' ? { ...plan, refusesMultiValues: true } : plan;
}

/** The same for the plans of its subqueries. */
export function sourceRefusingMultiValues(source: RowSource): RowSource {
  switch (source.kind) {
    case 'table':
    case 'inline':
    case 'lookup':
      return source;
    case 'query':
      return { ...source, plan: refusingMultiValues(source.plan), source: sourceRefusingMultiValues(source.source) };
    case 'union':
      return { ...source, sources: source.sources.map(sourceRefusingMultiValues) };
    case 'filtered':
    case 'unnest':
      return { ...source, source: sourceRefusingMultiValues(source.source) };
    case 'join':
      return { ...source, left: sourceRefusingMultiValues(source.left), right: sourceRefusingMultiValues(source.right) };
  }
}
