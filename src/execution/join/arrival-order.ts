// Groups rows in the order in which they come, where nothing asks for the order of their times.

import { ETERNITY } from '../../base/instant.js';
import type { Frame } from '../../model/frame.js';
import type { GroupKey, GroupPlan, RowPlan } from '../../model/plan.js';
import { arrivalName, withArrivalTime } from '../../model/rewrite/arrival-time.js';
import { renameAggregator, renameFilter, renameVirtualColumn } from '../../model/rewrite/plan-names.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { findColumn } from './rows.js';

/** The rows with the time of their arrival; a `__time` that is no LONG is left out, as for every group. */
export function asTheyArrive(frame: Frame): Frame {
  return withArrivalTime({ ...frame, columns: frame.columns.filter(({ name, kind }) => name !== TIME_COLUMN || kind === 'long') });
}

/** The same groups of rows whose `__time` goes by another name; undefined for plans that cut rows by time or go on to stages. */
export function inArrivalOrder(plan: RowPlan): GroupPlan | undefined {
  if (plan.operator !== 'group' || (plan.stages ?? []).length > 0 || plan.withinData === true) return undefined;
  const takesAll = plan.intervals.some(({ start, end }) => start <= ETERNITY.start && end >= ETERNITY.end);
  if (!takesAll || !plan.keys.every(isOfRow) || plan.virtualColumns.some(({ name }) => name === TIME_COLUMN)) return undefined;
  return {
    ...plan,
    virtualColumns: plan.virtualColumns.map((column) => renameVirtualColumn(column, arrivalName)),
    filter: plan.filter === null ? null : renameFilter(plan.filter, arrivalName),
    keys: plan.keys.map((key) => (key.kind === 'column' ? { ...key, column: arrivalName(key.column) } : key)),
    aggregators: plan.aggregators.map((each) => ({ ...renameAggregator(each, arrivalName), name: each.name })),
  };
}

/** Whether a key takes the same value of a row wherever the row stands. */
function isOfRow(key: GroupKey): boolean {
  return key.kind === 'column' || key.granularity.kind === 'all';
}

/** Whether rows have times that do not ascend. */
export function isOutOfOrder(frame: Frame): boolean {
  const time = findColumn(frame, TIME_COLUMN);
  if (time?.kind !== 'long') return false;
  // Halves of longs compare the same, and none becomes an object.
  const { buffer, byteOffset, length } = time.values;
  const [high, low] = [new Int32Array(buffer, byteOffset, length * 2), new Uint32Array(buffer, byteOffset, length * 2)];
  for (let at = 2; at < length * 2; at += 2) {
    const step = (high[at + 1] ?? 0) - (high[at - 1] ?? 0) || (low[at] ?? 0) - (low[at - 2] ?? 0);
    if (step < 0) return true;
  }
  return false;
}
