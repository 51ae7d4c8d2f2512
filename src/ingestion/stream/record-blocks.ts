// Records of a stream as blocks of rows, by the input formats of files.

import { Readable } from 'node:stream';
import { ServiceError } from '../../base/errors.js';
import type { InputFormat, Reading } from '../format/format-kind.js';
import type { InputBlock } from '../format/input-block.js';
import type { RowStatistics } from '../report/row-statistics.js';
import type { StreamRecord } from './stream-reader.js';

const LINE_FEED = 10;

/** Bytes of messages that are read together. */
const BYTES_TOGETHER = 1 << 20;

/**
 * The rows of records, in their order. Messages of formats of lines are read together, as the lines of a file; one that has several lines
 * is read by itself, as is every message of other formats.
 */
export async function* recordBlocks(
  records: readonly StreamRecord[],
  format: InputFormat,
  reading: Omit<Reading, 'read'>,
  statistics: RowStatistics,
): AsyncGenerator<InputBlock> {
  let lines: Uint8Array[] = [];
  let size = 0;
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
  async function* gathered(): AsyncGenerator<InputBlock> {
    const together = lines;
    lines = [];
    size = 0;
    // Line feeds between messages are not of the stream.
    if (together.length > 0) yield* blocksOf(asLines(together), format, together.length);
  }
  for (const { values } of records)
    for (const value of values) {
      if (value === null) {
        statistics.thrownAway++;
        continue;
      }
      if (value.length === 0) {
        statistics.reject('the message is empty', '');
        continue;
      }
      if (value.length > reading.inputLimits.maxRowBytes)
        throw new ServiceError(
          'resource_limit',
          `a message has ${value.length} bytes, more than svc.ingestion.maxRowBytes (${reading.inputLimits.maxRowBytes}) allows`,
        );
      if (format.isByLine && isLine(value)) {
        lines.push(value);
        size += value.length;
        if (size >= BYTES_TOGETHER) yield* gathered();
        continue;
      }
      yield* gathered();
      yield* blocksOf(value, format.ofMessage ?? format, 0);
    }
  yield* gathered();
}

/** Messages behind one another, each ended by a line feed. */
function asLines(messages: readonly Uint8Array[]): Uint8Array {
  const lines = Buffer.allocUnsafe(messages.reduce((sum, { length }) => sum + length + 1, 0));
  let at = 0;
  for (const message of messages) {
    lines.set(message, at);
    at += message.length;
    lines[at++] = LINE_FEED;
  }
  return lines;
}

function isLine(value: Uint8Array): boolean {
  const at = value.indexOf(LINE_FEED);
  return at < 0 || at === value.length - 1;
}
