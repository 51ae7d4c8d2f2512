// Leaves out rows of large partitions that no window function will number among the first.

import { randomInt } from 'node:crypto';
import type { SortKey } from '../../../model/plan.js';
import { type Check, checkedLoop } from '../../block/checked-loops.js';
import { columnNamed, type ResultColumn, type ResultTable } from '../../block/result-table.js';
import type { WantedPlaces } from './wanted-places.js';

/** Tables of fewer rows are sorted as they are. */
const ROWS_MIN = 4096;
/** More rows of a partition than this are not kept in order while rows are read. */
const PLACES_MAX = 64;
/** Best values of all partitions: so many for each row. */
const VALUES_PER_ROW = 4;
/** Part of the rows that may be left: of more, nothing is gained. */
const LEFT_PART_MAX = 0.7;

/**
 * Rows among which the first of each partition are, ascending: those whose first sort key is among the best of their partition, or ties with the last
 * of these (`areDistinct`: of as many different ones). Where a text stands under several ids, its rows count as several partitions, of which more is left.
 * @returns undefined where nearly all rows are left, or the first key is no number
 */
export function rowsOfFirstPlaces(
  table: ResultTable,
  { partition, by, wanted, areDistinct }: WantedPlaces,
  check: Check,
): Uint32Array | undefined {
  const { rowCount } = table;
  const [first] = by;
  if (rowCount < ROWS_MIN || wanted > PLACES_MAX || first === undefined) return undefined;
  const values = valuesOf(columnNamed(table, first.column), first, rowCount, check);
  const partitions = values === undefined ? undefined : partitionNumbers(table, partition, check);
  if (values === undefined || partitions === undefined || partitions.count * wanted > rowCount * VALUES_PER_ROW) return undefined;
  const { numbers, count } = partitions;
  const best = new Float64Array(count * wanted);
  const found = new Uint32Array(count);
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const [number, value] = [numbers[row] ?? 0, values[row] ?? 0];
      const base = number * wanted;
      const known = found[number] ?? 0;
      if (known === wanted && value <= (best[base + wanted - 1] ?? 0)) continue;
      let place = known;
      while (place > 0 && (best[base + place - 1] ?? 0) < value) place--;
      if (areDistinct && place > 0 && best[base + place - 1] === value) continue;
      if (known < wanted) found[number] = known + 1;
      for (let at = Math.min(known, wanted - 1); at > place; at--) best[base + at] = best[base + at - 1] ?? 0;
      best[base + place] = value;
    }
  });
  const left = new Uint32Array(rowCount);
  let leftCount = 0;
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const number = numbers[row] ?? 0;
      const isKept = (found[number] ?? 0) < wanted || (values[row] ?? 0) >= (best[(number + 1) * wanted - 1] ?? 0);
      if (isKept) left[leftCount++] = row;
    }
  });
  return leftCount > rowCount * LEFT_PART_MAX ? undefined : left.slice(0, leftCount);
}

/** Doubles that are the larger, the earlier a row comes; those of different values may be one. */
function valuesOf(column: ResultColumn, { descending, nulls }: SortKey, rowCount: number, check: Check): Float64Array | undefined {
  if (column.kind !== 'long' && column.kind !== 'double') return undefined;
  const values = new Float64Array(rowCount);
  const halves = column.kind === 'long' ? halvesOf(column.values) : undefined;
  const doubles = column.kind === 'double' ? column.values : undefined;
  const ofNull = nulls === 'first' ? Infinity : -Infinity;
  const sign = descending ? 1 : -1;
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const value = halves === undefined ? (doubles?.[row] ?? 0) : ((halves[row * 2 + 1] ?? 0) | 0) * 2 ** 32 + (halves[row * 2] ?? 0);
      // NaN is above all numbers.
      values[row] = column.nulls !== null && column.nulls[row] === 1 ? ofNull : sign * (Number.isNaN(value) ? Infinity : value);
    }
  });
  return values;
}

interface PartitionNumbers {
  readonly numbers: Uint32Array;
  readonly count: number;
}

/** Numbers of the partitions of rows, from 0 on; undefined for keys of several values. */
function partitionNumbers(table: ResultTable, keys: readonly SortKey[], check: Check): PartitionNumbers | undefined {
  let found: PartitionNumbers | undefined = { numbers: new Uint32Array(table.rowCount), count: 1 };
  for (const { column } of keys) {
    const next = columnNamed(table, column);
    found = found && ((found.count === 1 ? byDistance(next, table.rowCount, check) : undefined) ?? refined(found.numbers, next, check));
  }
  return found;
}

/** Partitions by how far their value lies from the smallest one; undefined where many numbers would be of none. */
function byDistance(column: ResultColumn, rowCount: number, check: Check): PartitionNumbers | undefined {
  if (column.kind !== 'string' && column.kind !== 'long') return undefined;
  const words = column.kind === 'string' ? column.ids : halvesOf(column.values);
  const [nulls, isLong] = [column.kind === 'string' ? null : column.nulls, column.kind === 'long'];
  const valueAt = (row: number): number => (isLong ? ((words[row * 2 + 1] ?? 0) | 0) * 2 ** 32 + (words[row * 2] ?? 0) : (words[row] ?? 0));
  let [low, high] = [Infinity, -Infinity];
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const value = valueAt(row);
      if (value < low) low = value;
      if (value > high) high = value;
    }
  });
  // Doubles tell such values apart.
  if (!(high - low < rowCount * VALUES_PER_ROW) || Math.max(-low, high) >= 2 ** 52) return undefined;
  const numbers = new Uint32Array(rowCount);
  const ofNull = high - low + 1;
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) numbers[row] = nulls !== null && nulls[row] === 1 ? ofNull : valueAt(row) - low;
  });
  return { numbers, count: ofNull + 1 };
}

/** So that nobody can know which values share a slot. */
const SEED = randomInt(2 ** 32);

/** Partitions divided by the values of one more column. */
function refined(before: Uint32Array, column: ResultColumn, check: Check): PartitionNumbers | undefined {
  if (column.kind === 'multi') return undefined;
  const words = column.kind === 'string' ? column.ids : halvesOf(column.values);
  const width = column.kind === 'string' ? 1 : 2;
  const nulls = column.kind === 'string' ? null : column.nulls;
  const mask = 2 ** Math.ceil(Math.log2(before.length * 2)) - 1;
  /** A row of the partition, and one, in each slot; 0: none. */
  const slots = new Uint32Array(mask + 1);
  const numbers = new Uint32Array(before.length);
  let count = 0;
  const isNull = (row: number): number => (nulls === null ? 0 : (nulls[row] ?? 0));
  const wordOf = (row: number, word: number): number => (word < width && isNull(row) === 0 ? (words[row * width + word] ?? 0) : 0);
  checkedLoop(before.length, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const [low, high, missing, group] = [wordOf(row, 0), wordOf(row, 1), isNull(row), before[row] ?? 0];
      let slot = mixed(mixed(mixed(SEED ^ low) ^ high) ^ group) & mask;
      for (let taken = slots[slot] ?? 0; ; taken = slots[slot] ?? 0) {
        const other = taken - 1;
        if (taken === 0) {
          slots[slot] = row + 1;
          numbers[row] = count++;
          break;
        }
        if (before[other] === group && isNull(other) === missing && wordOf(other, 0) === low && wordOf(other, 1) === high) {
          numbers[row] = numbers[other] ?? 0;
          break;
        }
        slot = (slot + 1) & mask;
      }
    }
  });
  return { numbers, count };
}

function mixed(value: number): number {
  const once = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return twice ^ (twice >>> 16);
}

function halvesOf(values: BigInt64Array | Float64Array): Uint32Array {
  return new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
}
