// Texts of messages as blocks of rows, by the input formats of files.

import { Readable } from 'node:stream';
import { ServiceError } from '../../base/errors.js';
import type { InputFormat, Reading } from '../format/format-kind.js';
import type { InputBlock } from '../format/input-block.js';
import type { RowStatistics } from '../report/row-statistics.js';
import { LineBuffer, LineRoom, linesOf, type Texts } from './line-buffer.js';

export interface TextRows {
  /** null: a text that is not there, where these are asked for. */
  readonly block: InputBlock | null;
  /** Number of the text that a row is of, among those of all lists. */
  readonly textOf: (row: number) => number;
}

export interface TextReading {
  readonly format: InputFormat;
  readonly reading: Omit<Reading, 'read'>;
  readonly statistics: RowStatistics;
  /** Whether texts that are not there come as null, rather than be counted as thrown away. */
  readonly hasMissing: boolean;
  /** Nobody else's until all rows are taken; absent: made for these. */
  readonly room?: LineRoom | undefined;
}

/**
 * The rows of texts, in their order. Texts that are one line of a format of lines are read together, as the lines of a file; one that has
 * several lines is read by itself, as is every text of other formats.
 */
export async function* textRows(
  lists: readonly Texts[],
  { format, reading, statistics, hasMissing, room = new LineRoom() }: TextReading,
): AsyncGenerator<TextRows> {
  const { maxRowBytes } = reading.inputLimits;
  const areRows = linesOf(format);
  const lines = areRows === undefined ? null : new LineBuffer(areRows, maxRowBytes, room);
  const read = (bytes: number): void => {
    statistics.bytesRead += bytes;
  };
  async function* blocksOf(bytes: Uint8Array, by: InputFormat, skipped: number): AsyncGenerator<InputBlock> {
    const entity = {
      name: 'a message',
      sizeBytes: bytes.length,
      open: async () => Readable.from([bytes], { objectMode: false }),
      localFile: null,
      isPlain: true,
    } as const;
    statistics.bytesRead -= skipped;
    try {
      yield* by.read(entity, { ...reading, read });
    } catch (error) {
      // A message that its format cannot read is one row that cannot be parsed.
      if (!(error instanceof ServiceError) || error.code !== 'input_unreadable' || statistics.isOverLimit) throw error;
      statistics.reject(error.message, '');
    }
  }
  async function* gathered(): AsyncGenerator<TextRows> {
    if (lines === null || lines.count === 0) return;
    const { numbers, bytes, addedFeeds } = lines;
    // Line feeds between texts are not of the stream.
    for await (const block of blocksOf(bytes, format, addedFeeds))
      yield { block, textOf: (row) => numbers[(block.lineOf?.(row) ?? 1) - 1] ?? 0 };
    lines.clear();
  }
  async function* alone(bytes: Uint8Array, number: number): AsyncGenerator<TextRows> {
    yield* gathered();
    for await (const block of blocksOf(bytes, format.ofMessage ?? format, 0)) yield { block, textOf: () => number };
  }
  let first = 0;
  for (const texts of lists) {
    const { bytes, starts, ends, count } = texts;
    for (let at = 0; at < count; ) {
      const added = lines?.add(texts, at, first) ?? 0;
      if (added > 0) {
        at += added;
        if (lines?.isFull === true) yield* gathered();
        continue;
      }
      const [start, end, number] = [starts[at] ?? 0, ends[at] ?? 0, first + at];
      if (end - start > maxRowBytes)
        throw new ServiceError(
          'resource_limit',
          `a message has ${end - start} bytes, more than svc.ingestion.maxRowBytes (${maxRowBytes}) allows`,
        );
      at++;
      if (end > start) yield* alone(bytes.subarray(start, end), number);
      else if (end >= 0) statistics.reject('the message is empty', '');
      else if (hasMissing) {
        yield* gathered();
        yield { block: null, textOf: () => number };
      } else statistics.thrownAway++;
    }
    first += count;
  }
  yield* gathered();
}
