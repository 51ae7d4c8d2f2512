// Interfaces of columns while rows are gathered.

import type { FrameColumn } from '../../model/frame.js';
import type { TextType } from '../../model/schema.js';
import { plainColumn } from '../../storage/columns/packed-column.js';
import type { Members, TextBlock, TypedColumn } from '../format/input-block.js';
import { type ByteDictionary, NULL_ID } from './byte-dictionary.js';

/** Rows of a block that are kept, ascending: `count` row numbers at the front of `rows`. */
export interface RowSelection {
  readonly rows: Int32Array;
  readonly count: number;
}

/** All of some rows. */
export function allRows(count: number): RowSelection {
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) rows[row] = row;
  return { rows, count };
}

/** The numbers `from .. to - 1`. */
export function rowsBetween(from: number, to: number): Uint32Array {
  const rows = new Uint32Array(to - from);
  for (let at = 0; at < rows.length; at++) rows[at] = from + at;
  return rows;
}

/**
 * The rows of one column, out of the hands of its builder: numbers as in a frame, strings as ids of the builder's
 * dictionary (of a row, or of a list of values when there are `offsets`).
 */
export type StoredColumn =
  | {
      readonly kind: 'ids';
      readonly name: string;
      /** Type that the strings stand for. */
      readonly type: TextType;
      readonly ids: Uint32Array;
      readonly offsets: Uint32Array | null;
    }
  | Extract<FrameColumn, { readonly kind: 'long' | 'double' }>;

/**
 * A column being filled. All `append` calls add as many rows as the selection holds, a value that does not fit the
 * type as null with `faults[row]` set to 1 (`row` as in the selection), so that a row with three bad fields counts once.
 */
export interface RunColumn {
  readonly name: string;
  readonly rowCount: number;
  /** Makes room for so many further rows, which are not moved as they come then. */
  reserve(count: number): void;
  appendNulls(count: number): void;
  appendFields(block: TextBlock, column: number, selection: RowSelection, faults: Uint8Array): void;
  appendValues(values: readonly unknown[], selection: RowSelection, faults: Uint8Array): void;
  /** Takes what `appendValues` takes of the members' values. */
  appendMembers(members: Members, selection: RowSelection, faults: Uint8Array): void;
  appendFrame(column: FrameColumn, selection: RowSelection, faults: Uint8Array): void;
  /** Values of the input that come as a typed column. */
  appendTyped(column: TypedColumn, selection: RowSelection, faults: Uint8Array): void;
  /** A copy of the rows in the order of `rows`; strings with the dictionary entries that occur. */
  toFrameColumn(rows: Uint32Array): FrameColumn;
  /** Like `toFrameColumn`, with ids of the column's own dictionary. */
  gather(rows: Uint32Array): StoredColumn;
  /** Bytes that grow with the rows, dictionaries apart. */
  readonly sizeBytes: number;
  /** Forgets the rows and keeps the memory. */
  clear(): void;
  /** Forgets the rows and their memory. */
  release(): void;
}

/** Base of columns of all types: counts rows and finds fields in blocks of text. */
export abstract class RowsColumn {
  readonly name: string;
  protected rows = 0;

  constructor(name: string) {
    this.name = name;
  }

  get rowCount(): number {
    return this.rows;
  }

  appendFields(block: TextBlock, column: number, selection: RowSelection, faults: Uint8Array): void {
    const starts = block.starts[column];
    const ends = block.ends[column];
    if (starts === undefined || ends === undefined) return this.appendNulls(selection.count);
    this.reserve(selection.count);
    this.putFields(block, { starts, ends }, selection, faults);
  }

  appendMembers(members: Members, selection: RowSelection, faults: Uint8Array): void {
    this.appendValues(memberValues(members, selection), selection, faults);
  }

  appendTyped(column: TypedColumn, selection: RowSelection, faults: Uint8Array): void {
    this.appendFrame(column.kind === 'packed' ? plainColumn(column) : column, selection, faults);
  }

  abstract appendNulls(count: number): void;
  abstract appendFrame(column: FrameColumn, selection: RowSelection, faults: Uint8Array): void;
  abstract appendValues(values: readonly unknown[], selection: RowSelection, faults: Uint8Array): void;
  /** Takes one value for each row. */
  protected abstract putFields(block: TextBlock, bounds: FieldBounds, selection: RowSelection, faults: Uint8Array): void;
  abstract reserve(count: number): void;
}

/** The values of the selected rows, at their places. */
export function memberValues(members: Members, { rows, count }: RowSelection): readonly unknown[] {
  const values = new Array<unknown>(members.kinds.length);
  for (let at = 0; at < count; at++) values[rows[at] ?? 0] = members.value(rows[at] ?? 0);
  return values;
}

/** Bounds of a column's fields in a block; a field that ends before 0 is missing. */
export interface FieldBounds {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** A column whose values are ids of a dictionary that outlives its runs. */
export interface DictionaryColumn extends RunColumn {
  readonly dictionary: ByteDictionary;
  /** Forgets the strings; only while the column is empty. */
  renewDictionary(): void;
}

/** A column whose values are ids of `dictionary`. */
export abstract class IdColumn extends RowsColumn {
  protected ids = new Uint32Array(1024);
  protected readonly words: ByteDictionary;
  /** Dictionaries that there were before. */
  protected renewals = 0;

  constructor(name: string, dictionary: ByteDictionary) {
    super(name);
    this.words = dictionary;
  }

  get dictionary(): ByteDictionary {
    return this.words;
  }

  renewDictionary(): void {
    this.words.release();
    this.renewals++;
  }

  release(): void {
    this.clear();
    this.ids = new Uint32Array(0);
  }

  abstract clear(): void;

  protected idOf(text: string | null): number {
    return text === null ? NULL_ID : this.words.idOfText(text);
  }
}

export function hasDictionary(column: RunColumn): column is DictionaryColumn {
  return 'dictionary' in column;
}

/** The first of rows that follow each other, as rows that come by their times do; -1: others. */
export function firstOfRange(rows: Uint32Array): number {
  const first = rows[0] ?? 0;
  for (let at = 1; at < rows.length; at++) if (rows[at] !== first + at) return -1;
  return first;
}

/** The ids of these rows. */
export function gatherIds(ids: Uint32Array, rows: Uint32Array): Uint32Array {
  const first = firstOfRange(rows);
  if (first >= 0) return ids.slice(first, first + rows.length);
  const gathered = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) gathered[at] = ids[rows[at] ?? 0] ?? 0;
  return gathered;
}

/** Twice as large, or as large as it must be. */
export function grownLength(current: number, needed: number): number {
  return Math.max(current * 2, needed, 1024);
}

export function grownWords(words: Uint32Array, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(words);
  return larger;
}

/** A null mask that costs nothing until the first null. */
export class NullMask {
  #words = new Uint32Array(0);
  #any = false;

  set(row: number): void {
    const word = row >>> 5;
    if (word >= this.#words.length) this.#words = grownWords(this.#words, grownLength(this.#words.length, word + 1));
    this.#words[word] = (this.#words[word] ?? 0) | (1 << (row & 31));
    this.#any = true;
  }

  has(row: number): boolean {
    return this.#any && ((this.#words[row >>> 5] ?? 0) & (1 << (row & 31))) !== 0;
  }

  /** The mask of the rows in the order of `rows`; null when none of them is null. */
  gather(rows: Uint32Array): Uint32Array | null {
    if (!this.#any) return null;
    const gathered = new Uint32Array((rows.length + 31) >>> 5);
    let found = false;
    for (let at = 0; at < rows.length; at++) {
      if (!this.has(rows[at] ?? 0)) continue;
      gathered[at >>> 5] = (gathered[at >>> 5] ?? 0) | (1 << (at & 31));
      found = true;
    }
    return found ? gathered : null;
  }

  clear(): void {
    if (this.#any) this.#words.fill(0);
    this.#any = false;
  }
}
