// Column whose type is decided by its values.

import { FIELD } from '../../kernels/scan-contract.js';
import { cellAt, type FrameColumn, frameColumnType, isNullAt } from '../../model/frame.js';
import { arrayOf, type ColumnType, elementType, isArrayType, isNumberType, isTextType, JSON_TYPE, widestType } from '../../model/schema.js';
import type { Members, TextBlock, TypedColumn } from '../format/input-block.js';
import { ByteDictionary, NULL_ID } from './byte-dictionary.js';
import { isLong } from './coercion.js';
import { fieldValues } from './field-values.js';
import { DoubleColumn, LongColumn } from './number-column.js';
import { shortInteger } from './number-text.js';
import {
  allRows,
  type DictionaryColumn,
  hasDictionary,
  memberValues,
  type RowSelection,
  type RunColumn,
  rowsBetween,
  type StoredColumn,
} from './run-column.js';
import { StringColumn } from './string-column.js';
import { TypedTextColumn } from './typed-text-column.js';

/** Kinds of members without a value. */
const NOTHING = (1 << FIELD.missing) | (1 << FIELD.null);

/** Type that lists of plain values give a column: an array, or a multi-value string. */
export type Lists = 'arrays' | 'multi-values';

/**
 * A column whose type its values decide: integers of 64 bits and booleans (1 and 0) are LONG, other numbers DOUBLE, text STRING, lists
 * of them arrays (of LONG when they are empty or hold only nulls), objects and lists of objects or lists JSON. Among
 * different values the least type that holds them all; it only ever widens, and what was stored before widens with it.
 * Values that are no longer of one kind are kept as JSON until they are taken out, so that none is converted twice.
 */
export class AutoColumn implements DictionaryColumn {
  readonly name: string;
  readonly #lists: Lists;
  #inner: RunColumn | null = null;
  #known: ColumnType | null = null;
  /** The type of `inner`: `known`, or JSON while the column is mixed. */
  #stored: ColumnType | null = null;
  #leadingNulls = 0;
  readonly #words: ByteDictionary;

  constructor(name: string, lists: Lists = 'arrays', dictionary = new ByteDictionary()) {
    this.name = name;
    this.#lists = lists;
    this.#words = dictionary;
  }

  /** null: nothing but nulls so far. */
  get type(): ColumnType | null {
    return this.#known;
  }

  get rowCount(): number {
    return this.#inner?.rowCount ?? this.#leadingNulls;
  }

  get sizeBytes(): number {
    return this.#inner?.sizeBytes ?? 0;
  }

  get dictionary(): ByteDictionary {
    return this.#words;
  }

  renewDictionary(): void {
    if (this.#inner !== null && hasDictionary(this.#inner)) this.#inner.renewDictionary();
    else this.#words.release();
  }

  reserve(count: number): void {
    this.#inner?.reserve(count);
  }

  appendNulls(count: number): void {
    if (this.#inner === null) this.#leadingNulls += count;
    else this.#inner.appendNulls(count);
  }

  appendFields(block: TextBlock, column: number, selection: RowSelection, faults: Uint8Array): void {
    const isText = block.listDelimiter === null && (this.#stored === 'STRING' || (!block.tryParseNumbers && this.#known === null));
    if (!isText) return this.appendValues(fieldValues(block, column), selection, faults);
    this.#widen(['STRING']);
    this.#inner?.appendFields(block, column, selection, faults);
  }

  appendValues(values: readonly unknown[], selection: RowSelection, faults: Uint8Array): void {
    const plain = values.map(withoutBooleans);
    const types = new Set<ColumnType>();
    for (let at = 0; at < selection.count; at++) {
      const value = plain[selection.rows[at] ?? 0];
      if (value !== null && value !== undefined) this.#addTypes(value, types);
    }
    this.#widen(types);
    if (this.#inner === null) this.#leadingNulls += selection.count;
    else this.#inner.appendValues(plain, selection, faults);
  }

  appendFrame(column: FrameColumn, selection: RowSelection, faults: Uint8Array): void {
    if (column.kind === 'string' && column.dictionary.every((text) => text === null)) return this.appendNulls(selection.count);
    const type = frameColumnType(column);
    this.#widen([column.kind === 'multi' && this.#lists === 'arrays' ? arrayOf(type) : type === 'FLOAT' ? 'DOUBLE' : type]);
    this.#inner?.appendFrame(column, selection, faults);
  }

  appendMembers(members: Members, selection: RowSelection, faults: Uint8Array): void {
    const types = this.#typesOfMembers(members, selection);
    if (types === null) return this.appendValues(memberValues(members, selection), selection, faults);
    this.#widen(types);
    if (this.#inner === null) this.#leadingNulls += selection.count;
    else this.#inner.appendMembers(members, selection, faults);
  }

  /** Types of strings alone or numbers alone, where the column is of that kind; null: for any other values. */
  #typesOfMembers(members: Members, { rows, count }: RowSelection): Set<ColumnType> | null {
    let kinds = 0;
    for (let at = 0; at < count; at++) kinds |= 1 << (members.kinds[rows[at] ?? 0] ?? 0);
    const among = (...of: readonly number[]): boolean => (kinds & ~of.reduce((mask, kind) => mask | (1 << kind), NOTHING)) === 0;
    const types = new Set<ColumnType>();
    if (among()) return types;
    if (among(FIELD.string, FIELD.escapedString) && (this.#stored === null || this.#stored === 'STRING')) return types.add('STRING');
    if (!among(FIELD.number, FIELD.true, FIELD.false) || (this.#stored !== null && !isNumberType(this.#stored))) return null;
    for (let at = 0; at < count && types.size < 2; at++) {
      const row = rows[at] ?? 0;
      const kind = members.kinds[row] ?? 0;
      if (kind <= FIELD.null) continue;
      const short = kind === FIELD.number ? shortInteger(members.bytes, members.starts[row] ?? 0, members.ends[row] ?? 0) : 0;
      types.add(short === short ? 'LONG' : typeOfSingle(members.value(row)));
    }
    return types;
  }

  /** Values of the input that come as a typed column: as in `appendValues`, the kept values decide the type. */
  appendTyped(column: TypedColumn, selection: RowSelection, faults: Uint8Array): void {
    const types = typesAmong(column, selection);
    this.#widen(types);
    if (this.#inner === null) this.#leadingNulls += selection.count;
    else this.#inner.appendTyped(column, selection, faults);
  }

  toFrameColumn(rows: Uint32Array): FrameColumn {
    if (this.#inner === null || this.#known === null)
      return { kind: 'string', name: this.name, ids: new Uint32Array(rows.length), dictionary: [null] };
    const column = this.#inner.toFrameColumn(rows);
    if (this.#known === this.#stored) return column;
    const dictionary = new ByteDictionary(this.#words.bench);
    const typed = refilled(this.#columnOf(this.#known, dictionary), column, rows.length);
    dictionary.release();
    return typed;
  }

  /** The rows as stored; a mixed column is JSON. */
  gather(rows: Uint32Array): StoredColumn {
    return this.#inner?.gather(rows) ?? { kind: 'ids', name: this.name, type: 'STRING', ids: new Uint32Array(rows.length), offsets: null };
  }

  clear(): void {
    this.#inner?.clear();
    this.#leadingNulls = 0;
  }

  release(): void {
    this.#inner?.release();
    this.#leadingNulls = 0;
  }

  /** Adds the types of a value; for a list, an array type for every type among its elements. */
  #addTypes(value: unknown, types: Set<ColumnType>): void {
    if (!Array.isArray(value)) {
      types.add(typeOfSingle(value));
      return;
    }
    const elements = new Set<ColumnType>();
    for (const element of value) if (element !== null && element !== undefined) elements.add(typeOfSingle(element));
    if (elements.has(JSON_TYPE)) types.add(JSON_TYPE);
    else if (this.#lists === 'multi-values') types.add('STRING');
    else if (elements.size === 0) types.add('ARRAY<LONG>');
    else for (const type of elements) types.add(arrayOf(type));
  }

  #widen(types: Iterable<ColumnType>): void {
    const all = new Set(types);
    if (this.#known !== null) all.add(this.#known);
    if (all.size === 0) return;
    this.#known = widestType(all);
    const stored = this.#isMixed(all) ? JSON_TYPE : this.#known;
    if (stored === this.#stored) return;
    const wider = this.#columnOf(stored, this.#words);
    if (this.#inner === null) wider.appendNulls(this.#leadingNulls);
    else {
      const rows = Uint32Array.from({ length: this.#inner.rowCount }, (_, row) => row);
      wider.appendFrame(this.#inner.toFrameColumn(rows), allRows(rows.length), new Uint8Array(rows.length));
    }
    this.#leadingNulls = 0;
    this.#inner = wider;
    this.#stored = stored;
  }

  /** Numbers of both kinds, and arrays of them, are one kind; so are the strings and numbers of a multi-value column. */
  #isMixed(types: ReadonlySet<ColumnType>): boolean {
    if (this.#stored === JSON_TYPE) return true;
    if (this.#lists === 'multi-values') return false;
    const kinds = new Set([...types].map((type) => (isArrayType(type) ? kindOf(elementType(type), true) : kindOf(type, false))));
    return kinds.size > 1;
  }

  #columnOf(type: ColumnType, dictionary: ByteDictionary): RunColumn {
    if (type === 'LONG') return new LongColumn(this.name);
    if (type === 'STRING') return new StringColumn(this.name, 'ARRAY', dictionary);
    return isTextType(type) ? new TypedTextColumn(this.name, type, dictionary) : new DoubleColumn(this.name, 'DOUBLE');
  }
}

function kindOf(type: ColumnType, isElement: boolean): string {
  const kind = isNumberType(type) ? 'number' : type;
  return isElement ? `array of ${kind}` : kind;
}

function refilled(empty: RunColumn, column: FrameColumn, count: number): FrameColumn {
  empty.appendFrame(column, allRows(count), new Uint8Array(count));
  return empty.toFrameColumn(rowsBetween(0, count));
}

/** Truth values are 1 and 0, alone and in a list; inside of objects they stay what they are. */
function withoutBooleans(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  if (!Array.isArray(value) || value.some((element) => typeof element === 'object' && element !== null)) return value;
  return value.some((element) => typeof element === 'boolean')
    ? value.map((element) => (typeof element === 'boolean' ? Number(element) : element))
    : value;
}

/** Types of the kept values of a column of strings or numbers. */
function typesAmong(column: TypedColumn, { rows, count }: RowSelection): Set<ColumnType> {
  const types = new Set<ColumnType>();
  if (column.kind === 'packed') {
    for (let at = 0; at < count && types.size === 0; at++) if (column.ids[rows[at] ?? 0] !== NULL_ID) types.add(column.type);
    return types;
  }
  if (column.kind === 'double') {
    for (let at = 0; at < count && types.size < 2; at++) {
      const row = rows[at] ?? 0;
      if (!isNullAt(column.nulls, row)) types.add(isLong(column.values[row] ?? 0) ? 'LONG' : 'DOUBLE');
    }
    return types;
  }
  for (let at = 0; at < count && types.size === 0; at++) if (cellAt(column, rows[at] ?? 0) !== null) types.add(frameColumnType(column));
  return types;
}

function typeOfSingle(value: unknown): ColumnType {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return isLong(value) ? 'LONG' : 'DOUBLE';
    case 'string':
      return 'STRING';
    default:
      return JSON_TYPE;
  }
}
