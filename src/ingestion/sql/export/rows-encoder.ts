// Encoders of rows as the bytes of a file, and how those of columns gather rows.

import { LoopTurns } from '../../../base/loop-turns.js';
import type { Frame } from '../../../model/frame.js';
import type { OutputColumn } from '../../../model/statement.js';
import { type FileType, type FileValue, fileType, sizeOf, type ValueReader, valueReader } from './values.js';

/** Takes bytes of a file, which are its own until its promise is fulfilled. */
export type ByteSink = (bytes: Uint8Array) => Promise<void>;

/** Rows on their way into one file. */
export interface RowsEncoder {
  /** Takes rows [from, to) of a frame. */
  add(frame: Frame, from: number, to: number): Promise<void>;
  /** Writes what is left and the end of the file. */
  finish(): Promise<void>;
}

/** Opens the encoder of a file. Instants without a type of their own are on the wall clock of the zone. */
export type OpenEncoder = (columns: readonly OutputColumn[], write: ByteSink, timeZone: string) => Promise<RowsEncoder>;

/** A file of columns, group of rows by group of rows. */
export interface GroupFile {
  /** Takes the value of the next row of a column. */
  append(column: number, value: FileValue): void;
  /** Writes the rows appended since the last group. */
  endGroup(rowCount: number): Promise<void>;
  finish(): Promise<void>;
}

/** Bounds of a group of rows, which is in memory until it is written. */
const GROUP_ROWS_MAX = 100_000;
const GROUP_BYTES_MAX = 16 << 20;
/** Rows between two looks at the bounds and the clock. */
const ROWS_BETWEEN_LOOKS = 256;

/** Rows of frames, column by column, in groups of bounded size. */
export class GroupedRows implements RowsEncoder {
  #rowCount = 0;
  #bytes = 0;
  readonly #types: readonly FileType[];
  readonly #file: GroupFile;
  readonly #timeZone: string;
  readonly #turns = new LoopTurns();

  constructor(columns: readonly OutputColumn[], file: GroupFile, timeZone: string) {
    this.#types = columns.map(fileType);
    this.#file = file;
    this.#timeZone = timeZone;
  }

  async add(frame: Frame, from: number, to: number): Promise<void> {
    const readers = this.#types.map((type, index): ValueReader => {
      const column = frame.columns[index];
      return column === undefined ? () => null : valueReader(column, type, this.#timeZone);
    });
    for (let start = from; start < to; ) {
      const end = Math.min(to, start + ROWS_BETWEEN_LOOKS, start + GROUP_ROWS_MAX - this.#rowCount);
      for (const [index, read] of readers.entries())
        for (let row = start; row < end; row++) {
          const value = read(row);
          this.#bytes += sizeOf(value);
          this.#file.append(index, value);
        }
      this.#rowCount += end - start;
      start = end;
      if (this.#rowCount >= GROUP_ROWS_MAX || this.#bytes >= GROUP_BYTES_MAX) await this.#endGroup();
      if (this.#turns.isDue) await this.#turns.give();
    }
  }

  async finish(): Promise<void> {
    if (this.#rowCount > 0) await this.#endGroup();
    await this.#file.finish();
  }

  async #endGroup(): Promise<void> {
    await this.#file.endGroup(this.#rowCount);
    [this.#rowCount, this.#bytes] = [0, 0];
  }
}
