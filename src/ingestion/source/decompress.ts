// Decompresses the content of input files.

import { Buffer } from 'node:buffer';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ServiceError } from '../../base/errors.js';
import { zstdDecompression } from '../../storage/codecs/zstd.js';
import type { InputEntity } from './source-kind.js';

const LINE_FEED = 10;

interface Compression {
  readonly name: string;
  readonly magic: readonly number[];
  readonly extensions: readonly string[];
  readonly open: () => Transform;
}

const COMPRESSIONS: readonly Compression[] = [
  { name: 'gzip', magic: [0x1f, 0x8b], extensions: ['.gz', '.gzip'], open: () => createGunzip({ chunkSize: 1 << 20 }) },
  { name: 'zstd', magic: [0x28, 0xb5, 0x2f, 0xfd], extensions: ['.zst', '.zstd'], open: zstdDecompression },
];

/** Told by their first bytes, so that they are refused by name rather than as broken rows. */
const UNSUPPORTED: readonly { readonly name: string; readonly magic: readonly number[] }[] = [
  { name: 'bzip2', magic: [0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26] },
  { name: 'xz', magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00] },
  { name: 'zip', magic: [0x50, 0x4b, 0x03, 0x04] },
  { name: 'lz4', magic: [0x04, 0x22, 0x4d, 0x18] },
];

/**
 * The content of an entity, decompressed when its first bytes say so; an extension alone does not make it
 * compressed, and one that lies is an error. Each chunk is the caller's.
 * @param options.read  told of the stored bytes as they are taken in
 * @param options.samples  chunks end at line feeds
 */
export async function* contentOf(
  entity: InputEntity,
  { read, samples = false }: { readonly read: (bytes: number) => void; readonly samples?: boolean },
): AsyncGenerator<Uint8Array> {
  const stored = await entity.open();
  const chunks = counted(stored, read);
  try {
    const head = await headOf(chunks);
    const compression = compressionOf(entity.name, head.bytes);
    const content = compression === undefined ? head.all : decompressed(entity.name, compression, head.all);
    if (samples) yield* linewise(content);
    else yield* content;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError(
      'input_unreadable',
      `${entity.name} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  } finally {
    stored.destroy();
  }
}

/** A chunk for every line or piece of one, so that rows come one by one and bad ones at their places among the others. */
async function* linewise(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      const found = chunk.indexOf(LINE_FEED, from);
      const to = found < 0 ? chunk.length : found + 1;
      yield chunk.subarray(from, to);
      from = to;
    }
  }
}

async function* counted(stored: Readable, read: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of stored as AsyncIterable<Uint8Array>) {
    read(chunk.length);
    yield chunk;
  }
}

/** The first bytes, eight of them if there are, and all chunks with them. */
async function headOf(
  chunks: AsyncGenerator<Uint8Array>,
): Promise<{ readonly bytes: Uint8Array; readonly all: AsyncGenerator<Uint8Array> }> {
  let bytes: Uint8Array = Buffer.alloc(0);
  while (bytes.length < 8) {
    const next = await chunks.next();
    if (next.done === true) break;
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    if (bytes.length > 0) yield bytes;
    yield* chunks;
  }
  return { bytes, all: all() };
}

function compressionOf(name: string, head: Uint8Array): Compression | undefined {
  const starts = ({ magic }: { readonly magic: readonly number[] }): boolean => magic.every((byte, at) => head[at] === byte);
  const found = COMPRESSIONS.find(starts);
  if (found !== undefined) return found;
  const named = COMPRESSIONS.find(({ extensions }) => extensions.some((extension) => name.toLowerCase().endsWith(extension)));
  if (named !== undefined && head.length > 0)
    throw new ServiceError('input_unreadable', `${name} is named like a ${named.name} file but is not one`);
  const other = UNSUPPORTED.find(starts);
  if (other !== undefined)
    throw new ServiceError(
      'input_unreadable',
      `${name} is ${other.name} compressed; accepted: uncompressed, ${COMPRESSIONS.map(({ name: accepted }) => accepted).join(', ')}`,
    );
  return undefined;
}

async function* decompressed(name: string, compression: Compression, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const stream = compression.open();
  // Errors of the source and of the stream both end the loop below.
  pipeline(chunks, stream, () => undefined);
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError(
      'input_unreadable',
      `${name} is damaged: its ${compression.name} data cannot be decompressed (${error instanceof Error ? error.message : String(error)})`,
      error,
    );
  } finally {
    stream.destroy();
  }
}
