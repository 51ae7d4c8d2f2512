// Cursor over the rows of a running query.

import { ServiceError } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import type { OutputColumn } from '../../model/statement.js';
import { wireReader, wireType } from './column.js';
import type { WireFrame, WireType, WireValue } from './protocol.js';

export interface CursorSource {
  readonly frames: AsyncIterable<Frame>;
  readonly columns: readonly OutputColumn[];
  readonly timeZone: string;
  /** Limit on the rows of the whole result; null for none. */
  readonly rowsMax: number | null;
  /** Ends the query. */
  cancel(): void;
}

/** The rows of a running query, taken in stretches: one caller at a time, forward only. */
export class Cursor {
  readonly #source: CursorSource;
  readonly #frames: AsyncIterator<Frame>;
  readonly #types: readonly WireType[];
  #pending: Promise<IteratorResult<Frame>> | null = null;
  /** Rows of the last frame that were not taken yet. */
  #row: ((row: number) => readonly WireValue[]) | null = null;
  #at = 0;
  #end = 0;
  #offset = 0;
  #done = false;
  #busy = false;
  /** Reason for which there are no more rows. */
  #failure: unknown = null;

  constructor(source: CursorSource) {
    this.#source = source;
    this.#frames = source.frames[Symbol.asyncIterator]();
    this.#types = source.columns.map(({ sqlType }) => wireType(sqlType));
  }

  /**
   * @param rowsMax   infinite: all that is left
   * @param offset    what the client believes to have read; null: it does not say
   * @param waitMs    after so long it gives what is there, at worst nothing, and the client asks again
   * @throws ServiceError `input_invalid` for another offset than that of the next row, and whatever ends the query
   */
  async fetch({ offset, rowsMax, waitMs }: { offset: number | null; rowsMax: number; waitMs: number }): Promise<WireFrame> {
    if (this.#busy) throw new ServiceError('conflict', 'the rows of this statement are being fetched by another request');
    if (offset !== null && offset !== this.#offset)
      throw new ServiceError('input_invalid', `offset: found ${offset}, expected ${this.#offset}, the first row that was not fetched yet`);
    if (this.#failure !== null) throw this.#failure;
    this.#busy = true;
    const timer = new Timer(waitMs);
    try {
      const rows: (readonly WireValue[])[] = [];
      const start = this.#offset;
      while (rows.length < rowsMax && !this.#done && (await this.#fill(timer))) this.#take(rows, rowsMax);
      return { offset: start, done: this.#done, rows, types: this.#types };
    } finally {
      timer.stop();
      this.#busy = false;
    }
  }

  /** The query was ended before its rows were taken: what it holds is given back now, and who fetches next learns why. */
  end(reason: unknown): void {
    // A fetch that is under way learns it from the query.
    if (this.#done || this.#busy) return;
    this.#failure = reason;
    this.#leave();
  }

  /** Ends the query, whether rows are left or not. */
  close(): void {
    this.#done = true;
    this.#source.cancel();
    this.#leave();
  }

  /** Closes the stream; errors are ignored because ending it early causes them. */
  #leave(): void {
    this.#pending?.catch(() => undefined);
    this.#frames.return?.().catch(() => undefined);
  }

  /** Sees to it that there is a row to take, or that all were taken; false when that takes too long. */
  async #fill(timer: Timer): Promise<boolean> {
    while (this.#at === this.#end) {
      this.#pending ??= this.#frames.next();
      const next = await Promise.race([this.#pending, timer.passed]);
      if (next === 'passed') return false;
      this.#pending = null;
      if (next.done === true) {
        this.#done = true;
        return true;
      }
      this.#begin(next.value);
    }
    return true;
  }

  #begin(frame: Frame): void {
    const { columns, timeZone } = this.#source;
    const readers = columns.map((column, index) => {
      const values = frame.columns[index];
      if (values === undefined) throw new ServiceError('internal', `the result has no column ${index}, ${column.name}`);
      return wireReader(column, values, timeZone);
    });
    this.#row = (row) => readers.map((read) => read(row));
    this.#at = 0;
    this.#end = frame.rowCount;
  }

  #take(rows: (readonly WireValue[])[], rowsMax: number): void {
    const left = (this.#source.rowsMax ?? Number.POSITIVE_INFINITY) - this.#offset;
    const count = Math.min(this.#end - this.#at, rowsMax - rows.length, left);
    for (let taken = 0; taken < count; taken++) rows.push(this.#row?.(this.#at++) ?? []);
    this.#offset += count;
    if (count === left) this.close();
  }
}

/** One wait for a whole fetch. */
class Timer {
  readonly passed: Promise<'passed'>;
  #timer: NodeJS.Timeout | undefined;

  constructor(waitMs: number) {
    this.passed = new Promise((resolve) => {
      if (Number.isFinite(waitMs)) this.#timer = setTimeout(() => resolve('passed'), waitMs);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
