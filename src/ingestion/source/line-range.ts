// Reads a part of a file of lines.

import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { ServiceError } from '../../base/errors.js';
import { HEAD_BYTES } from '../codec/compressions.js';
import { isPlain } from './decompress.js';
import type { InputEntity } from './source-kind.js';

const LINE_FEED = 10;
const READ_BYTES = 1 << 20;

/** Lines of a file whose first byte lies in [from, to), and what the file was when it was divided. */
export interface LineRange {
  readonly from: number;
  readonly to: number;
  readonly fileBytes: number;
  readonly modifiedMs: number;
}

/** Ranges of about equal size, none below `bytesMin`; null: the file cannot be read in parts, or is not worth it. */
export async function lineRanges({ name, localFile }: InputEntity, bytesMin: number): Promise<readonly LineRange[] | null> {
  if (localFile === null) return null;
  const { size: fileBytes, mtimeMs: modifiedMs } = await stat(localFile);
  const count = Math.floor(fileBytes / bytesMin);
  if (count < 2 || !isPlain(name, await headOf(localFile))) return null;
  return Array.from({ length: count }, (_, at) => ({
    from: Math.floor((fileBytes * at) / count),
    to: Math.floor((fileBytes * (at + 1)) / count),
    fileBytes,
    modifiedMs,
  }));
}

/** The lines of a range as an entity of their own. */
export function rangeOf(entity: InputEntity, range: LineRange): InputEntity {
  return {
    ...entity,
    sizeBytes: range.to - range.from,
    localFile: null,
    isPlain: true,
    ...(range.from > 0 ? { isContinued: true } : {}),
    open: async () => Readable.from(linesOf(entity, range)),
  };
}

async function* linesOf({ name, localFile }: InputEntity, { from, to, fileBytes, modifiedMs }: LineRange): AsyncGenerator<Uint8Array> {
  if (localFile === null) throw new ServiceError('internal', `${name} is not a file`);
  yield* wholeLines(localFile, from, to);
  const { size, mtimeMs } = await stat(localFile);
  if (size !== fileBytes || mtimeMs !== modifiedMs)
    throw new ServiceError('input_unreadable', `inputSource: ${name} was changed since it was divided`);
}

async function* wholeLines(file: string, from: number, to: number): AsyncGenerator<Uint8Array> {
  // The byte before tells whether a line begins at `from`.
  let at = Math.max(0, from - 1);
  let isBehindLine = from === 0;
  for await (const read of createReadStream(file, { start: at, highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>) {
    let chunk = read;
    if (!isBehindLine) {
      const end = chunk.indexOf(LINE_FEED);
      if (end < 0) {
        at += chunk.length;
        if (at >= to) return;
        continue;
      }
      isBehindLine = true;
      at += end + 1;
      chunk = chunk.subarray(end + 1);
      if (at >= to) return;
    }
    const end = at + chunk.length < to ? -1 : chunk.indexOf(LINE_FEED, Math.max(0, to - 1 - at));
    yield end < 0 ? chunk : chunk.subarray(0, end + 1);
    if (end >= 0) return;
    at += chunk.length;
  }
}

async function headOf(file: string): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
