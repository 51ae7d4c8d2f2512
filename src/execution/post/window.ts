// Post-processing step that computes window functions.

import { compareValues, type Value } from '../../expression/value.js';
import type { PostStep, SortKey } from '../../model/plan.js';
import type { WindowCall, WindowFunction } from '../../model/window.js';
import { type Check, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { columnNamed, columnOf, pickRows, type ResultColumn, type ResultTable, valueAt } from '../block/result-table.js';
import { frameValue } from './frame-values.js';
import type { LeafResult } from './leaf-result.js';
import { sortedRows } from './sort.js';
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
  const orderColumns = step.order.map(({ column }) => column);
  const peers = step.order.length === 0 ? partitions : runsOf(sorted, orderColumns, partitions, check);
  const rows: WindowRows = { table: sorted, order: step.order, partitions, peers };
  const columns = step.functions.map((each) => columnOf(each.name, each.type, functionValues(rows, each, check)));
  return { ...sorted, columns: [...sorted.columns, ...columns] };
}

/** Neighbouring rows that have the same values. `within`: runs that are not left. */
function runsOf(table: ResultTable, names: readonly string[], within: Runs | undefined, check: Check): Runs {
  const { rowCount } = table;
  const columns = names.map((name) => columnNamed(table, name));
  const [starts, ends] = [new Uint32Array(rowCount), new Uint32Array(rowCount)];
  let end = rowCount;
  for (let row = rowCount - 1; row >= 0; row--) {
    if (row % ROWS_PER_CHECK === 0) check();
    const isLast =
      row + 1 === rowCount ||
      within?.ends[row] === row + 1 ||
      !columns.every((column) => isSame(valueAt(column, row), valueAt(column, row + 1)));
    if (isLast) end = row + 1;
    ends[row] = end;
  }
  for (let start = 0; start < rowCount; start = ends[start] ?? rowCount) starts.fill(start, start, ends[start]);
  return { starts, ends };
}

function isSame(a: Value, b: Value): boolean {
  return a === b || (a !== null && b !== null && compareValues(a, b) === 0);
}

function functionValues(rows: WindowRows, each: WindowFunction, check: Check): Value[] {
  const { table, partitions } = rows;
  const values: Value[] = new Array(table.rowCount);
  const fill = partitionFiller(rows, each, values, check);
  for (let start = 0; start < table.rowCount; ) {
    check();
    const end = partitions.ends[start] ?? table.rowCount;
    fill({ start, end });
    start = end;
  }
  return values;
}

function partitionFiller(rows: WindowRows, each: WindowFunction, values: Value[], check: Check): (partition: Partition) => void {
  const { call } = each;
  switch (call.kind) {
    case 'shift':
      return shifted(rows.table, call, each.columns, values, check);
    case 'rowNumber':
    case 'rank':
    case 'denseRank':
    case 'percentRank':
    case 'cumulativeDistribution':
    case 'tile':
      return (partition) => fillPlaces(call, partition, rows.peers.ends, values);
    default:
      return overFrames(rows, each, values, check);
  }
}

/** Values of other rows: so many rows away, or so many rows with a value. */
function shifted(
  table: ResultTable,
  { rows, ignoresNulls }: Extract<WindowCall, { kind: 'shift' }>,
  [name = '', otherwise]: readonly string[],
  values: Value[],
  check: Check,
): (partition: Partition) => void {
  const column = columnNamed(table, name);
  const absent = otherwise === undefined ? undefined : columnNamed(table, otherwise);
  const present = ignoresNulls ? presentRows(column, table.rowCount, check) : undefined;
  return ({ start, end }) => {
    for (let row = start; row < end; row++) {
      if (row % ROWS_PER_CHECK === 0) check();
      const from = present === undefined || rows === 0 ? row + rows : presentAt(present, row, rows);
      const isThere = from >= start && from < end;
      values[row] = isThere ? valueAt(column, from) : absent === undefined ? null : valueAt(absent, row);
    }
  };
}

/** Rows that have a value, and for each row how many of these are before it. */
interface PresentRows {
  readonly rows: readonly number[];
  readonly before: Uint32Array;
}

function presentRows(column: ResultColumn, rowCount: number, check: Check): PresentRows {
  const rows: number[] = [];
  const before = new Uint32Array(rowCount + 1);
  for (let row = 0; row < rowCount; row++) {
    if (row % ROWS_PER_CHECK === 0) check();
    if (valueAt(column, row) !== null) rows.push(row);
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

function fillPlaces(call: PlaceCall, { start, end }: Partition, peerEnds: Uint32Array, values: Value[]): void {
  const count = end - start;
  let dense = 0;
  for (let first = start; first < end; dense++) {
    const last = peerEnds[first] ?? end;
    for (let row = first; row < last; row++) {
      values[row] = placeOf(call, { at: row - start, first: first - start, last: last - start, dense, count });
    }
    first = last;
  }
}

/** Rank of row `at` in a partition of `count` rows; its peers are rows [first, last), the `dense`-th peer group. */
function placeOf(
  call: PlaceCall,
  { at, first, last, dense, count }: Readonly<Record<'at' | 'first' | 'last' | 'dense' | 'count', number>>,
): Value {
  switch (call.kind) {
    case 'rowNumber':
      return BigInt(at + 1);
    case 'rank':
      return BigInt(first + 1);
    case 'denseRank':
      return BigInt(dense + 1);
    case 'percentRank':
      return count === 1 ? 0 : first / (count - 1);
    case 'cumulativeDistribution':
      return last / count;
    case 'tile':
      return tileOf(at, count, call.tiles);
  }
}

/** The first `count % tiles` of them have one row more. */
function tileOf(at: number, count: number, tiles: number): bigint {
  const [size, larger] = [Math.floor(count / tiles), count % tiles];
  const inLarger = larger * (size + 1);
  return BigInt((at < inLarger ? Math.floor(at / (size + 1)) : larger + Math.floor((at - inLarger) / Math.max(1, size))) + 1);
}

/** Peers often have the same frame, whose value is found once. */
function overFrames(rows: WindowRows, each: WindowFunction, values: Value[], check: Check): (partition: Partition) => void {
  const { table } = rows;
  const filter = each.filter === null ? undefined : columnNamed(table, each.filter);
  const spans = new FrameSpans(rows, each.frame);
  const valueOf = frameValue(
    each.call,
    {
      rowCount: table.rowCount,
      columns: each.columns.map((name) => columnNamed(table, name)),
      takes: (row) => filter === undefined || valueAt(filter, row) === 1n,
      check,
    },
    each.type,
  );
  return (partition) => {
    let [start, end, last]: [number, number, Value] = [-1, -1, null];
    for (let row = partition.start; row < partition.end; row++) {
      if (row % ROWS_PER_CHECK === 0) check();
      spans.find(row, partition);
      const [from = 0, to = 0] = spans.bounds;
      if (spans.count !== 1 || from !== start || to !== end) last = valueOf(spans);
      [start, end] = spans.count === 1 ? [from, to] : [-1, -1];
      values[row] = last;
    }
  };
}
