// Takes the rows of a run as those of a segment.

import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import { AutoColumn } from '../column/auto-column.js';
import { rowsBetween } from '../column/run-column.js';
import { chunkFrame } from './chunk-frame.js';
import { keptPiece } from './chunk-piece.js';
import { DictionaryGeneration } from './dictionary-generation.js';
import { type ColumnPlan, columnPlan, type RunBuffer } from './run-buffer.js';

/**
 * All rows of a run in order: `__time` and the columns of the plans, their dictionaries packed and sorted.
 * @param plans  those that the run was made with; a column whose values decide has the type that it ended as
 */
export function runFrame(run: RunBuffer, plans: readonly ColumnPlan[]): SegmentFrame {
  const rows = rowsBetween(0, run.rowCount);
  const generation = new DictionaryGeneration(null);
  for (const { column, dictionary } of run.dictionaries()) generation.close(column.name, dictionary, false);
  const piece = keptPiece(rows.length, [run.timeColumn(rows), ...run.columns.map((column) => column.gather(rows))], generation);
  const ended = plans.map((plan) => {
    const column = run.column(plan.name);
    return column instanceof AutoColumn ? columnPlan(plan.name, column.type ?? 'STRING', plan.multiValueHandling) : plan;
  });
  return chunkFrame(ended, [piece]);
}
