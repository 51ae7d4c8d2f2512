// Values of frames as the typed columns of files have them.

import { DAY_MS, findZone, UTC } from '../../../base/calendar.js';
import { ServiceError } from '../../../base/errors.js';
import { type ArrayElement, arrayElements } from '../../../model/array-text.js';
import { type FrameColumn, isNullAt } from '../../../model/frame.js';
import { type ColumnType, elementType, isArrayType } from '../../../model/schema.js';
import type { OutputColumn } from '../../../model/statement.js';

/** Type of a column of a file. JSON is its text, sketches are the base64 of their bytes: strings both. */
export type FileType =
  | 'boolean'
  | 'long'
  | 'float'
  | 'double'
  | 'string'
  /** Milliseconds since 1970 in UTC. */
  | 'timestamp'
  /** Days since 1970, on the calendar of the statement's zone. */
  | 'date'
  | { readonly list: FileType };

export type FileValue = boolean | bigint | number | string | null | readonly FileValue[];

export type ValueReader = (row: number) => FileValue;

/** Files and the frames of one query agree about types; a value that does not fit ends the export. */
export function fileType({ nativeType, sqlType }: Pick<OutputColumn, 'nativeType' | 'sqlType'>): FileType {
  if (nativeType !== 'LONG') return nativeFileType(nativeType);
  if (sqlType === 'BOOLEAN') return 'boolean';
  if (sqlType === 'TIMESTAMP') return 'timestamp';
  return sqlType === 'DATE' ? 'date' : 'long';
}

function nativeFileType(type: ColumnType): FileType {
  if (isArrayType(type)) return { list: nativeFileType(elementType(type)) };
  if (type === 'LONG') return 'long';
  if (type === 'FLOAT') return 'float';
  return type === 'DOUBLE' ? 'double' : 'string';
}

/** Decides once for a column of a frame; the function it gives only looks up. */
export function valueReader(column: FrameColumn, type: FileType, timeZone: string): ValueReader {
  switch (column.kind) {
    case 'string': {
      const { ids, dictionary, type: textType = 'STRING' } = column;
      const read = (text: string): FileValue => {
        if (isArrayType(textType) && typeof type === 'object') return listOf(arrayElements(text, textType), type.list, column.name);
        if (!isArrayType(textType) && type === 'string') return text;
        throw misfit(column.name, textType, type);
      };
      const known = new Map<number, FileValue>();
      return (row) => {
        const id = ids[row] ?? 0;
        const text = dictionary[id] ?? null;
        if (text === null || type === 'string') return text === null ? null : read(text);
        const value = known.get(id) ?? read(text);
        known.set(id, value);
        return value;
      };
    }
    case 'multi': {
      const { offsets, ids, dictionary, name } = column;
      return (row) => {
        const [start, end] = [offsets[row] ?? 0, offsets[row + 1] ?? 0];
        const several = end - start > 1 ? JSON.stringify(Array.from(ids.subarray(start, end), (id) => dictionary[id] ?? null)) : null;
        const value = several ?? (end === start ? null : (dictionary[ids[start] ?? 0] ?? null));
        if (value !== null && type !== 'string') throw misfit(name, 'STRING', type);
        return value;
      };
    }
    case 'long': {
      const { values, nulls, name } = column;
      const read = longReader(type, timeZone, name);
      return (row) => (isNullAt(nulls, row) ? null : read(values[row] ?? 0n));
    }
    case 'double': {
      const { values, nulls, name } = column;
      if (type !== 'double' && type !== 'float') return (row) => (isNullAt(nulls, row) ? null : fail(misfit(name, column.type, type)));
      return (row) => (isNullAt(nulls, row) ? null : (values[row] ?? 0));
    }
  }
}

function longReader(type: FileType, timeZone: string, name: string): (value: bigint) => FileValue {
  if (type === 'long' || type === 'timestamp') return (value) => value;
  if (type === 'boolean') return (value) => value !== 0n;
  if (type === 'date') {
    const zone = findZone(timeZone) ?? UTC;
    return (value) => Math.floor((Number(value) + zone.offsetAt(Number(value))) / DAY_MS);
  }
  return () => fail(misfit(name, 'LONG', type));
}

function listOf(elements: readonly ArrayElement[], type: FileType, name: string): readonly FileValue[] {
  return elements.map((element) => {
    if (element === null) return null;
    if (Array.isArray(element)) return typeof type === 'object' ? listOf(element, type.list, name) : fail(misfit(name, 'ARRAY', type));
    return element as FileValue;
  });
}

/** A misfit of what was planned and what came is a mistake of ours. */
function misfit(name: string, found: string, expected: FileType): ServiceError {
  return new ServiceError('internal', `column ${name} of the export is ${JSON.stringify(expected)}, and has a value of type ${found}`);
}

function fail(error: ServiceError): never {
  throw error;
}

/** About the bytes that a value takes in a file. */
export function sizeOf(value: FileValue): number {
  if (typeof value === 'string') return 4 + value.length;
  if (!Array.isArray(value)) return 8;
  let size = 4;
  for (const each of value) size += sizeOf(each);
  return size;
}
