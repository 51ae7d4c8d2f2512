// Prints query results as tables, and failures as text.

import { stripVTControlCharacters } from 'node:util';
import { table } from 'table';
import type { QueryFailure, SqlAnswer } from './client.js';
import { style } from './style.js';

const RIGHT_ALIGNED = new Set(['BIGINT', 'INTEGER', 'SMALLINT', 'TINYINT', 'FLOAT', 'REAL', 'DOUBLE', 'DECIMAL']);
const CELL_WIDTH_MAX = 120;

/** Rows under their column names, numbers to the right; null is shown as an empty, dim `null`. */
export function resultTable({ columns, rows }: Pick<SqlAnswer, 'columns' | 'rows'>): string {
  if (columns.length === 0) return '';
  const header = columns.map(({ name }) => style.title(printable(name)));
  const body = rows.map((row) => columns.map((_, at) => cell(row[at])));
  return table([header, ...body], {
    border: {
      topBody: '',
      topJoin: '',
      topLeft: '',
      topRight: '',
      bottomBody: '',
      bottomJoin: '',
      bottomLeft: '',
      bottomRight: '',
      bodyLeft: '',
      bodyRight: '',
      bodyJoin: '│',
      joinBody: '─',
      joinLeft: '',
      joinRight: '',
      joinJoin: '┼',
      joinMiddleUp: '┼',
      joinMiddleDown: '┼',
      joinMiddleLeft: '┼',
      joinMiddleRight: '┼',
      headerJoin: '┼',
    },
    columnDefault: { truncate: CELL_WIDTH_MAX },
    columns: columns.map(({ sqlType }) => ({ alignment: RIGHT_ALIGNED.has(sqlType) ? 'right' : 'left' })),
    drawHorizontalLine: (line) => line === 1,
  });
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return style.quiet('null');
  return printable(typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value));
}

/** A value may hold line breaks and terminal escapes; on the screen it gets neither. */
function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/\n/g, '⏎')
    .replace(/\p{Cc}/gu, '·');
}

/** The server's words; when they name a place in the statement, the line with a caret under it. */
export function failureText(statement: string, { error, message }: QueryFailure): string {
  const [, line, column] = /\bline (\d+), column (\d+)/.exec(message) ?? [];
  const text = line === undefined ? undefined : statement.split('\n')[Number(line) - 1];
  const said = `${style.bad(error)}: ${message}`;
  if (text === undefined || column === undefined) return said;
  // Tabs stay tabs, so that the caret stands where the reader sees the place.
  const indent = text.slice(0, Number(column) - 1).replace(/[^\t]/g, ' ');
  return `${said}\n  ${text}\n  ${indent}${style.bad('^')}`;
}
