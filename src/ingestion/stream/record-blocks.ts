// Messages of a stream as blocks of rows, by the input formats of files.

import { Readable } from 'node:stream';
import { ServiceError } from '../../base/errors.js';
import type { InputFormat, Reading } from '../format/format-kind.js';
import type { InputBlock } from '../format/input-block.js';
import type { RowStatistics } from '../report/row-statistics.js';
import type { MessageBlock, StreamRecord } from './stream-reader.js';

const LINE_FEED = 10;

/** Bytes of messages that are read together. */
const BYTES_TOGETHER = 1 << 20;

/** Messages as a batch of a stream has them. */
export interface Messages {
  readonly records: readonly StreamRecord[];
  readonly blocks: readonly MessageBlock[];
}

/**
 * The rows of messages, in their order. Messages of formats of lines are read together, as the lines of a file; one that has several lines
 * is read by itself, as is every message of other formats.
 */
export async function* recordBlocks(
  { records, blocks }: Messages,
  format: InputFormat,
  reading: Omit<Reading, 'read'>,
  statistics: RowStatistics,
): AsyncGenerator<InputBlock> {
  const lines = new Lines();
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
    if (lines.count === 0) return;
    // Line feeds between messages are not of the stream.
    yield* blocksOf(lines.bytes, format, lines.count);
    lines.clear();
  }
  /** Counts a message without bytes, and refuses one with too many; returns whether it is to be read. */
  const isWhole = (size: number): boolean => {
    if (size > reading.inputLimits.maxRowBytes)
      throw new ServiceError(
        'resource_limit',
        `a message has ${size} bytes, more than svc.ingestion.maxRowBytes (${reading.inputLimits.maxRowBytes}) allows`,
      );
    if (size < 0) statistics.thrownAway++;
    else if (size === 0) statistics.reject('the message is empty', '');
    return size > 0;
  };
  /** Reads messages one behind the other until lines enough have come together to be read. */
  async function* blocksAlone(value: Uint8Array): AsyncGenerator<InputBlock> {
    yield* gathered();
    yield* blocksOf(value, format.ofMessage ?? format, 0);
  }
  for (const { values } of records)
    for (const value of values) {
      if (!isWhole(value === null ? -1 : value.length) || value === null) continue;
      if (!format.isByLine || !lines.add(value, 0, value.length)) yield* blocksAlone(value);
      else if (lines.size >= BYTES_TOGETHER) yield* gathered();
    }
  for (const { bytes, starts, ends, count } of blocks)
    for (let at = 0; at < count; at++) {
      const [start, end] = [starts[at] ?? 0, ends[at] ?? 0];
      if (!isWhole(end < 0 ? -1 : end - start)) continue;
      if (!format.isByLine || !lines.add(bytes, start, end)) yield* blocksAlone(bytes.subarray(start, end));
      else if (lines.size >= BYTES_TOGETHER) yield* gathered();
    }
  yield* gathered();
}

/** Messages behind one another, each ended by a line feed. */
class Lines {
  #bytes = new Uint8Array(1 << 16);
  size = 0;
  count = 0;

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.size);
  }

  /** Adds a message; false, and it is not added, when it has several lines. */
  add(from: Uint8Array, start: number, end: number): boolean {
    const to = this.size + end - start;
    if (to >= this.#bytes.length) this.#grow(to + 1);
    const bytes = this.#bytes;
    bytes.set(from.subarray(start, end), this.size);
    bytes[to] = LINE_FEED;
    const found = bytes.indexOf(LINE_FEED, this.size);
    if (found < to - 1) return false;
    this.size = to + 1;
    this.count++;
    return true;
  }

  clear(): void {
    this.size = 0;
    this.count = 0;
  }

  #grow(size: number): void {
    const larger = new Uint8Array(Math.max(size, this.#bytes.length * 2));
    larger.set(this.bytes);
    this.#bytes = larger;
  }
}
