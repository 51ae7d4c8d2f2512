import { formatInterval } from '../../base/interval.js';
import { stringifyJson } from '../../base/json.js';
import type { Frame } from '../../model/frame.js';
import type { RowsPlan } from '../../model/row-source.js';
import type { OutputColumn, PlannedQuery, PlannedSource } from '../../model/statement.js';
import { inlineFrame } from './inline-frame.js';

const NAMES = ['PLAN', 'RESOURCES', 'ATTRIBUTES'];

/** The answer of EXPLAIN PLAN FOR: one row of the plan as JSON, the resources it reads, and the kind of statement. */
export function explain({ plan, source, columns }: PlannedQuery): { readonly columns: readonly OutputColumn[]; readonly frame: Frame } {
  const signature = columns.map(({ name, nativeType }) => ({ name, type: nativeType }));
  const resources =
    source.kind === 'external'
      ? [{ name: 'EXTERNAL', type: 'EXTERNAL' }]
      : [...new Set(tablesOf(source))].map((name) => ({ name, type: 'DATASOURCE' }));
  const cells = [[{ query: describedPlan(plan), source: describedSource(source), signature }], resources, { statementType: 'SELECT' }].map(
    (value) => [stringifyJson(value)],
  );
  return {
    columns: NAMES.map((name) => ({ name, sqlType: 'VARCHAR', nativeType: 'STRING' })),
    frame: inlineFrame(
      NAMES.map((name) => ({ name, type: 'STRING' })),
      cells,
      1,
    ),
  };
}

function describedPlan(plan: RowsPlan): unknown {
  return { ...plan, intervals: plan.intervals.map(formatInterval) };
}

/** Inline rows by their number: they are in the statement, or in a system table. */
function describedSource(source: PlannedSource): unknown {
  switch (source.kind) {
    case 'inline':
      return { kind: source.kind, rows: source.frame.rowCount, columns: source.frame.columns.map(({ name }) => name) };
    case 'query':
      return { kind: source.kind, query: describedPlan(source.plan), source: describedSource(source.source) };
    case 'union':
      return { kind: source.kind, sources: source.sources.map(describedSource) };
    case 'filtered':
    case 'unnest':
      return { ...source, source: describedSource(source.source) };
    case 'join': {
      const { kind, type, prefix, keys, condition, left, right } = source;
      return { kind, type, prefix, keys, condition, left: describedSource(left), right: describedSource(right) };
    }
    default:
      return source;
  }
}

/** The datasources that rows are read from, in the order they are met. */
export function tablesOf(source: PlannedSource): readonly string[] {
  switch (source.kind) {
    case 'table':
      return [source.name];
    case 'query':
    case 'filtered':
    case 'unnest':
      return tablesOf(source.source);
    case 'union':
      return source.sources.flatMap(tablesOf);
    case 'join':
      return [...tablesOf(source.left), ...tablesOf(source.right)];
    default:
      return [];
  }
}
