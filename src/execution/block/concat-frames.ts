// Joins frames end to end.

import { textOfValue, valueOfText } from '../../expression/value.js';
import { cellAt, type Frame, type FrameColumn, frameColumnType, isNullAt } from '../../model/frame.js';
import { isTextType, type TextType, widestType } from '../../model/schema.js';
import type { Check } from './checked-loops.js';
import { typed } from './result-table.js';

/**
 * Frames after each other as one. Columns go by position and take their names from the first frame; where types differ
 * (a column that is null everywhere has no type of its own) the widest wins.
 * @param check  called before each column of each frame
 */
export function concatFrames(frames: readonly Frame[], check: Check = () => undefined): Frame {
  const filled = frames.filter((frame) => frame.rowCount > 0);
  const [first] = filled;
  if (first === undefined) return frames[0] ?? { rowCount: 0, columns: [] };
  if (filled.length === 1) return first;
  const rowCount = filled.reduce((sum, frame) => sum + frame.rowCount, 0);
  return {
    rowCount,
    columns: first.columns.map((_, index) =>
      concatColumns(
        filled.map((frame) => ({ frame, column: columnAt(frame, index) })),
        rowCount,
        check,
      ),
    ),
  };
}

interface Part {
  readonly frame: Frame;
  readonly column: FrameColumn;
}

function columnAt(frame: Frame, index: number): FrameColumn {
  return frame.columns[index] ?? { kind: 'string', name: '', ids: new Uint32Array(frame.rowCount), dictionary: [null] };
}

function concatColumns(parts: readonly Part[], rowCount: number, check: Check): FrameColumn {
  const name = parts[0]?.column.name ?? '';
  const typed = parts.filter(({ column }) => !isAllNull(column));
  if (typed.some(({ column }) => column.kind === 'multi') && typeOfTexts(parts) === 'STRING')
    return concatMultiple(name, parts, rowCount, check);
  if (typed.length === 0 || typed.some(({ column }) => column.kind === 'string' || column.kind === 'multi'))
    return concatTexts(name, parts, rowCount, check);
  const isLong = typed.every(({ column }) => column.kind === 'long');
  const longs = new BigInt64Array(isLong ? rowCount : 0);
  const doubles = new Float64Array(isLong ? 0 : rowCount);
  const nulls = new Uint32Array(Math.ceil(rowCount / 64) * 2);
  let anyNull = false;
  let at = 0;
  for (const { frame, column } of parts) {
    check();
    if (column.kind === (isLong ? 'long' : 'double')) {
      if (column.kind === 'long') longs.set(column.values, at);
      else doubles.set(column.values, at);
      for (let row = 0; column.nulls !== null && row < frame.rowCount; row++) {
        if (!isNullAt(column.nulls, row)) continue;
        anyNull = true;
        nulls[(at + row) >>> 5] = (nulls[(at + row) >>> 5] ?? 0) | (1 << ((at + row) & 31));
        if (isLong) longs[at + row] = 0n;
        else doubles[at + row] = 0;
      }
      at += frame.rowCount;
      continue;
    }
    for (let row = 0; row < frame.rowCount; row++, at++) {
      const value = (column.kind === 'long' || column.kind === 'double') && !isNullAt(column.nulls, row) ? column.values[row] : undefined;
      if (value === undefined) {
        anyNull = true;
        nulls[at >>> 5] = (nulls[at >>> 5] ?? 0) | (1 << (at & 31));
      } else if (isLong && typeof value === 'bigint') longs[at] = value;
      else doubles[at] = Number(value);
    }
  }
  if (isLong) return { kind: 'long', name, values: longs, nulls: anyNull ? nulls : null };
  const isFloat = typed.every(({ column }) => column.kind === 'double' && column.type === 'FLOAT');
  return { kind: 'double', name, type: isFloat ? 'FLOAT' : 'DOUBLE', values: doubles, nulls: anyNull ? nulls : null };
}

/** Once there are so many texts, they are looked up as long as the last frame had no larger part of new ones. */
const LOOKED_UP_MIN = 1 << 16;
const NEW_TEXTS_MAX = 0.75;

function concatTexts(name: string, parts: readonly Part[], rowCount: number, check: Check): FrameColumn {
  const type = typeOfTexts(parts);
  const ids = new Uint32Array(rowCount);
  const dictionary: (string | null)[] = [null];
  // Texts that frames have again get the id that they have.
  let known = parts.length > 1 ? new Map<string | null, number>([[null, 0]]) : undefined;
  const idOf = (text: string | null): number => {
    const found = known?.get(text);
    if (found !== undefined) return found;
    known?.set(text, dictionary.length);
    return dictionary.push(text) - 1;
  };
  let at = 0;
  for (const { frame, column } of parts) {
    check();
    if (column.kind === 'string') {
      const before = dictionary.length;
      const from = column.type ?? 'STRING';
      const idsOfFrame = Uint32Array.from(column.dictionary, (text) =>
        idOf(from === type ? text : textOfValue(valueOfText(text, from), type)),
      );
      for (let row = 0; row < frame.rowCount; row++) ids[at + row] = idsOfFrame[column.ids[row] ?? 0] ?? 0;
      const added = dictionary.length - before;
      if (dictionary.length > LOOKED_UP_MIN && added > column.dictionary.length * NEW_TEXTS_MAX) known = undefined;
    } else if (column.kind === 'multi') {
      for (let row = 0; row < frame.rowCount; row++) {
        const cell = cellAt(column, row);
        if (cell === null) continue;
        ids[at + row] = dictionary.length;
        dictionary.push(textOfValue(cell, type));
      }
    } else {
      for (let row = 0; row < frame.rowCount; row++) {
        if (isNullAt(column.nulls, row)) continue;
        ids[at + row] = dictionary.length;
        dictionary.push(textOfValue(column.values[row] ?? null, type));
      }
    }
    at += frame.rowCount;
  }
  return { kind: 'string', name, ...typed(type), ids, dictionary };
}

function typeOfTexts(parts: readonly Part[]): TextType {
  const type = widestType(parts.flatMap(({ column }) => (isAllNull(column) ? [] : [frameColumnType(column)])));
  return isTextType(type) ? type : 'STRING';
}

function concatMultiple(name: string, parts: readonly Part[], rowCount: number, check: Check): FrameColumn {
  const offsets = new Uint32Array(rowCount + 1);
  const ids: number[] = [];
  const dictionary: (string | null)[] = [];
  let at = 0;
  for (const { frame, column } of parts) {
    check();
    const base = dictionary.length;
    if (column.kind === 'string' || column.kind === 'multi') for (const text of column.dictionary) dictionary.push(text);
    for (let row = 0; row < frame.rowCount; row++) {
      if (column.kind === 'multi')
        for (let value = column.offsets[row] ?? 0; value < (column.offsets[row + 1] ?? 0); value++)
          ids.push(base + (column.ids[value] ?? 0));
      else if (column.kind === 'string' && column.dictionary[column.ids[row] ?? 0] !== null) ids.push(base + (column.ids[row] ?? 0));
      offsets[++at] = ids.length;
    }
  }
  return { kind: 'multi', name, offsets, ids: Uint32Array.from(ids), dictionary };
}

function isAllNull(column: FrameColumn): boolean {
  switch (column.kind) {
    case 'string':
      return column.dictionary.every((text) => text === null);
    case 'multi':
      return column.ids.length === 0;
    default:
      return column.nulls !== null && column.values.every((_, row) => isNullAt(column.nulls, row));
  }
}
