// Writes cells of SQL results.

import { findZone, UTC } from '../../../base/calendar.js';
import { formatInstantIn } from '../../../base/time.js';
import { doubleText, floatText } from '../../../expression/value.js';
import { arrayElements } from '../../../model/array-text.js';
import { type FrameColumn, isNullAt } from '../../../model/frame.js';
import { isArrayType } from '../../../model/schema.js';
import type { SqlType } from '../../../model/statement.js';
import { arrayJson } from '../array-json.js';

/** The text of one cell of a column, ready to be written. */
export type CellText = (row: number) => string;

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
export function cellText(column: FrameColumn, sqlType: SqlType, timeZone: string, spelling: Spelling): CellText {
  switch (column.kind) {
    case 'string': {
      const { ids, dictionary } = column;
      const spelled = new Map<number, string>();
      // JSON is written as its text, as clients of SQL expect it.
      const { type } = column;
      const spell = isArrayType(type) ? (text: string) => spelling.array(arrayJson(arrayElements(text, type), type)) : spelling.text;
      return (row) => {
        const id = ids[row] ?? 0;
        let text = spelled.get(id);
        if (text === undefined) {
          const value = dictionary[id] ?? null;
          text = value === null ? spelling.null : spell(value);
          spelled.set(id, text);
        }
        return text;
      };
    }
    case 'multi': {
      const { offsets, ids, dictionary } = column;
      return (row) => {
        const [start, end] = [offsets[row] ?? 0, offsets[row + 1] ?? 0];
        if (end - start > 1) return spelling.text(JSON.stringify(Array.from(ids.subarray(start, end), (id) => dictionary[id] ?? null)));
        const value = end === start ? null : (dictionary[ids[start] ?? 0] ?? null);
        return value === null ? spelling.null : spelling.text(value);
      };
    }
    case 'long': {
      const print = longText(sqlType, timeZone, spelling);
      const longAt = longReader(column.values);
      return withNulls(column.nulls, spelling, (row) => print(longAt(row)));
    }
    case 'double': {
      const { values } = column;
      const digits = column.type === 'FLOAT' ? floatText : doubleText;
      return withNulls(column.nulls, spelling, (row) => {
        const value = values[row] ?? 0;
        return Number.isFinite(value) ? digits(value) : spelling.word(String(value));
      });
    }
  }
}

function withNulls(nulls: Uint32Array | null, spelling: Spelling, print: CellText): CellText {
  return nulls === null ? print : (row) => (isNullAt(nulls, row) ? spelling.null : print(row));
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

function longText(sqlType: SqlType, timeZone: string, spelling: Spelling): (value: number | bigint) => string {
  if (sqlType === 'BOOLEAN') return (value) => (Number(value) === 0 ? 'false' : 'true');
  if (sqlType !== 'TIMESTAMP' && sqlType !== 'DATE') return String;
  const zone = findZone(timeZone) ?? UTC;
  return (value) => spelling.word(formatInstantIn(Number(value), zone));
}
