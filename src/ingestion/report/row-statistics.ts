// Row counts of a task, and the parse exceptions it keeps.

import { ServiceError } from '../../base/errors.js';
import { type Passed, placeBehind, placeText, type RowPlace } from './row-place.js';

/** processed + processedWithError + thrownAway + unparseable = rows of the input. */
export interface RowCounts {
  readonly processed: number;
  /** Kept, though some field did not fit its type and became null. */
  readonly processedWithError: number;
  /** Rows dropped by the filter or because they lie outside of the intervals. */
  readonly thrownAway: number;
  /** Rows that are not of the format, or have no time. */
  readonly unparseable: number;
}

/** Rows of the input by where they went; read = stored + rolledUp + filtered + rejected. */
export interface RowBalance {
  readonly read: number;
  /** Rows of the segments. */
  readonly stored: number;
  /** Rows that became part of another one. */
  readonly rolledUp: number;
  /** Rows that the filter or the intervals leave out. */
  readonly filtered: number;
  readonly rejected: number;
}

export interface SavedParseException {
  readonly type: 'unparseable' | 'processedWithError';
  readonly input: string;
  readonly details: readonly string[];
  /** null: it is not known. */
  readonly place: RowPlace | null;
  readonly timeOfExceptionMs: number;
}

export interface ParseExceptionLimits {
  readonly logParseExceptions: boolean;
  readonly maxParseExceptions: number;
  readonly maxSavedParseExceptions: number;
}

/** Counts of a part of the input. */
export interface ReadCounts extends RowCounts {
  readonly bytesRead: number;
}

/** Counts of a part of the input, and its parse exceptions. */
export interface CountedRows extends ReadCounts {
  readonly saved: readonly SavedParseException[];
}

const SAMPLE_LENGTH_MAX = 10_000;

/** A row that its format could not read, with rows of the next block before it. */
export interface RejectedRow {
  readonly before: number;
  readonly reason: string;
  readonly sample: string;
  readonly place: RowPlace | undefined;
}

/** Place of a row, as far as it is known. */
export interface RowAt {
  /** Its number among the rows of the input that were read. */
  readonly number?: number | undefined;
  readonly place?: RowPlace | undefined;
}

const NONE: readonly RejectedRow[] = [];

/** Counts what became of every row of the input, and keeps the first bad ones to show. */
export class RowStatistics implements RowCounts {
  processed = 0;
  processedWithError = 0;
  thrownAway = 0;
  unparseable = 0;
  bytesRead = 0;
  /** Rows of the segments that were made; null before. */
  stored: number | null = null;
  /** Counts of sub-tasks that still run. */
  running: () => readonly ReadCounts[] = () => [];
  readonly saved: SavedParseException[] = [];
  readonly #limits: ParseExceptionLimits;
  readonly #log: (line: string) => void;
  readonly #now: () => number;
  /** Rows with exceptions that others have counted before. */
  readonly #exceptionsBefore: number;
  #ahead: RejectedRow[] = [];

  constructor(limits: ParseExceptionLimits, log: (line: string) => void, now: () => number, exceptionsBefore = 0) {
    this.#exceptionsBefore = exceptionsBefore;
    this.#limits = limits;
    this.#log = log;
    this.#now = now;
  }

  get rows(): number {
    return this.processed + this.processedWithError + this.thrownAway + this.unparseable;
  }

  /** Whether more rows could not be parsed than may be. */
  get isOverLimit(): boolean {
    return this.#exceptionsBefore + this.exceptions > this.#limits.maxParseExceptions;
  }

  get exceptions(): number {
    return this.unparseable + this.processedWithError;
  }

  counts(): RowCounts {
    const { processed, processedWithError, thrownAway, unparseable } = this;
    return { processed, processedWithError, thrownAway, unparseable };
  }

  /** The counts, and those of sub-tasks that still run. */
  soFar(): ReadCounts {
    const total = { ...this.counts(), bytesRead: this.bytesRead };
    for (const { processed, processedWithError, thrownAway, unparseable, bytesRead } of this.running()) {
      total.processed += processed;
      total.processedWithError += processedWithError;
      total.thrownAway += thrownAway;
      total.unparseable += unparseable;
      total.bytesRead += bytesRead;
    }
    return total;
  }

  /** Counts the rows of segments that were made. */
  store(segments: readonly { readonly rowCount: number }[]): void {
    this.stored = segments.reduce((sum, { rowCount }) => sum + rowCount, this.stored ?? 0);
  }

  /** null until segments are made. */
  balance(): RowBalance | null {
    const { rows: read, stored, processed, processedWithError, thrownAway: filtered, unparseable: rejected } = this;
    return stored === null ? null : { read, stored, rolledUp: processed + processedWithError - stored, filtered, rejected };
  }

  counted(): CountedRows {
    return { ...this.counts(), bytesRead: this.bytesRead, saved: this.saved };
  }

  /**
   * Takes in what another task has counted of a part of the input.
   * @throws ServiceError `input_unreadable` once there are more than `maxParseExceptions` in all parts
   */
  addCounted(counted: CountedRows): void {
    this.take(counted);
    if (this.isOverLimit)
      throw new ServiceError(
        'input_unreadable',
        `more than ${this.#limits.maxParseExceptions} rows could not be parsed (maxParseExceptions) in all sub-tasks together`,
      );
  }

  /**
   * Takes in what others have counted, however many could not be parsed.
   * @param passed  what stands before the part of the source that they read
   */
  take({ processed, processedWithError, thrownAway, unparseable, bytesRead, saved }: CountedRows, passed?: Passed): void {
    this.processed += processed;
    this.processedWithError += processedWithError;
    this.thrownAway += thrownAway;
    this.unparseable += unparseable;
    this.bytesRead += bytesRead;
    const room = Math.max(0, this.#limits.maxSavedParseExceptions - this.saved.length);
    for (const each of saved.slice(0, room))
      this.saved.push(passed === undefined || each.place === null ? each : { ...each, place: placeBehind(each.place, passed) });
  }

  /**
   * Counts a row that its format could not read: now, or in its order when the rows of the next block are counted.
   * @param before  rows of that block that stand before it
   */
  rejectRead(reason: string, sample: string, before = 0, place?: RowPlace): void {
    if (before === 0) this.reject(reason, sample, { place });
    else this.#ahead.push({ before, reason, sample: sample.slice(0, SAMPLE_LENGTH_MAX), place });
  }

  /** Rows among those of the block that is counted now which its format could not read, in order; whoever takes them counts them. */
  takeAhead(): readonly RejectedRow[] {
    if (this.#ahead.length === 0) return NONE;
    const ahead = this.#ahead;
    this.#ahead = [];
    return ahead;
  }

  /** @throws ServiceError `input_unreadable` once there are more than `maxParseExceptions` */
  reject(reason: string, sample: string, { place }: RowAt = {}): void {
    this.unparseable++;
    this.#note('unparseable', reason, sample, place);
  }

  /** A row that is kept with nulls in place of what did not fit. */
  fault(reason: string, sample: string, { place }: RowAt = {}): void {
    this.processedWithError++;
    this.#note('processedWithError', reason, sample, place);
  }

  #note(type: SavedParseException['type'], reason: string, sample: string, place: RowPlace | undefined): void {
    const input = sample.slice(0, SAMPLE_LENGTH_MAX);
    const where = place === undefined ? `row ${this.rows}` : placeText(place);
    if (this.#limits.logParseExceptions) this.#log(`${where}: ${reason}: ${input}`);
    if (this.saved.length < this.#limits.maxSavedParseExceptions)
      this.saved.push({ type, input, details: [reason], place: place ?? null, timeOfExceptionMs: this.#now() });
    if (this.isOverLimit) {
      throw new ServiceError(
        'input_unreadable',
        `more than ${this.#limits.maxParseExceptions} rows could not be parsed (maxParseExceptions); the last: ${where}: ${reason}: ${input.slice(0, 200)}`,
      );
    }
  }
}
