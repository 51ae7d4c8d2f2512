// Sorts result rows, or keeps the best of them.

import { BinaryHeap } from '../../base/binary-heap.js';
import { ServiceError } from '../../base/errors.js';
import { append } from '../../base/lists.js';
import { compareText, STRING_ORDERINGS } from '../../expression/ordering.js';
import type { FrameCell } from '../../model/frame.js';
import type { SortKey } from '../../model/plan.js';
import { ascending, type Check, checkedLoop, ROWS_PER_CHECK } from '../block/checked-loops.js';
import { columnNamed, type ResultColumn, type ResultTable, typed } from '../block/result-table.js';
import { type CompareRows, mergeSort } from './merge-sort.js';
import { wordsOfNumbers } from './number-words.js';
import { packedRanks } from './packed-ranks.js';
import { rowsByWords } from './radix-order.js';
import { orderedTexts } from './text-order.js';

/**
 * Sort keys followed by the remaining key columns ascending, which break ties; strings that an order takes for the same, such as
 * `1.0` and `1` as numbers, are different keys.
 */
export function sortKeys(table: ResultTable, by: readonly SortKey[]): readonly SortKey[] {
  const isOrderedBy = ({ name, kind }: ResultColumn): boolean =>
    by.some(({ column, ordering }) => column === name && (kind !== 'string' || ordering === 'lexicographic'));
  const keys = [...by];
  for (const name of table.keys) {
    const column = table.columns.find((each) => each.name === name);
    if (column === undefined || isOrderedBy(column)) continue;
    keys.push({ column: name, descending: false, nulls: 'first', ordering: 'lexicographic' });
  }
  return keys;
}

/** The order of two cells of a column that a sort key asks for; the same as `sortedRows` has. */
export function compareCells({ descending, nulls, ordering }: SortKey): (a: FrameCell, b: FrameCell) => number {
  const sign = descending ? -1 : 1;
  const nullSign = nulls === 'first' ? -1 : 1;
  const compareTexts = STRING_ORDERINGS[ordering];
  return (a, b) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? nullSign : -nullSign;
    if (typeof a === 'string' && typeof b === 'string') return sign * compareTexts(a, b);
    if (a < b) return -sign;
    if (a > b) return sign;
    return sign * ((Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0));
  };
}

/**
 * Rows [offset, offset + limit) in the order that sort keys ask for; ties go by the remaining key columns ascending, then
 * by row. With a limit well below the number of rows the rest is never sorted.
 */
export function sortedRows(
  table: ResultTable,
  by: readonly SortKey[],
  { offset, limit }: { readonly offset: number; readonly limit: number | null },
  check: Check,
): Uint32Array {
  const { rowCount } = table;
  const wanted = limit === null ? rowCount : Math.min(rowCount, offset + limit);
  const keys = sortKeys(table, by);
  if (wanted * 8 < rowCount) {
    const order = inTurn(keys.map((key) => compareColumn(columnNamed(table, key.column), key)));
    return bestRows(rowCount, order, wanted, check).subarray(offset);
  }
  const words: Uint32Array[] = [];
  for (const key of keys) append(words, sortWords(columnNamed(table, key.column), key, check));
  return rowsByWords(words, rowCount, check).subarray(offset, wanted);
}

/** Words of a column that have the order of a sort key; texts are compared once, to find their ranks. */
export function sortWords(column: ResultColumn, key: SortKey, check: Check): Uint32Array[] {
  if (column.kind === 'string') return [ranksOf(column, key, check)];
  if (column.kind === 'multi') throw unordered(column);
  return wordsOfNumbers(column, { descending: key.descending, nullsFirst: key.nulls === 'first' }, check);
}

function unordered({ name }: ResultColumn): ServiceError {
  return new ServiceError('unsupported', `multi-value column "${name}" cannot be ordered by`);
}

function inTurn(parts: readonly CompareRows[]): CompareRows {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return (a, b) => only(a, b) || a - b;
  return (a, b) => {
    for (const part of parts) {
      const order = part(a, b);
      if (order !== 0) return order;
    }
    return a - b;
  };
}

/** Texts that are held while they are sorted. */
const TEXTS_HELD_MAX = 4096;

/** The ids that occur, and for each row the number of its own among them. */
function numbered(ids: Uint32Array, check: Check): { readonly ids: Uint32Array; readonly numbers: Uint32Array } {
  const numbers = new Uint32Array(ids.length);
  let [low, high] = [ids[0] ?? 0, ids[0] ?? 0];
  checkedLoop(ids.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const id = ids[row] ?? 0;
      if (id < low) low = id;
      if (id > high) high = id;
    }
  });
  if (high - low >= ids.length * 8) return numberedByMap(ids, numbers, check);
  const known = new Uint32Array(high - low + 1);
  checkedLoop(ids.length, check, (start, end) => {
    for (let row = start; row < end; row++) known[(ids[row] ?? 0) - low] = 1;
  });
  let count = 0;
  checkedLoop(known.length, check, (start, end) => {
    for (let at = start; at < end; at++) count += known[at] ?? 0;
  });
  const found = new Uint32Array(count);
  count = 0;
  checkedLoop(known.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      if (known[at] === 0) continue;
      found[count] = low + at;
      known[at] = count++;
    }
  });
  checkedLoop(ids.length, check, (start, end) => {
    for (let row = start; row < end; row++) numbers[row] = known[(ids[row] ?? 0) - low] ?? 0;
  });
  return { ids: found, numbers };
}

/** The same for few ids of a large range. */
function numberedByMap(ids: Uint32Array, numbers: Uint32Array, check: Check): { readonly ids: Uint32Array; readonly numbers: Uint32Array } {
  const known = new Map<number, number>();
  checkedLoop(ids.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const id = ids[row] ?? 0;
      const number = known.get(id) ?? known.size;
      if (number === known.size) known.set(id, number);
      numbers[row] = number;
    }
  });
  return { ids: Uint32Array.from(known.keys()), numbers };
}

/** Rank of each row's string: the number of different strings that come before it. */
function ranksOf(column: Extract<ResultColumn, { kind: 'string' }>, key: SortKey, check: Check): Uint32Array {
  const { packed, text, type } = column;
  const { ids, numbers: numberOfRow } = numbered(column.ids, check);
  if (packed !== undefined && key.ordering === 'lexicographic' && ids.length > TEXTS_HELD_MAX) {
    const ranks = packedRanks(ids, packed, { descending: key.descending, nullsFirst: key.nulls === 'first' }, check);
    checkedLoop(numberOfRow.length, check, (start, end) => {
      for (let row = start; row < end; row++) numberOfRow[row] = ranks[numberOfRow[row] ?? 0] ?? 0;
    });
    return numberOfRow;
  }
  // A few are decoded once, rather than for each comparison.
  const texts = ids.length <= TEXTS_HELD_MAX ? Array.from(ids, text) : undefined;
  const entries = {
    kind: 'string',
    name: column.name,
    ...typed(type),
    ids: texts === undefined ? ids : ascending(ids.length, check),
    text: texts === undefined ? text : (index: number) => texts[index] ?? null,
  } as const;
  const compare = compareColumn(entries, key);
  const numbers = ascending(ids.length, check);
  const order = { descending: key.descending, nullsFirst: key.nulls === 'first' };
  const textOf = (index: number): string | null => entries.text(entries.ids[index] ?? 0);
  const sorted = key.ordering === 'lexicographic' ? orderedTexts(numbers, textOf, order, check) : mergeSort(numbers, compare, check);
  const ranks = new Uint32Array(ids.length);
  checkedLoop(sorted.length, check, (start, end) => {
    for (let at = Math.max(1, start); at < end; at++) {
      const [before, number] = [sorted[at - 1] ?? 0, sorted[at] ?? 0];
      // Several ids may stand for one text.
      ranks[number] = (ranks[before] ?? 0) + (compare(before, number) === 0 ? 0 : 1);
    }
  });
  checkedLoop(numberOfRow.length, check, (start, end) => {
    for (let row = start; row < end; row++) numberOfRow[row] = ranks[numberOfRow[row] ?? 0] ?? 0;
  });
  return numberOfRow;
}

/** The best rows, of which a heap has the worst first. */
function bestRows(rowCount: number, compare: CompareRows, count: number, check: Check): Uint32Array {
  if (count === 0) return new Uint32Array(0);
  const heap = new BinaryHeap(Array(count).keys(), compare);
  for (let row = count; row < rowCount; row++) {
    if (row % ROWS_PER_CHECK === 0) check();
    if (compare(row, heap.first ?? 0) < 0) heap.replaceFirst(row);
  }
  return mergeSort(Uint32Array.from(heap.items), compare, check);
}

/** The order of two rows of a column that a sort key asks for; no value becomes an object. */
export function compareColumn(column: ResultColumn, { descending, nulls, ordering }: SortKey): CompareRows {
  const sign = descending ? -1 : 1;
  const nullSign = nulls === 'first' ? -1 : 1;
  if (column.kind === 'string') {
    const { ids, text } = column;
    const compare = ordering === 'lexicographic' ? compareText : STRING_ORDERINGS[ordering];
    return (a, b) => {
      const idA = ids[a] ?? 0;
      const idB = ids[b] ?? 0;
      if (idA === idB) return 0;
      const left = text(idA);
      const right = text(idB);
      if (left === null || right === null) return left === right ? 0 : left === null ? nullSign : -nullSign;
      return sign * compare(left, right);
    };
  }
  if (column.kind === 'multi') throw unordered(column);
  const isNull = column.nulls;
  const compareNulls = (a: number, b: number): number | undefined => {
    if (isNull === null || (isNull[a] !== 1 && isNull[b] !== 1)) return undefined;
    return isNull[a] === isNull[b] ? 0 : isNull[a] === 1 ? nullSign : -nullSign;
  };
  if (column.kind === 'long') {
    // A BigInt for each look at a value would be made and thrown away: their halves compare the same.
    const { buffer, byteOffset, length } = column.values;
    const high = new Int32Array(buffer, byteOffset, length * 2);
    const low = new Uint32Array(buffer, byteOffset, length * 2);
    return (a, b) => {
      const unknown = compareNulls(a, b);
      if (unknown !== undefined) return unknown;
      const order = (high[a * 2 + 1] ?? 0) - (high[b * 2 + 1] ?? 0) || (low[a * 2] ?? 0) - (low[b * 2] ?? 0);
      return order === 0 ? 0 : sign * order;
    };
  }
  const { values } = column;
  return (a, b) => {
    const unknown = compareNulls(a, b);
    if (unknown !== undefined) return unknown;
    const [left, right] = [values[a] ?? 0, values[b] ?? 0];
    if (left < right) return -sign;
    if (left > right) return sign;
    // NaN is above every number, as in the kernels `top…`.
    return sign * ((Number.isNaN(left) ? 1 : 0) - (Number.isNaN(right) ? 1 : 0));
  };
}
