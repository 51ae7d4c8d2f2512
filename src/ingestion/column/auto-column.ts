import { Buffer } from 'node:buffer';
import { ServiceError } from '../../base/errors.js';
import type { FrameColumn } from '../../model/frame.js';
import type { ColumnType } from '../../model/schema.js';
import type { TextBlock } from '../format/input-block.js';
import { ByteDictionary } from './byte-dictionary.js';
import { DoubleColumn, LongColumn } from './number-column.js';
import { parseDouble, parseLong } from './number-text.js';
import type { RowSelection, RunColumn, StoredColumn } from './run-column.js';
import { StringColumn } from './string-column.js';

const WIDTH: Readonly<Record<string, number>> = { LONG: 1, DOUBLE: 2, STRING: 3 };

/**
 * A column whose type its values decide: integers and booleans (1 and 0) make it LONG, with fractions among them
 * DOUBLE, with anything else STRING; arrays of strings are multi-value strings. The type only ever widens, and what
 * was stored before widens with it.
 */
export class AutoColumn implements RunColumn {
  readonly name: string;
  private inner: LongColumn | DoubleColumn | StringColumn | null = null;
  private leadingNulls = 0;
  private words = new ByteDictionary();

  constructor(name: string) {
    this.name = name;
  }

  /** null: nothing but nulls so far. */
  get type(): ColumnType | null {
    if (this.inner instanceof StringColumn) return 'STRING';
    if (this.inner === null) return null;
    return this.inner instanceof LongColumn ? 'LONG' : 'DOUBLE';
  }

  get rowCount(): number {
    return this.inner?.rowCount ?? this.leadingNulls;
  }

  get sizeBytes(): number {
    return this.inner?.sizeBytes ?? 0;
  }

  get dictionary(): ByteDictionary {
    return this.words;
  }

  /** Only while the column is empty. */
  replaceDictionary(dictionary: ByteDictionary): void {
    this.words = dictionary;
    if (this.inner instanceof StringColumn) this.inner.replaceDictionary(dictionary);
  }

  /** The strings of the column; undefined while it is another type. */
  get strings(): StringColumn | undefined {
    return this.inner instanceof StringColumn ? this.inner : undefined;
  }

  appendNulls(count: number): void {
    if (this.inner === null) this.leadingNulls += count;
    else this.inner.appendNulls(count);
  }

  appendFields(block: TextBlock, column: number, selection: RowSelection, faults: Uint8Array): void {
    if (block.tryParseNumbers && this.type !== 'STRING') return this.appendValues(fieldValues(block, column), selection, faults);
    this.widen('STRING');
    this.strings?.appendFields(block, column, selection);
  }

  appendValues(values: readonly unknown[], selection: RowSelection, faults: Uint8Array): void {
    const plain = values.map((value) => (typeof value === 'boolean' ? Number(value) : value));
    for (let at = 0; at < selection.count; at++) {
      const value = plain[selection.rows[at] ?? 0];
      if (value !== null && value !== undefined) this.widen(this.typeOf(value));
    }
    if (this.inner === null) this.leadingNulls += selection.count;
    else this.inner.appendValues(plain, selection, faults);
  }

  appendFrame(column: FrameColumn, selection: RowSelection, faults: Uint8Array): void {
    if (column.kind === 'string' && column.dictionary.every((text) => text === null)) return this.appendNulls(selection.count);
    this.widen(column.kind === 'long' ? 'LONG' : column.kind === 'double' ? 'DOUBLE' : 'STRING');
    this.inner?.appendFrame(column, selection, faults);
  }

  toFrameColumn(rows: Uint32Array): FrameColumn {
    if (this.inner !== null) return this.inner.toFrameColumn(rows);
    return { kind: 'string', name: this.name, ids: new Uint32Array(rows.length), dictionary: [null] };
  }

  gather(rows: Uint32Array): StoredColumn {
    return this.inner?.gather(rows) ?? { kind: 'ids', name: this.name, type: 'STRING', ids: new Uint32Array(rows.length), offsets: null };
  }

  clear(): void {
    this.inner?.clear();
    this.leadingNulls = 0;
  }

  private typeOf(value: unknown): ColumnType {
    if (typeof value === 'number') return Number.isInteger(value) ? 'LONG' : 'DOUBLE';
    if (typeof value === 'bigint') return 'LONG';
    if (typeof value === 'string') return 'STRING';
    if (!Array.isArray(value)) {
      throw new ServiceError(
        'unsupported',
        `column "${this.name}" holds nested objects, which schema discovery would store as COMPLEX<json>: not supported yet; take fields out of it with a flattenSpec or name it in dimensionsSpec.dimensionExclusions`,
      );
    }
    const other = value.find((element) => element !== null && typeof element !== 'string');
    if (other === undefined) return 'STRING';
    throw new ServiceError(
      'unsupported',
      `column "${this.name}" holds arrays of ${typeof other}s; schema discovery supports arrays of strings: declare it in dimensionsSpec.dimensions or name it in dimensionExclusions`,
    );
  }

  private widen(type: ColumnType): void {
    const { inner } = this;
    const current = this.type;
    if (current !== null && (WIDTH[type] ?? 0) <= (WIDTH[current] ?? 0)) return;
    const wider =
      type === 'LONG'
        ? new LongColumn(this.name)
        : type === 'STRING'
          ? new StringColumn(this.name, 'ARRAY', this.words)
          : new DoubleColumn(this.name, 'DOUBLE');
    if (inner === null) wider.appendNulls(this.leadingNulls);
    else {
      const rows = Uint32Array.from({ length: inner.rowCount }, (_, row) => row);
      const selection: RowSelection = { rows: Int32Array.from(rows), count: rows.length };
      wider.appendFrame(inner.toFrameColumn(rows), selection, new Uint8Array(rows.length));
    }
    this.leadingNulls = 0;
    this.inner = wider;
  }
}

/** Fields as values: numbers where the whole field is one. */
function fieldValues(block: TextBlock, column: number): readonly unknown[] {
  const starts = block.starts[column];
  const ends = block.ends[column];
  return Array.from({ length: block.rowCount }, (_, row) => {
    const end = ends?.[row] ?? -1;
    if (end < 0) return null;
    const start = starts?.[row] ?? 0;
    const text = Buffer.from(block.bytes.buffer, block.bytes.byteOffset + start, end - start).toString('utf8');
    if (block.listDelimiter !== null && text.includes(block.listDelimiter)) return text.split(block.listDelimiter);
    const number = /^-?\d+$/.test(text) ? parseLong(text) : parseDouble(text);
    return number === undefined || Number.isNaN(number) ? text : number;
  });
}
