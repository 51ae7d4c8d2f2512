// Buffer of rows in order of arrival, with typed columns.

import type { EpochMs } from '../../base/instant.js';
import { type Frame, type FrameColumn, isNullAt } from '../../model/frame.js';
import { type ColumnType, isTextType, TIME_COLUMN } from '../../model/schema.js';
import { plainColumn, type SegmentFrame } from '../../storage/columns/packed-column.js';
import { AutoColumn } from '../column/auto-column.js';
import { ByteDictionary } from '../column/byte-dictionary.js';
import { areFirstRows } from '../column/first-rows.js';
import { type InputBench, inputBench } from '../column/input-bench.js';
import { DoubleColumn, LongColumn } from '../column/number-column.js';
import { type DictionaryColumn, grownLength, hasDictionary, type RowSelection, type RunColumn, rowsBetween } from '../column/run-column.js';
import { type MultiValueHandling, StringColumn } from '../column/string-column.js';
import type { ReadText } from '../column/text-reading.js';
import { TypedTextColumn } from '../column/typed-text-column.js';

const WORD = 2 ** 32;
/** Size of a column without rows: its object, first arrays and dictionary. */
const EMPTY_COLUMN_BYTES = 8192;

/** A column as it is to be built; AUTO: its values decide; AUTO_MULTI_VALUE: but lists are several strings, not arrays. */
export interface ColumnPlan {
  readonly name: string;
  readonly type: ColumnType | 'AUTO' | 'AUTO_MULTI_VALUE';
  /** STRING only; SINGLE refuses a list of several values. */
  readonly multiValueHandling: MultiValueHandling | 'SINGLE';
  /** Types stored as strings only: conversion of an input value, where the type alone does not decide it. */
  readonly read?: ReadText;
}

export function columnPlan(
  name: string,
  type: ColumnPlan['type'],
  multiValueHandling: ColumnPlan['multiValueHandling'] = 'SORTED_ARRAY',
): ColumnPlan {
  return { name, type, multiValueHandling };
}

/** Rows being gathered, in order of arrival: a time for each, and the columns. */
export class RunBuffer {
  readonly columns: RunColumn[] = [];
  readonly #byName = new Map<string, RunColumn>();
  #times = new Float64Array(1024);
  #rows = 0;

  readonly #bench: InputBench;

  /** @param bench  for its dictionaries */
  constructor(plans: readonly ColumnPlan[], bench = inputBench()) {
    this.#bench = bench;
    for (const plan of plans) this.addColumn(plan);
  }

  get rowCount(): number {
    return this.#rows;
  }

  /** Size in bytes of the rows, the columns and all dictionaries. */
  get sizeBytes(): number {
    let bytes = this.#rows * 8 + this.dictionaryBytes + this.columns.length * EMPTY_COLUMN_BYTES;
    for (const column of this.columns) bytes += column.sizeBytes;
    return bytes;
  }

  get dictionaryBytes(): number {
    let bytes = 0;
    for (const { dictionary } of this.dictionaries()) bytes += dictionary.sizeBytes;
    return bytes;
  }

  column(name: string): RunColumn | undefined {
    return this.#byName.get(name);
  }

  /** A column found later than others is null in the rows before it. */
  addColumn(plan: ColumnPlan): RunColumn {
    const column = newColumn(plan, new ByteDictionary(this.#bench));
    column.appendNulls(this.#rows);
    this.columns.push(column);
    this.#byName.set(plan.name, column);
    return column;
  }

  /** Makes room for so many further rows, which are not moved as they come then. */
  reserve(count: number): void {
    this.#reserveTimes(count);
    for (const column of this.columns) column.reserve(count);
  }

  #reserveTimes(count: number): void {
    if (this.#rows + count <= this.#times.length) return;
    const larger = new Float64Array(grownLength(this.#times.length, this.#rows + count));
    larger.set(this.#times);
    this.#times = larger;
  }

  /** Call before the columns are appended to, with the same selection; `times` is indexed by row, like the selection. */
  appendTimes(times: Float64Array, selection: RowSelection): void {
    const { rows, count } = selection;
    this.#reserveTimes(count);
    if (areFirstRows(selection)) {
      this.#times.set(times.subarray(0, count), this.#rows);
      this.#rows += count;
      return;
    }
    for (let at = 0; at < count; at++) this.#times[this.#rows++] = times[rows[at] ?? 0] ?? 0;
  }

  timesOf(rows: Uint32Array): Float64Array {
    return Float64Array.from(rows, (row) => this.timeAt(row));
  }

  timeAt(row: number): EpochMs {
    return this.#times[row] ?? 0;
  }

  /** The rows of a frame whose times were taken out already; columns that the frame lacks become null. */
  appendFrame(frame: SegmentFrame, times: Float64Array, selection: RowSelection, faults: Uint8Array): void {
    this.appendTimes(times, selection);
    const columns = new Map(frame.columns.map((column) => [column.name, column]));
    for (const column of this.columns) {
      const from = columns.get(column.name);
      if (from === undefined) column.appendNulls(selection.count);
      else if (from.kind !== 'packed') column.appendFrame(from, selection, faults);
      else if (from.offsets === null) column.appendTyped(from, selection, faults);
      else column.appendFrame(plainColumn(from), selection, faults);
    }
  }

  /** Rows [from, to) in order, `__time` first. */
  toFrame(from = 0, to = this.#rows): Frame {
    return this.frameOf(rowsBetween(from, to));
  }

  /** These rows, `__time` first. */
  frameOf(rows: Uint32Array): Frame {
    return { rowCount: rows.length, columns: [this.timeColumn(rows), ...this.columns.map((column) => column.toFrameColumn(rows))] };
  }

  timeColumn(rows: Uint32Array): Extract<FrameColumn, { readonly kind: 'long' }> {
    const values = new BigInt64Array(rows.length);
    const halves = new Int32Array(values.buffer);
    for (let at = 0; at < rows.length; at++) {
      const time = this.#times[rows[at] ?? 0] ?? 0;
      halves[at * 2] = time | 0;
      halves[at * 2 + 1] = Math.floor(time / WORD);
    }
    return { kind: 'long', name: TIME_COLUMN, values, nulls: null };
  }

  *dictionaries(): Generator<{ readonly column: DictionaryColumn; readonly dictionary: ByteDictionary }> {
    for (const column of this.columns) if (hasDictionary(column)) yield { column, dictionary: column.dictionary };
  }

  clear(): void {
    this.#rows = 0;
    for (const column of this.columns) column.clear();
  }

  /** Forgets the rows and their memory. */
  release(): void {
    this.#rows = 0;
    this.#times = new Float64Array(0);
    for (const column of this.columns) column.release();
  }

  /** Forgets the strings of all dictionaries; only while there are no rows. */
  renewDictionaries(): void {
    for (const { column } of this.dictionaries()) column.renewDictionary();
  }

  /** Gives up all memory. */
  close(): void {
    this.release();
    this.renewDictionaries();
  }
}

function newColumn(plan: ColumnPlan, dictionary: ByteDictionary): RunColumn {
  switch (plan.type) {
    case 'STRING':
      return plan.multiValueHandling === 'SINGLE'
        ? new TypedTextColumn(plan.name, 'STRING', dictionary)
        : new StringColumn(plan.name, plan.multiValueHandling, dictionary);
    case 'LONG':
      return new LongColumn(plan.name);
    case 'AUTO':
      return new AutoColumn(plan.name, 'arrays', dictionary);
    case 'AUTO_MULTI_VALUE':
      return new AutoColumn(plan.name, 'multi-values', dictionary);
    default:
      return isTextType(plan.type)
        ? new TypedTextColumn(plan.name, plan.type, dictionary, plan.read)
        : new DoubleColumn(plan.name, plan.type);
  }
}

/** The times of a frame as numbers; NaN where `__time` is null. `undefined`: it has no long column of that name. */
export function timesOf(frame: SegmentFrame): Float64Array | undefined {
  const column = frame.columns.find(({ name }) => name === TIME_COLUMN);
  if (column?.kind !== 'long') return undefined;
  const halves = new Int32Array(column.values.buffer, column.values.byteOffset, column.values.length * 2);
  const times = new Float64Array(frame.rowCount);
  for (let row = 0; row < times.length; row++)
    times[row] = isNullAt(column.nulls, row) ? Number.NaN : (halves[row * 2 + 1] ?? 0) * WORD + ((halves[row * 2] ?? 0) >>> 0);
  return times;
}
