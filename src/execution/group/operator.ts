import type { Frame } from '../../model/frame.js';
import type { RowCounts } from '../counts.js';
import type { LeafResult } from '../finish/steps.js';
import { runSteps } from '../finish/steps.js';
import type { ResultTable } from '../finish/table.js';
import { framesOf } from '../finish/table.js';
import { freeParts, mergeTable } from './merge-tables.js';
import { partialRows } from './partial.js';
import { groupRows } from './result.js';
import type { GroupSource } from './run.js';
import type { GroupShape } from './shape.js';
import { queryColumns, shapeGroups } from './shape.js';
import type { GroupTable, GroupTableParts } from './table.js';

/** How a plan runs over the segments at hand. */
export function shapeOf({ plan, views, dictionaries }: GroupSource): GroupShape {
  return shapeGroups(plan, queryColumns(plan, views, dictionaries));
}

/** Joins the tables of other threads, and gives the result; frees the table. */
export function endGroups(table: GroupTable, others: readonly GroupTableParts[], ending: 'final' | 'partial', counts: RowCounts): Frame[] {
  const { context, shape } = table;
  const arena = context.memory.arena();
  const waiting = [...others];
  const startMs = performance.now();
  try {
    for (let parts = waiting.shift(); parts !== undefined; parts = waiting.shift()) mergeTable(table, parts);
    const mergedMs = performance.now();
    const scope = { context, arena };
    const groups: ResultTable = ending === 'partial' ? partialRows(scope, table) : groupRows(scope, table, shape.plan.finish);
    const rows = ending === 'partial' ? groups : runSteps(groups, shape.plan.finish, leafOf(shape));
    const frames = [...framesOf(rows)];
    counts.mergeMs += mergedMs - startMs;
    counts.finishMs += performance.now() - mergedMs;
    counts.rowsToFinish += groups.rowCount;
    counts.rowsFinished += rows.rowCount;
    return frames;
  } finally {
    for (const parts of waiting) freeParts(context, parts);
    arena.release();
    table.free();
  }
}

function leafOf({ plan, aggregators }: GroupShape): LeafResult {
  const zeros = aggregators.filter((each) =>
    each.kind === 'collect'
      ? each.states.emptyValue !== null
      : each.kind === 'count' || each.kind === 'distinct' || each.aggregator.emptyIsZero === true,
  );
  return { intervals: plan.intervals, zeroColumns: new Set(zeros.map(({ name }) => name)) };
}
