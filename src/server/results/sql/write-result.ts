// Writes SQL results as a stream.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { LoopTurns } from '../../../base/loop-turns.js';
import type { Frame } from '../../../model/frame.js';
import type { OutputColumn } from '../../../model/statement.js';
import { type HeaderOptions, RESULT_FORMATS, type ResultFormat, type ResultFormatName, type WritingOptions } from './result-format.js';

export interface ResultOptions extends HeaderOptions, WritingOptions {
  readonly format: ResultFormatName;
}

/** Characters after which a chunk is handed over. */
const CHUNK_LENGTH = 32 * 1024;
/** Cells that are written between two looks at the clock: some 50 µs. */
const CELLS_BETWEEN_LOOKS = 500;

/** The body of a SQL answer of few rows, all of which are here. */
export function writeKnown(frames: readonly Frame[], columns: readonly OutputColumn[], options: ResultOptions): string {
  const format = RESULT_FORMATS[options.format];
  const headers = headerOf(format, columns, options);
  let text = headers.text;
  let rowsBefore = headers.rows;
  for (const frame of frames) {
    const write = format.rowWriter(columns, frame, options);
    for (let row = 0; row < frame.rowCount; row++) text += `${rowsBefore++ === 0 ? '' : format.separator}${write(row)}${format.rowEnd}`;
  }
  return text + format.close;
}

/**
 * The body of a SQL answer in chunks, pulled as fast as the reader takes them. The first chunk is made only when the
 * first frame is here, so that a failure before it still has its status. A failure later ends the body where it is,
 * without the closing that tells clients it is whole.
 */
export async function* writeResult(
  frames: AsyncIterable<Frame>,
  columns: readonly OutputColumn[],
  options: ResultOptions,
): AsyncGenerator<string, void, undefined> {
  const format = RESULT_FORMATS[options.format];
  const iterator = frames[Symbol.asyncIterator]();
  const turns = new LoopTurns();
  let ended = false;
  try {
    let pending = iterator.next();
    let next = await pending;
    const headers = headerOf(format, columns, options);
    let buffer = headers.text;
    let rowsBefore = headers.rows;
    while (next.done !== true) {
      const frame = next.value;
      const write = format.rowWriter(columns, frame, options);
      const rowsBetweenLooks = Math.ceil(CELLS_BETWEEN_LOOKS / Math.max(1, columns.length));
      for (let row = 0; row < frame.rowCount; row++) {
        buffer += `${rowsBefore++ === 0 ? '' : format.separator}${write(row)}${format.rowEnd}`;
        if (buffer.length >= CHUNK_LENGTH) {
          yield buffer;
          buffer = '';
        }
        if (row % rowsBetweenLooks === 0 && turns.isDue) await turns.give();
      }
      pending = iterator.next();
      // Send the buffer now, unless the next frame is already waiting: a small answer leaves in one piece.
      if (buffer !== '' && (await Promise.race([pending, nextTurn('later')])) === 'later') {
        yield buffer;
        buffer = '';
      }
      next = await pending;
    }
    ended = true;
    yield buffer + format.close;
  } finally {
    // The reader went away, or a frame could not be written: what makes the frames stops too.
    if (!ended) await iterator.return?.();
  }
}

/** The header rows of a result. */
function headerOf(
  format: ResultFormat,
  columns: readonly OutputColumn[],
  options: HeaderOptions,
): { readonly text: string; readonly rows: number } {
  if (!options.header) return { text: format.open, rows: 0 };
  const rows = format.headerRows(columns, options).map((row) => row + format.rowEnd);
  return { text: format.open + rows.join(format.separator), rows: rows.length };
}
