// Writes cells of SQL results.

import { findZone, UTC } from '../base/calendar.js';
import { floatText } from '../base/number-text.js';
import { formatInstantIn } from '../base/time.js';
import { DOUBLE_BYTES_MAX, DoublePrinter, printInteger } from '../expression/double-bytes.js';
import { arrayElements } from '../model/array-text.js';
import { type FrameColumn, isNullAt } from '../model/frame.js';
import { isArrayType } from '../model/schema.js';
import type { SqlType } from '../model/statement.js';
import { arrayJson } from './array-json.js';
import { TextBytes } from './text-bytes.js';

/** Writes the cell of a row. */
export type CellWriter = (row: number) => void;

/** Notation of nulls, strings and other values in one output format. */
export interface Spelling {
  readonly null: string;
  text(value: string): string;
  /** An instant, or a number JSON has no word for. */
  word(value: string): string;
  /** An array, given as its JSON. */
  array(json: string): string;
}

export const JSON_SPELLING: Spelling = {
  null: 'null',
  text: (value) => JSON.stringify(value),
  word: (value) => `"${value}"`,
  array: (json) => JSON.stringify(json),
};

/** JSON with arrays as JSON arrays rather than as their text. */
export const JSON_ARRAYS_SPELLING: Spelling = { ...JSON_SPELLING, array: (json) => json };

/** Quotes only what needs it; null is an empty field. */
export const CSV_SPELLING: Spelling = {
  null: '',
  text: csvField,
  word: (value) => value,
  array: csvField,
};

function csvField(value: string): string {
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** Decides once for a column of a frame; the function it gives only looks up and prints. */
export function cellWriter(column: FrameColumn, sqlType: SqlType, timeZone: string, spelling: Spelling, out: TextBytes): CellWriter {
  switch (column.kind) {
    case 'string': {
      const { ids, dictionary, type } = column;
      // JSON is written as its text, as clients of SQL expect it.
      const spell = isArrayType(type) ? (text: string) => spelling.array(arrayJson(arrayElements(text, type), type)) : spelling.text;
      return entryWriter(ids, dictionary, (value) => (value === null ? spelling.null : spell(value)), out);
    }
    case 'multi': {
      const { offsets, ids, dictionary } = column;
      return (row) => {
        const [start, end] = [offsets[row] ?? 0, offsets[row + 1] ?? 0];
        if (end - start > 1) {
          out.text(spelling.text(JSON.stringify(Array.from(ids.subarray(start, end), (id) => dictionary[id] ?? null))));
          return;
        }
        const value = end === start ? null : (dictionary[ids[start] ?? 0] ?? null);
        out.text(value === null ? spelling.null : spelling.text(value));
      };
    }
    case 'long':
      return withNulls(column.nulls, spelling, out, longWriter(column.values, longText(sqlType, timeZone, spelling), out));
    case 'double':
      return withNulls(column.nulls, spelling, out, doubleWriter(column, spelling, out));
  }
}

/** Fewer rows are written each by itself: memory for what they share costs more. */
const SHARING_ROWS_MIN = 64;

/** Writes entries of a dictionary. Where rows share them, each is spelled and encoded once. */
function entryWriter(
  ids: Uint32Array,
  dictionary: readonly (string | null)[],
  spell: (value: string | null) => string,
  out: TextBytes,
): CellWriter {
  if (ids.length < SHARING_ROWS_MIN || dictionary.length * 2 > ids.length)
    return (row) => out.text(spell(dictionary[ids[row] ?? 0] ?? null));
  const spelled = new TextBytes();
  const ends = new Uint32Array(dictionary.length);
  const starts = new Uint32Array(dictionary.length);
  return (row) => {
    const id = ids[row] ?? 0;
    // Every spelling but that of null in CSV has a byte at least.
    if ((ends[id] ?? 0) === 0) {
      starts[id] = spelled.length;
      spelled.text(spell(dictionary[id] ?? null));
      ends[id] = spelled.length;
    }
    out.part(spelled, starts[id] ?? 0, ends[id] ?? 0);
  };
}

/** Writes longs; of equal ones in a row, the text is made once. */
function longWriter(values: BigInt64Array, print: ((value: number | bigint) => string) | null, out: TextBytes): CellWriter {
  const longAt = longReader(values);
  if (print === null)
    return (row) => {
      const value = longAt(row);
      if (typeof value === 'bigint' || value < 0 || value >= 2 ** 31) {
        out.text(String(value));
        return;
      }
      out.room(10);
      out.length = printInteger(value, out.bytes, out.length);
    };
  let last: number | bigint | undefined;
  let text = '';
  return (row) => {
    const value = longAt(row);
    if (value !== last) [last, text] = [value, print(value)];
    out.text(text);
  };
}

function doubleWriter({ values, type }: Extract<FrameColumn, { kind: 'double' }>, spelling: Spelling, out: TextBytes): CellWriter {
  const printer = new DoublePrinter();
  return (row) => {
    const value = values[row] ?? 0;
    if (!Number.isFinite(value)) out.text(spelling.word(String(value)));
    else if (type === 'FLOAT') out.text(floatText(value));
    else {
      out.room(DOUBLE_BYTES_MAX);
      out.length = printer.print(value, out.bytes, out.length);
    }
  };
}

function withNulls(nulls: Uint32Array | null, spelling: Spelling, out: TextBytes, write: CellWriter): CellWriter {
  if (nulls === null) return write;
  return (row) => {
    if (isNullAt(nulls, row)) out.text(spelling.null);
    else write(row);
  };
}

/** Longs as numbers where these are exact: read in halves, they cost no BigInt each. */
function longReader(values: BigInt64Array): (row: number) => number | bigint {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  return (row) => {
    const high = halves[row * 2 + 1] ?? 0;
    return high >= -SAFE_HIGH && high < SAFE_HIGH ? high * 2 ** 32 + ((halves[row * 2] ?? 0) >>> 0) : (values[row] ?? 0n);
  };
}

/** Upper halves of longs below 2^53. */
const SAFE_HIGH = 2 ** 21;

/** The notation of longs that are not plain numbers; null for those that are. */
function longText(sqlType: SqlType, timeZone: string, spelling: Spelling): ((value: number | bigint) => string) | null {
  if (sqlType === 'BOOLEAN') return (value) => (Number(value) === 0 ? 'false' : 'true');
  if (sqlType !== 'TIMESTAMP' && sqlType !== 'DATE') return null;
  const zone = findZone(timeZone) ?? UTC;
  return (value) => spelling.word(formatInstantIn(Number(value), zone));
}
