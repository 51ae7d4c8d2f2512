// The scan operator: rows of segments in frames, on demand.

import type { Frame } from '../../model/frame.js';
import type { ScanPlan, SortKey } from '../../model/plan.js';
import { type ColumnType, isNumberType, type TextType, TIME_COLUMN, widestType } from '../../model/schema.js';
import type { SegmentView } from '../../storage/view.js';
import type { RunContext } from '../block/context.js';
import { type ResultColumn, type ResultTable, resultColumn, typed } from '../block/result-table.js';
import type { RowCounts } from '../block/row-counts.js';
import type { SegmentData } from '../block/segment-data.js';
import { openScope } from '../expression/open-scope.js';
import { type Source, storedSource, typeOfSource, type VirtualColumns, virtualColumnsByName } from '../expression/scope.js';
import { wantedPlaces } from '../post/window/wanted-places.js';
import { readColumn, type ScanColumn } from './columns.js';
import { firstOfPartitions } from './first-of-partitions.js';
import { type RowBatch, rowsInSegmentOrder, rowsInTimeOrder } from './order.js';
import type { RowQuery, RowSource } from './row-source.js';
import { sharedRanks } from './shared-ranks.js';
import { type TextNumbers, textNumbers } from './text-numbers.js';
import { topRowsOfPartitions } from './top-partitions.js';
import { type TopRows, topRowsOf, topRowsOfAll } from './top-rows.js';

const FRAME_ROWS = 16384;
/** Size of the first frame, small so that the first rows leave early. */
const FIRST_FRAME_ROWS = 1024;

/**
 * The rows of a scan in frames, produced only as they are asked for. `partial`: rows from the start up to offset +
 * limit, with `__time` as the last column when rows are to be merged by it.
 */
export function scanFrames(
  plan: ScanPlan,
  data: SegmentData,
  context: RunContext,
  ending: 'final' | 'partial',
  counts: RowCounts,
): Generator<Frame> {
  return scanPieces(plan, data, context, ending, counts, frameOf);
}

/** The same, as tables where steps hold all rows: strings then are ids for as long as the segments stay. */
export function scanRows(
  plan: ScanPlan,
  data: SegmentData,
  context: RunContext,
  ending: 'final' | 'partial',
  counts: RowCounts,
  areHeld: boolean,
): Generator<Frame | ResultTable> {
  return areHeld ? scanTables(plan, data, context, counts) : scanFrames(plan, data, context, ending, counts);
}

function scanTables(plan: ScanPlan, data: SegmentData, context: RunContext, counts: RowCounts): Generator<ResultTable> {
  const numbers = new Map<string, TextNumbers | undefined>();
  const { virtualColumns } = plan;
  const numbersOf = (name: string, type: TextType): TextNumbers | undefined => {
    if (!numbers.has(name)) {
      const isStored = !virtualColumns.some((column) => column.name === name);
      numbers.set(name, isStored ? textNumbers(context.memory, data, name, type) : undefined);
    }
    return numbers.get(name);
  };
  return scanPieces(plan, data, context, 'final', counts, (_, columns, batches, rowCount) => ({
    rowCount,
    columns: columns.map((column): ResultColumn => {
      const { name, type, multiValue } = column;
      const isText = !multiValue && !isNumberType(type);
      const known = isText ? numbersOf(name, type) : undefined;
      if (known === undefined || !isText) return resultColumn(readColumn(column, batches, rowCount), rowCount);
      const ids = new Uint32Array(rowCount);
      let at = 0;
      for (const { source, rows } of batches) {
        known.write(source.scope.view, rows, ids, at);
        at += rows.length;
      }
      return { kind: 'string', name, ...typed(type), ids, text: known.text, packed: known.packed };
    }),
    keys: [],
  }));
}

/** Makes a piece of the result of some rows. */
type MakePiece<Piece> = (plan: ScanPlan, columns: readonly ScanColumn[], batches: readonly RowBatch[], rowCount: number) => Piece;

function* scanPieces<Piece>(
  plan: ScanPlan,
  data: SegmentData,
  context: RunContext,
  ending: 'final' | 'partial',
  counts: RowCounts,
  pieceOf: MakePiece<Piece>,
): Generator<Piece> {
  const { views } = data;
  const virtualColumns = virtualColumnsByName(plan.virtualColumns);
  const query = { filter: plan.filter, intervals: plan.intervals, virtualColumns };
  const wanted = ending === 'partial' ? partialColumns(plan) : plan.columns;
  const columns = wanted.map((name) => scanColumn(context, name, plan, { views, virtualColumns }));
  const opened = new Set<RowSource>();
  const batches = batchesOf({ plan, data, query, columns }, context, opened, counts);
  const skip = ending === 'partial' ? 0 : plan.offset;
  const take = plan.limit === null ? Infinity : plan.limit + (ending === 'partial' ? plan.offset : 0);
  let pending: RowBatch[] = [];
  let rowCount = 0;
  let frameRows = FIRST_FRAME_ROWS;
  try {
    for (const batch of cut(batches, skip, take)) {
      const changesSegment = plan.timeOrder === null && pending[0] !== undefined && pending[0].source !== batch.source;
      if (changesSegment && rowCount > 0) {
        yield pieceOf(plan, columns, pending, rowCount);
        [pending, rowCount, frameRows] = [[], 0, FRAME_ROWS];
      }
      if (plan.timeOrder === null) releaseAllBut(opened, batch.source);
      for (let from = 0; from < batch.rows.length; ) {
        const rows = batch.rows.subarray(from, from + frameRows - rowCount);
        pending.push({ source: batch.source, rows });
        rowCount += rows.length;
        from += rows.length;
        if (rowCount < frameRows) continue;
        yield pieceOf(plan, columns, pending, rowCount);
        [pending, rowCount, frameRows] = [[], 0, FRAME_ROWS];
      }
    }
    if (rowCount > 0) yield pieceOf(plan, columns, pending, rowCount);
  } finally {
    for (const source of opened) source.release();
  }
}

/** Columns of a partial scan; `__time` comes last when rows are merged by it and it was not asked for. */
export function partialColumns(plan: ScanPlan): readonly string[] {
  return plan.timeOrder === null || plan.columns.includes(TIME_COLUMN) ? plan.columns : [...plan.columns, TIME_COLUMN];
}

interface Reading {
  readonly plan: ScanPlan;
  readonly data: SegmentData;
  readonly query: RowQuery;
  readonly columns: readonly ScanColumn[];
}

/** The rows in their order, less those that the steps after the scan drop anyway. */
function batchesOf(
  { plan, data, query, columns }: Reading,
  context: RunContext,
  opened: Set<RowSource>,
  counts: RowCounts,
): Generator<RowBatch> {
  const { views } = data;
  if (plan.timeOrder !== null) return rowsInTimeOrder(context, views, query, plan.timeOrder === 'descending', opened, counts);
  const top = topRowsOf(plan);
  if (top !== undefined) {
    const rows = { wanted: top.wanted, keys: typedKeys(top.by, columns) };
    return topRowsOfAll(context, views, query, rows, opened, counts);
  }
  const first = plan.offset > 0 || plan.limit !== null ? undefined : wantedPlaces(plan.post);
  if (first === undefined) return rowsInSegmentOrder(context, views, query, opened, counts);
  const { wanted, areDistinct } = first;
  const rows = { wanted, areDistinct, keys: typedKeys(first.by, columns), partition: typedKeys(first.partition, columns) };
  // Ranks of doubles that are alike, 0 and -0 for example, may differ.
  if (areDistinct && !rows.keys.every(({ type }) => type === 'LONG')) return rowsInSegmentOrder(context, views, query, opened, counts);
  const segments = { ...data, virtualColumns: query.virtualColumns };
  const order = sharedRanks(segments, rows.keys, true);
  const partition = sharedRanks(segments, rows.partition, false);
  if (order !== undefined && partition?.isExact === true)
    return firstOfPartitions(context, views, query, { wanted, areDistinct, order, partition }, opened, counts);
  return topRowsOfPartitions(context, views, query, rows, opened, counts);
}

function typedKeys(by: readonly SortKey[], columns: readonly ScanColumn[]): TopRows['keys'] {
  return by.flatMap((key) => {
    const column = columns.find(({ name }) => name === key.column);
    return column === undefined ? [] : [{ key, type: column.type }];
  });
}

/** In segment order no row of an earlier segment comes again, once its last frame is made. */
function releaseAllBut(opened: Set<RowSource>, current: RowSource): void {
  for (const source of opened) {
    if (source === current) continue;
    source.release();
    opened.delete(source);
  }
}

/** Rows [skip, skip + take) of what the batches hold; the last one is read no further than needed. */
function* cut(batches: Generator<RowBatch>, skip: number, take: number): Generator<RowBatch> {
  let toSkip = skip;
  let toTake = take;
  if (toTake <= 0) return;
  for (const { source, rows } of batches) {
    if (rows.length <= toSkip) {
      toSkip -= rows.length;
      continue;
    }
    const kept = rows.subarray(toSkip, toSkip + Math.min(toTake, rows.length));
    toSkip = 0;
    toTake -= kept.length;
    yield { source, rows: kept };
    if (toTake <= 0) return;
  }
}

function frameOf({ namesSegments }: ScanPlan, columns: readonly ScanColumn[], batches: readonly RowBatch[], rowCount: number): Frame {
  const frame: Frame = { rowCount, columns: columns.map((column) => readColumn(column, batches, rowCount)) };
  const [first] = batches;
  return namesSegments === true && first !== undefined ? { ...frame, segmentId: first.source.scope.view.id } : frame;
}

/** The widest type a column has over all segments. */
function scanColumn(
  context: RunContext,
  name: string,
  plan: ScanPlan,
  { views, virtualColumns }: { readonly views: readonly SegmentView[]; readonly virtualColumns: VirtualColumns },
): ScanColumn {
  const elsewhere = Object.hasOwn(virtualColumns, name) ? [] : (plan.types ?? []).filter((column) => column.name === name);
  const types = new Set<ColumnType>(elsewhere.map(({ type }) => type));
  let multiValue = false;
  const see = (source: Source): void => {
    const type = typeOfSource(source);
    if (type !== undefined && !holdsNullsOnly(source)) types.add(type);
    multiValue ||= source.kind === 'string' && source.column.offsets !== 0;
  };
  for (const view of views) {
    if (!Object.hasOwn(virtualColumns, name)) {
      see(storedSource(view, name));
      continue;
    }
    const arena = context.memory.arena();
    try {
      see(openScope(context, view, virtualColumns, arena).source(name));
    } finally {
      arena.release();
    }
  }
  return { name, type: widestType(types), multiValue };
}

/** Whether a column is null everywhere, which says nothing about its type. */
function holdsNullsOnly(source: Source): boolean {
  return source.kind === 'string' && source.column.dictionary.count === (source.column.dictionary.hasNull ? 1 : 0);
}
