// Writes cells of native results as JSON.

import { doubleText, floatText } from '../../../base/number-text.js';
import { arrayElements } from '../../../model/array-text.js';
import { type Frame, type FrameColumn, isNullAt } from '../../../model/frame.js';
import { isArrayType, JSON_TYPE, type TextType } from '../../../model/schema.js';
import { arrayJson, doubleJson } from '../../../results/array-json.js';

/** Gives the JSON of one row's value. */
export type CellWriter = (row: number) => string;

/** LONGs as all of their digits, DOUBLE and FLOAT in their shortest exact form, NaN and infinities as strings. */
function cellWriter(column: FrameColumn): CellWriter {
  switch (column.kind) {
    case 'string': {
      const { ids } = column;
      const text = dictionaryWriter(column.dictionary, column.type);
      return (row) => text(ids[row] ?? 0);
    }
    case 'multi':
      return multiWriter(column);
    case 'long': {
      const { values, nulls } = column;
      return (row) => (isNullAt(nulls, row) ? 'null' : String(values[row]));
    }
    case 'double': {
      const { values, nulls, type } = column;
      const print = type === 'FLOAT' ? floatText : doubleText;
      return (row) => {
        if (isNullAt(nulls, row)) return 'null';
        return doubleJson(values[row] ?? 0, print);
      };
    }
  }
}

/** A text that occurs is made JSON once: an array a JSON array, JSON what it is, a string or the bytes of a sketch a string. */
function dictionaryWriter(dictionary: readonly (string | null)[], type: TextType = 'STRING'): (id: number) => string {
  const known: (string | undefined)[] = [];
  return (id) => {
    let written = known[id];
    if (written === undefined) {
      const text = dictionary[id] ?? null;
      written = text === null ? 'null' : jsonOf(text, type);
      known[id] = written;
    }
    return written;
  };
}

function jsonOf(text: string, type: TextType): string {
  if (isArrayType(type)) return arrayJson(arrayElements(text, type), type);
  return type === JSON_TYPE ? text : JSON.stringify(text);
}

function multiWriter({ offsets, ids, dictionary }: Extract<FrameColumn, { kind: 'multi' }>): CellWriter {
  const text = dictionaryWriter(dictionary);
  return (row) => {
    const start = offsets[row] ?? 0;
    const end = offsets[row + 1] ?? start;
    if (start === end) return 'null';
    if (end - start === 1) return text(ids[start] ?? 0);
    const parts: string[] = [];
    for (let at = start; at < end; at++) parts.push(text(ids[at] ?? 0));
    return `[${parts.join(',')}]`;
  };
}

/** The columns of a frame by name, in the order of `names`; a name the frame lacks is null in every row. */
function cellWriters(frame: Frame, names: readonly string[]): CellWriter[] {
  const columns = new Map(frame.columns.map((column) => [column.name, column]));
  return names.map((name) => {
    const column = columns.get(name);
    return column === undefined ? () => 'null' : cellWriter(column);
  });
}

/** Writes an object of the named columns: `{"city":"Paris","rows":3}`. */
export function objectWriter(frame: Frame, names: readonly string[]): CellWriter {
  const writers = cellWriters(frame, names);
  const keys = names.map((name, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  return (row) => {
    if (writers.length === 0) return '{}';
    let text = '';
    for (let index = 0; index < writers.length; index++) text += (keys[index] ?? '') + (writers[index]?.(row) ?? 'null');
    return `${text}}`;
  };
}

/** Writes an array of the named columns: `["Paris",3]`. */
export function arrayWriter(frame: Frame, names: readonly string[]): CellWriter {
  const writers = cellWriters(frame, names);
  return (row) => {
    let text = '[';
    for (let index = 0; index < writers.length; index++) text += (index === 0 ? '' : ',') + (writers[index]?.(row) ?? 'null');
    return `${text}]`;
  };
}

/** Reads a LONG column of instants. */
export function instantReader(frame: Frame, name: string): (row: number) => number {
  const column = frame.columns.find((each) => each.name === name);
  if (column?.kind !== 'long') return () => 0;
  const { values } = column;
  return (row) => Number(values[row]);
}
