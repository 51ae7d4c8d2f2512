// Files of an entity: its own content, or each entry of a zip archive.

import { createWriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ServiceError } from '../../base/errors.js';
import { COMPRESSIONS, HEAD_BYTES, startsWith } from '../codec/compressions.js';
import { type ContentReading, headOf, unreadable } from './decompress.js';
import type { InputEntity } from './source-kind.js';
import { zipEntries } from './zip.js';

/** A file with who is told of its stored bytes. */
export interface StoredFile {
  readonly entity: InputEntity;
  readonly read: (bytes: number) => void;
}

export type ArchiveReading = Pick<ContentReading, 'read' | 'inputLimits'> & { readonly workDirectory: string };

/** The beginning of an archive, and of one without entries. */
const ZIP = [
  [0x50, 0x4b, 0x03, 0x04],
  [0x50, 0x4b, 0x05, 0x06],
];

/**
 * The files of an entity, each to be read before the next is asked for. An archive that is not on this machine's disk is brought to the
 * work directory first: its list of entries is at its end.
 * @throws ServiceError `input_unreadable` for a damaged archive, `resource_limit` for one beyond the limits
 */
export async function* filesOf(entity: InputEntity, reading: ArchiveReading): AsyncGenerator<StoredFile> {
  if (entity.localFile !== null) {
    const head = await localHead(entity.name, entity.localFile);
    if (isZip(entity.name, head)) yield* localEntries(entity, entity.localFile, reading);
    // A compressed file is not itself what a format that seeks could read.
    else yield { entity: COMPRESSIONS.some(({ isHead }) => isHead(head)) ? { ...entity, localFile: null } : entity, read: reading.read };
    return;
  }
  const stored = await entity.open();
  try {
    const { bytes, all } = await headOf(stored as AsyncIterable<Uint8Array>);
    if (!isZip(entity.name, bytes)) {
      yield { entity: { ...entity, open: async () => Readable.from(all) }, read: reading.read };
      return;
    }
    const file = path.join(reading.workDirectory, 'input.zip');
    try {
      await pipeline(all, counting(reading.read), createWriteStream(file));
      yield* zipEntries(entity, file, reading.inputLimits.decompression, () => undefined);
    } finally {
      await rm(file, { force: true });
    }
  } catch (error) {
    throw unreadable(entity.name, error);
  } finally {
    stored.destroy();
  }
}

async function* localEntries(entity: InputEntity, file: string, { read, inputLimits }: ArchiveReading): AsyncGenerator<StoredFile> {
  const before = await stat(file);
  let counted = 0;
  yield* zipEntries(entity, file, inputLimits.decompression, (bytes) => {
    counted += bytes;
    read(bytes);
  });
  const { size, mtimeMs } = await stat(file);
  if (size !== before.size || mtimeMs !== before.mtimeMs)
    throw new ServiceError('input_unreadable', `${entity.name} was changed while it was read`);
  read(Math.max(0, size - counted));
}

function isZip(name: string, head: Uint8Array): boolean {
  if (ZIP.some((magic) => startsWith(head, magic))) return true;
  if (name.toLowerCase().endsWith('.zip') && head.length > 0)
    throw new ServiceError('input_unreadable', `${name} is named like a zip archive but is not one`);
  return false;
}

/** The first bytes of a local file. */
export async function localHead(name: string, file: string): Promise<Uint8Array> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw unreadable(name, error);
  }
}

function counting(read: (bytes: number) => void) {
  return async function* count(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      read(chunk.length);
      yield chunk;
    }
  };
}
