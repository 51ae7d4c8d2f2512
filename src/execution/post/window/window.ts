// Post-processing step that computes window functions.

import { ServiceError } from '../../../base/errors.js';
import { append } from '../../../base/lists.js';
import type { PostStep, SortKey } from '../../../model/plan.js';
import type { WindowCall, WindowFunction } from '../../../model/window.js';
import { type Check, checkedLoop } from '../../block/checked-loops.js';
import { columnNamed, type ResultColumn, type ResultTable } from '../../block/result-table.js';
import { columnsOfFunctions, type KeptColumns, withColumns } from '../kept-columns.js';
import type { LeafResult } from '../leaf-result.js';
import { orderOfWords } from '../radix-order.js';
import { orderedTable } from '../row-order.js';
import { sortKeys, sortWords } from '../sort.js';
import { nullMarks, pickedColumn, takenMarks } from '../typed-values.js';
import { frameValues } from './frame-values.js';
import { eachPiece, type Runs, runsByCounts, runsOfWords } from './runs.js';
import { areWholePartitions, partitionColumn, partitionNumbers, runsOfNumbers } from './whole-partitions.js';
import { framesOfRows } from './window-frame.js';
import { placeColumn } from './window-places.js';
import type { WindowRows } from './window-rows.js';

type WindowStep = Extract<PostStep, { step: 'window' }>;

/**
 * Adds a column for each function. The rows come out by partition, and in the order of the window within, where anybody sees that.
 * @param kept  the columns that are wanted besides
 */
export function windowColumns(table: ResultTable, step: WindowStep, leaf: LeafResult, kept?: KeptColumns): ResultTable {
  const wanted = kept === undefined ? undefined : new Set([...kept, ...columnsOfFunctions(step)]);
  return wholePartitions(table, step, leaf.check, wanted) ?? inOrder(table, step, leaf.check, wanted);
}

/** The rows as they stand; undefined where they have to be in order, or partitions are not found without. */
function wholePartitions(table: ResultTable, step: WindowStep, check: Check, wanted: KeptColumns): ResultTable | undefined {
  if (!areWholePartitions(step)) return undefined;
  const partitions = partitionNumbers(wordsOf(table, step, partitionKeys(step), check).flat(), table.rowCount, check);
  if (partitions === undefined) return undefined;
  if (step.rowsMax !== undefined) checkSizes(runsOfNumbers(partitions, check), step.rowsMax);
  const columns = step.functions.map((each) => partitionColumn(table, partitions, each, check));
  const rows = withColumns(table, wanted);
  return { ...rows, columns: [...rows.columns, ...columns] };
}

function inOrder(table: ResultTable, step: WindowStep, check: Check, wanted: KeptColumns): ResultTable {
  const rows = orderedRows(table, step, check, wanted);
  if (step.rowsMax !== undefined) checkSizes(rows.partitions, step.rowsMax);
  const columns = step.functions.map((each) => functionColumn(rows, each));
  return { ...rows.table, columns: [...rows.table.columns, ...columns] };
}

function partitionKeys({ partition }: WindowStep): SortKey[] {
  return partition.map((column) => ({ column, descending: false, nulls: 'first', ordering: 'lexicographic' }));
}

/** Words of the columns of an order that begins with the partition. */
function wordsOf(table: ResultTable, { partition, inAnyOrder }: WindowStep, by: readonly SortKey[], check: Check): Uint32Array[][] {
  return by.map((key, at) => {
    const column = columnNamed(table, key.column);
    // Rows of one text have one id.
    const isNumbered = inAnyOrder === true && at < partition.length && column.kind === 'string' && column.packed?.isDistinct === true;
    return isNumbered ? [column.ids] : sortWords(column, key, check);
  });
}

function orderedRows(table: ResultTable, step: WindowStep, check: Check, wanted: KeptColumns): WindowRows {
  const { rowCount } = table;
  const { partition, order } = step;
  const by = [...partitionKeys(step), ...order];
  const words = wordsOf(table, step, by.length === 0 ? [] : sortKeys(table, by), check);
  const all: Uint32Array[] = [];
  for (const each of words) append(all, each);
  const inOrder = orderOfWords(all, rowCount, check);
  const rows = inOrder ?? {};
  const partitionWords = words.slice(0, partition.length).flat();
  const partitions = runsByCounts(partitionWords, rowCount, check) ?? runsOfWords(partitionWords, rows, rowCount, check);
  const ordered = withColumns(table, wanted);
  let peers: Runs | undefined;
  return {
    table: inOrder === undefined ? ordered : orderedTable(ordered, inOrder, check),
    order,
    partitions,
    frames: new Map(),
    peers() {
      peers ??= runsOfWords(words.slice(partition.length, by.length).flat(), rows, rowCount, check, partitions);
      return peers;
    },
    check,
  };
}

function checkSizes(partitions: Runs, rowsMax: number): void {
  for (let at = 0; at + 1 < partitions.length; at++) {
    const numRows = (partitions[at + 1] ?? 0) - (partitions[at] ?? 0);
    if (numRows > rowsMax)
      throw new ServiceError(
        'resource_limit',
        `a window has ${numRows} rows in one partition, more than context.maxRowsMaterializedInWindow (${rowsMax}) allows`,
        undefined,
        { errorCode: 'TooManyRowsInAWindow', numRows, maxRows: rowsMax },
      );
  }
}

function functionColumn(rows: WindowRows, each: WindowFunction): ResultColumn {
  const { call, name } = each;
  switch (call.kind) {
    case 'shift':
      return shifted(rows, call, each);
    case 'rowNumber':
    case 'rank':
    case 'denseRank':
    case 'tile':
    case 'percentRank':
    case 'cumulativeDistribution':
      return placeColumn(rows, call, name);
    default:
      return overFrames(rows, each);
  }
}

/** Values of other rows: so many rows away, or so many rows with a value. */
function shifted(
  { table, partitions, check }: WindowRows,
  { rows, ignoresNulls }: Extract<WindowCall, { kind: 'shift' }>,
  { name, columns: [from = '', otherwise] }: WindowFunction,
): ResultColumn {
  const column = columnNamed(table, from);
  const present = ignoresNulls && rows !== 0 ? presentRows(column, table.rowCount, check) : undefined;
  const picked = new Int32Array(table.rowCount);
  eachPiece(partitions, check, (first, last, start, end) => {
    for (let row = first; row < last; row++) {
      const other = present === undefined ? row + rows : presentAt(present, row, rows);
      picked[row] = other >= start && other < end ? other : -1;
    }
  });
  return pickedColumn({ name, column, otherwise: otherwise === undefined ? undefined : columnNamed(table, otherwise) }, picked, check);
}

/** Rows that have a value, and for each row how many of these are before it. */
interface PresentRows {
  readonly rows: Uint32Array;
  readonly count: number;
  readonly before: Uint32Array;
}

function presentRows(column: ResultColumn, rowCount: number, check: Check): PresentRows {
  const rows = new Uint32Array(rowCount);
  const before = new Uint32Array(rowCount + 1);
  const nulls = nullMarks(column, rowCount, check);
  let count = 0;
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      if (nulls === null || nulls[row] !== 1) rows[count++] = row;
      before[row + 1] = count;
    }
  });
  return { rows, count, before };
}

/** The row with the `distance`-th value after a row, before it where negative; -1 where there is none. */
function presentAt({ rows, count, before }: PresentRows, row: number, distance: number): number {
  const at = distance > 0 ? (before[row + 1] ?? 0) + distance - 1 : (before[row] ?? 0) + distance;
  return at < 0 || at >= count ? -1 : (rows[at] ?? -1);
}

function overFrames(rows: WindowRows, { call, columns, filter, frame, name, type }: WindowFunction): ResultColumn {
  const { table, check } = rows;
  const input = {
    rowCount: table.rowCount,
    spans: framesOfRows(rows, frame),
    columns: columns.map((column) => columnNamed(table, column)),
    taken: filter === null ? null : takenMarks(columnNamed(table, filter), table.rowCount, check),
    check,
  };
  return frameValues(call, input, { name, type });
}
