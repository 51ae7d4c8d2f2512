// Blocks of the columns of a Parquet row group.

import { createByName } from '../../base/names.js';
import { shallowJsonText } from '../../expression/functions/json-size.js';
import { cellAt, isNullAt } from '../../model/frame.js';
import { plainColumn } from '../../storage/columns/packed-column.js';
import type { JsonObject } from './flatten.js';
import type { InputBlock, TypedColumn, ValueBlock } from './input-block.js';
import { SAMPLE_LENGTH_MAX } from './json-scanner.js';
import { faultsOf, isMarked, withoutMarks } from './not-text.js';
import type { ColumnPages } from './parquet-column.js';

const WORD = 2 ** 32;

/** Some rows of a column: typed, or as values. */
export interface ReadColumn {
  readonly name: string;
  readonly typed: TypedColumn | undefined;
  /** Rows with text that is not UTF-8. */
  readonly faults: readonly number[];
  values(): readonly unknown[];
}

/** Reads the rows of a column in a row group, in order. */
export interface ColumnReader {
  read(start: number, count: number): Promise<ReadColumn> | ReadColumn;
}

export function pageReader(pages: ColumnPages, name: string): ColumnReader {
  return {
    read(_, count) {
      const typed = pages.read(count);
      let values: readonly unknown[] | undefined;
      return { name, typed, faults: pages.faults, values: () => (values ??= valuesOf(typed, pages.areNumbers, count)) };
    },
  };
}

/**
 * Reads a column with the library: all rows of a group at once, or, of one that is sampled, its first rows and then the others.
 * @param read  rows [from, to) of the group
 */
export function valueReader(
  name: string,
  groupRows: number,
  samples: boolean,
  read: (from: number, to: number) => Promise<ArrayLike<unknown>>,
  plain: (value: unknown) => unknown,
): ColumnReader {
  let values: ArrayLike<unknown> = [];
  let [from, to] = [0, 0];
  return {
    async read(start, count) {
      if (start + count > to) {
        from = start;
        to = samples && start === 0 ? count : groupRows;
        values = await read(from, to);
        if (values.length !== to - from) throw new Error(`column ${name} has ${values.length} values in ${to - from} rows`);
      }
      const list = Array.from({ length: count }, (_, row) => plain(values[start - from + row]));
      const faults = list.flatMap((value, row) => (isMarked(value) ? [row] : []));
      return { name, typed: undefined, faults, values: () => list };
    },
  };
}

function valuesOf(typed: TypedColumn, areNumbers: boolean, count: number): readonly unknown[] {
  const column = typed.kind === 'packed' ? plainColumn(typed) : typed;
  if (column.kind !== 'long' || !areNumbers) return Array.from({ length: count }, (_, row) => cellAt(column, row));
  const halves = new Int32Array(column.values.buffer, column.values.byteOffset, count * 2);
  const values = new Array<unknown>(count);
  for (let row = 0; row < count; row++)
    values[row] = isNullAt(column.nulls, row) ? null : (halves[row * 2 + 1] ?? 0) * WORD + ((halves[row * 2] ?? 0) >>> 0);
  return values;
}

export function columnBlock(rowCount: number, columns: readonly ReadColumn[]): ValueBlock & Pick<InputBlock, 'faults'> {
  const faults = faultsOf(columns);
  const byName = new Map(columns.map((column) => [column.name, column]));
  const record = (row: number): JsonObject => {
    const values = createByName<unknown>();
    for (const column of columns) values[column.name] = column.values()[row];
    return values;
  };
  return {
    kind: 'values',
    rowCount,
    columns: columns.map(({ name }) => name),
    values: (name) => byName.get(name)?.values() ?? new Array<unknown>(rowCount).fill(undefined),
    typed: (name) => byName.get(name)?.typed,
    record,
    ...(faults === undefined ? {} : { faults }),
    sample: (row) => withoutMarks(shallowJsonText(record(row)) ?? 'a row nested too deeply to be shown').slice(0, SAMPLE_LENGTH_MAX),
  };
}

export function recordsOf(block: ValueBlock): readonly JsonObject[] {
  return Array.from({ length: block.rowCount }, (_, row) => block.record(row));
}
