// Columns that post-processing steps still read: those which sort or filter carry no other.

import { columnsOfExpression, columnsOfFilter } from '../../model/columns-read.js';
import type { PostStep, SortKey } from '../../model/plan.js';
import type { FrameBound } from '../../model/window.js';
import type { ResultTable } from '../block/result-table.js';

/** Names of columns; undefined: all. */
export type KeptColumns = ReadonlySet<string> | undefined;

/** For each step the columns that the steps after it read. */
export function keptAfter(steps: readonly PostStep[]): KeptColumns[] {
  const kept: KeptColumns[] = new Array<KeptColumns>(steps.length);
  let after: KeptColumns;
  for (let at = steps.length - 1; at >= 0; at--) {
    kept[at] = after;
    const step = steps[at];
    if (step !== undefined) after = keptBefore(step, after);
  }
  return kept;
}

/** The table with these columns alone, and its group keys, which break ties. */
export function withColumns(table: ResultTable, kept: KeptColumns): ResultTable {
  if (kept === undefined) return table;
  return { ...table, columns: table.columns.filter(({ name }) => kept.has(name) || table.keys.includes(name)) };
}

function keptBefore(step: PostStep, after: KeptColumns): KeptColumns {
  if (step.step === 'project') return new Set(step.columns.map(({ from }) => from));
  if (after === undefined || step.step === 'fillBuckets') return undefined;
  const read = new Set(after);
  for (const name of columnsRead(step)) read.add(name);
  return read;
}

function columnsRead(step: Exclude<PostStep, { step: 'project' | 'fillBuckets' }>): Iterable<string> {
  switch (step.step) {
    case 'compute':
      return columnsOfExpression(step.expression);
    case 'filter':
      return columnsOfFilter(step.filter);
    case 'sort':
      return columnsOfOrder(step.by);
    case 'topPerBucket':
      return [step.bucket, ...columnsOfOrder(step.by)];
    case 'limit':
      return [];
    case 'rank':
      return [step.state];
    case 'window':
      return [...step.partition, ...columnsOfOrder(step.order), ...columnsOfFunctions(step)];
  }
}

function columnsOfOrder(by: readonly SortKey[]): string[] {
  return by.map(({ column }) => column);
}

/** Columns that the functions of a window read once its rows are in order. */
export function columnsOfFunctions({ functions, order }: Extract<PostStep, { step: 'window' }>): string[] {
  const names: string[] = [];
  for (const { columns, filter, frame } of functions) {
    for (const name of columns) names.push(name);
    if (filter !== null) names.push(filter);
    for (const bound of [frame.start, frame.end] satisfies FrameBound[])
      if (typeof bound === 'object') {
        names.push(bound.reach);
        for (const { column } of order) names.push(column);
      }
  }
  return names;
}
