// Collects the stored columns that a plan reads.

import { own } from '../../base/names.js';
import { columnsOfExpression, columnsOfFilter } from '../../model/columns-read.js';
import type { Filter } from '../../model/filter.js';
import type { RowPlan } from '../../model/plan.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { columnsThrough, nameThrough } from '../../model/stage-columns.js';
import { columnsAndFields } from './json-field.js';
import { storedName, type VirtualColumns, virtualColumnsByName } from './scope.js';

/** Columns that a plan needs from segments. */
export interface NeededColumns {
  /** Stored columns; virtual ones are replaced by what they read. */
  readonly columns: readonly string[];
  /** String columns whose ids must be comparable between segments. */
  readonly comparable: readonly string[];
}

export function columnsOfPlan(plan: RowPlan): NeededColumns {
  const { stages } = plan;
  if (stages === undefined || stages.length === 0) return columnsAtEnd(plan, true);
  const { columns, comparable } = columnsAtEnd(plan, false);
  const { before } = columnsThrough(stages, columns);
  return { columns: [...before], comparable: comparable.flatMap((name) => nameThrough(stages, name) ?? []) };
}

/** Columns that a plan reads after its stages. */
export function columnsRead(plan: RowPlan): readonly string[] {
  return columnsAtEnd(plan, false).columns;
}

/** The same without `__time`, unless the plan names it. */
export function columnsNamed(plan: RowPlan): ReadonlySet<string> {
  return new Set(columnsAtEnd(plan, false, []).columns);
}

/**
 * Whether the plan only cuts by `__time`: of a segment whose rows are all in the plan's intervals it is not read. Groups
 * by columns of anything that is not objects; other plans may read it without naming it.
 */
export function readsNoTime(plan: RowPlan): boolean {
  return (
    plan.operator === 'group' &&
    (plan.stages?.length ?? 0) === 0 &&
    plan.keys.every((key) => key.kind === 'column' || key.granularity.kind === 'all') &&
    plan.aggregators.every(({ kind }) => kind !== 'state') &&
    !columnsNamed(plan).has(TIME_COLUMN)
  );
}

/** @param ofSegments  rows are read as segments keep them, with fields of JSON columns beside these */
function columnsAtEnd(plan: RowPlan, ofSegments: boolean, always: readonly string[] = [TIME_COLUMN]): NeededColumns {
  const virtualColumns = virtualColumnsByName(plan.virtualColumns);
  const isStored = (name: string): boolean => ofSegments && !Object.hasOwn(virtualColumns, name);
  const named = new Set<string>(always);
  const comparable = new Set<string>();
  if (plan.filter !== null) columnsOfCondition(plan.filter, isStored, named);
  if (plan.operator === 'scan') {
    for (const name of plan.columns) named.add(name);
    for (const { from, isNumbered } of plan.upload?.columns ?? [])
      if (isNumbered === true && plan.columns.includes(from)) comparable.add(from);
    // Partitions and their orders go over all segments.
    if (ofSegments)
      for (const step of plan.post) {
        if (step.step !== 'window') continue;
        for (const name of [...step.partition, ...step.order.map(({ column }) => column)])
          if (plan.columns.includes(name)) comparable.add(name);
      }
  }
  if (plan.operator === 'group') {
    for (const key of plan.keys) if (key.kind === 'column') comparable.add(key.column);
    for (const aggregator of plan.aggregators) {
      if (aggregator.filter !== null) columnsOfCondition(aggregator.filter, isStored, named);
      if (aggregator.kind === 'distinct') comparable.add(aggregator.column);
      else if (aggregator.kind === 'state') for (const column of aggregator.columns) named.add(column);
      else if (aggregator.kind !== 'count') named.add(aggregator.column);
    }
  }
  const shared = new Set<string>();
  for (const name of comparable) {
    const stored = storedName(virtualColumns, name);
    if (!Object.hasOwn(virtualColumns, stored)) shared.add(stored);
    named.add(name);
  }
  return {
    columns: [...storedColumns(named, virtualColumns, isStored)],
    comparable: [...shared],
  };
}

function columnsOfCondition(filter: Filter, isStored: (name: string) => boolean, into: Set<string>): void {
  switch (filter.kind) {
    case 'and':
    case 'or':
      for (const part of filter.filters) columnsOfCondition(part, isStored, into);
      break;
    case 'not':
    case 'isTrue':
      columnsOfCondition(filter.filter, isStored, into);
      break;
    case 'expression':
      columnsAndFields(filter.expression, isStored, (name) => into.add(name));
      break;
    default:
      columnsOfFilter(filter, into);
  }
}

function storedColumns(names: Iterable<string>, virtualColumns: VirtualColumns, isStored: (name: string) => boolean): Set<string> {
  const stored = new Set<string>();
  const [open, read] = [new Set<string>(), new Set<string>()];
  const visit = (name: string): void => {
    const virtual = Object.hasOwn(virtualColumns, name) ? own(virtualColumns, name) : undefined;
    // Within its own expression the name of a virtual column is that of the stored one.
    if (virtual === undefined || open.has(name)) {
      stored.add(name);
      return;
    }
    if (read.has(name)) return;
    open.add(name);
    columnsAndFields(virtual.expression, isStored, visit);
    if (virtual.keeps !== undefined) for (const input of columnsOfExpression(virtual.keeps)) visit(input);
    open.delete(name);
    read.add(name);
  };
  for (const name of names) visit(name);
  return stored;
}
