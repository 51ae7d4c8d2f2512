// Grouping seen from outside: layout first, then result frames from the merged table.

import type { Value } from '../../expression/value.js';
import type { Frame } from '../../model/frame.js';
import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import type { Check } from '../block/checked-loops.js';
import type { RunContext, Scratch } from '../block/context.js';
import { ownNow } from '../block/own-time.js';
import { framesOf, type ResultTable } from '../block/result-table.js';
import type { RowCounts } from '../block/row-counts.js';
import type { LeafResult } from '../post/leaf-result.js';
import { type BestRows, bestOfParts, endBest, keepsBest, postParts } from '../post/parts.js';
import { runSteps } from '../post/steps.js';
import { countOf, type PooledValues, textBytesOf } from './key/key-pool.js';
import { type GroupLayout, layoutGroups, queryColumns } from './key/layout.js';
import { passingPart } from './passing-rows.js';
import type { GroupSource } from './run.js';
import { pairBytes } from './spill/group-spill.js';
import { mergeSpilled } from './spill/merge-spilled.js';
import { isDivisible, partTables } from './table/divided.js';
import { type GroupColumns, GroupColumnsWriter } from './table/group-columns.js';
import { type GroupTableParts, PARTS } from './table/group-parts.js';
import { GroupTable } from './table/group-table.js';
import { listGroups } from './table/list-groups.js';
import { freeParts, mergeTable } from './table/merge-tables.js';
import { partialRows } from './table/partial.js';
import { groupRows, stateAddresses } from './table/result.js';
import { bytesWith } from './table/table-bytes.js';

/** Layout of the groups of a plan over the segments at hand, the same on every thread. */
export function layoutOf({ plan, views, dictionaries }: GroupSource, context: RunContext, groupBytesMax: number): GroupLayout {
  return layoutGroups(plan, queryColumns(plan, views, dictionaries), groupBytesMax, () => passingPart(context, plan, views));
}

/**
 * Joins the tables of other threads, and gives the result as it is asked for; frees the table.
 * @param toFrames  makes the frames of a result that is in memory whole
 * @param roomFor   gives columns for the groups, for a plan whose reader takes them from there: they are all that comes then
 */
export function* endGroups<Rows extends SegmentFrame>(
  table: GroupTable,
  others: readonly GroupTableParts[],
  ending: 'final' | 'partial',
  heldRowsMax: number,
  counts: RowCounts,
  toFrames: (rows: ResultTable, check: Check) => Iterable<Rows>,
  roomFor?: (groups: number) => GroupColumns | undefined,
): Generator<Frame | Rows | GroupsInColumns> {
  const { context, layout } = table;
  const { post } = layout.plan;
  const leaf = leafOf(layout, context);
  const waiting = [...others];
  const divided = [table.shown(), ...others];
  if (
    isReduced(table, ending) &&
    divided.some(({ division }) => division !== undefined) &&
    divided.every(({ spilled }) => spilled === null)
  ) {
    yield* reducedAlone(table, others, counts);
    return;
  }
  const inColumns = dividedInColumns(divided, roomFor);
  if (inColumns !== undefined) {
    try {
      writeParts(layout, context, divided, allParts(), inColumns, counts);
      yield { rowCount: 0, columns: [], groups: inColumns };
    } finally {
      for (const parts of others) freeParts(context, parts);
      table.free();
    }
    return;
  }
  // Equal groups become one: the table's own are merged into it like those of others.
  if (table.division !== undefined) waiting.unshift(table.moveOut());
  let startMs = ownNow();
  /** Time since the last look at the clock. */
  const lap = (): number => {
    const now = ownNow();
    const passed = now - startMs;
    startMs = now;
    return passed;
  };
  const arena = context.memory.arena();
  try {
    if (context.spill !== undefined && !fitsWith(table, waiting)) {
      const parts = rowsOfParts({ context, arena }, table, waiting.splice(0), ending, counts);
      const frames =
        ending === 'partial' ? framesOfAll(parts, context.check) : postParts(parts, post, leaf, { spill: context.spill, heldRowsMax });
      for (const frame of frames) {
        counts.finishMs += lap();
        counts.rowsFinished += frame.rowCount;
        yield frame;
        lap();
      }
      return;
    }
    for (let parts = waiting.shift(); parts !== undefined; parts = waiting.shift()) mergeTable(table, parts);
    counts.mergeMs += lap();
    const scope = { context, arena };
    const columns = roomFor?.(groupsIn(scope, table));
    if (columns !== undefined) {
      new GroupColumnsWriter(scope, layout, columns).add(table, stateAddresses(scope, table));
      counts.finishMs += lap();
      yield { rowCount: 0, columns: [], groups: columns };
      return;
    }
    const groups = ending === 'partial' ? partialRows(scope, table) : groupRows(scope, table, post);
    const rows = ending === 'partial' ? groups : runSteps(groups, post, leaf);
    counts.rowsToFinish += groups.rowCount;
    counts.rowsFinished += rows.rowCount;
    counts.finishMs += lap();
    yield* toFrames(rows, context.check);
  } finally {
    for (const parts of waiting) freeParts(context, parts);
    arena.release();
    table.free();
  }
}

/** Groups that lie in columns, in place of their rows. */
export interface GroupsInColumns extends Frame {
  readonly groups: GroupColumns;
}

/** Columns for groups that are divided; undefined: some are on disk, or lie in one table anyway, or there is no room. */
function dividedInColumns(
  tables: readonly GroupTableParts[],
  roomFor: ((groups: number) => GroupColumns | undefined) | undefined,
): GroupColumns | undefined {
  if (tables.every(({ division }) => division === undefined) || tables.some(({ spilled }) => spilled !== null)) return undefined;
  return roomFor?.(tables.reduce((sum, { groupCount }) => sum + groupCount, 0));
}

/** Writes the groups of the parts that `next` deals out, of all `tables`, to columns. Frees nothing of these. */
export function writeParts(
  layout: GroupLayout,
  context: RunContext,
  tables: readonly GroupTableParts[],
  next: () => number | undefined,
  into: GroupColumns,
  counts: RowCounts,
): void {
  const startMs = ownNow();
  const arena = context.memory.arena();
  try {
    const scope = { context, arena };
    const writer = new GroupColumnsWriter(scope, layout, into);
    for (const part of partTables(layout, context, tables, next)) writer.add(part, stateAddresses(scope, part));
  } finally {
    arena.release();
  }
  counts.mergeMs += ownNow() - startMs;
}

function allParts(): () => number | undefined {
  let part = 0;
  return () => (part < PARTS ? part++ : undefined);
}

/** Number of the groups of a table that have rows. */
function groupsIn(scope: Scratch, table: GroupTable): number {
  return table.present === 0 ? table.groupCount : listGroups(scope, table).length;
}

/** Whether the groups of a table end as few rows, which are found part by part. */
export function isReduced({ layout, hasSpilled }: GroupTable, ending: 'final' | 'partial'): boolean {
  return !hasSpilled && endsInBest(layout, ending);
}

export function endsInBest(layout: GroupLayout, ending: 'final' | 'partial'): boolean {
  return ending === 'final' && isDivisible(layout) && keepsBest(layout.plan.post);
}

/** Best rows of the parts that `next` deals out, of all `tables`. Frees nothing of these. */
export function bestOfTables(
  layout: GroupLayout,
  context: RunContext,
  tables: readonly GroupTableParts[],
  next: () => number | undefined,
  counts: RowCounts,
): BestRows {
  const startMs = ownNow();
  const { post } = layout.plan;
  function* rows(): Generator<ResultTable> {
    for (const table of partTables(layout, context, tables, next)) {
      const arena = context.memory.arena();
      try {
        const found = groupRows({ context, arena }, table, post);
        counts.rowsToFinish += found.rowCount;
        yield found;
      } finally {
        arena.release();
      }
    }
  }
  const best = bestOfParts(rows(), post, leafOf(layout, context));
  counts.mergeMs += ownNow() - startMs;
  return best;
}

/** Ends the query over the best rows of all threads. */
export function* endReduced({ layout, context }: GroupTable, best: readonly BestRows[], counts: RowCounts): Generator<Frame> {
  const startMs = ownNow();
  const frames = [...endBest(best, layout.plan.post, leafOf(layout, context))];
  counts.finishMs += ownNow() - startMs;
  counts.rowsFinished += frames.reduce((sum, { rowCount }) => sum + rowCount, 0);
  yield* frames;
}

/** All parts on this thread. Frees the table and the others. */
function* reducedAlone(table: GroupTable, others: readonly GroupTableParts[], counts: RowCounts): Generator<Frame> {
  const { layout, context } = table;
  let best: BestRows;
  try {
    best = bestOfTables(layout, context, [table.shown(), ...others], allParts(), counts);
  } finally {
    for (const parts of others) freeParts(context, parts);
    table.free();
  }
  yield* endReduced(table, [best], counts);
}

/** Whether everything is in memory and stays within its limit when it is one table. */
function fitsWith(table: GroupTable, others: readonly GroupTableParts[]): boolean {
  if (table.hasSpilled || others.some(({ spilled }) => spilled !== null)) return false;
  const groups = others.reduce((sum, { groupCount }) => sum + groupCount, 0);
  const ofPairs = ({ states }: GroupTableParts): number =>
    pairBytes(
      table.layout,
      states.map(({ pairs }) => pairs?.count ?? 0),
    );
  const content = others.reduce((sum, parts) => sum + ofPairs(parts), 0);
  const texts = others.reduce((sum, { pools, distinctPools }) => sum + textBytesOf([...pools, ...distinctPools]), 0);
  const most = (pools: readonly PooledValues[]): number => pools.reduce((count, pool) => Math.max(count, countOf(pool)), 0);
  const values = others.reduce((sum, { pools, distinctPools }) => sum + Math.max(most(pools), most(distinctPools)), 0);
  return others.length === 0 || bytesWith(table, groups, { content, texts, values }) <= table.context.groupBytesMax;
}

/** Partition by partition. */
function* rowsOfParts(
  scope: Scratch,
  table: GroupTable,
  others: readonly GroupTableParts[],
  ending: 'final' | 'partial',
  counts: RowCounts,
): Generator<ResultTable> {
  const { context } = scope;
  let isEmpty = true;
  for (const part of mergeSpilled(table, others)) {
    isEmpty = false;
    const arena = context.memory.arena();
    try {
      const rows =
        ending === 'partial' ? partialRows({ context, arena }, part) : groupRows({ context, arena }, part, table.layout.plan.post);
      counts.rowsToFinish += rows.rowCount;
      yield rows;
    } finally {
      arena.release();
    }
  }
  if (!isEmpty || ending === 'partial') return;
  // No group at all may still be one row.
  const none = new GroupTable(table.layout, context);
  try {
    yield groupRows(scope, none, []);
  } finally {
    none.free();
  }
}

function* framesOfAll(parts: Iterable<ResultTable>, check: Check): Generator<Frame> {
  for (const part of parts) yield* framesOf(part, check);
}

function leafOf({ plan, aggregators }: GroupLayout, context: RunContext): LeafResult {
  const emptyValues = new Map<string, Value>();
  for (const each of aggregators) {
    const counts = each.kind === 'count' || (each.kind === 'distinct' && each.fold === undefined);
    const isZero = counts || (each.kind !== 'state' && each.aggregator.emptyIsZero === true);
    const value = each.kind === 'state' ? each.states.emptyValue : isZero ? 0n : null;
    if (value !== null) emptyValues.set(each.name, value);
  }
  return { intervals: plan.intervals, emptyValues, check: context.check, context };
}
