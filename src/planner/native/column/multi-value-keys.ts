// Refuses multi-value keys where the context asks for it.

import type { GroupPlan, Plan } from '../../../model/plan.js';
import { changed } from '../../places/recording.js';

/** The plan of a groupBy whose context has `groupByEnableMultiValueUnnesting: false`. */
export function refusingMultiValues<Asked extends Plan>(plan: Asked): Asked {
  if (plan.operator !== 'group') return plan;
  const changes: Partial<GroupPlan> = { refusesMultiValues: true };
  return changed(plan, changes as Partial<typeof plan>);
}
