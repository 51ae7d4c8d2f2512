// Adapts plans to rows in order of arrival, as external sources give them.

import { ServiceError } from '../../base/errors.js';
import { ETERNITY, type Interval } from '../../base/instant.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import { type Expression, long } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import type { Granularity } from '../../model/granularity.js';
import type { GroupKey, GroupPlan, Plan, ScanPlan } from '../../model/plan.js';
import { ARRIVAL_TIME, arrivalName } from '../../model/rewrite/arrival-time.js';
import { renameAggregator, renameFilter, renameKey, renameStep, renameVirtualColumn } from '../../model/rewrite/plan-names.js';

export type ExternalPlan = ScanPlan | GroupPlan;

/**
 * A plan over rows that are in order of arrival: what it would have cut or bucketed by a sorted `__time` it filters
 * and floors like any other column.
 */
export function planOverArrivals(plan: Plan): ExternalPlan {
  if (plan.operator !== 'scan' && plan.operator !== 'group')
    throw new ServiceError('unsupported', `a ${plan.operator} plan is not supported in a task`);
  const virtualColumns = plan.virtualColumns.map((column) => renameVirtualColumn(column, arrivalName));
  const filters = [plan.filter === null ? null : renameFilter(plan.filter, arrivalName), filterOf(plan.intervals)].filter(
    (filter) => filter !== null,
  );
  const filter: Filter | null = filters.length > 1 ? { kind: 'and', filters } : (filters[0] ?? null);
  const common = {
    dataSource: plan.dataSource,
    intervals: [ETERNITY],
    filter,
    post: plan.post.map((step) => renameStep(step, arrivalName)),
  };
  if (plan.operator === 'scan')
    return { ...plan, ...common, virtualColumns, columns: plan.columns.map(arrivalName), timeOrder: orderOf(plan) };
  const keys = plan.keys.map((key, position): GroupKey => {
    if (key.kind === 'column') return renameKey(key, arrivalName);
    const column = `time key ${position}`;
    virtualColumns.push(flooredTime(column, key.granularity));
    return { kind: 'column', name: arrivalName(key.name), column, type: 'LONG' };
  });
  return {
    ...plan,
    ...common,
    virtualColumns,
    keys,
    aggregators: plan.aggregators.map((aggregator) => renameAggregator(aggregator, arrivalName)),
  };
}

function orderOf({ timeOrder }: ScanPlan): null {
  if (timeOrder !== null) throw new ServiceError('unsupported', 'ORDER BY __time over external rows needs the sort step');
  return null;
}

/** null: all times. */
function filterOf(intervals: readonly Interval[]): Filter | null {
  if (intervals.some(({ start, end }) => start <= ETERNITY.start && end >= ETERNITY.end)) return null;
  const filters = intervals.map(
    ({ start, end }): Filter => ({
      kind: 'range',
      column: ARRIVAL_TIME,
      type: 'LONG',
      ordering: 'numeric',
      lower: BigInt(start),
      upper: BigInt(end),
      lowerStrict: false,
      upperStrict: true,
    }),
  );
  return filters.length === 0 ? { kind: 'false' } : { kind: 'or', filters };
}

function flooredTime(name: string, granularity: Granularity): VirtualColumn {
  return { name, expression: flooredExpression(granularity), outputType: 'LONG' };
}

function flooredExpression(granularity: Granularity): Expression {
  const time: Expression = { kind: 'column', name: ARRIVAL_TIME };
  switch (granularity.kind) {
    case 'none':
      return time;
    case 'all':
      return long(ETERNITY.start);
    case 'duration':
      return floorCall(time, `PT${granularity.durationMs / 1000}S`, granularity.origin, 'UTC');
    case 'period':
      return floorCall(time, granularity.period, granularity.origin, granularity.timeZone);
  }
}

function floorCall(time: Expression, period: string, origin: number | null, timeZone: string): Expression {
  const literal = (type: 'STRING' | 'LONG', value: string | bigint | null): Expression => ({ kind: 'literal', type, value });
  return {
    kind: 'call',
    function: 'timestamp_floor',
    arguments: [time, literal('STRING', period), literal('LONG', origin === null ? null : BigInt(origin)), literal('STRING', timeZone)],
  };
}
