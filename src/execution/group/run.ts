// Runs a grouping on one thread, morsel by morsel.

import { ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { GroupPlan } from '../../model/plan.js';
import type { GlobalDictionaryView, SegmentView } from '../../storage/view.js';
import { hasOrderedStates } from '../aggregate-state/operations.js';
import { type Block, type RunContext, stretchAt, takeBits, wordsOf } from '../block/context.js';
import { ownNow } from '../block/own-time.js';
import { FilterClock, type RowCounts } from '../block/row-counts.js';
import { meets, type RowRange, rowsWithin } from '../block/row-ranges.js';
import { openScope } from '../expression/open-scope.js';
import { bindPlanFilter } from '../filter/plan-filter.js';
import { ALL, type Match, NONE, type Predicate } from '../filter/predicate.js';
import type { GroupLayout } from './key/layout.js';
import { SegmentGroups } from './segment/segment-groups.js';
import { areApart, divideTable, foldEqual, isDivisible } from './table/divided.js';
import { GroupTable } from './table/group-table.js';
import { bytesWith } from './table/table-bytes.js';

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
  let open: OpenSegment | undefined;
  try {
    for (let morsel = next(); morsel !== undefined; morsel = next()) {
      if (open?.index !== morsel.view) {
        open?.close(table);
        open = undefined;
        open = openSegment(layout, context, morsel.view, counts);
      }
      open?.run(morsel, table);
    }
    open?.close(table);
    return table;
  } catch (error) {
    open?.drop();
    table.free();
    throw error;
  }
}

/**
 * Adds the rows of a view to a table: a piece of rows that went through stages. `order` is its place among all that
 * are added.
 */
export function addView(table: GroupTable, context: RunContext, view: SegmentView, order: number, counts: RowCounts): void {
  if (!meets(view, table.layout.plan.intervals)) return;
  const open = openView(table.layout, context, { view, index: order, isSegment: false }, counts);
  try {
    open.run({ start: 0, end: view.rowCount }, table);
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

function openSegment(layout: GroupLayout, context: RunContext, index: number, counts: RowCounts): OpenSegment | undefined {
  const view = layout.columns.views[index];
  return view === undefined ? undefined : openView(layout, context, { view, index, isSegment: true }, counts);
}

interface UploadedView {
  readonly view: SegmentView;
  readonly index: number;
  /** Whether its rows are those that its columns were uploaded with: none left out, none repeated. */
  readonly isSegment: boolean;
}

function openView(layout: GroupLayout, unsampled: RunContext, placed: UploadedView, counts: RowCounts): OpenSegment {
  const context = unsampled.sampled(placed.view.rowCount);
  const { view, index } = placed;
  // Each reading of the clock ends one part of the work and begins the next.
  let lastMs = ownNow();
  const lap = (): number => {
    const startMs = lastMs;
    lastMs = ownNow();
    return lastMs - startMs;
  };
  context.beginSegment();
  const ranges = rowsWithin(context, view, layout.plan.intervals);
  let bound = bindSegment(layout, context, placed, ranges);
  counts.bindMs += lap();
  const combine = (table: GroupTable): void => {
    combineBounded(bound, table);
    counts.readMs += lap();
    if (context.times !== undefined) counts.kernels = context.times.totals();
    bound.arena.release();
  };
  return {
    index,
    run(range, table) {
      // The segment's first morsel speaks for all of them, on whichever threads.
      if (bound.predicate.constant === NONE && range.start === 0) counts.segmentsPrunedByValue++;
      for (const { start, end } of ranges) {
        const from = Math.max(start, range.start);
        const to = Math.min(end, range.end);
        if (from < to) counts.rowsScanned += to - from;
        if (from < to && context.times !== undefined) counts.rowsSampled += to - from;
        for (let at = from; at < to && bound.predicate.constant !== NONE; ) {
          at = runRange({ bound, context, counts, lap }, table, at, to, view.rowCount);
          if (at >= to) break;
          combine(table);
          bound = bindSegment(layout, context, placed, ranges);
          counts.bindMs += lap();
        }
      }
    },
    close: combine,
    drop: () => bound.arena.release(),
  };
}

/** A plan bound to a segment, and the groups found so far. */
interface BoundSegment {
  readonly predicate: Predicate;
  /** undefined: no row has passed the filter yet. */
  groups: SegmentGroups | undefined;
  /** Binds keys and aggregators, which may cost more than the filter and is left until a row passes it. */
  readonly bindGroups: () => SegmentGroups;
  readonly bits: Address;
  readonly arena: Arena;
  /** Rows that were grouped. */
  rows: number;
  /** Arena size before rows were grouped. */
  bytesAtFirst: number;
  /** Bytes beside the arena then: values that are known before rows are. */
  besideAtFirst: number;
}

function bindSegment(
  layout: GroupLayout,
  context: RunContext,
  { view, index, isSegment }: UploadedView,
  ranges: readonly RowRange[],
): BoundSegment {
  const { plan } = layout;
  const arena = context.memory.arena();
  try {
    const scope = openScope(context, view, layout.columns.virtualColumns, arena);
    const predicate = bindPlanFilter(scope, plan.filter);
    const [whole] = ranges;
    const areAll = predicate.constant === ALL && whole?.start === 0 && whole.end === view.rowCount;
    scope.readsEveryRow = areAll;
    const coming = { areAll, areStored: areAll && isSegment, order: index };
    const bindGroups = (): SegmentGroups => {
      const groups = new SegmentGroups(scope, layout, coming);
      if (plan.refusesMultiValues === true) refuseMultiValues(plan, groups);
      return groups;
    };
    const bits = takeBits(arena);
    const groups = predicate.constant === ALL ? bindGroups() : undefined;
    return { predicate, groups, bindGroups, bits, arena, rows: 0, bytesAtFirst: arena.bytes, besideAtFirst: groups?.bytesBeside ?? 0 };
  } catch (error) {
    arena.release();
    throw error;
  }
}

function refuseMultiValues({ keys }: GroupPlan, groups: SegmentGroups): void {
  const index = groups.keys.findIndex(({ kind }) => kind === 'multi');
  const key = keys[index];
  if (key === undefined) return;
  const column = key.kind === 'column' ? key.column : key.name;
  throw new ServiceError(
    'query_invalid',
    `dimension "${column}" has rows of several values, which context.groupByEnableMultiValueUnnesting: false does not allow; group by MV_TO_ARRAY of it, or unnest it`,
  );
}

/** Empties the table first where it might not hold them all. */
function combineBounded({ groups, arena, bytesAtFirst }: BoundSegment, table: GroupTable): void {
  if (groups === undefined) return;
  const isFull = (): boolean => {
    const bytes = bytesWith(table, groups.groupIndex.groupCount, {
      content: arena.bytes - bytesAtFirst + groups.bytesBeside,
      values: groups.valueCount,
    });
    return bytes > table.context.groupBytesMax || !table.context.memory.hasRoom(bytes - table.bytes);
  };
  if (table.division !== undefined) foldEqual(table, isFull());
  if (table.canSpill && isFull()) table.spill(0);
  groups.combineInto(table);
}

/** Groups of a segment at which it shows whether nearly every row has one of its own. */
const MANY_GROUPS = 1 << 17;
/** Groups that stay in the cache while rows are added to them. */
const CACHED_GROUPS = 1 << 14;

/** Divides the table where nearly every row has a group of its own; groups go there from then on before they outgrow the cache. */
function moveDivided(bound: BoundSegment, table: GroupTable, rows: number): void {
  const { groups } = bound;
  bound.rows += rows;
  if (groups?.groupIndex.kind !== 'hash') return;
  const { groupCount } = groups.groupIndex;
  if (table.division === undefined) {
    const areMany = groupCount >= MANY_GROUPS && areApart(table.layout, groupCount, bound.rows);
    if (!areMany || table.hasSpilled || table.hasManyEqual || !isDivisible(table.layout)) return;
    divideTable(table);
  }
  if (groupCount < CACHED_GROUPS) return;
  combineBounded(bound, table);
  groups.reset();
}

interface RangeRun {
  readonly bound: BoundSegment;
  readonly context: RunContext;
  readonly counts: RowCounts;
  /** Milliseconds since it was called last. */
  readonly lap: () => number;
}

/** Rows [from, to), block by block. Returns where it ended: before `to` when the groups have grown too large. */
function runRange({ bound, context, counts, lap }: RangeRun, table: GroupTable, from: number, to: number, rowCount: number): number {
  const { predicate, bits, arena } = bound;
  const grownBytesMax = context.spill === undefined ? Infinity : Math.floor(context.groupBytesMax * SEGMENT_PART);
  const clock = predicate.constant === ALL ? undefined : new FilterClock();
  let boundMs = 0;
  const groupsOf = (): SegmentGroups => {
    if (bound.groups !== undefined) return bound.groups;
    const startMs = ownNow();
    bound.groups = bound.bindGroups();
    bound.bytesAtFirst = arena.bytes;
    bound.besideAtFirst = bound.groups.bytesBeside;
    const tookMs = ownNow() - startMs;
    boundMs += tookMs;
    clock?.leaveOut(tookMs);
    return bound.groups;
  };
  // Rows that all take part and need no masks go several blocks at a time.
  const blockRows = predicate.constant === ALL && context.batchRows === BLOCK_ROWS ? groupsOf().blockRows : BLOCK_ROWS;
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
    const match = predicate.test(block);
    clock?.filtered();
    const matched = countMatches(context, block, start, end, match, bits);
    counts.rowsMatched += matched;
    for (let batch = start; matched > 0 && batch < end; batch += batchRows)
      groupsOf().addRows(block, batch, Math.min(end, batch + batchRows), match);
    if (matched > 0) moveDivided(bound, table, matched);
    clock?.end();
    at = block.start + end;
  } while (at < to && grownBytes() <= grownBytesMax);
  const ranMs = lap() - boundMs;
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
