import type { RowPlan } from '../../model/plan.js';
import type { SegmentView } from '../../storage/view.js';
import type { Builds } from '../join/with-stages.js';

/*
 * How much work something is, before it is done, in rows that are read: what is little stays on the calling thread.
 */

/** What a segment costs whose rows are only counted, by binary search: as much as reading this many. */
const ROWS_PER_BOUNDARY = 1000;
/** To place a row costs as much as reading this many. */
const UPLOAD_COSTS = 50;
/** A pair of rows may cost as much as reading this part of a row. */
const PAIR_COSTS = 1 / 10;

/** About how much work a plan is, in rows. */
export function rowsToRead(plan: RowPlan, views: readonly SegmentView[]): number {
  const onlyCounts =
    plan.operator === 'group' &&
    plan.filter === null &&
    plan.keys.length === 0 &&
    plan.aggregators.every(({ kind, filter }) => kind === 'count' && filter === null);
  return views.reduce((sum, { rowCount }) => sum + (onlyCounts ? Math.min(rowCount, ROWS_PER_BOUNDARY) : rowCount), 0);
}

/** Of rows that come as frames, in rows that are read; null: there are many. */
export function uploadCost(rowCount: number | null): number {
  return rowCount === null ? Infinity : rowCount * UPLOAD_COSTS;
}

/** Of rows that are joined, with the pairs that may come of them. */
export function rowsWithPairs(rows: number, builds: Builds): number {
  const pairs = Object.values(builds).reduce((product, { view }) => product * Math.max(1, view.rowCount), rows);
  return Math.max(rows, pairs * PAIR_COSTS);
}
