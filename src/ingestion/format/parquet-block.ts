// Blocks of the columns of a Parquet row group.

import { createByName } from '../../base/names.js';
import { shallowJsonText } from '../../expression/functions/json-size.js';
import { cellAt, type FrameColumn } from '../../model/frame.js';
import type { JsonObject } from './flatten.js';
import type { ValueBlock } from './input-block.js';
import { SAMPLE_LENGTH_MAX } from './json.js';
import type { ColumnPages } from './parquet-column.js';

/** Some rows of a column: typed, or as values. */
export interface ReadColumn {
  readonly name: string;
  readonly typed: FrameColumn | undefined;
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
      return { name, typed, values: () => (values ??= valuesOf(typed, pages.areNumbers, count)) };
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
      return { name, typed: undefined, values: () => list };
    },
  };
}

function valuesOf(column: FrameColumn, areNumbers: boolean, count: number): readonly unknown[] {
  const toNumber = areNumbers && column.kind === 'long';
  return Array.from({ length: count }, (_, row) => {
    const cell = cellAt(column, row);
    return toNumber && cell !== null ? Number(cell) : cell;
  });
}

export function columnBlock(rowCount: number, columns: readonly ReadColumn[]): ValueBlock {
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
    sample: (row) => (shallowJsonText(record(row)) ?? 'a row nested too deeply to be shown').slice(0, SAMPLE_LENGTH_MAX),
  };
}

export function recordsOf(block: ValueBlock): readonly JsonObject[] {
  return Array.from({ length: block.rowCount }, (_, row) => block.record(row));
}
