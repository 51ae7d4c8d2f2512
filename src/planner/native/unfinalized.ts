// Plans that return aggregate states instead of final values (`finalize: false`).

import { stateColumn } from '../../model/aggregate-state.js';
import type { Aggregator } from '../../model/aggregator.js';
import type { GroupPlan, Plan } from '../../model/plan.js';
import { stateTraits } from '../../model/state-traits.js';

/** The same plan, whose aggregators put out their states; what is computed and ordered by them goes by their values. */
export function unfinalized(plan: Plan): Plan {
  if (plan.operator !== 'group') return plan;
  const withStates = puttingOutStates(plan, () => true);
  const states = new Set(withStates.aggregators.filter((each) => each.kind === 'state' && each.output === 'both').map(({ name }) => name));
  const computed = plan.post.flatMap((step) => (step.step === 'compute' ? [step.name] : []));
  const names = [...plan.keys.map(({ name }) => name), ...plan.aggregators.map(({ name }) => name), ...computed];
  const columns = names.map((name) => ({ name, from: states.has(name) ? stateColumn(name) : name }));
  return { ...withStates, post: [...plan.post, { step: 'project', columns }] };
}

/** The same plan, in which the aggregators that are wanted put out their states beside their values. */
export function puttingOutStates(plan: GroupPlan, isWanted: (name: string) => boolean): GroupPlan {
  return {
    ...plan,
    aggregators: plan.aggregators.map((each) => (hasState(each) && isWanted(each.name) ? { ...each, output: 'both' } : each)),
  };
}

function hasState(aggregator: Aggregator): aggregator is Extract<Aggregator, { kind: 'state' }> & Aggregator {
  if (aggregator.kind !== 'state' || aggregator.output === 'state') return false;
  const { aggregateState, columns } = aggregator;
  return !stateTraits(aggregateState).isValue(aggregateState, columns);
}
