// Table of the SQL result formats.

import type { Frame } from '../../../model/frame.js';
import { type OutputColumn, sqlTypeName } from '../../../model/statement.js';
import { type CellText, CSV_SPELLING, cellText, JSON_ARRAYS_SPELLING, JSON_SPELLING, type Spelling } from './cell-text.js';

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
  /** Compiled once for a frame. */
  rowWriter(columns: readonly OutputColumn[], frame: Frame, options: WritingOptions): (row: number) => string;
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
    rowWriter: (columns, frame, { timeZone }) => {
      const cells = cellTexts(columns, frame, timeZone, CSV_SPELLING);
      return (row) => cells.map((cell) => cell(row)).join(',');
    },
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

function arrayRow(columns: readonly OutputColumn[], frame: Frame, options: WritingOptions): (row: number) => string {
  const cells = cellTexts(columns, frame, options.timeZone, jsonSpelling(options));
  return (row) => {
    let text = '[';
    for (let index = 0; index < cells.length; index++) text += `${index === 0 ? '' : ','}${cells[index]?.(row) ?? 'null'}`;
    return `${text}]`;
  };
}

function objectRow(columns: readonly OutputColumn[], frame: Frame, options: WritingOptions): (row: number) => string {
  const cells = cellTexts(columns, frame, options.timeZone, jsonSpelling(options));
  const keys = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (row) => {
    let text = '';
    for (let index = 0; index < cells.length; index++) text += `${keys[index] ?? ''}${cells[index]?.(row) ?? 'null'}`;
    return `${text}}`;
  };
}

function jsonSpelling({ stringifyArrays = true }: WritingOptions): Spelling {
  return stringifyArrays ? JSON_SPELLING : JSON_ARRAYS_SPELLING;
}

function cellTexts(columns: readonly OutputColumn[], frame: Frame, timeZone: string, spelling: Spelling): readonly CellText[] {
  return columns.map(({ sqlType }, index) => {
    const column = frame.columns[index];
    return column === undefined ? () => spelling.null : cellText(column, sqlType, timeZone, spelling);
  });
}
