// Runs scans and groupings over the rows that leave the stages of a plan.

import { assert } from '../../base/errors.js';
import { BLOCK_ROWS } from '../../base/layout.js';
import type { Frame } from '../../model/frame.js';
import type { GroupPlan, ScanPlan, TimeBoundaryPlan } from '../../model/plan.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { Stage } from '../../model/stage.js';
import { NO_ROWS, type SegmentView } from '../../storage/view.js';
import type { RunContext } from '../block/context.js';
import type { ResultTable } from '../block/result-table.js';
import type { RowCounts } from '../block/row-counts.js';
import { meets, type RowRange, rowsWithin } from '../block/row-ranges.js';
import type { SegmentData } from '../block/segment-data.js';
import { columnsRead } from '../expression/columns-of-plan.js';
import { type GroupLayout, layoutGroups, queryColumns } from '../group/key/layout.js';
import { addView, type Morsel } from '../group/run.js';
import { GroupTable } from '../group/table/group-table.js';
import { scanFrames } from '../scan/operator.js';
import { inSegmentOrder } from '../scan/order.js';
import { boundaryRows, timeBoundary } from '../scan/time-boundary.js';
import type { BuildSide } from './build-side.js';
import { gatherFrame } from './rows.js';
import { dictionariesAfter, viewAfter } from './stage-columns.js';
import { StageRun } from './stage-run.js';

/*
 * Plans with stages over segments: each operator reads pieces, which are views like any other, instead of segments.
 */

export type Builds = Readonly<Record<string, BuildSide>>;

/** A plan whose `stages` are there. */
export type WithStages<Plan> = Plan & { readonly stages: readonly Stage[] };

export function hasStages<Plan extends { readonly stages?: readonly Stage[] }>(plan: Plan): plan is WithStages<Plan> {
  return plan.stages !== undefined && plan.stages.length > 0;
}

/** Whether some join gives rows that only its right side has: they are known once all other rows are through. */
export function keepsRight({ stages = [] }: { readonly stages?: readonly Stage[] | undefined }): boolean {
  return stages.some((stage) => stage.kind === 'join' && (stage.type === 'right' || stage.type === 'full'));
}

export function stagedLayout(
  plan: WithStages<GroupPlan>,
  { views, dictionaries }: SegmentData,
  builds: Builds,
  groupBytesMax: number,
): GroupLayout {
  const after = views.map((view) => viewAfter(view, plan.stages, builds));
  const ids = [...views.map(({ id }) => id), ...(keepsRight(plan) ? [NO_ROWS.id] : [])];
  const shared = dictionariesAfter(plan.stages, builds, ids, dictionaries);
  return layoutGroups(plan, queryColumns(plan, after, shared, 'closed'), groupBytesMax);
}

/** Like `runMorsels`, for rows that go through the stages first. */
export function runStagedMorsels(
  layout: GroupLayout,
  context: RunContext,
  { plan, views, builds }: { readonly plan: WithStages<GroupPlan>; readonly views: readonly SegmentView[]; readonly builds: Builds },
  next: () => Morsel | undefined,
  counts: RowCounts,
): GroupTable {
  const stages = new StageRun(context, plan.stages, columnsRead(plan), builds);
  const table = new GroupTable(layout, context);
  try {
    const add = (pieces: Iterable<SegmentView>, order: number): void => {
      for (const piece of pieces) addView(table, context, piece, order, counts);
    };
    let last = 0;
    for (let morsel = next(); morsel !== undefined; morsel = next()) {
      const view = views[morsel.view];
      if (view === undefined) continue;
      if (morsel.view !== last) add(stages.waiting(), last);
      last = morsel.view;
      add(piecesWithin(context, stages, view, plan, morsel), last);
    }
    add(stages.waiting(), last);
    return table;
  } catch (error) {
    table.free();
    throw error;
  } finally {
    stages.close();
  }
}

/** Adds the rows that only right sides have: once, after those of all threads. */
export function addUnmatched(
  table: GroupTable,
  { plan, views, builds }: { readonly plan: WithStages<GroupPlan>; readonly views: readonly SegmentView[]; readonly builds: Builds },
  counts: RowCounts,
): void {
  const { context } = table;
  const stages = new StageRun(context, plan.stages, columnsRead(plan), builds);
  try {
    for (const piece of stages.rest()) addView(table, context, piece, views.length, counts);
  } finally {
    stages.close();
  }
}

/** The rows of all views, in segment order, then those that only right sides have. */
export function* stagedPieces(
  context: RunContext,
  plan: WithStages<ScanPlan | TimeBoundaryPlan>,
  views: readonly SegmentView[],
  builds: Builds,
): Generator<SegmentView> {
  const waits = plan.operator !== 'scan' || plan.limit === null;
  const stages = new StageRun(context, plan.stages, columnsRead(plan), builds, waits);
  try {
    for (const view of inSegmentOrder(views)) {
      if (!meets(view, plan.intervals)) continue;
      yield* piecesWithin(context, stages, view, plan, { start: 0, end: view.rowCount });
      yield* stages.waiting();
    }
    yield* stages.rest();
  } finally {
    stages.close();
  }
}

/** Batches of the blocks with rows in the intervals; a batch may hold other rows too, as its `__time` shows. The last rows wait. */
function* piecesWithin(
  context: RunContext,
  stages: StageRun,
  view: SegmentView,
  { intervals }: Pick<GroupPlan, 'intervals'>,
  { start, end }: RowRange,
): Generator<SegmentView> {
  // A block shared by two ranges goes to the earlier one.
  const upTo = (row: number): number => Math.min(view.rowCount, Math.ceil(row / BLOCK_ROWS) * BLOCK_ROWS);
  let done = upTo(start);
  for (const range of rowsWithin(context, view, intervals)) {
    const from = Math.max(done, range.start - (range.start % BLOCK_ROWS));
    const to = Math.min(upTo(end), upTo(range.end));
    if (from >= to) continue;
    yield* stages.begin(view, from, to);
    done = to;
  }
}

/** Rows of pieces as a scan gives them; `partial`: from the first one on, up to offset + limit. */
export function* scanPieces(
  plan: ScanPlan,
  pieces: Iterable<SegmentView>,
  context: RunContext,
  ending: 'final' | 'partial',
  counts: RowCounts,
): Generator<Frame> {
  assert(plan.timeOrder === null, 'pieces are not in order of time');
  let toSkip = ending === 'partial' ? 0 : plan.offset;
  let toTake = plan.limit === null ? Infinity : plan.limit + (ending === 'partial' ? plan.offset : 0);
  if (toTake <= 0) return;
  for (const piece of pieces) {
    const limit = toTake === Infinity ? null : toTake + toSkip;
    let seen = 0;
    for (const frame of scanFrames({ ...plan, offset: 0, limit }, { views: [piece], dictionaries: {} }, context, 'partial', counts)) {
      const start = Math.min(frame.rowCount, Math.max(0, toSkip - seen));
      seen += frame.rowCount;
      if (start === frame.rowCount) continue;
      const kept = start === 0 ? frame : rowsFrom(frame, start);
      toTake -= kept.rowCount;
      yield kept;
    }
    toSkip = Math.max(0, toSkip - seen);
    if (toTake <= 0) return;
  }
}

function rowsFrom(frame: Frame, start: number): Frame {
  return gatherFrame(
    frame,
    Uint32Array.from({ length: frame.rowCount - start }, (_, row) => row + start),
  );
}

export function boundaryOfPieces(
  plan: TimeBoundaryPlan,
  pieces: Iterable<SegmentView>,
  context: RunContext,
  counts: RowCounts,
): ResultTable {
  let [min, max] = [Infinity, -Infinity];
  for (const piece of pieces) {
    if (piece.columns[TIME_COLUMN] === undefined) continue;
    const [first, last] = timeBoundary(plan, [piece], context, counts).columns;
    if (first?.kind !== 'long' || last?.kind !== 'long' || first.values.length === 0) continue;
    min = Math.min(min, Number(first.values[0]));
    max = Math.max(max, Number(last.values[0]));
  }
  return boundaryRows(min, max);
}
