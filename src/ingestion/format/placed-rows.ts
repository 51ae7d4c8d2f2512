// Rows of lines on their way into blocks, each with its line.

import type { JsonObject } from './flatten.js';
import type { Reading } from './format-kind.js';
import type { ValueBlock } from './input-block.js';
import { jsonBlock } from './json-block.js';

/** Rows of a piece of text, which become a block with the lines of the content that they begin in. */
export class PlacedRows {
  readonly #reading: Pick<Reading, 'reject' | 'passed'>;
  #rows: JsonObject[] = [];
  #lines: number[] = [];
  /** Lines of the pieces before. */
  #before = 0;

  constructor(reading: Pick<Reading, 'reject' | 'passed'>) {
    this.#reading = reading;
  }

  /** @param feeds  line feeds of the piece before it */
  add(row: JsonObject, feeds: number): void {
    this.#rows.push(row);
    this.#lines.push(this.#before + feeds + 1);
  }

  /** @param feeds  line feeds of the piece before it */
  reject(reason: string, sample: string, feeds: number): void {
    this.#reading.reject(reason, sample, this.#rows.length, this.#before + feeds + 1);
  }

  /** Line of the content that a row begins in. */
  lineAt(feeds: number): number {
    return this.#before + feeds + 1;
  }

  /** The block of the rows since the last one, if there are any. */
  *block(feeds: number, flatten: ((row: JsonObject) => JsonObject) | null): Generator<ValueBlock> {
    const [rows, lines] = [this.#rows, this.#lines];
    this.passed(feeds);
    this.#rows = [];
    this.#lines = [];
    if (rows.length > 0) yield jsonBlock(rows, flatten, (row) => lines[row] ?? 0);
  }

  /** Goes on behind some line feeds. */
  passed(feeds: number): void {
    this.#before += feeds;
    this.#reading.passed?.(feeds);
  }
}
