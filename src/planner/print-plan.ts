// Prints a plan as text, for golden files, logs and EXPLAIN.

import { formatInterval } from '../base/interval.js';
import { stringifyJson } from '../base/json.js';
import { printExpression } from '../expression/print.js';
import type { AggregateState } from '../model/aggregate-state.js';
import type { Aggregator, DistinctFold } from '../model/aggregator.js';
import type { Filter } from '../model/filter.js';
import { granularityName } from '../model/granularity.js';
import type { GroupKey, Plan, PostStep, SortKey } from '../model/plan.js';
import { valuesOf } from '../model/value-list.js';
import type { FrameBound, WindowFunction } from '../model/window.js';

/** A plan as text, one line for each part that is there: for golden files, logs and EXPLAIN. */
export function printPlan(plan: Plan): string {
  const lines = [
    `${plan.operator} ${plan.dataSource} over ${plan.intervals.map(formatInterval).join(', ') || 'nothing'}${plan.operator === 'group' && plan.withinData === true ? ', where segments are' : ''}`,
  ];
  for (const { name, expression, outputType, keeps } of plan.virtualColumns) {
    const kept = keeps === undefined ? '' : `, of values where ${printExpression(keeps)}`;
    lines.push(`virtual ${name}${outputType === null ? '' : ` ${outputType}`} = ${printExpression(expression)}${kept}`);
  }
  if (plan.filter !== null) lines.push(`where ${printFilter(plan.filter)}`);
  switch (plan.operator) {
    case 'group':
      for (const key of plan.keys) lines.push(`key ${printKey(key)}`);
      for (const aggregator of plan.aggregators) lines.push(`aggregate ${printAggregator(aggregator)}`);
      if (plan.emptyGroup) lines.push('one row for no rows');
      break;
    case 'scan':
      lines.push(`columns ${plan.columns.join(', ')}`);
      if (plan.timeOrder !== null) lines.push(`in time order, ${plan.timeOrder}`);
      if (plan.offset > 0 || plan.limit !== null) lines.push(printLimit(plan.offset, plan.limit));
      break;
    case 'segmentMetadata':
      lines.push(
        `analyse ${plan.analyses.join(', ') || 'nothing'}`,
        `columns ${plan.columns.kind === 'list' ? plan.columns.names.join(', ') : plan.columns.kind}`,
      );
      if (plan.merge) lines.push('merged');
      break;
    case 'timeBoundary':
      break;
  }
  for (const step of plan.post) lines.push(`then ${printStep(step)}`);
  return lines.join('\n');
}

function printKey(key: GroupKey): string {
  if (key.kind === 'time') return `${key.name} = bucket by ${granularityName(key.granularity)}`;
  return `${key.name}${key.column === key.name ? '' : ` = ${key.column}`}${key.type === null ? '' : ` as ${key.type}`}`;
}

function printAggregator(aggregator: Aggregator): string {
  const { name, kind, filter } = aggregator;
  const what =
    kind === 'count'
      ? 'count'
      : kind === 'distinct'
        ? `${aggregator.fold === undefined ? '' : `${printFold(aggregator.fold)} of `}distinct ${aggregator.column}`
        : kind === 'state'
          ? `${printState(aggregator.aggregateState)} of ${aggregator.input === 'states' ? 'states ' : ''}${aggregator.columns.join(', ')}${aggregator.output === 'value' ? '' : `, ${aggregator.output}`}`
          : `${kind} ${aggregator.column} as ${aggregator.type}`;
  return `${name} = ${what}${filter === null ? '' : ` where ${printFilter(filter)}`}`;
}

function printFold(fold: DistinctFold): string {
  return fold.kind === 'state' ? `${printState(fold.aggregateState)}${fold.output === 'value' ? '' : `, ${fold.output}`}` : fold.kind;
}

function printState(aggregateState: AggregateState): string {
  const { type, ...settings } = aggregateState;
  return `${type} ${stringifyJson(settings)}`;
}

export function printFilter(filter: Filter): string {
  switch (filter.kind) {
    case 'true':
    case 'false':
      return filter.kind;
    case 'and':
    case 'or':
      return `(${filter.filters.map(printFilter).join(` ${filter.kind} `)})`;
    case 'not':
      return `not ${printFilter(filter.filter)}`;
    case 'isTrue':
      return `(${printFilter(filter.filter)}) is true`;
    case 'null':
      return `${filter.column} is null`;
    case 'equals':
      return `${filter.column} = ${stringifyJson(filter.value)} as ${filter.type}`;
    case 'in':
      return `${filter.column} in ${stringifyJson(valuesOf(filter.values))} as ${filter.type}`;
    case 'range': {
      const lower = filter.lower === null ? '' : `${stringifyJson(filter.lower)} ${filter.lowerStrict ? '<' : '<='} `;
      const upper = filter.upper === null ? '' : ` ${filter.upperStrict ? '<' : '<='} ${stringifyJson(filter.upper)}`;
      return `${lower}${filter.column}${upper} as ${filter.type}, ${filter.ordering}`;
    }
    case 'like':
      return `${filter.column} like ${stringifyJson(filter.pattern)}${filter.escape === null ? '' : ` escape ${stringifyJson(filter.escape)}`}`;
    case 'expression':
      return printExpression(filter.expression);
  }
}

function printStep(step: PostStep): string {
  switch (step.step) {
    case 'compute':
      return `compute ${step.name} ${step.type} = ${printExpression(step.expression)}`;
    case 'filter':
      return `keep where ${printFilter(step.filter)}`;
    case 'sort':
      return `sort by ${step.by.map(printSortKey).join(', ')}${step.offset > 0 || step.limit !== null ? `, ${printLimit(step.offset, step.limit)}` : ''}`;
    case 'topPerBucket':
      return `keep the best ${step.limit} of each ${step.bucket} by ${step.by.map(printSortKey).join(', ')}`;
    case 'window':
      return `windows ${step.functions.map(printWindowFunction).join('; ')} by ${step.partition.join(', ') || 'nothing'}${step.order.length === 0 ? '' : `, ordered by ${step.order.map(printSortKey).join(', ')}`}`;
    case 'limit':
      return printLimit(step.offset, step.limit);
    case 'fillBuckets':
      return `fill ${step.bucket} by ${granularityName(step.granularity)}`;
    case 'rank':
      return `rank ${step.name} of ${step.state}, ${step.aggregateState.type}`;
    case 'project':
      return `project ${step.columns.map(({ name, from }) => (name === from ? name : `${name} = ${from}`)).join(', ')}`;
  }
}

function printWindowFunction({ name, type, call, columns, filter, frame }: WindowFunction): string {
  const bound = (each: FrameBound): string => (typeof each === 'object' ? each.reach : String(each));
  const rows = `${frame.unit} ${bound(frame.start)} to ${bound(frame.end)}${frame.exclude === null ? '' : ` without ${frame.exclude}`}`;
  const of = columns.length === 0 ? '' : ` of ${columns.join(', ')}`;
  return `${name} ${type} = ${stringifyJson(call)}${of}${filter === null ? '' : ` where ${filter}`} over ${rows}`;
}

function printSortKey({ column, descending, nulls, ordering }: SortKey): string {
  return `${column} ${descending ? 'descending' : 'ascending'}, nulls ${nulls}, ${ordering}`;
}

function printLimit(offset: number, limit: number | null): string {
  return `rows ${offset} to ${limit === null ? 'the end' : offset + limit}`;
}
