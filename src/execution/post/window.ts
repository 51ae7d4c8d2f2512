// Post-processing step that computes window functions.

import { ServiceError } from '../../base/errors.js';
import type { PostStep, SortKey } from '../../model/plan.js';
import type { WindowCall, WindowFunction } from '../../model/window.js';
import { type Check, checkedLoop, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { columnNamed, pickRows, type ResultColumn, type ResultTable, valueAt } from '../block/result-table.js';
import { frameValues } from './frame-values.js';
import type { LeafResult } from './leaf-result.js';
import type { CompareRows } from './merge-sort.js';
import { compareColumn, sortedRows } from './sort.js';
import { nullTest, pickedColumn, SmallLongs } from './typed-values.js';
import { FrameSpans, type Partition, type Runs, type WindowRows } from './window-frame.js';

type WindowStep = Extract<PostStep, { step: 'window' }>;

/** Adds a column for each function. The rows come out by partition, and in the order of the window within. */
export function windowColumns(table: ResultTable, step: WindowStep, { check }: LeafResult): ResultTable {
  const by = [
    ...step.partition.map((column): SortKey => ({ column, descending: false, nulls: 'first', ordering: 'lexicographic' })),
    ...step.order,
  ];
  const sorted = by.length === 0 ? table : pickRows(table, sortedRows(table, by, { offset: 0, limit: null }, check), check);
  const partitions = runsOf(sorted, step.partition, undefined, check);
  if (step.rowsMax !== undefined) checkSizes(partitions, step.rowsMax);
  const orderColumns = step.order.map(({ column }) => column);
  const peers = step.order.length === 0 ? partitions : runsOf(sorted, orderColumns, partitions, check);
  const rows: WindowRows = { table: sorted, order: step.order, partitions, peers };
  const columns = step.functions.map((each) => functionColumn(rows, each, check));
  return { ...sorted, columns: [...sorted.columns, ...columns] };
}

function checkSizes({ starts, ends }: Runs, rowsMax: number): void {
  for (let start = 0; start < starts.length; start = ends[start] ?? starts.length) {
    const numRows = (ends[start] ?? starts.length) - start;
    if (numRows > rowsMax)
      throw new ServiceError(
        'resource_limit',
        `a window has ${numRows} rows in one partition, more than context.maxRowsMaterializedInWindow (${rowsMax}) allows`,
        undefined,
        { errorCode: 'TooManyRowsInAWindow', numRows, maxRows: rowsMax },
      );
  }
}

/** Neighbouring rows that have the same values. `within`: runs that are not left. */
function runsOf(table: ResultTable, names: readonly string[], within: Runs | undefined, check: Check): Runs {
  const { rowCount } = table;
  const comparisons = names.map((column) =>
    compareColumn(columnNamed(table, column), { column, descending: false, nulls: 'first', ordering: 'lexicographic' }),
  );
  const [starts, ends] = [new Uint32Array(rowCount), new Uint32Array(rowCount)];
  let end = rowCount;
  for (let row = rowCount - 1; row >= 0; row--) {
    if (row % ROWS_PER_CHECK === 0) check();
    const isLast = row + 1 === rowCount || within?.ends[row] === row + 1 || !areAlike(comparisons, row);
    if (isLast) end = row + 1;
    ends[row] = end;
  }
  let start = 0;
  for (let row = 0; row < rowCount; row++) {
    if (row % ROWS_PER_CHECK === 0) check();
    if (row === ends[start]) start = row;
    starts[row] = start;
  }
  return { starts, ends };
}

/** Whether a row is like the next one. */
function areAlike(comparisons: readonly CompareRows[], row: number): boolean {
  for (let at = 0; at < comparisons.length; at++) if (comparisons[at]?.(row, row + 1) !== 0) return false;
  return true;
}

function functionColumn(rows: WindowRows, each: WindowFunction, check: Check): ResultColumn {
  const { call, name } = each;
  switch (call.kind) {
    case 'shift':
      return shifted(rows, call, each, check);
    case 'rowNumber':
    case 'rank':
    case 'denseRank':
    case 'tile': {
      const places = new SmallLongs(rows.table.rowCount);
      eachPartition(rows, check, (partition) => fillPlaces(call, partition, rows.peers.ends, (row, place) => places.set(row, place)));
      return places.column(name);
    }
    case 'percentRank':
    case 'cumulativeDistribution': {
      const values = new Float64Array(rows.table.rowCount);
      eachPartition(rows, check, (partition) =>
        fillPlaces(call, partition, rows.peers.ends, (row, place) => {
          values[row] = place;
        }),
      );
      return { kind: 'double', name, type: 'DOUBLE', values, nulls: null };
    }
    default:
      return overFrames(rows, each, check);
  }
}

function eachPartition({ table, partitions }: WindowRows, check: Check, fill: (partition: Partition) => void): void {
  for (let start = 0, count = 0; start < table.rowCount; count++) {
    if (count % ROWS_PER_CHECK === 0) check();
    const end = partitions.ends[start] ?? table.rowCount;
    fill({ start, end });
    start = end;
  }
}

/** Values of other rows: so many rows away, or so many rows with a value. */
function shifted(
  { table, partitions }: WindowRows,
  { rows, ignoresNulls }: Extract<WindowCall, { kind: 'shift' }>,
  { name, columns: [from = '', otherwise] }: WindowFunction,
  check: Check,
): ResultColumn {
  const column = columnNamed(table, from);
  const present = ignoresNulls ? presentRows(column, table.rowCount, check) : undefined;
  const picked = new Int32Array(table.rowCount);
  checkedLoop(table.rowCount, check, (first, last) => {
    for (let row = first; row < last; row++) {
      const other = present === undefined || rows === 0 ? row + rows : presentAt(present, row, rows);
      picked[row] = other >= (partitions.starts[row] ?? 0) && other < (partitions.ends[row] ?? 0) ? other : -1;
    }
  });
  return pickedColumn({ name, column, otherwise: otherwise === undefined ? undefined : columnNamed(table, otherwise) }, picked, check);
}

/** Rows that have a value, and for each row how many of these are before it. */
interface PresentRows {
  readonly rows: readonly number[];
  readonly before: Uint32Array;
}

function presentRows(column: ResultColumn, rowCount: number, check: Check): PresentRows {
  const rows: number[] = [];
  const before = new Uint32Array(rowCount + 1);
  const isNull = nullTest(column);
  for (let row = 0; row < rowCount; row++) {
    if (row % ROWS_PER_CHECK === 0) check();
    if (!isNull(row)) rows.push(row);
    before[row + 1] = rows.length;
  }
  return { rows, before };
}

/** The row with the `distance`-th value after a row, before it where negative; -1 where there is none. */
function presentAt({ rows, before }: PresentRows, row: number, distance: number): number {
  const at = distance > 0 ? (before[row + 1] ?? 0) + distance - 1 : (before[row] ?? 0) + distance;
  return rows[at] ?? -1;
}

type PlaceCall = Extract<WindowCall, { kind: 'rowNumber' | 'rank' | 'denseRank' | 'percentRank' | 'cumulativeDistribution' | 'tile' }>;

function fillPlaces(call: PlaceCall, { start, end }: Partition, peerEnds: Uint32Array, set: (row: number, place: number) => void): void {
  const count = end - start;
  let dense = 0;
  for (let first = start; first < end; dense++) {
    const last = peerEnds[first] ?? end;
    for (let row = first; row < last; row++) set(row, placeOf(call, row - start, first - start, last - start, dense, count));
    first = last;
  }
}

/** Rank of row `at` in a partition of `count` rows; its peers are rows [first, last), the `dense`-th peer group. */
function placeOf(call: PlaceCall, at: number, first: number, last: number, dense: number, count: number): number {
  switch (call.kind) {
    case 'rowNumber':
      return at + 1;
    case 'rank':
      return first + 1;
    case 'denseRank':
      return dense + 1;
    case 'percentRank':
      return count === 1 ? 0 : first / (count - 1);
    case 'cumulativeDistribution':
      return last / count;
    case 'tile':
      return tileOf(at, count, call.tiles);
  }
}

/** The first `count % tiles` of them have one row more. */
function tileOf(at: number, count: number, tiles: number): number {
  const [size, larger] = [Math.floor(count / tiles), count % tiles];
  const inLarger = larger * (size + 1);
  return (at < inLarger ? Math.floor(at / (size + 1)) : larger + Math.floor((at - inLarger) / Math.max(1, size))) + 1;
}

/** Peers often have the same frame, whose value is found once. */
function overFrames(rows: WindowRows, { call, columns, filter, frame, name, type }: WindowFunction, check: Check): ResultColumn {
  const { table } = rows;
  const taken = filter === null ? undefined : columnNamed(table, filter);
  const spans = new FrameSpans(rows, frame);
  const values = frameValues(
    call,
    {
      rowCount: table.rowCount,
      columns: columns.map((column) => columnNamed(table, column)),
      takes: taken === undefined ? () => true : (row) => valueAt(taken, row) === 1n,
      check,
    },
    type,
  );
  const { bounds } = spans;
  let met = 0;
  eachPartition(rows, check, (partition) => {
    let start = -1;
    let end = -1;
    for (let row = partition.start; row < partition.end; row++) {
      if (++met % ROWS_PER_CHECK === 0) check();
      spans.find(row, partition);
      if (spans.count === 1 && bounds[0] === start && bounds[1] === end) {
        values.repeat(row);
        continue;
      }
      values.put(row, spans);
      start = spans.count === 1 ? (bounds[0] ?? -1) : -1;
      end = bounds[1] ?? -1;
    }
  });
  return values.column(name);
}
