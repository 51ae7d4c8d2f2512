// Keeps the rows of a sample, each with what became of it.

import { dataBytes } from '../../base/data-size.js';
import { fieldValues } from '../column/field-values.js';
import type { InputBlock } from '../format/input-block.js';
import { type RowAt, RowStatistics } from '../report/row-statistics.js';

export interface SampledRow {
  /** The row as its format read it; null: it could not. */
  readonly input: Readonly<Record<string, unknown>> | null;
  error: string | null;
  /** The row as it would be stored; null: it is not, or is rolled up with one before. */
  parsed: Readonly<Record<string, unknown>> | null;
}

/** The statistics of a sample, which also keep its rows: in order, bad ones at their places. */
export class SampledRows extends RowStatistics {
  #rows: SampledRow[] = [];
  /** Rows by their number in the input. */
  readonly #byNumber = new Map<number, SampledRow>();
  #read = 0;
  /** Rows before this one are settled. */
  #settled = 0;
  /** Memory that the rows as they were read take, roughly. */
  inputBytes = 0;
  /** Columns of the input in order of their first row; false: nothing but nulls so far. */
  readonly columns = new Map<string, boolean>();

  constructor(now: () => number) {
    super({ logParseExceptions: false, maxParseExceptions: Number.MAX_SAFE_INTEGER, maxSavedParseExceptions: 0 }, () => undefined, now);
  }

  /** Rows that are neither filtered out nor without a verdict yet, when called after `settle`. */
  get all(): readonly SampledRow[] {
    return this.#rows;
  }

  /** Notes the rows of a block, before they go on. */
  add(block: InputBlock): void {
    for (let row = 0; row < block.rowCount; row++) {
      const sampled: SampledRow = { input: recordOf(block, row), error: null, parsed: null };
      this.#byNumber.set(this.#read++, sampled);
      this.#rows.push(sampled);
      this.inputBytes += dataBytes(sampled.input);
    }
    for (const name of block.columns) {
      if (this.columns.get(name) === true) continue;
      this.columns.set(name, block.kind === 'values' && block.values(name).some((value) => value !== null && value !== undefined));
    }
  }

  override reject(reason: string, sample: string, at: RowAt = {}): void {
    super.reject(reason, sample, at);
    this.#note(reason, sample, at.number);
  }

  override fault(reason: string, sample: string, at: RowAt = {}): void {
    super.fault(reason, sample, at);
    this.#note(reason, sample, at.number);
  }

  /** Forgets the rows since the last call that are neither bad nor among the stored ones: they were filtered out. */
  settle(stored: ReadonlySet<number>): void {
    const gone = new Set<SampledRow>();
    for (; this.#settled < this.#read; this.#settled++) {
      const number = this.#settled;
      const sampled = this.#byNumber.get(number);
      if (sampled === undefined || stored.has(number) || sampled.error !== null) continue;
      gone.add(sampled);
      this.inputBytes -= dataBytes(sampled.input);
      this.#byNumber.delete(number);
    }
    if (gone.size > 0) this.#rows = this.#rows.filter((sampled) => !gone.has(sampled));
  }

  /** The row of a number of the input. */
  numbered(number: number): SampledRow | undefined {
    return this.#byNumber.get(number);
  }

  #note(reason: string, sample: string, number: number | undefined): void {
    const sampled = number === undefined ? undefined : this.#byNumber.get(number);
    if (sampled === undefined) this.#rows.push({ input: null, error: sample === '' ? reason : `${reason}: ${sample}`, parsed: null });
    else sampled.error = reason;
  }
}

function recordOf(block: InputBlock, row: number): Readonly<Record<string, unknown>> {
  if (block.kind === 'values') return block.record(row);
  return Object.fromEntries(block.columns.map((name, column) => [name, fieldValues(block, column)[row] ?? null]));
}

/** The first rows of a block. */
export function firstRows(block: InputBlock, count: number): InputBlock {
  if (block.rowCount <= count) return block;
  if (block.kind === 'text') return { ...block, rowCount: count };
  const values = (name: string): readonly unknown[] => block.values(name).slice(0, count);
  return {
    kind: 'values',
    rowCount: count,
    columns: block.columns.filter((name) => values(name).some((value) => value !== undefined)),
    values,
    ...(block.constants === undefined ? {} : { constants: block.constants }),
    ...(block.faults === undefined ? {} : { faults: block.faults }),
    record: (row) => block.record(row),
    sample: (row) => block.sample(row),
  };
}
