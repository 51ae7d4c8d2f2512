// Columns that steps after grouping fill row by row, without an object for each value.

import type { Value } from '../../expression/value.js';
import type { ColumnType } from '../../model/schema.js';
import { type Check, checkedLoop } from '../block/checked-loops.js';
import { columnOf, type ResultColumn, refuseMultiple, typed } from '../block/result-table.js';

/** Whole numbers below 2^32, as a column of LONGs. */
export class SmallLongs {
  readonly #values: BigInt64Array;
  readonly #halves: Uint32Array;

  constructor(rowCount: number) {
    this.#values = new BigInt64Array(rowCount);
    this.#halves = new Uint32Array(this.#values.buffer);
  }

  set(row: number, value: number): void {
    this.#halves[row * 2] = value;
  }

  column(name: string): ResultColumn {
    return { kind: 'long', name, values: this.#values, nulls: null };
  }
}

/** The column of rows `rows` of another one; -1: null, or what `otherwise` has in that row. */
export function pickedColumn(
  { name, column, otherwise }: { readonly name: string; readonly column: ResultColumn; readonly otherwise?: ResultColumn | undefined },
  rows: Int32Array,
  check: Check,
): ResultColumn {
  const absent = rows.includes(-1);
  switch (column.kind) {
    case 'multi':
      throw refuseMultiple(column);
    case 'string':
      return { ...pickedStrings(column, rows, otherwise?.kind === 'string' ? otherwise : undefined, check), name };
    default: {
      const other = otherwise?.kind === column.kind ? otherwise : undefined;
      const nulls = absent || column.nulls !== null ? new Uint8Array(rows.length) : null;
      const isNull = (from: typeof column | undefined, row: number): 0 | 1 =>
        from === undefined || (from.nulls !== null && from.nulls[row] === 1) ? 1 : 0;
      if (nulls !== null)
        checkedLoop(rows.length, check, (start, end) => {
          for (let at = start; at < end; at++) {
            const row = rows[at] ?? -1;
            nulls[at] = row < 0 ? isNull(other, at) : isNull(column, row);
          }
        });
      const values = column.kind === 'long' ? new BigInt64Array(rows.length) : new Float64Array(rows.length);
      const [into, from] = [halvesOf(values), halvesOf(column.values)];
      const others = other === undefined ? undefined : halvesOf(other.values);
      checkedLoop(rows.length, check, (start, end) => {
        for (let at = start; at < end; at++) {
          if (nulls !== null && nulls[at] === 1) continue;
          const row = rows[at] ?? -1;
          const source = row < 0 ? (others ?? from) : from;
          const place = (row < 0 ? at : row) * 2;
          into[at * 2] = source[place] ?? 0;
          into[at * 2 + 1] = source[place + 1] ?? 0;
        }
      });
      const known = nulls?.includes(1) === true ? nulls : null;
      if (values instanceof BigInt64Array) return { kind: 'long', name, values, nulls: known };
      return { kind: 'double', name, type: column.kind === 'double' ? column.type : 'DOUBLE', values, nulls: known };
    }
  }
}

type Strings = Extract<ResultColumn, { kind: 'string' }>;

/** Ids of what is absent, and of the other column, follow those of the column itself. */
function pickedStrings(column: Strings, rows: Int32Array, otherwise: Strings | undefined, check: Check): Strings {
  const ids = new Uint32Array(rows.length);
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

/** Whether a row of a column is null. */
export function nullTest(column: ResultColumn): (row: number) => boolean {
  switch (column.kind) {
    case 'multi':
      throw refuseMultiple(column);
    case 'string':
      return (row) => column.text(column.ids[row] ?? 0) === null;
    default: {
      const { nulls } = column;
      return nulls === null ? () => false : (row) => nulls[row] === 1;
    }
  }
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
