// Rows as text: CSV with a header, or an object of JSON a line.

import { LoopTurns } from '../../../base/loop-turns.js';
import type { Frame } from '../../../model/frame.js';
import type { OutputColumn } from '../../../model/statement.js';
import { RESULT_FORMATS, type ResultFormat } from '../../../results/result-format.js';
import { TextBytes } from '../../../results/text-bytes.js';
import type { ByteSink, OpenEncoder, RowsEncoder } from './rows-encoder.js';

/** Bytes after which a chunk is written. */
const CHUNK_BYTES = 1 << 20;
/** Rows between two looks at the clock. */
const ROWS_BETWEEN_LOOKS = 64;
const HEADER = { header: true, typesHeader: false, sqlTypesHeader: false };

export const openCsv: OpenEncoder = async (columns, write, timeZone) => {
  const format = RESULT_FORMATS.csv;
  return new TextRows(format, format.headerRows(columns, HEADER), true, columns, write, timeZone);
};

export const openJson: OpenEncoder = async (columns, write, timeZone) =>
  new TextRows(RESULT_FORMATS.objectLines, [], false, columns, write, timeZone);

class TextRows implements RowsEncoder {
  readonly #out = new TextBytes();
  readonly #turns = new LoopTurns();
  readonly #format: ResultFormat;
  readonly #stringifyArrays: boolean;
  readonly #columns: readonly OutputColumn[];
  readonly #write: ByteSink;
  readonly #timeZone: string;

  constructor(
    format: ResultFormat,
    header: readonly string[],
    stringifyArrays: boolean,
    columns: readonly OutputColumn[],
    write: ByteSink,
    timeZone: string,
  ) {
    this.#format = format;
    this.#stringifyArrays = stringifyArrays;
    this.#columns = columns;
    this.#write = write;
    this.#timeZone = timeZone;
    for (const row of header) this.#out.text(`${row}\n`);
  }

  async add(frame: Frame, from: number, to: number): Promise<void> {
    const options = { timeZone: this.#timeZone, stringifyArrays: this.#stringifyArrays };
    const write = this.#format.rowWriter(this.#columns, frame, options, this.#out);
    for (let row = from; row < to; row++) {
      write(row);
      this.#out.text(this.#format.rowEnd);
      if (this.#out.length >= CHUNK_BYTES) await this.#write(this.#out.take());
      if (row % ROWS_BETWEEN_LOOKS === 0 && this.#turns.isDue) await this.#turns.give();
    }
  }

  async finish(): Promise<void> {
    await this.#write(this.#out.take());
  }
}
