// Collects rows of input blocks into a buffer: times first, then column by column.

import { ServiceError } from '../../base/errors.js';
import type { EpochMs, Interval } from '../../base/instant.js';
import { FIELD } from '../../kernels/scan-contract.js';
import { type Buckets, bucketsOf, type Granularity } from '../../model/granularity.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { RowSelection, RunColumn } from '../column/run-column.js';
import type { TimestampParser } from '../column/timestamp.js';
import type { InputBlock, TypedColumn, ValueBlock } from '../format/input-block.js';
import type { RowAt, RowStatistics } from '../report/row-statistics.js';
import { INPUT_ROW } from './rollup.js';
import { columnPlan, type RunBuffer } from './run-buffer.js';

const WORD = 2 ** 32;
/** The reason why a row is kept with an error. */
export const MISFIT = 'a field does not fit the type of its column and was taken as null';

/** The kept range of times, and their floor. */
export class TimeRange {
  readonly #intervals: readonly Interval[];
  readonly #floor: Buckets | null;
  /** The interval of the last row: rows come in runs of one. */
  #current: Interval = { start: 0, end: 0 };

  /** @param intervals  sorted, disjoint; none: all times */
  constructor(intervals: readonly Interval[], queryGranularity: Granularity) {
    this.#intervals = intervals;
    this.#floor = queryGranularity.kind === 'none' ? null : bucketsOf(queryGranularity);
  }

  /** The time to store; undefined when it is in none of the intervals. */
  place(time: EpochMs): EpochMs | undefined {
    if (this.#intervals.length > 0 && (time < this.#current.start || time >= this.#current.end)) {
      const found = this.#intervals.find(({ start, end }) => start <= time && time < end);
      if (found === undefined) return undefined;
      this.#current = found;
    }
    return this.#floor === null ? time : this.#floor.floor(time);
  }
}

export interface CollectorOptions {
  readonly timestamp: { readonly column: string; readonly parser: TimestampParser; readonly missingValue: EpochMs | null } | null;
  /** null: rows of all times go on as they are. */
  readonly range: TimeRange | null;
  /** Columns of the input by the name of the built column, where the two differ; `__time`: the exact time. */
  readonly sources: ReadonlyMap<string, string>;
  readonly discovery: 'none' | 'STRING' | 'AUTO';
  /** Fields of nested objects are left out by discovery. */
  readonly leavesOutNested: boolean;
  readonly exclusions: readonly string[];
  /** Rows stay uncounted: another stage decides about them. */
  readonly countsRows: boolean;
  /** Discovery refuses input with more. */
  readonly maxColumns: number;
  /** Told of each block, and of the number of its first row in the input. */
  readonly noted?: (block: InputBlock, firstRow: number) => void;
}

/**
 * Scheduler blocks of input into rows of a buffer: times first, which decide what rows are kept, then column by column,
 * so that every inner loop reads one kind of value.
 */
export class RowCollector {
  readonly #options: CollectorOptions;
  readonly #buffer: RunBuffer;
  readonly #statistics: RowStatistics;
  readonly #excluded: ReadonlySet<string>;
  /** Rows with a value that did not fit, where rows are not counted. */
  faultyRows = 0;
  #times = new Float64Array(0);
  /** The times before they are floored, where a column is made of them. */
  readonly #exactTimes: number[] | null;
  #kept = new Int32Array(0);
  #faults = new Uint8Array(0);
  /** Rows of the blocks before. */
  #rowsBefore = 0;

  constructor(options: CollectorOptions, buffer: RunBuffer, statistics: RowStatistics) {
    this.#options = options;
    this.#buffer = buffer;
    this.#statistics = statistics;
    this.#excluded = new Set(options.exclusions);
    this.#exactTimes = [...options.sources.values()].includes(TIME_COLUMN) ? [] : null;
  }

  /** Returns how many of its rows are kept. */
  add(block: InputBlock): number {
    if (block.rowCount > this.#times.length) {
      this.#times = new Float64Array(block.rowCount);
      this.#kept = new Int32Array(block.rowCount);
      this.#faults = new Uint8Array(block.rowCount);
    }
    const refused: RefusedRow[] = [];
    const selection = this.#select(block, refused);
    if (this.#options.discovery !== 'none') this.#discover(block, this.#options.discovery);
    this.#faults.fill(0, 0, block.rowCount);
    this.#buffer.appendTimes(this.#times, selection);
    const positions = block.kind === 'text' ? new Map(block.columns.map((name, position) => [name, position])) : null;
    for (const column of this.#buffer.columns) {
      const source = this.#options.sources.get(column.name) ?? column.name;
      if (this.#exactTimes !== null && source === TIME_COLUMN) column.appendValues(this.#exactTimes, selection, this.#faults);
      else if (block.constants?.has(source) === true)
        column.appendValues(new Array<unknown>(block.rowCount).fill(block.constants.get(source)), selection, this.#faults);
      else if (source === INPUT_ROW) column.appendValues(this.#numbersOf(block), selection, this.#faults);
      else if (block.kind === 'values') this.#appendValues(column, block, source, selection);
      else {
        const position = positions?.get(source);
        if (position === undefined) column.appendNulls(selection.count);
        else column.appendFields(block, position, selection, this.#faults);
      }
    }
    this.#count(block, selection, refused);
    if (selection.count > 0) this.#options.noted?.(block, this.#rowsBefore);
    this.#rowsBefore += block.rowCount;
    return selection.count;
  }

  #appendValues(column: RunColumn, block: ValueBlock, source: string, selection: RowSelection): void {
    const members = block.members?.(source);
    const typed = block.typed?.(source);
    if (members !== undefined) column.appendMembers(members, selection, this.#faults);
    else if (typed === undefined) column.appendValues(block.values(source), selection, this.#faults);
    else column.appendTyped(typed, selection, this.#faults);
  }

  #numbersOf({ rowCount }: InputBlock): readonly number[] {
    return Array.from({ length: rowCount }, (_, row) => this.#rowsBefore + row);
  }

  /** Reads the times; rows without one are refused, rows outside the range left out. */
  #select(block: InputBlock, refused: RefusedRow[]): RowSelection {
    const { timestamp, range } = this.#options;
    const kept = this.#kept;
    const times = this.#times;
    const { faults } = block;
    let count = 0;
    if (timestamp === null) {
      for (let row = 0; row < block.rowCount; row++) {
        const fault = faults?.get(row);
        if (fault === undefined) kept[count++] = row;
        else refused.push({ row, reason: fault });
      }
      return { rows: kept, count };
    }
    this.#readTimes(block, timestamp);
    for (let row = 0; row < block.rowCount; row++) {
      const fault = faults?.get(row);
      if (fault !== undefined) {
        refused.push({ row, reason: fault });
        continue;
      }
      let time = times[row] ?? Number.NaN;
      if (time === Number.NEGATIVE_INFINITY && timestamp.missingValue !== null) time = timestamp.missingValue;
      if (!(Math.abs(time) <= Number.MAX_SAFE_INTEGER)) {
        const reason =
          time === Number.NEGATIVE_INFINITY
            ? `the timestamp column "${timestamp.column}" is null`
            : `the timestamp column "${timestamp.column}" does not have the format that timestampSpec names`;
        refused.push({ row, reason });
        continue;
      }
      if (this.#exactTimes !== null) this.#exactTimes[row] = time;
      const placed = range === null ? time : range.place(time);
      if (placed === undefined) continue;
      times[row] = placed;
      kept[count++] = row;
    }
    return { rows: kept, count };
  }

  /** NaN: no time; -Infinity: null. */
  #readTimes(block: InputBlock, { column, parser }: NonNullable<CollectorOptions['timestamp']>): void {
    const times = this.#times;
    if (block.kind === 'values') {
      if (block.hasOwnTimes === true) {
        for (const [row, time] of block.values(TIME_COLUMN).entries()) times[row] = Number(time);
        return;
      }
      const timeOf = (value: unknown): EpochMs =>
        value === null || value === undefined || value === '' ? Number.NEGATIVE_INFINITY : parser.fromValue(value);
      const members = block.members?.(column);
      if (this.#readLongs(block.typed?.(column), parser)) return;
      if (members === undefined) {
        const values = block.values(column);
        for (let row = 0; row < values.length; row++) times[row] = timeOf(values[row]);
      } else
        for (let row = 0; row < block.rowCount; row++) {
          const [start = 0, end = 0] = [members.starts[row], members.ends[row]];
          const isText = members.kinds[row] === FIELD.string && end > start;
          times[row] = isText ? parser.fromBytes(members.bytes, start, end) : timeOf(members.value(row));
        }
      return;
    }
    const position = block.columns.indexOf(column);
    const starts = block.starts[position];
    const ends = block.ends[position];
    if (starts === undefined || ends === undefined) {
      times.fill(Number.NEGATIVE_INFINITY, 0, block.rowCount);
      return;
    }
    for (let row = 0; row < block.rowCount; row++) {
      const start = starts[row] ?? 0;
      const end = ends[row] ?? -1;
      times[row] = end <= start ? Number.NEGATIVE_INFINITY : parser.fromBytes(block.bytes, start, end);
    }
  }

  /** Times of numbers that a double holds; false: they are no such numbers, and none was read. */
  #readLongs(column: TypedColumn | undefined, parser: TimestampParser): boolean {
    if (column?.kind !== 'long' || column.nulls !== null) return false;
    const { buffer, byteOffset, length } = column.values;
    const halves = new Int32Array(buffer, byteOffset, length * 2);
    for (let row = 0; row < length; row++) {
      const value = (halves[row * 2 + 1] ?? 0) * WORD + ((halves[row * 2] ?? 0) >>> 0);
      if (!Number.isSafeInteger(value)) return false;
      this.#times[row] = parser.fromValue(value);
    }
    return true;
  }

  #discover(block: InputBlock, type: 'STRING' | 'AUTO'): void {
    for (const name of block.columns) {
      if (this.#buffer.column(name) !== undefined || this.#excluded.has(name)) continue;
      if (this.#options.leavesOutNested && block.kind === 'values' && isAllNested(block, name)) continue;
      if (this.#buffer.columns.length >= this.#options.maxColumns)
        throw new ServiceError(
          'resource_limit',
          `the input has more columns than svc.ingestion.maxColumns (${this.#options.maxColumns}) allows`,
        );
      this.#buffer.addColumn(columnPlan(name, type));
    }
  }

  /** Counts the rows of a block, and those among them that its format could not read, in their order: the first exceptions are kept. */
  #count(block: InputBlock, { rows, count }: RowSelection, refused: readonly RefusedRow[]): void {
    const statistics = this.#statistics;
    const { countsRows } = this.#options;
    const ahead = statistics.takeAhead();
    let faulty = 0;
    for (let at = 0; at < count; at++) faulty += this.#faults[rows[at] ?? 0] ?? 0;
    if (!countsRows) this.faultyRows += faulty;
    if (ahead.length + refused.length === 0 && (faulty === 0 || !countsRows)) {
      if (countsRows) statistics.processed += count;
      statistics.thrownAway += block.rowCount - count;
      return;
    }
    let [aheadAt, refusedAt, keptAt] = [0, 0, 0];
    const rejectAhead = (before: number): void => {
      for (let each = ahead[aheadAt]; each !== undefined && each.before <= before; each = ahead[++aheadAt])
        statistics.reject(each.reason, each.sample, { place: each.place });
    };
    for (let row = 0; row < block.rowCount; row++) {
      rejectAhead(row);
      const at = (): RowAt => ({ number: this.#rowsBefore + row, place: block.placeOf?.(row) });
      const refusal = refused[refusedAt];
      if (refusal?.row === row) {
        refusedAt++;
        statistics.reject(refusal.reason, block.sample(row), at());
      } else if (keptAt < count && rows[keptAt] === row) {
        keptAt++;
        if (!countsRows) continue;
        if (this.#faults[row] === 0) statistics.processed++;
        else statistics.fault(MISFIT, block.sample(row), at());
      } else statistics.thrownAway++;
    }
    rejectAhead(Number.POSITIVE_INFINITY);
  }
}

/** A row without a time, or with text that is none. */
interface RefusedRow {
  readonly row: number;
  readonly reason: string;
}

function isAllNested(block: ValueBlock, name: string): boolean {
  const kinds = block.members?.(name)?.kinds;
  for (let row = 0; row < block.rowCount; row++) {
    const kind = kinds?.[row] ?? FIELD.missing;
    if (kind >= FIELD.string && kind <= FIELD.false) return false;
  }
  return block.values(name).every(isNested);
}

/** Nulls count as nested: a column of them alone is not worth finding. */
function isNested(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  return Array.isArray(value) ? value.some((element) => typeof element === 'object' && element !== null) : typeof value === 'object';
}
