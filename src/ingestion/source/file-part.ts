// Parts of local files that are read side by side.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { ServiceError } from '../../base/errors.js';
import { unreadable } from './decompress.js';

const LINE_FEED = 10;
const READ_BYTES = 1 << 20;

/** Rows of a local file whose first byte lies in [from, to), and what the file was when it was divided; plain data. */
export interface FilePart {
  readonly from: number;
  readonly to: number;
  /** A row begins at `from`. Otherwise one is taken to begin behind the first line feed from the byte before on. */
  readonly isAtRow: boolean;
  readonly fileBytes: number;
  readonly modifiedMs: number;
}

/** A local file and the name by which a person finds it. */
export interface NamedFile {
  readonly name: string;
  readonly path: string;
}

/** The bytes of a file from one on. */
export async function* bytesFrom({ name, path }: NamedFile, start: number): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path, { start, highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw unreadable(name, error);
  }
}

/** Position of the first row of a part, if no row spans a line feed before it. */
export async function firstRowOf(file: NamedFile, { from, isAtRow, fileBytes }: FilePart): Promise<number> {
  if (isAtRow || from === 0) return from;
  let at = from - 1;
  for await (const chunk of bytesFrom(file, at)) {
    const found = chunk.indexOf(LINE_FEED);
    if (found >= 0) return at + found + 1;
    at += chunk.length;
  }
  return fileBytes;
}

/** @throws ServiceError `input_unreadable` for a file that is not what it was: its rows may be of two states of it */
export async function checkUnchanged({ name, path }: NamedFile, { fileBytes, modifiedMs }: FilePart): Promise<void> {
  const { size, mtimeMs } = await stat(path).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  if (size !== fileBytes || mtimeMs !== modifiedMs)
    throw new ServiceError('input_unreadable', `inputSource: ${name} was changed while it was read`);
}
