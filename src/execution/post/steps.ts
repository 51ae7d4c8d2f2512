// Runs post-processing steps over a whole result.

import { compileExpression } from '../../expression/evaluate.js';
import { convert, type Value } from '../../expression/value.js';
import type { PostStep, SortKey } from '../../model/plan.js';
import type { ColumnType } from '../../model/schema.js';
import { ascending, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { columnNamed, columnOf, pickRows, type ResultColumn, type ResultTable, typeOfResult, valueAt } from '../block/result-table.js';
import { computedDoubles } from './computed-doubles.js';
import { computedNumbers } from './computed-numbers.js';
import { fillBuckets } from './fill-buckets.js';
import { type KeptColumns, keptAfter, withColumns } from './kept-columns.js';
import type { LeafResult } from './leaf-result.js';
import { rankColumn } from './rank.js';
import { rowsThatPass } from './row-filter.js';
import { sortedRows } from './sort.js';
import { rowsOfFirstPlaces } from './window/first-places.js';
import { wantedPlaces } from './window/wanted-places.js';
import { windowColumns } from './window/window.js';

export function runSteps(table: ResultTable, steps: readonly PostStep[], leaf: LeafResult): ResultTable {
  const kept = keptAfter(steps);
  return steps.reduce((current, step, at) => {
    // A scan has left such rows out as it read them.
    const first = step.step === 'window' && current.keys.length > 0 ? wantedPlaces(steps.slice(at, at + 2)) : undefined;
    const rows = first && rowsOfFirstPlaces(current, first, leaf.check);
    return runStep(rows === undefined ? current : pickRows(current, rows, leaf.check), step, leaf, kept[at]);
  }, table);
}

/** @param kept  the columns that later steps read */
function runStep(table: ResultTable, step: PostStep, leaf: LeafResult, kept: KeptColumns): ResultTable {
  switch (step.step) {
    case 'compute':
      return { ...table, columns: [...table.columns, computeColumn(table, step, leaf)] };
    case 'filter': {
      const rows = rowsThatPass(table, step.filter, leaf);
      return rows.length === table.rowCount ? table : pickRows(withColumns(table, kept), rows, leaf.check);
    }
    case 'sort':
      return pickRows(withColumns(table, kept), sortedRows(table, step.by, step, leaf.check), leaf.check);
    case 'topPerBucket':
      return topPerBucket(table, step.bucket, step.by, step.limit, leaf);
    case 'limit': {
      const end = step.limit === null ? table.rowCount : Math.min(table.rowCount, step.offset + step.limit);
      return pickRows(withColumns(table, kept), ascending(Math.max(0, end - step.offset), leaf.check, step.offset), leaf.check);
    }
    case 'fillBuckets':
      return fillBuckets(table, step.bucket, step.granularity, leaf);
    case 'rank':
      return { ...table, columns: [...table.columns, rankColumn(table, step, leaf)] };
    case 'window':
      return windowColumns(table, step, leaf, kept);
    case 'project':
      return {
        ...table,
        keys: renamedKeys(table, step.columns),
        columns: step.columns.map(({ name, from }) => ({ ...columnNamed(table, from), name })),
      };
  }
}

function renamedKeys(table: ResultTable, columns: readonly { readonly name: string; readonly from: string }[]): string[] {
  return columns.filter(({ from }) => table.keys.includes(from)).map(({ name }) => name);
}

function computeColumn(
  table: ResultTable,
  { name, type, expression }: Extract<PostStep, { step: 'compute' }>,
  leaf: LeafResult,
): ResultColumn {
  const columns = new Map(table.columns.map((column) => [column.name, column]));
  const typeOf = (column: string): ColumnType | undefined => {
    const found = columns.get(column);
    return found === undefined ? undefined : typeOfResult(found);
  };
  const doubles = computedDoubles(name, type, expression, { rowCount: table.rowCount, columns, typeOf, check: leaf.check });
  if (doubles !== undefined) return doubles;
  const numbers = leaf.context && computedNumbers(leaf.context, table, { name, type, expression });
  if (numbers !== undefined) return numbers;
  const evaluate = compileExpression(expression, typeOf, leaf.check);
  let row = 0;
  const read = (column: string): Value => {
    const found = columns.get(column);
    return found === undefined ? null : valueAt(found, row);
  };
  const values: Value[] = new Array(table.rowCount);
  for (; row < table.rowCount; row++) {
    if (row % ROWS_PER_CHECK === 0) leaf.check();
    const value = evaluate(read);
    values[row] = value === null ? null : convert(value, type);
  }
  return columnOf(name, type, values);
}

function topPerBucket(table: ResultTable, bucket: string, by: readonly SortKey[], limit: number, leaf: LeafResult): ResultTable {
  const first: SortKey = { column: bucket, descending: false, nulls: 'first', ordering: 'lexicographic' };
  const sorted = sortedRows(table, [first, ...by], { offset: 0, limit: null }, leaf.check);
  const buckets = columnNamed(table, bucket);
  const kept: number[] = [];
  let current: Value | undefined;
  let taken = 0;
  for (const [at, row] of sorted.entries()) {
    if (at % ROWS_PER_CHECK === 0) leaf.check();
    const value = valueAt(buckets, row);
    taken = value === current ? taken + 1 : 1;
    current = value;
    if (taken <= limit) kept.push(row);
  }
  return pickRows(table, Uint32Array.from(kept), leaf.check);
}
