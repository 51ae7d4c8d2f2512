// Columns that steps after grouping fill row by row, without an object for each value.

import type { Value } from '../../expression/value.js';
import type { ColumnType } from '../../model/schema.js';
import { type Check, checkedLoop } from '../block/checked-loops.js';
import { columnOf, type ResultColumn, refuseMultiple, typed } from '../block/result-table.js';

/** Whole numbers below 2^32, as a column of LONGs. */
export function smallLongs(name: string, numbers: Uint32Array, check: Check): ResultColumn {
  const values = new BigInt64Array(numbers.length);
  const halves = new Uint32Array(values.buffer);
  checkedLoop(numbers.length, check, (start, end) => {
    for (let row = start; row < end; row++) halves[row * 2] = numbers[row] ?? 0;
  });
  return { kind: 'long', name, values, nulls: null };
}

/** The column of rows `rows` of another one; -1: null, or what `otherwise` has in that row. */
export function pickedColumn(
  { name, column, otherwise }: { readonly name: string; readonly column: ResultColumn; readonly otherwise?: ResultColumn | undefined },
  rows: Int32Array,
  check: Check,
): ResultColumn {
  switch (column.kind) {
    case 'multi':
      throw refuseMultiple(column);
    case 'string':
      return { ...pickedStrings(column, rows, otherwise?.kind === 'string' ? otherwise : undefined, check), name };
    case 'long': {
      const other = otherwise?.kind === 'long' ? otherwise : undefined;
      const values = new BigInt64Array(rows.length);
      return { kind: 'long', name, values, nulls: pickNumbers(column, other, rows, values, check) };
    }
    case 'double': {
      const other = otherwise?.kind === 'double' ? otherwise : undefined;
      const values = new Float64Array(rows.length);
      return { kind: 'double', name, type: column.type, values, nulls: pickNumbers(column, other, rows, values, check) };
    }
  }
}

interface Numbers {
  readonly values: BigInt64Array | Float64Array;
  readonly nulls: Uint8Array | null;
}

/** Picks numbers as halves; gives which are null. */
function pickNumbers(
  column: Numbers,
  otherwise: Numbers | undefined,
  rows: Int32Array,
  values: BigInt64Array | Float64Array,
  check: Check,
): Uint8Array | null {
  const [into, from] = [halvesOf(values), halvesOf(column.values)];
  const marks = new Uint8Array(rows.length);
  const fromNulls = column.nulls;
  let nullCount = 0;
  let absentCount = 0;
  checkedLoop(rows.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const row = rows[at] ?? -1;
      if (row < 0) {
        marks[at] = 1;
        absentCount++;
      } else if (fromNulls !== null && fromNulls[row] === 1) {
        marks[at] = 1;
        nullCount++;
      } else {
        into[at * 2] = from[row * 2] ?? 0;
        into[at * 2 + 1] = from[row * 2 + 1] ?? 0;
      }
    }
  });
  if (otherwise !== undefined && absentCount > 0) {
    const others = halvesOf(otherwise.values);
    const otherNulls = otherwise.nulls;
    checkedLoop(rows.length, check, (start, end) => {
      for (let at = start; at < end; at++) {
        if ((rows[at] ?? -1) >= 0 || (otherNulls !== null && otherNulls[at] === 1)) continue;
        marks[at] = 0;
        absentCount--;
        into[at * 2] = others[at * 2] ?? 0;
        into[at * 2 + 1] = others[at * 2 + 1] ?? 0;
      }
    });
  }
  return nullCount + absentCount > 0 ? marks : null;
}

type Strings = Extract<ResultColumn, { kind: 'string' }>;

/** Ids of what is absent, and of the other column, follow those of the column itself. */
function pickedStrings(column: Strings, rows: Int32Array, otherwise: Strings | undefined, check: Check): Strings {
  const ids = new Uint32Array(rows.length);
  const { packed } = column;
  if (packed !== undefined && otherwise === undefined) {
    checkedLoop(rows.length, check, (start, end) => {
      for (let at = start; at < end; at++) {
        const row = rows[at] ?? -1;
        ids[at] = row >= 0 ? (column.ids[row] ?? 0) : packed.nullId;
      }
    });
    return { ...column, ids };
  }
  let after = 0;
  checkedLoop(column.ids.length, check, (start, end) => {
    for (let row = start; row < end; row++) after = Math.max(after, (column.ids[row] ?? 0) + 1);
  });
  checkedLoop(rows.length, check, (start, end) => {
    for (let at = start; at < end; at++) {
      const row = rows[at] ?? -1;
      ids[at] = row >= 0 ? (column.ids[row] ?? 0) : otherwise === undefined ? after : after + (otherwise.ids[at] ?? 0);
    }
  });
  const text = (id: number): string | null => (id < after ? column.text(id) : (otherwise?.text(id - after) ?? null));
  return { kind: 'string', name: column.name, ...typed(column.type), ids, text };
}

/** Each value as two words, the lower one first. */
export function halvesOf({ buffer, byteOffset, length }: BigInt64Array | Float64Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length * 2);
}

/** 1 for rows of a column that are null; null: none is. */
export function nullMarks(column: ResultColumn, rowCount: number, check: Check): Uint8Array | null {
  if (column.kind === 'multi') throw refuseMultiple(column);
  if (column.kind !== 'string') return column.nulls;
  const { ids, packed, text } = column;
  const marks = new Uint8Array(rowCount);
  if (packed !== undefined) {
    let found = 0;
    checkedLoop(rowCount, check, (start, end) => {
      for (let row = start; row < end; row++) if (ids[row] === packed.nullId) found = marks[row] = 1;
    });
    return found === 1 ? marks : null;
  }
  const known = new Map<number, 0 | 1>();
  let [before, mark]: [number, 0 | 1] = [-1, 0];
  let hasNull = false;
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++) {
      const id = ids[row] ?? 0;
      if (id !== before) {
        mark = known.get(id) ?? (text(id) === null ? 1 : 0);
        known.set(id, mark);
        before = id;
      }
      marks[row] = mark;
      if (mark === 1) hasNull = true;
    }
  });
  return hasNull ? marks : null;
}

/** 1 for rows in which the column of a filter is 1. */
export function takenMarks(column: ResultColumn, rowCount: number, check: Check): Uint8Array {
  const taken = new Uint8Array(rowCount);
  if (column.kind !== 'long') return taken;
  const [halves, { nulls }] = [halvesOf(column.values), column];
  checkedLoop(rowCount, check, (start, end) => {
    for (let row = start; row < end; row++)
      taken[row] = halves[row * 2] === 1 && halves[row * 2 + 1] === 0 && (nulls === null || nulls[row] !== 1) ? 1 : 0;
  });
  return taken;
}

/** Values of any kind. */
export class AnyValues {
  readonly #values: Value[];

  constructor(rowCount: number) {
    this.#values = new Array<Value>(rowCount).fill(null);
  }

  set(row: number, value: Value): void {
    this.#values[row] = value;
  }

  column(name: string, type: ColumnType): ResultColumn {
    return columnOf(name, type, this.#values);
  }
}
