import { formatInterval } from '../../base/interval.js';
import { stringifyJson } from '../../base/json.js';
import type { Frame } from '../../model/frame.js';
import type { OutputColumn, PlannedQuery } from '../../model/statement.js';
import { inlineFrame } from './inline-frame.js';

const NAMES = ['PLAN', 'RESOURCES', 'ATTRIBUTES'];

/** The answer of EXPLAIN PLAN FOR: one row of the plan as JSON, the resources it reads, and the kind of statement. */
export function explain({ plan, source, columns }: PlannedQuery): { readonly columns: readonly OutputColumn[]; readonly frame: Frame } {
  const described =
    source.kind === 'inline'
      ? { kind: source.kind, rows: source.frame.rowCount, columns: source.frame.columns.map(({ name }) => name) }
      : source;
  const signature = columns.map(({ name, nativeType }) => ({ name, type: nativeType }));
  const resources =
    source.kind === 'table'
      ? [{ name: source.name, type: 'DATASOURCE' }]
      : source.kind === 'external'
        ? [{ name: 'EXTERNAL', type: 'EXTERNAL' }]
        : [];
  const cells = [
    [{ query: { ...plan, intervals: plan.intervals.map(formatInterval) }, source: described, signature }],
    resources,
    { statementType: 'SELECT' },
  ].map((value) => [stringifyJson(value)]);
  return {
    columns: NAMES.map((name) => ({ name, sqlType: 'VARCHAR', nativeType: 'STRING' })),
    frame: inlineFrame(
      NAMES.map((name) => ({ name, type: 'STRING' })),
      cells,
      1,
    ),
  };
}
