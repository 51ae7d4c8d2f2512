// Numbers of rows that sources have.

import type { RowSource } from '../../model/row-source.js';
import type { SourceRunnerOptions } from './runner-options.js';
import { type SourceSteps, stepsOf } from './source-steps.js';

type Counting = Pick<SourceRunnerOptions, 'isServedHere' | 'rowsOfTable' | 'lookup'>;

/** Row count of tables that are served here; null for others, to which the right side is sent whatever its size. */
export function countRows({ isServedHere, rowsOfTable, lookup }: Counting, base: SourceSteps['base']): number | null {
  if (base.kind === 'inline') return base.frame.rowCount;
  if (base.kind === 'lookup') return lookup(base.name).rowCount;
  return base.kind === 'table' && isServedHere([base.name]) ? rowsOfTable(base.name) : null;
}

/** Rows that a source reads of what it begins with, whatever it makes of them; null: not known. */
export function rowsBelow(counting: Counting, source: RowSource): number | null {
  const { base } = stepsOf(source);
  return base.kind === 'query' ? rowsBelow(counting, base.source) : countRows(counting, base);
}
