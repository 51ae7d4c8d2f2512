// Reads `inline` datasources.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import type { Frame, FrameColumn } from '../../../model/frame.js';
import {
  type ComplexType,
  isArrayType,
  isNumberType,
  JSON_TYPE,
  type NumberType,
  type PrimitiveType,
  TIME_COLUMN,
} from '../../../model/schema.js';
import { isStateType } from '../../../model/state-traits.js';
import { refuse } from '../reader.js';
import { readTyped, readWrittenType, type WrittenType } from '../typed-value.js';

/**
 * The rows of an `inline` datasource: `columnNames`, perhaps `columnTypes`, and `rows` of as many cells. Without types
 * a column of whole numbers is LONG, of numbers DOUBLE, any other STRING. A cell of a STRING column may be an array: a row of
 * several values.
 */
export function readInline(reader: ObjectReader): Frame {
  const names = reader.strings('columnNames');
  if (names.length === 0) refuse(reader.at('columnNames'), 'at least one name', names);
  const repeated = firstRepeated(names);
  if (repeated !== undefined) throw new ServiceError('query_invalid', `${reader.at('columnNames')}: "${repeated}" stands there twice`);
  const types = reader.has('columnTypes') ? reader.list('columnTypes', readType) : null;
  if (types !== null && types.length !== names.length) refuse(reader.at('columnTypes'), `${names.length} types, one for each name`, types);
  const rowsPath = reader.at('rows');
  if (!reader.has('rows')) refuse(rowsPath, 'an array of rows', undefined);
  const rows = reader.array('rows').map((row, index): readonly unknown[] => {
    if (!Array.isArray(row) || row.length !== names.length) refuse(`${rowsPath}[${index}]`, `an array of ${names.length} cells`, row);
    return row;
  });
  const columns = names.map((name, index): FrameColumn => {
    const cells = rows.map((row) => row[index] ?? null);
    const type = types?.[index] ?? (name === TIME_COLUMN ? 'LONG' : typeOfCells(cells));
    const pathOf = (row: number): string => `${rowsPath}[${row}][${index}]`;
    if (name === TIME_COLUMN && (type !== 'LONG' || cells.includes(null)))
      throw new ServiceError('query_invalid', `${rowsPath}: ${TIME_COLUMN} is a LONG that is never null`);
    if (type === 'STRING') return textColumn(name, cells, pathOf);
    return isNumberType(type) ? numberColumn(name, type, cells, pathOf) : typedColumn(name, type, cells, pathOf);
  });
  return { rowCount: rows.length, columns };
}

function firstRepeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}

type InlineType = WrittenType | ComplexType;

function readType(value: unknown, path: string): InlineType | null {
  return value === null ? null : isStateType(value) ? value : readWrittenType(value, path);
}

/** Arrays, JSON and states, as their texts. */
function typedColumn(
  name: string,
  type: Exclude<InlineType, PrimitiveType>,
  cells: readonly unknown[],
  pathOf: (row: number) => string,
): FrameColumn {
  const dictionary = cells.map((cell, row) => {
    if (isArrayType(type) || type === JSON_TYPE) return cell === null ? null : String(readTyped(cell, type, pathOf(row)));
    return cell === null || typeof cell === 'string' ? cell : refuse(pathOf(row), 'a state as a string', cell);
  });
  return { kind: 'string', name, type, ids: Uint32Array.from(cells, (_, row) => row), dictionary };
}

function typeOfCells(cells: readonly unknown[]): PrimitiveType {
  const filled = cells.filter((cell) => cell !== null);
  if (filled.length === 0) return 'STRING';
  if (filled.every((cell) => typeof cell === 'bigint' || Number.isSafeInteger(cell))) return 'LONG';
  return filled.every((cell) => typeof cell === 'number' || typeof cell === 'bigint') ? 'DOUBLE' : 'STRING';
}

function numberColumn(name: string, type: NumberType, cells: readonly unknown[], pathOf: (row: number) => string): FrameColumn {
  const nulls = new Uint32Array(Math.ceil(cells.length / 64) * 2);
  let anyNull = false;
  const longs = new BigInt64Array(type === 'LONG' ? cells.length : 0);
  const doubles = new Float64Array(type === 'LONG' ? 0 : cells.length);
  cells.forEach((cell, row) => {
    if (cell === null) {
      anyNull = true;
      nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
    } else if (type === 'LONG') longs[row] = readLong(cell, pathOf(row));
    else doubles[row] = readDouble(cell, type, pathOf(row));
  });
  return type === 'LONG'
    ? { kind: 'long', name, values: longs, nulls: anyNull ? nulls : null }
    : { kind: 'double', name, type, values: doubles, nulls: anyNull ? nulls : null };
}

function readLong(cell: unknown, path: string): bigint {
  if (typeof cell === 'boolean') return cell ? 1n : 0n;
  const value =
    typeof cell === 'bigint' || Number.isSafeInteger(cell) || (typeof cell === 'string' && /^[+-]?\d{1,19}$/.test(cell))
      ? BigInt(cell as bigint | number | string)
      : undefined;
  return value !== undefined && value === BigInt.asIntN(64, value) ? value : refuse(path, 'a whole number of 64 bits', cell);
}

function readDouble(cell: unknown, type: PrimitiveType, path: string): number {
  // JSON has no NaN: it comes from rows that were made here.
  if (Number.isNaN(cell)) return Number.NaN;
  const value =
    typeof cell === 'number' || typeof cell === 'bigint' || (typeof cell === 'string' && cell.trim() !== '') ? Number(cell) : NaN;
  if (Number.isNaN(value)) refuse(path, 'a number', cell);
  return type === 'FLOAT' ? Math.fround(value) : value;
}

function textColumn(name: string, cells: readonly unknown[], pathOf: (row: number) => string): FrameColumn {
  const known = new Map<string | null, number>();
  const dictionary: (string | null)[] = [];
  const idOf = (cell: unknown, row: number): number => {
    const text = readText(cell, pathOf(row));
    let id = known.get(text);
    if (id === undefined) {
      id = dictionary.push(text) - 1;
      known.set(text, id);
    }
    return id;
  };
  if (!cells.some(Array.isArray)) return { kind: 'string', name, ids: Uint32Array.from(cells, idOf), dictionary };
  const offsets = new Uint32Array(cells.length + 1);
  const ids: number[] = [];
  cells.forEach((cell, row) => {
    for (const value of Array.isArray(cell) ? cell : cell === null ? [] : [cell]) ids.push(idOf(value, row));
    offsets[row + 1] = ids.length;
  });
  return { kind: 'multi', name, offsets, ids: Uint32Array.from(ids), dictionary };
}

function readText(cell: unknown, path: string): string | null {
  if (cell === null || typeof cell === 'string') return cell;
  if (typeof cell === 'number' || typeof cell === 'bigint' || typeof cell === 'boolean') return String(cell);
  return refuse(path, 'a string, a number or null', cell);
}
