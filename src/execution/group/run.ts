// Runs a grouping on one thread, morsel by morsel.

import { BLOCK_ROWS } from '../../base/layout.js';
import type { GroupPlan } from '../../model/plan.js';
import type { GlobalDictionaryView, SegmentView } from '../../storage/view.js';
import { hasOrderedStates } from '../aggregate-state/operations.js';
import { type Block, type RunContext, stretchAt, wordsOf } from '../block/context.js';
import { ownNow } from '../block/own-time.js';
import { FilterClock, type RowCounts } from '../block/row-counts.js';
import { meets, type RowRange, rowsWithin } from '../block/row-ranges.js';
import { ALL, type Match, NONE } from '../filter/predicate.js';
import { type BoundSegment, bindSegment, combineBounded, moveDivided, type UploadedView } from './bound-segment.js';
import { FewRows } from './few-rows.js';
import type { GroupLayout } from './key/layout.js';
import { RowsOfSegments } from './rows-of-segments.js';
import type { SegmentGroups } from './segment/segment-groups.js';
import { GroupTable } from './table/group-table.js';

/*
 * Grouping: rows of segments become groups with aggregate states, and these become result rows.
 *
 * Goals: nothing is done per row outside of kernels; strings are never compared, only their ids; threads share nothing until
 * they are through; a table that outgrows its memory goes to disk and the answer stays the same.
 *
 *   segment A ──┐ key/ binds keys to columns: each value is a local id    ┐
 *   segment B ──┤ segment/ adds blocks of rows to local groups and states ├─ one thread, morsel by morsel (this file)
 *   segment C ──┘                                                         ┘
 *        │  combine: local ids → ids of the whole query, per group, never per row
 *        ▼
 *   table/  the thread's GroupTable ──(too large)──► spill/  partitions by the hash of the key, on disk
 *        │  merge-tables: the tables of all threads into one                   │ merged one partition at a time
 *        ▼                                                                     ▼
 *   table/result  best groups first, strings decoded last ──► ../post  having, order, limit, windows   (operator.ts)
 *
 * Example: SELECT channel, SUM(added) GROUP BY channel. In segment A the channels "de", "en" have the local ids 0, 1; a block of
 * rows with the ids 1 0 1 and the values 5 2 3 leaves the sums [2, 8]. The query's dictionary knows "en" as 7 and "de" as 9, so
 * that combining adds 2 to group 9 and 8 to group 7 of the table. `key/layout.ts` decides how the groups of a table are found:
 * dense, a cell for every possible key, where these are few; else by a hash of the packed key.
 */

/** Input of a group plan, as plain data. */
export interface GroupSource {
  readonly plan: GroupPlan;
  readonly views: readonly SegmentView[];
  readonly dictionaries: Readonly<Record<string, GlobalDictionaryView>>;
}

/** A row range of one segment: the unit of work that threads take. */
export interface Morsel extends RowRange {
  readonly view: number;
}

/** Granularity at which segments are cut into morsels. */
export interface MorselCut {
  readonly threads: number;
  readonly morselRows: number;
}

/**
 * Cuts segments into morsels. A thread combines its local groups once per segment, so segments stay whole where there are
 * enough of them for every thread, and where states merge in the order of segments.
 */
export function morselsOf(views: readonly SegmentView[], plan: GroupPlan, { threads, morselRows }: MorselCut): Morsel[] {
  const met: number[] = [];
  views.forEach((view, index) => {
    if (meets(view, plan.intervals)) met.push(index);
  });
  const isWhole = threads <= 1 || met.length >= threads * 4 || hasOrderedStates(plan.aggregators);
  const rowsEach = isWhole ? Infinity : morselRows;
  const morsels: Morsel[] = [];
  for (const view of met) {
    const rowCount = views[view]?.rowCount ?? 0;
    for (let start = 0; start < rowCount; start += rowsEach) morsels.push({ view, start, end: Math.min(rowCount, start + rowsEach) });
  }
  return morsels;
}

/** Runs morsels, as `next` deals them out, into a table of this thread. The table's memory is the caller's. */
export function runMorsels(layout: GroupLayout, context: RunContext, next: () => Morsel | undefined, counts: RowCounts): GroupTable {
  const table = new GroupTable(layout, context);
  const together = new RowsOfSegments(context, layout);
  let open: OpenSegment | undefined;
  try {
    for (let morsel = next(); morsel !== undefined; morsel = next()) {
      if (open?.index !== morsel.view) {
        open?.close(table);
        open = undefined;
        open = openSegment(layout, context, morsel.view, counts, together);
      }
      open?.run(morsel, table);
    }
    open?.close(table);
    open = undefined;
    addTogether(table, context, together, counts);
    return table;
  } catch (error) {
    open?.drop();
    together.release();
    table.free();
    throw error;
  }
}

/** Groups the rows of several segments that wait. */
function addTogether(table: GroupTable, context: RunContext, together: RowsOfSegments, counts: RowCounts): void {
  const startMs = ownNow();
  const gathered = together.gathered();
  counts.readMs += ownNow() - startMs;
  for (const each of gathered)
    addWhole(table, context, { ...each, index: 0, isSegment: false, ranges: wholeOf(each.view), areCounted: true }, counts);
  together.release();
}

function wholeOf({ rowCount }: SegmentView): readonly RowRange[] {
  return [{ start: 0, end: rowCount }];
}

/**
 * Adds the rows of a view to a table: a piece of rows that went through stages. `order` is its place among all that
 * are added.
 */
export function addView(table: GroupTable, context: RunContext, view: SegmentView, order: number, counts: RowCounts): void {
  const { plan } = table.layout;
  if (!meets(view, plan.intervals)) return;
  const sampled = context.sampled(view.rowCount);
  context.beginSegment();
  const ranges = rowsWithin(sampled, view, plan.intervals);
  addWhole(table, sampled, { view, index: order, isSegment: false, ranges, filter: plan.filter }, counts);
}

function addWhole(table: GroupTable, context: RunContext, placed: UploadedView, counts: RowCounts): void {
  const open = openView(table.layout, context, placed, counts);
  try {
    open.run({ start: 0, end: placed.view.rowCount }, table);
    open.close(table);
  } catch (error) {
    open.drop();
    throw error;
  }
}

interface OpenSegment {
  readonly index: number;
  /** May combine what it has into the table already, and begin again. */
  run(range: RowRange, table: GroupTable): void;
  close(table: GroupTable): void;
  drop(): void;
}

/** The groups of a segment may take this part of the memory of a thread's groups before they are combined into its table. */
const SEGMENT_PART = 1 / 4;

function openSegment(
  layout: GroupLayout,
  context: RunContext,
  index: number,
  counts: RowCounts,
  together: RowsOfSegments,
): OpenSegment | undefined {
  const view = layout.columns.views[index];
  if (view === undefined) return undefined;
  const sampled = context.sampled(view.rowCount);
  context.beginSegment();
  const { intervals, filter } = layout.plan;
  return openView(
    layout,
    sampled,
    { view, index, isSegment: true, ranges: rowsWithin(sampled, view, intervals), filter },
    counts,
    together,
  );
}

/** @param together  takes few rows of the view; absent: they are grouped by themselves */
function openView(
  layout: GroupLayout,
  context: RunContext,
  placed: UploadedView,
  counts: RowCounts,
  together?: RowsOfSegments,
): OpenSegment {
  const { view, index, ranges, areCounted = false } = placed;
  // Each reading of the clock ends one part of the work and begins the next.
  let lastMs = ownNow();
  const lap = (): number => {
    const startMs = lastMs;
    lastMs = ownNow();
    return lastMs - startMs;
  };
  let bound = bindSegment(layout, context, placed);
  const few = bound.mayWait ? new FewRows(context, view, layout.plan, bound.later) : undefined;
  counts.bindMs += lap();
  /** Groups the rows that wait; its time is counted apart. */
  const addFew = (table: GroupTable): void => {
    if (few === undefined || few.count === 0) return;
    const arena = context.memory.arena();
    try {
      const taken = few.take(arena);
      addWhole(table, context, { ...taken, index, isSegment: false, ranges: wholeOf(taken.view), areCounted: true }, counts);
    } finally {
      arena.release();
    }
  };
  const combine = (table: GroupTable): void => {
    combineBounded(bound, table);
    counts.readMs += lap();
    if (context.times !== undefined) counts.kernels = context.times.totals();
    bound.arena.release();
  };
  const drop = (): void => {
    bound.arena.release();
    few?.close();
  };
  return {
    index,
    run(range, table) {
      // The segment's first morsel speaks for all of them, on whichever threads.
      if (bound.predicate.constant === NONE && range.start === 0) counts.segmentsPrunedByValue++;
      for (const { start, end } of ranges) {
        const from = Math.max(start, range.start);
        const to = Math.min(end, range.end);
        if (from < to && !areCounted) counts.rowsScanned += to - from;
        if (from < to && !areCounted && context.times !== undefined) counts.rowsSampled += to - from;
        for (let at = from; at < to && bound.predicate.constant !== NONE; ) {
          at = runRange({ bound, context, counts, lap, few, addFew }, table, at, to, view.rowCount);
          if (at >= to) break;
          combine(table);
          bound = bindSegment(layout, context, placed);
          counts.bindMs += lap();
        }
      }
    },
    close(table) {
      combine(table);
      if (few === undefined) return;
      if (few.count === 0 || together?.canTake(few) !== true) addFew(table);
      else {
        if (!together.goWith(few)) addTogether(table, context, together, counts);
        together.add(few);
      }
      few.close();
    },
    drop,
  };
}

interface RangeRun {
  readonly bound: BoundSegment;
  readonly context: RunContext;
  readonly counts: RowCounts;
  /** Milliseconds since it was called last. */
  readonly lap: () => number;
  readonly few: FewRows | undefined;
  /** Groups the rows that wait. */
  readonly addFew: (table: GroupTable) => void;
}

/** Rows [from, to), block by block. Returns where it ended: before `to` when the groups have grown too large. */
function runRange(
  { bound, context, counts, lap, few, addFew }: RangeRun,
  table: GroupTable,
  from: number,
  to: number,
  rowCount: number,
): number {
  const { predicate, testLater, bits, arena } = bound;
  const grownBytesMax = context.spill === undefined ? Infinity : Math.floor(context.groupBytesMax * SEGMENT_PART);
  const areAll = predicate.constant === ALL && testLater === undefined;
  const clock = areAll ? undefined : new FilterClock();
  let [boundMs, addedMs] = [0, 0];
  /** Milliseconds of work that is neither filtering nor grouping rows of this range. */
  const apart = (work: () => void): number => {
    const startMs = ownNow();
    work();
    const tookMs = ownNow() - startMs;
    clock?.leaveOut(tookMs);
    return tookMs;
  };
  const groupsOf = (): SegmentGroups => {
    if (bound.groups !== undefined) return bound.groups;
    boundMs += apart(() => {
      bound.groups = bound.bindGroups();
      bound.bytesAtFirst = arena.bytes;
      bound.besideAtFirst = bound.groups.bytesBeside;
    });
    return groupsOf();
  };
  // Rows that all take part and need no masks go several blocks at a time.
  const blockRows = areAll && context.batchRows === BLOCK_ROWS ? groupsOf().blockRows : BLOCK_ROWS;
  const batchRows = blockRows === BLOCK_ROWS ? context.batchRows : blockRows;
  const grownBytes = (): number => arena.bytes - bound.bytesAtFirst + (bound.groups?.bytesBeside ?? 0) - bound.besideAtFirst;
  let at = from;
  do {
    context.check();
    if (context.times !== undefined) context.times.blockRows = Math.min(blockRows, to - at);
    const block = stretchAt(at, to, rowCount, blockRows);
    const start = at - block.start;
    const end = Math.min(block.rows, to - block.start);
    clock?.start();
    let match = predicate.test(block);
    let matched = countMatches(context, block, start, end, match, bits);
    const waits = (areTested: boolean): boolean => {
      if (few === undefined || matched === 0 || !FewRows.areFew(matched, end - start)) return false;
      few.add(block, start, end, match, matched, areTested);
      matched = 0;
      return true;
    };
    if (testLater !== undefined && !waits(false) && matched > 0) {
      match = testLater(block, match);
      matched = countMatches(context, block, start, end, match, bits);
    }
    clock?.filtered();
    waits(true);
    counts.rowsMatched += matched;
    for (let batch = start; matched > 0 && batch < end; batch += batchRows)
      groupsOf().addRows(block, batch, Math.min(end, batch + batchRows), match);
    if (matched > 0) moveDivided(bound, table, matched);
    if (few?.isFull === true) addedMs += apart(() => addFew(table));
    clock?.end();
    at = block.start + end;
  } while (at < to && grownBytes() <= grownBytesMax);
  const ranMs = lap() - boundMs - addedMs;
  const filterMs = ranMs * (clock?.share ?? 0);
  counts.bindMs += boundMs;
  counts.filterMs += filterMs;
  counts.readMs += ranMs - filterMs;
  return at;
}

function countMatches({ kernels }: RunContext, block: Block, start: number, end: number, match: Match, bits: number): number {
  if (match === NONE) return 0;
  if (match === ALL) return end - start;
  const words = wordsOf(block);
  if (start === 0 && end === block.rows) return kernels.bitsCount(match, words);
  kernels.bitsFill(bits, words, start, end);
  kernels.bitsAnd(bits, match, words, bits);
  return kernels.bitsCount(bits, words);
}
