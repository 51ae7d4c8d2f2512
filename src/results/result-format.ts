// Table of the SQL result formats.

import type { Frame } from '../model/frame.js';
import { type OutputColumn, sqlTypeName } from '../model/statement.js';
import { type CellWriter, CSV_SPELLING, cellWriter, JSON_ARRAYS_SPELLING, JSON_SPELLING, type Spelling } from './cell-text.js';
import { TextBytes } from './text-bytes.js';

export type ResultFormatName = 'object' | 'array' | 'objectLines' | 'arrayLines' | 'csv';

export interface HeaderOptions {
  readonly header: boolean;
  /** `typesHeader` and `sqlTypesHeader` have an effect only together with `header`. */
  readonly typesHeader: boolean;
  readonly sqlTypesHeader: boolean;
}

/** One of the five formats of SQL results: what stands before, between and after the rows, and how a row is written. */
export interface ResultFormat {
  readonly contentType: string;
  readonly open: string;
  readonly separator: string;
  /** End of each row, including the last one. */
  readonly rowEnd: string;
  /** End of the result; a client that does not see it knows that the result was cut off. */
  readonly close: string;
  headerRows(columns: readonly OutputColumn[], options: HeaderOptions): readonly string[];
  /** Compiled once for a frame: writes a row of it. */
  rowWriter(columns: readonly OutputColumn[], frame: Frame, options: WritingOptions, out: TextBytes): CellWriter;
}

export interface WritingOptions {
  /** Instants are written on the wall clock of this zone. */
  readonly timeZone: string;
  /** Arrays as their text; else as arrays of JSON, in the formats that are JSON. Left out: true. */
  readonly stringifyArrays?: boolean;
}

const JSON_ARRAY = { contentType: 'application/json', open: '[', separator: ',', rowEnd: '', close: ']\n' };
const LINES = { contentType: 'text/plain', open: '', separator: '', rowEnd: '\n', close: '\n' };

const arrays = {
  headerRows: (columns: readonly OutputColumn[], options: HeaderOptions) =>
    headerCells(columns, options).map((row) => `[${row.map((cell) => JSON.stringify(cell)).join(',')}]`),
  rowWriter: arrayRow,
};
const objects = { headerRows: objectHeader, rowWriter: objectRow };

export const RESULT_FORMATS: Readonly<Record<ResultFormatName, ResultFormat>> = {
  object: { ...JSON_ARRAY, ...objects },
  array: { ...JSON_ARRAY, ...arrays },
  objectLines: { ...LINES, ...objects },
  arrayLines: { ...LINES, ...arrays },
  csv: {
    ...LINES,
    contentType: 'text/csv',
    headerRows: (columns, options) => headerCells(columns, options).map((row) => row.map(CSV_SPELLING.text).join(',')),
    rowWriter: (columns, frame, { timeZone }, out) => listWriter(cellWriters(columns, frame, timeZone, CSV_SPELLING, out), out),
  },
};

/** Names, then runtime types and SQL types where these were asked for. */
function headerCells(
  columns: readonly OutputColumn[],
  { header, typesHeader, sqlTypesHeader }: HeaderOptions,
): readonly (readonly string[])[] {
  const rows: string[][] = [];
  if (header) rows.push(columns.map(({ name }) => name));
  if (header && typesHeader) rows.push(columns.map(({ nativeType }) => nativeType));
  if (header && sqlTypesHeader) rows.push(columns.map(({ sqlType }) => sqlTypeName(sqlType)));
  return rows;
}

/** One object: each column null, or with its types. */
function objectHeader(columns: readonly OutputColumn[], { header, typesHeader, sqlTypesHeader }: HeaderOptions): readonly string[] {
  if (!header) return [];
  const members = columns.map(({ name, nativeType, sqlType }) => {
    const types = { ...(typesHeader ? { type: nativeType } : {}), ...(sqlTypesHeader ? { sqlType: sqlTypeName(sqlType) } : {}) };
    return `${JSON.stringify(name)}:${typesHeader || sqlTypesHeader ? JSON.stringify(types) : 'null'}`;
  });
  return [`{${members.join(',')}}`];
}

const [COMMA, OPENING, CLOSING, CLOSING_BRACE] = [0x2c, 0x5b, 0x5d, 0x7d];

function arrayRow(columns: readonly OutputColumn[], frame: Frame, options: WritingOptions, out: TextBytes): CellWriter {
  const list = listWriter(cellWriters(columns, frame, options.timeZone, jsonSpelling(options), out), out);
  return (row) => {
    out.code(OPENING);
    list(row);
    out.code(CLOSING);
  };
}

function listWriter(cells: readonly CellWriter[], out: TextBytes): CellWriter {
  return (row) => {
    for (let index = 0; index < cells.length; index++) {
      if (index > 0) out.code(COMMA);
      cells[index]?.(row);
    }
  };
}

/** Bytes of the names of few columns; more grow as they are written. */
const KEYS_BYTES = 64;

function objectRow(columns: readonly OutputColumn[], frame: Frame, options: WritingOptions, out: TextBytes): CellWriter {
  const cells = cellWriters(columns, frame, options.timeZone, jsonSpelling(options), out);
  const keys = new TextBytes(KEYS_BYTES);
  const ends = columns.map(({ name }, index) => {
    keys.text(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
    return keys.length;
  });
  return (row) => {
    for (let index = 0; index < cells.length; index++) {
      out.part(keys, index === 0 ? 0 : (ends[index - 1] ?? 0), ends[index] ?? 0);
      cells[index]?.(row);
    }
    out.code(CLOSING_BRACE);
  };
}

function jsonSpelling({ stringifyArrays = true }: WritingOptions): Spelling {
  return stringifyArrays ? JSON_SPELLING : JSON_ARRAYS_SPELLING;
}

function cellWriters(
  columns: readonly OutputColumn[],
  frame: Frame,
  timeZone: string,
  spelling: Spelling,
  out: TextBytes,
): readonly CellWriter[] {
  return columns.map(({ sqlType }, index) => {
    const column = frame.columns[index];
    return column === undefined ? () => out.text(spelling.null) : cellWriter(column, sqlType, timeZone, spelling, out);
  });
}
