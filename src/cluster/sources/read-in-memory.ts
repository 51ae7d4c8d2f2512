// Plans that read the rows of a subquery where they stay in memory.

import { columnsNamed } from '../../execution/expression/columns-of-plan.js';
import { inArrivalOrder } from '../../execution/join/arrival-order.js';
import { ARRIVAL_TIME } from '../../model/rewrite/arrival-time.js';
import type { RowsPlan } from '../../model/row-source.js';
import { type ColumnSchema, TIME_COLUMN } from '../../model/schema.js';
import { isWhole } from './source-plans.js';
import { asksForTime, type SourceSteps } from './source-steps.js';

/** A plan over rows in memory, and the columns of the subquery that it reads. */
interface InMemory {
  readonly plan: RowsPlan;
  readonly names: readonly string[];
}

/**
 * The plan as it reads rows of a subquery that come all at once and stay in memory, in no order of a time: where it asks for their
 * `__time` as a value alone, by the name of arrival. Undefined: they come as frames.
 * @param columns  of the subquery
 */
export function readInMemory(
  plan: RowsPlan,
  source: SourceSteps,
  needed: readonly ColumnSchema[],
  columns: readonly ColumnSchema[],
): InMemory | undefined {
  const reader = readerOf(plan, source, columns);
  if (reader === undefined) return undefined;
  const named = columnsNamed(reader);
  const names = needed.flatMap(({ name }) => (name !== TIME_COLUMN || named.has(ARRIVAL_TIME) ? [name] : []));
  return names.length === 0 ? undefined : { plan: reader, names };
}

function readerOf(plan: RowsPlan, { base, steps }: SourceSteps, columns: readonly ColumnSchema[]): RowsPlan | undefined {
  if (base.kind !== 'query' || !isWhole(base.plan)) return undefined;
  const time = columns.find(({ name }) => name === TIME_COLUMN);
  if (time === undefined) return asksForTime(plan, steps) ? undefined : plan;
  return time.type === 'LONG' && steps.length === 0 ? inArrivalOrder(plan) : undefined;
}
