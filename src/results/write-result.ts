// Writes SQL results as a stream.

import { comingTurn, LoopTurns } from '../base/loop-turns.js';
import type { Frame } from '../model/frame.js';
import type { OutputColumn } from '../model/statement.js';
import { type HeaderOptions, RESULT_FORMATS, type ResultFormat, type ResultFormatName, type WritingOptions } from './result-format.js';
import { TextBytes } from './text-bytes.js';

export interface ResultOptions extends HeaderOptions, WritingOptions {
  readonly format: ResultFormatName;
}

/** Bytes after which a chunk is handed over. */
const CHUNK_LENGTH = 32 * 1024;
/** Cells that are written between two looks at the clock: some 50 µs. */
const CELLS_BETWEEN_LOOKS = 500;

/** Results that are known are written in one step, one after the other. */
const knownText = new TextBytes();

/** Text of a result that is written; the last small one is taken again, for memory outside of the heap costs more than a small answer's text. */
let spare: TextBytes | undefined;
/** Bytes of a text that is kept. */
const SPARE_BYTES_MAX = 2 * CHUNK_LENGTH;

function takeText(): TextBytes {
  const taken = spare ?? new TextBytes();
  spare = undefined;
  return taken;
}

function giveBack(out: TextBytes): void {
  out.length = 0;
  if (out.bytes.length <= SPARE_BYTES_MAX) spare = out;
}

/** The body of a SQL answer of few rows, all of which are here. */
export function writeKnown(frames: readonly Frame[], columns: readonly OutputColumn[], options: ResultOptions): string {
  const format = RESULT_FORMATS[options.format];
  const out = knownText;
  out.length = 0;
  let rowsBefore = writeHeader(format, columns, options, out);
  for (const frame of frames) {
    const write = format.rowWriter(columns, frame, options, out);
    for (let row = 0; row < frame.rowCount; row++) {
      if (rowsBefore++ > 0) out.text(format.separator);
      write(row);
      out.text(format.rowEnd);
    }
  }
  out.text(format.close);
  return out.takeText();
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
): AsyncGenerator<Uint8Array, void, undefined> {
  const format = RESULT_FORMATS[options.format];
  const iterator = frames[Symbol.asyncIterator]();
  const turns = new LoopTurns();
  let ended = false;
  let out: TextBytes | undefined;
  try {
    let pending = iterator.next();
    let next = await pending;
    out = takeText();
    let rowsBefore = writeHeader(format, columns, options, out);
    while (next.done !== true) {
      const frame = next.value;
      const write = format.rowWriter(columns, frame, options, out);
      const rowsBetweenLooks = Math.ceil(CELLS_BETWEEN_LOOKS / Math.max(1, columns.length));
      for (let row = 0; row < frame.rowCount; row++) {
        if (rowsBefore++ > 0) out.text(format.separator);
        write(row);
        out.text(format.rowEnd);
        if (out.length >= CHUNK_LENGTH) yield out.take();
        if (row % rowsBetweenLooks === 0 && turns.isDue) await turns.give();
      }
      pending = iterator.next();
      // Send it now, unless the next frame is already waiting: a small answer leaves in one piece.
      if (out.length > 0 && (await Promise.race([pending, comingTurn()])) === undefined) yield out.take();
      next = await pending;
    }
    ended = true;
    out.text(format.close);
    yield out.take();
  } finally {
    if (out !== undefined) giveBack(out);
    // The reader went away, or a frame could not be written: what makes the frames stops too.
    if (!ended) await iterator.return?.();
  }
}

/**
 * Writes the opening and the header rows of a result.
 * @returns the number of rows
 */
function writeHeader(format: ResultFormat, columns: readonly OutputColumn[], options: HeaderOptions, out: TextBytes): number {
  out.text(format.open);
  if (!options.header) return 0;
  const rows = format.headerRows(columns, options);
  out.text(rows.map((row) => row + format.rowEnd).join(format.separator));
  return rows.length;
}
