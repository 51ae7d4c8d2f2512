// Pieces of a file, read and digested for requests.

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 256 << 10;

/** Bytes of one request, with their MD5. */
export interface Chunk {
  readonly bytes: Buffer;
  readonly md5: Buffer;
}

/** Reads and digests in pieces, between which the event loop has its turns. */
export async function chunkOf(file: FileHandle, start: number, end: number): Promise<Chunk> {
  const bytes = Buffer.allocUnsafe(end - start);
  const md5 = createHash('md5');
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const piece = bytes.subarray(at, Math.min(bytes.length, at + CHUNK_BYTES));
    await readFully(file, piece, start + at);
    md5.update(piece);
  }
  return { bytes, md5: md5.digest() };
}

export async function digestOf(file: FileHandle, size: number): Promise<string> {
  const digest = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const piece = buffer.subarray(0, Math.min(CHUNK_BYTES, size - at));
    await readFully(file, piece, at);
    digest.update(piece);
  }
  return digest.digest('hex');
}

async function readFully(file: FileHandle, into: Buffer, position: number): Promise<void> {
  for (let at = 0; at < into.length; ) {
    const { bytesRead } = await file.read(into, at, into.length - at, position + at);
    if (bytesRead === 0) throw new Error('the file was cut off while it was read');
    at += bytesRead;
  }
}
