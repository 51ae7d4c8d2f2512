// First and last instant of the rows that match a filter.

import type { TimeBoundaryPlan } from '../../model/plan.js';
import type { SegmentView } from '../../storage/view.js';
import type { RunContext } from '../block/context.js';
import type { ResultTable } from '../block/result-table.js';
import type { RowCounts } from '../block/row-counts.js';
import { meets } from '../block/row-ranges.js';
import { virtualColumnsByName } from '../expression/scope.js';
import { instantAt } from './order.js';
import { openRows } from './row-source.js';

/** First and last instant of the matching rows; each segment is read from both ends only as far as its first match. */
export function timeBoundary(plan: TimeBoundaryPlan, views: readonly SegmentView[], context: RunContext, counts: RowCounts): ResultTable {
  const query = { filter: plan.filter, intervals: plan.intervals, virtualColumns: virtualColumnsByName(plan.virtualColumns) };
  let min = Infinity;
  let max = -Infinity;
  for (const view of views) {
    if (!meets(view, plan.intervals)) continue;
    const source = openRows(context, view, query, counts);
    try {
      if (view.timeMin < min) min = Math.min(min, firstInstant(false) ?? Infinity);
      if (view.timeMax > max) max = Math.max(max, firstInstant(true) ?? -Infinity);
    } finally {
      source.release();
    }

    function firstInstant(descending: boolean): number | undefined {
      for (const rows of source.blocks(descending)) return instantAt(source, rows[0] ?? 0);
      return undefined;
    }
  }
  return boundaryRows(min, max);
}

/** One row, or none when nothing matched. */
export function boundaryRows(min: number, max: number): ResultTable {
  const found = min <= max;
  const long = (name: string, value: number) =>
    ({ kind: 'long', name, values: found ? BigInt64Array.of(BigInt(value)) : new BigInt64Array(0), nulls: null }) as const;
  return { rowCount: found ? 1 : 0, columns: [long('minTime', min), long('maxTime', max)], keys: [] };
}
