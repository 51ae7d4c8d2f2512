import type { Value } from '../../expression/value.js';
import { compareValues } from '../../expression/value.js';
import type { FinishStep, SortKey } from '../../model/plan.js';
import type { WindowCall, WindowFunction } from '../../model/window.js';
import { ROWS_PER_CHECK } from '../pieces.js';
import { sortedRows } from './sort.js';
import type { LeafResult } from './steps.js';
import type { ResultColumn, ResultTable } from './table.js';
import { columnNamed, columnOf, pickRows, typeOfResult, valueAt } from './table.js';
import { frameAggregate } from './window-aggregate.js';

type WindowStep = Extract<FinishStep, { step: 'window' }>;

/** Rows [start, end). */
interface Partition {
  readonly start: number;
  readonly end: number;
}

/** Adds a column for each function. The rows come out by partition, and in the order of the window within. */
export function windowColumns(table: ResultTable, step: WindowStep, leaf: LeafResult): ResultTable {
  const { check } = leaf;
  const by = [
    ...step.partition.map((column): SortKey => ({ column, descending: false, nulls: 'first', ordering: 'lexicographic' })),
    ...step.order,
  ];
  const sorted = by.length === 0 ? table : pickRows(table, sortedRows(table, by, { offset: 0, limit: null }, check), check);
  const partitionEnds = runEnds(sorted, step.partition, undefined, check);
  const peerEnds =
    step.order.length === 0
      ? partitionEnds
      : runEnds(
          sorted,
          step.order.map(({ column }) => column),
          partitionEnds,
          check,
        );
  const columns = step.functions.map((each) => functionColumn(sorted, each, { partitionEnds, peerEnds }, leaf));
  return { ...sorted, columns: [...sorted.columns, ...columns] };
}

/** For each row, the row after the last of those following it that have the same values. `within`: runs that are not left. */
function runEnds(table: ResultTable, names: readonly string[], within: Uint32Array | undefined, check: () => void): Uint32Array {
  const { rowCount } = table;
  const columns = names.map((name) => columnNamed(table, name));
  const ends = new Uint32Array(rowCount);
  let end = rowCount;
  for (let row = rowCount - 1; row >= 0; row--) {
    if (row % ROWS_PER_CHECK === 0) check();
    const isLast =
      row + 1 === rowCount ||
      within?.[row] === row + 1 ||
      !columns.every((column) => isSame(valueAt(column, row), valueAt(column, row + 1)));
    if (isLast) end = row + 1;
    ends[row] = end;
  }
  return ends;
}

function isSame(a: Value, b: Value): boolean {
  return a === b || (a !== null && b !== null && compareValues(a, b) === 0);
}

interface Runs {
  readonly partitionEnds: Uint32Array;
  readonly peerEnds: Uint32Array;
}

function functionColumn(table: ResultTable, each: WindowFunction, { partitionEnds, peerEnds }: Runs, leaf: LeafResult): ResultColumn {
  const values: Value[] = new Array(table.rowCount);
  for (let start = 0; start < table.rowCount; ) {
    leaf.check();
    const end = partitionEnds[start] ?? table.rowCount;
    fillPartition(table, each, { start, end }, peerEnds, values, leaf);
    start = end;
  }
  return columnOf(each.name, each.type, values);
}

function fillPartition(
  table: ResultTable,
  each: WindowFunction,
  partition: Partition,
  peerEnds: Uint32Array,
  values: Value[],
  leaf: LeafResult,
): void {
  const { call } = each;
  switch (call.kind) {
    case 'shift': {
      const column = columnNamed(table, call.column);
      for (let row = partition.start; row < partition.end; row++) {
        const from = row + call.rows;
        values[row] = from >= partition.start && from < partition.end ? valueAt(column, from) : null;
      }
      return;
    }
    case 'rowNumber':
    case 'rank':
    case 'denseRank':
    case 'percentRank':
    case 'cumulativeDistribution':
    case 'tile':
      return fillPlaces(call, partition, peerEnds, values);
    default:
      return fillFrames(table, each, partition, peerEnds, values, leaf);
  }
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

/** Of a row at `at` in a partition of `count` rows, whose peers are rows [first, last) and the `dense`-th group of such. */
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

/** Frames of neighbouring rows are often the same, or one row longer: what they have in common is not computed again. */
function fillFrames(
  table: ResultTable,
  { call, filter, frame, type }: WindowFunction,
  { start, end }: Partition,
  peerEnds: Uint32Array,
  values: Value[],
  leaf: LeafResult,
): void {
  const filterColumn = filter === null ? undefined : columnNamed(table, filter);
  const column = 'column' in call && call.column !== null ? columnNamed(table, call.column) : undefined;
  const aggregate = frameAggregate(call, column === undefined ? 'LONG' : typeOfResult(column), type);
  const takes = (row: number): boolean => filterColumn === undefined || valueAt(filterColumn, row) === 1n;
  let [from, to] = [start, start];
  let peerStart = start;
  for (let row = start; row < end; row++) {
    if (row % ROWS_PER_CHECK === 0) leaf.check();
    if (row > start && peerEnds[row - 1] === row) peerStart = row;
    const clamp = (at: number): number => Math.min(end, Math.max(start, at));
    const isRange = frame.unit === 'range';
    const low = frame.start === 'unbounded' ? start : isRange ? peerStart : clamp(row + frame.start);
    const high = frame.end === 'unbounded' ? end : isRange ? (peerEnds[row] ?? end) : clamp(row + frame.end + 1);
    if (low !== from || high < to) {
      aggregate.clear();
      [from, to] = [low, low];
    }
    for (; to < high; to++) if (takes(to)) aggregate.add(column === undefined ? 1n : valueAt(column, to));
    values[row] = aggregate.result();
  }
}
