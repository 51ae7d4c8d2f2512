// Estimates how much work a plan is.

import { ETERNITY } from '../../base/instant.js';
import { eachMember, own } from '../../base/names.js';
import type { RowPlan } from '../../model/plan.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { isPacked } from '../../model/value-list.js';
import type { ColumnView, SegmentView } from '../../storage/view.js';
import { granularityGrain } from '../expression/time/grains.js';
import { type Builds, hasStages } from '../join/with-stages.js';

/*
 * Estimates of work before it is done, in rows read: small plans stay on the calling thread.
 */

/** Cost, in rows read, of a segment of which no row is read: its rows are counted by binary search, its extremes known. */
const ROWS_PER_BOUNDARY = 1000;
/** Cost of uploading a row, in rows read. */
const UPLOAD_COSTS = 50;
/** Cost of a pair of rows, in rows read. */
const PAIR_COSTS = 1 / 10;
/** Cost of binding a part of a plan (an aggregator, a condition, a call) to a segment, in rows read. */
const PART_COSTS = 200;
/** Cost of looking up a value of a list, or of reading a column of that name, in rows read. */
const LISTED_COSTS = 40;
/** A plan of this many parts costs no more for each row than the row does. */
const PARTS_OF_ROW = 32;
/** Counting stops here: the plan is large. */
const COUNTED_MAX = 20_000;

/** About how much work a plan is, in rows. */
export function rowsToRead(plan: RowPlan, views: readonly SegmentView[]): number {
  const { parts, listed } = sizeOf(plan);
  const perRow = Math.max(1, (parts + (plan.operator === 'scan' ? plan.columns.length : 0)) / PARTS_OF_ROW);
  const readsNoRow = readsNoRowOf(plan);
  const rows = views.reduce(
    (sum, view) => sum + (readsNoRow(view) ? Math.min(view.rowCount, ROWS_PER_BOUNDARY) : view.rowCount * perRow),
    0,
  );
  return rows + views.length * (parts * PART_COSTS + listed * LISTED_COSTS) + bucketsToFill(plan);
}

/** Tells of which segments no row is read: the plan counts all rows, and asks for extremes of LONGs as they are stored. */
function readsNoRowOf(plan: RowPlan): (view: SegmentView) => boolean {
  if (plan.operator !== 'group' || plan.filter !== null || plan.keys.length > 0 || hasStages(plan)) return () => false;
  const extremes: string[] = [];
  for (const aggregator of plan.aggregators) {
    if (aggregator.filter !== null) return () => false;
    if (aggregator.kind === 'count') continue;
    if ((aggregator.kind !== 'min' && aggregator.kind !== 'max') || aggregator.type !== 'LONG') return () => false;
    extremes.push(aggregator.column);
  }
  if (plan.virtualColumns.some(({ name }) => extremes.includes(name))) return () => false;
  return ({ columns, timeMin, timeMax }) => {
    if (extremes.length === 0) return true;
    const areAll = columns[TIME_COLUMN] === undefined || plan.intervals.some(({ start, end }) => start <= timeMin && end > timeMax);
    return areAll && extremes.every((name) => isKnown(own(columns, name)));
  };
}

/** Whether the extremes of a column are known from its upload. */
function isKnown(column: ColumnView | undefined): boolean {
  return column?.kind === 'number' && column.type === 'LONG' && column.nulls === 0 && column.min !== null && column.isPart !== true;
}

/** About how many buckets a plan has a row for, whether or not rows fall into them; where an interval has no end it may be any number. */
export function bucketsToFill({ post, intervals }: Pick<RowPlan, 'post' | 'intervals'>): number {
  const fill = post.find((step) => step.step === 'fillBuckets');
  if (fill?.step !== 'fillBuckets' || fill.granularity.kind === 'none') return 0;
  const { lengthMs } = granularityGrain(fill.granularity);
  return intervals.reduce((sum, { start, end }) => {
    const isOpen = start === ETERNITY.start || end === ETERNITY.end;
    return sum + (isOpen ? Infinity : (end - start) / lengthMs);
  }, 0);
}

/** Characters of a string of a plan that count as a value: it may be an array. */
const LISTED_LENGTH = 16;

/** Objects of a plan at whatever depth, and strings and numbers in its lists: up to about `COUNTED_MAX` of them. */
function sizeOf(plan: RowPlan): { readonly parts: number; readonly listed: number } {
  let parts = 0;
  let listed = 0;
  const count = (value: unknown): void => {
    if (typeof value === 'string') listed += Math.floor(value.length / LISTED_LENGTH);
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
    if (Array.isArray(value)) {
      for (const each of value) {
        if (parts + listed > COUNTED_MAX) return;
        if (typeof each === 'object' && each !== null) count(each);
        else listed++;
      }
      return;
    }
    if (isPacked(value)) {
      listed += value.length;
      return;
    }
    parts++;
    eachMember(value, count);
  };
  count(plan);
  return { parts, listed };
}

/** Cost of rows that come as frames, in rows read; null stands for many. */
export function uploadCost(rowCount: number | null): number {
  return rowCount === null ? Infinity : rowCount * UPLOAD_COSTS;
}

/** Cost of joined rows, including the pairs they may give. */
export function rowsWithPairs(rows: number, builds: Builds): number {
  const pairs = Object.values(builds).reduce((product, { view }) => product * Math.max(1, view.rowCount), rows);
  return Math.max(rows, pairs * PAIR_COSTS);
}
