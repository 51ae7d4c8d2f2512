// Collects and renames the columns of a plan.

import type { Aggregator, VirtualColumn } from '../aggregator.js';
import type { Expression } from '../expression.js';
import type { Filter } from '../filter.js';
import type { GroupKey, PostStep, SortKey } from '../plan.js';
import type { FrameBound, WindowFunction } from '../window.js';

/*
 * The columns that parts of a plan name: collecting them, and renaming them. Rows being ingested are in order of arrival,
 * while the engine takes a column called `__time` for sorted and cuts intervals out of it; so during ingestion that
 * column goes by another name.
 */

export type Rename = (name: string) => string;

export function renameExpression(expression: Expression, rename: Rename): Expression {
  switch (expression.kind) {
    case 'literal':
      return expression;
    case 'column':
      return { ...expression, name: rename(expression.name) };
    case 'call':
      return { ...expression, arguments: expression.arguments.map((argument) => renameExpression(argument, rename)) };
    case 'lambda': {
      const { parameters, body } = expression;
      return { ...expression, body: renameExpression(body, (name) => (parameters.includes(name) ? name : rename(name))) };
    }
  }
}

export function renameFilter(filter: Filter, rename: Rename): Filter {
  switch (filter.kind) {
    case 'true':
    case 'false':
      return filter;
    case 'and':
    case 'or':
      return { ...filter, filters: filter.filters.map((part) => renameFilter(part, rename)) };
    case 'not':
    case 'isTrue':
      return { ...filter, filter: renameFilter(filter.filter, rename) };
    case 'expression':
      return { ...filter, expression: renameExpression(filter.expression, rename) };
    default:
      return { ...filter, column: rename(filter.column) };
  }
}

export function renameVirtualColumn(column: VirtualColumn, rename: Rename): VirtualColumn {
  return { ...column, name: rename(column.name), expression: renameExpression(column.expression, rename) };
}

export function renameAggregator(aggregator: Aggregator, rename: Rename): Aggregator {
  const renamed = {
    ...aggregator,
    name: rename(aggregator.name),
    filter: aggregator.filter === null ? null : renameFilter(aggregator.filter, rename),
  };
  if (renamed.kind === 'count') return renamed;
  return renamed.kind === 'state' ? { ...renamed, columns: renamed.columns.map(rename) } : { ...renamed, column: rename(renamed.column) };
}

export function renameKey(key: GroupKey, rename: Rename): GroupKey {
  return key.kind === 'time' ? { ...key, name: rename(key.name) } : { ...key, name: rename(key.name), column: rename(key.column) };
}

export function renameStep(step: PostStep, rename: Rename): PostStep {
  const keys = (by: readonly SortKey[]): readonly SortKey[] => by.map((key) => ({ ...key, column: rename(key.column) }));
  switch (step.step) {
    case 'compute':
      return { ...step, name: rename(step.name), expression: renameExpression(step.expression, rename) };
    case 'filter':
      return { ...step, filter: renameFilter(step.filter, rename) };
    case 'sort':
      return { ...step, by: keys(step.by) };
    case 'topPerBucket':
      return { ...step, bucket: rename(step.bucket), by: keys(step.by) };
    case 'limit':
      return step;
    case 'window':
      return {
        ...step,
        partition: step.partition.map(rename),
        order: keys(step.order),
        functions: step.functions.map((each) => renameFunction(each, rename)),
      };
    case 'fillBuckets':
      return { ...step, bucket: rename(step.bucket) };
    case 'rank':
      return { ...step, name: rename(step.name), state: rename(step.state) };
    case 'project':
      return { ...step, columns: step.columns.map(({ name, from }) => ({ name: rename(name), from: rename(from) })) };
  }
}

function renameFunction(each: WindowFunction, rename: Rename): WindowFunction {
  const renamed = (bound: FrameBound): FrameBound => (typeof bound === 'object' ? { reach: rename(bound.reach) } : bound);
  const { frame } = each;
  return {
    ...each,
    name: rename(each.name),
    filter: each.filter === null ? null : rename(each.filter),
    columns: each.columns.map(rename),
    frame: { ...frame, start: renamed(frame.start), end: renamed(frame.end) },
  };
}
