// Number columns while rows are gathered.

import { Buffer } from 'node:buffer';
import { FIELD } from '../../kernels/scan-contract.js';
import { type FrameColumn, isNullAt } from '../../model/frame.js';
import type { Members, TextBlock } from '../format/input-block.js';
import { toDouble, toLong } from './coercion.js';
import { areFirstRows } from './first-rows.js';
import { decimalNumber, parseLong, plainDecimal, shortInteger } from './number-text.js';
import {
  type FieldBounds,
  firstOfRange,
  grownLength,
  NullMask,
  type RowSelection,
  RowsColumn,
  type RunColumn,
  type StoredColumn,
} from './run-column.js';
import { inputCell } from './text-reading.js';

const WORD = 2 ** 32;
/** Longs always are doubles. */
const NO_FAULTS = new Uint8Array(0);

type NumberFrameColumn<Kind extends 'long' | 'double'> = Extract<FrameColumn, { readonly kind: Kind }>;

/** Numbers of eight bytes and a mask of nulls. */
abstract class NumberColumn extends RowsColumn {
  protected readonly nulls = new NullMask();

  get sizeBytes(): number {
    return this.rows * 8;
  }

  abstract toFrameColumn(rows: Uint32Array): NumberFrameColumn<'long' | 'double'>;

  gather(rows: Uint32Array): StoredColumn {
    return this.toFrameColumn(rows);
  }

  clear(): void {
    this.rows = 0;
    this.nulls.clear();
  }
}

/** 64-bit integers. Short ones are written as two 32-bit halves, which spares a bigint a value. */
export class LongColumn extends NumberColumn implements RunColumn {
  #values = new BigInt64Array(1024);
  #halves = new Int32Array(this.#values.buffer);

  release(): void {
    this.clear();
    this.#values = new BigInt64Array(0);
    this.#halves = new Int32Array(this.#values.buffer);
  }

  appendNulls(count: number): void {
    this.reserve(count);
    this.#values.fill(0n, this.rows, this.rows + count);
    for (let row = 0; row < count; row++) this.nulls.set(this.rows++);
  }

  protected putFields({ bytes }: TextBlock, { starts, ends }: FieldBounds, { rows, count }: RowSelection, faults: Uint8Array): void {
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      const start = starts[row] ?? 0;
      const end = ends[row] ?? -1;
      const value = end < 0 ? Number.NaN : shortInteger(bytes, start, end);
      if (value === value) this.#putNumber(value);
      else if (end <= start) this.#putNull();
      else this.#put(parseLong(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('latin1')), row, faults);
    }
  }

  appendValues(values: readonly unknown[], { rows, count }: RowSelection, faults: Uint8Array): void {
    this.reserve(count);
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      const value = values[row];
      if (typeof value === 'number' && Number.isSafeInteger(value)) this.#putNumber(value);
      else this.#put(toLong(value), row, faults);
    }
  }

  override appendMembers({ bytes, starts, ends, kinds, value }: Members, { rows, count }: RowSelection, faults: Uint8Array): void {
    this.reserve(count);
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      const kind = kinds[row] ?? FIELD.missing;
      const short = kind === FIELD.number || kind === FIELD.string ? shortInteger(bytes, starts[row] ?? 0, ends[row] ?? 0) : Number.NaN;
      if (short === short) this.#putNumber(short);
      else if (kind <= FIELD.null) this.#putNull();
      else this.#put(toLong(value(row)), row, faults);
    }
  }

  appendFrame(column: FrameColumn, { rows, count }: RowSelection, faults: Uint8Array): void {
    this.reserve(count);
    if (column.kind !== 'long') {
      for (let at = 0; at < count; at++) this.#put(toLong(inputCell(column, rows[at] ?? 0)), rows[at] ?? 0, faults);
      return;
    }
    if (column.nulls === null && areFirstRows({ rows, count })) {
      this.#values.set(column.values.subarray(0, count), this.rows);
      this.rows += count;
      return;
    }
    const from = new Int32Array(column.values.buffer, column.values.byteOffset, column.values.length * 2);
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      if (isNullAt(column.nulls, row)) this.#putNull();
      else this.#putHalves(from[row * 2] ?? 0, from[row * 2 + 1] ?? 0);
    }
  }

  toFrameColumn(rows: Uint32Array): NumberFrameColumn<'long'> {
    const values = this.#gatherValues(rows);
    return { kind: 'long', name: this.name, values, nulls: this.nulls.gather(rows) };
  }

  #gatherValues(rows: Uint32Array): BigInt64Array {
    const first = firstOfRange(rows);
    if (first >= 0) return this.#values.slice(first, first + rows.length);
    const values = new BigInt64Array(rows.length);
    const to = new Int32Array(values.buffer);
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] ?? 0;
      to[at * 2] = this.#halves[row * 2] ?? 0;
      to[at * 2 + 1] = this.#halves[row * 2 + 1] ?? 0;
    }
    return values;
  }

  #put(value: bigint | null | undefined, row: number, faults: Uint8Array): void {
    if (value === undefined) faults[row] = 1;
    if (value === undefined || value === null) return this.#putNull();
    this.#values[this.rows++] = value;
  }

  #putNumber(value: number): void {
    this.#putHalves(value | 0, Math.floor(value / WORD));
  }

  #putNull(): void {
    this.nulls.set(this.rows);
    this.#putHalves(0, 0);
  }

  #putHalves(low: number, high: number): void {
    this.#halves[this.rows * 2] = low;
    this.#halves[this.rows * 2 + 1] = high;
    this.rows++;
  }

  reserve(count: number): void {
    if (this.rows + count <= this.#values.length) return;
    const larger = new BigInt64Array(grownLength(this.#values.length, this.rows + count));
    larger.set(this.#values);
    this.#values = larger;
    this.#halves = new Int32Array(larger.buffer);
  }
}

/** Doubles; for a FLOAT column each value is rounded to 32 bits as it comes in. */
export class DoubleColumn extends NumberColumn implements RunColumn {
  readonly type: 'FLOAT' | 'DOUBLE';
  #values = new Float64Array(1024);

  constructor(name: string, type: 'FLOAT' | 'DOUBLE') {
    super(name);
    this.type = type;
  }

  release(): void {
    this.clear();
    this.#values = new Float64Array(0);
  }

  appendNulls(count: number): void {
    this.reserve(count);
    for (let row = 0; row < count; row++) this.#putNull();
  }

  protected putFields({ bytes }: TextBlock, { starts, ends }: FieldBounds, { rows, count }: RowSelection, faults: Uint8Array): void {
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      const start = starts[row] ?? 0;
      const end = ends[row] ?? -1;
      if (end <= start) this.#putNull();
      else this.#put(decimalNumber(bytes, start, end), row, faults);
    }
  }

  appendValues(values: readonly unknown[], { rows, count }: RowSelection, faults: Uint8Array): void {
    this.reserve(count);
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      this.#put(toDouble(values[row]), row, faults);
    }
  }

  override appendMembers({ bytes, starts, ends, kinds, value }: Members, { rows, count }: RowSelection, faults: Uint8Array): void {
    this.reserve(count);
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      const kind = kinds[row] ?? FIELD.missing;
      const plain = kind === FIELD.number ? plainDecimal(bytes, starts[row] ?? 0, ends[row] ?? 0) : Number.NaN;
      if (plain === plain) this.#put(plain, row, faults);
      else if (kind <= FIELD.null) this.#putNull();
      else this.#put(toDouble(value(row)), row, faults);
    }
  }

  appendFrame(column: FrameColumn, { rows, count }: RowSelection, faults: Uint8Array): void {
    this.reserve(count);
    if (column.kind === 'long') return this.#appendLongs(column, rows, count);
    if (column.kind === 'double' && column.nulls === null && areFirstRows({ rows, count }) && this.#takeNumbers(column.values, count))
      return;
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      if (column.kind === 'double' && !isNullAt(column.nulls, row)) this.#put(column.values[row], row, faults);
      else this.#put(toDouble(inputCell(column, row)), row, faults);
    }
  }

  /** Takes the first values as they are; false: some is none, and none was taken. */
  #takeNumbers(values: Float64Array, count: number): boolean {
    for (let at = 0; at < count; at++) {
      const value = values[at] ?? 0;
      if (value !== value) return false;
      this.#values[this.rows + at] = value;
    }
    if (this.type === 'FLOAT') this.#values.set(new Float32Array(values.subarray(0, count)), this.rows);
    this.rows += count;
    return true;
  }

  /** The sum of the halves is rounded once, as `Number` of the bigint would. */
  #appendLongs({ values, nulls }: NumberFrameColumn<'long'>, rows: Int32Array, count: number): void {
    const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
    for (let at = 0; at < count; at++) {
      const row = rows[at] ?? 0;
      if (isNullAt(nulls, row)) this.#putNull();
      else this.#put((halves[row * 2 + 1] ?? 0) * WORD + ((halves[row * 2] ?? 0) >>> 0), row, NO_FAULTS);
    }
  }

  toFrameColumn(rows: Uint32Array): NumberFrameColumn<'double'> {
    const first = firstOfRange(rows);
    const values = first < 0 ? new Float64Array(rows.length) : this.#values.slice(first, first + rows.length);
    if (first < 0) for (let at = 0; at < rows.length; at++) values[at] = this.#values[rows[at] ?? 0] ?? 0;
    return { kind: 'double', name: this.name, type: this.type, values, nulls: this.nulls.gather(rows) };
  }

  #put(value: number | null | undefined, row: number, faults: Uint8Array): void {
    if (value === null) return this.#putNull();
    if (value === undefined || Number.isNaN(value)) {
      faults[row] = 1;
      return this.#putNull();
    }
    this.#values[this.rows++] = this.type === 'FLOAT' ? Math.fround(value) : value;
  }

  #putNull(): void {
    this.nulls.set(this.rows);
    this.#values[this.rows++] = 0;
  }

  reserve(count: number): void {
    if (this.rows + count <= this.#values.length) return;
    const larger = new Float64Array(grownLength(this.#values.length, this.rows + count));
    larger.set(this.#values);
    this.#values = larger;
  }
}
