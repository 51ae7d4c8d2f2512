// Logs of tasks: where they lie, and their lines, read piece by piece.

import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { taskFileName } from '../../model/task-file-name.js';
import type { DeepStorage } from '../../storage/contract.js';
import { isAbsent } from '../../storage/deep/placed-file.js';

/** Bytes of a file that are read together. */
const PIECE_BYTES = 64 * 1024;
/** Bytes that are looked through together for the last lines. */
const TAIL_BYTES = 256 * 1024;
const LINE_FEED = 10;

interface ByteRange {
  readonly at: number;
  readonly bytes: number;
}

/** A log as it was when it was asked for: what is written later is not read. */
interface LogBytes {
  readonly sizeBytes: number;
  read(range: ByteRange): AsyncIterable<Uint8Array>;
}

/** Path of a task's log; also for an overlord that shares the folder. */
export function taskLogFile(logDirectory: string, taskId: string): string {
  return join(logDirectory, taskLogName(taskId));
}

/** Name of a task's log in its folder, and its key in storage. */
export const taskLogName = (taskId: string): string => `${taskFileName(taskId)}.log`;

/**
 * The lines of a log in a folder, in pieces. The file is open until the last one is read or the reader leaves.
 * @param offset  lines that are left out at the beginning; negative: as many of the last lines, no others
 * @throws ServiceError `not_found`
 */
export async function* logInFolder(logDirectory: string, taskId: string, offset: number): AsyncGenerator<Uint8Array> {
  const file = await open(taskLogFile(logDirectory, taskId), 'r').catch((error: unknown) => {
    throw isAbsent(error) ? new ServiceError('not_found', `no log of task ${taskId} here`, error) : error;
  });
  try {
    const { size: sizeBytes } = await file.stat();
    yield* linesOf({ sizeBytes, read: (range) => piecesOf(file, range) }, offset);
  } finally {
    await file.close();
  }
}

/** The lines of a log in storage, as `logInFolder` gives them. */
export async function* logInStorage(storage: DeepStorage, taskId: string, offset: number): AsyncGenerator<Uint8Array> {
  const place = { type: storage.type, path: taskLogName(taskId) };
  const sizeBytes = await storage.size(place);
  // Checksums are compared of what is read as a whole.
  const read = (range: ByteRange) => storage.read(place, range.bytes === sizeBytes ? undefined : range);
  yield* linesOf({ sizeBytes, read }, offset);
}

/** The log of the first of these places that has it; the next is asked only where one has no such log. Throws `not_found` when none has. */
export async function* firstLog(
  taskId: string,
  places: readonly (() => AsyncIterable<Uint8Array> | undefined)[],
): AsyncGenerator<Uint8Array> {
  for (const place of places) {
    let begun = false;
    try {
      const log = place();
      if (log === undefined) continue;
      for await (const piece of log) {
        begun = true;
        yield piece;
      }
      return;
    } catch (error) {
      if (begun || !(error instanceof ServiceError && error.code === 'not_found')) throw error;
    }
  }
  throw new ServiceError('not_found', `task ${taskId} has no log yet`);
}

async function* linesOf(log: LogBytes, offset: number): AsyncGenerator<Uint8Array> {
  const at = offset < 0 ? await startOfLast(-offset, log) : 0;
  let skipped = Math.max(offset, 0);
  for await (const piece of log.read({ at, bytes: log.sizeBytes - at })) {
    let from = 0;
    while (skipped > 0 && from < piece.length) {
      const end = piece.indexOf(LINE_FEED, from);
      from = end < 0 ? piece.length : end + 1;
      if (end >= 0) skipped--;
    }
    if (from < piece.length) yield piece.subarray(from);
  }
}

/** The place at which the last lines begin: behind the line feed before the first of them. A line feed at the very end begins no line. */
async function startOfLast(lines: number, { sizeBytes, read }: LogBytes): Promise<number> {
  let left = lines;
  for (let end = sizeBytes - 1; end > 0; end -= TAIL_BYTES) {
    const at = Math.max(0, end - TAIL_BYTES);
    const pieces: Uint8Array[] = [];
    for await (const piece of read({ at, bytes: end - at })) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    for (let found = bytes.lastIndexOf(LINE_FEED); found >= 0; found = found === 0 ? -1 : bytes.lastIndexOf(LINE_FEED, found - 1))
      if (--left === 0) return at + found + 1;
  }
  return 0;
}

async function* piecesOf(file: FileHandle, { at, bytes }: ByteRange): AsyncGenerator<Uint8Array> {
  const end = at + bytes;
  for (let position = at; position < end; ) {
    // A buffer of its own for each: the reader may still have the last one.
    const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - position));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    // It was cut off meanwhile.
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
