// Files of rows by partition, which one worker writes and others read.

import { type FileHandle, open } from 'node:fs/promises';
import { deserialize, serialize } from 'node:v8';
import { ServiceError } from '../../../base/errors.js';
import { concatFrames } from '../../../execution/block/concat-frames.js';
import { frameBytes } from '../../../execution/block/frame-bytes.js';
import type { Frame } from '../../../model/frame.js';
import { pickRows } from './pick-rows.js';

/*
 * A file: frames in V8's structured clone format, one after another, then the index in the same format, which lists the frames of
 * each partition. Whoever wrote it tells where its index lies. Only tasks of one statement read it.
 */

/** Bytes in a file. */
export interface FileRange {
  readonly at: number;
  readonly bytes: number;
}

/** Frames of a partition, by its number. */
export type PartitionIndex = ReadonlyMap<number, PartitionFrames>;

export interface PartitionFrames {
  readonly rowCount: number;
  readonly frames: readonly FileRange[];
}

export type ReadBytes = (range: FileRange) => Promise<Uint8Array>;

/** Rows of several frames that are written as one. */
const FRAME_ROWS_MAX = 1 << 17;
/** Bytes that it takes to remember which rows of a frame are those of one partition, beside their numbers. */
const PART_BYTES = 256;

/** Rows of a frame; they are picked when they are written, so that many partitions of few rows take no more memory than few do. */
interface FramePart {
  readonly frame: Frame;
  readonly rows: Uint32Array;
}

/** Rows by partition while they are written to a local file. Whoever opened it closes it, `finish` or not. */
export class PartitionWriter {
  rowCount = 0;
  readonly #file: FileHandle;
  readonly #bytesHeldMax: number;
  readonly #frameBytesMax: number;
  readonly #index = new Map<number, { rowCount: number; readonly frames: FileRange[] }>();
  /** Rows that wait for more of their partition. */
  #held = new Map<number, FramePart[]>();
  #bytesHeld = 0;
  #end = 0;

  private constructor(file: FileHandle, bytesHeldMax: number, frameBytesMax: number) {
    this.#file = file;
    this.#bytesHeldMax = bytesHeldMax;
    this.#frameBytesMax = frameBytesMax;
  }

  /**
   * @param bytesHeldMax   rows beyond it are written
   * @param frameBytesMax  rows of more bytes are written as several frames
   */
  static async open(file: string, bytesHeldMax: number, frameBytesMax = Infinity): Promise<PartitionWriter> {
    return new PartitionWriter(await open(file, 'w+'), bytesHeldMax, frameBytesMax);
  }

  get sizeBytes(): number {
    return this.#end;
  }

  /** @param keys  number of each row's partition */
  async add(frame: Frame, keys: Float64Array): Promise<void> {
    const parts = rowsByKey(keys);
    for (const [key, rows] of parts) {
      const held = this.#held.get(key);
      if (held === undefined) this.#held.set(key, [{ frame, rows }]);
      else held.push({ frame, rows });
      const entry = this.#index.get(key);
      if (entry === undefined) this.#index.set(key, { rowCount: rows.length, frames: [] });
      else entry.rowCount += rows.length;
    }
    this.rowCount += frame.rowCount;
    this.#bytesHeld += frameBytes(frame) + keys.length * Uint32Array.BYTES_PER_ELEMENT + parts.size * PART_BYTES;
    if (this.#bytesHeld > this.#bytesHeldMax) await this.#flush();
  }

  /** Writes a value beside the rows; returns its place. */
  attach(value: unknown): Promise<FileRange> {
    return this.#append(serialize(value));
  }

  /** Writes what is held, and the index; returns its place. */
  async finish(): Promise<FileRange> {
    await this.#flush();
    return this.#append(serialize(this.#index));
  }

  get index(): PartitionIndex {
    return this.#index;
  }

  readonly read: ReadBytes = async ({ at, bytes }) => {
    const buffer = Buffer.alloc(bytes);
    await this.#file.read(buffer, 0, bytes, at);
    return buffer;
  };

  async close(): Promise<void> {
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    const held = this.#held;
    this.#held = new Map();
    this.#bytesHeld = 0;
    for (const [key, parts] of held)
      for (const batch of batchesOf(parts)) {
        const picked = batch.map(({ frame, rows }) => (rows.length === frame.rowCount ? frame : pickRows(frame, rows)));
        for (const each of this.#cut(concatFrames(picked))) this.#index.get(key)?.frames.push(await this.#append(serialize(each)));
      }
  }

  *#cut(frame: Frame): Generator<Frame> {
    const count = Math.min(frame.rowCount, Math.ceil(frameBytes(frame) / this.#frameBytesMax));
    if (count <= 1) return yield frame;
    const rows = Math.ceil(frame.rowCount / count);
    for (let from = 0; from < frame.rowCount; from += rows)
      yield pickRows(
        frame,
        Uint32Array.from({ length: Math.min(rows, frame.rowCount - from) }, (_, at) => from + at),
      );
  }

  async #append(bytes: Buffer): Promise<FileRange> {
    const at = this.#end;
    try {
      for (let done = 0; done < bytes.length; ) done += (await this.#file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
    } catch (error) {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
        throw new ServiceError('resource_limit', 'the disk of svc.indexer.task.directory is full', error);
      throw error;
    }
    this.#end = at + bytes.length;
    return { at, bytes: bytes.length };
  }
}

/** The frames of a partition, in the order of the file. */
export async function* framesOf(index: PartitionIndex, key: number, read: ReadBytes): AsyncGenerator<Frame> {
  yield* framesAt(index.get(key)?.frames ?? [], read);
}

export async function* framesAt(ranges: readonly FileRange[], read: ReadBytes): AsyncGenerator<Frame> {
  for (const range of ranges) yield deserialize(await read(range)) as Frame;
}

export async function readIndex(range: FileRange, read: ReadBytes): Promise<PartitionIndex> {
  return deserialize(await read(range)) as PartitionIndex;
}

function rowsByKey(keys: Float64Array): ReadonlyMap<number, Uint32Array> {
  const counts = new Map<number, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  const rows = new Map<number, Uint32Array>();
  const filled = new Map<number, number>();
  for (const [key, count] of counts) rows.set(key, new Uint32Array(count));
  keys.forEach((key, row) => {
    const at = filled.get(key) ?? 0;
    const list = rows.get(key);
    if (list !== undefined) list[at] = row;
    filled.set(key, at + 1);
  });
  return rows;
}

/** Parts that are written as one frame: readers hold one at a time. */
function* batchesOf(parts: readonly FramePart[]): Generator<readonly FramePart[]> {
  let batch: FramePart[] = [];
  let rowCount = 0;
  for (const part of parts) {
    if (rowCount > 0 && rowCount + part.rows.length > FRAME_ROWS_MAX) {
      yield batch;
      [batch, rowCount] = [[], 0];
    }
    batch.push(part);
    rowCount += part.rows.length;
  }
  if (batch.length > 0) yield batch;
}
