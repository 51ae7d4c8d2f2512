// Decompresses the content of input files.

import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { ServiceError } from '../../base/errors.js';
import { COMPRESSIONS, type Compression, compressionNamed, HEAD_BYTES, UNREADABLE } from '../codec/compressions.js';
import { checkExpansion, type DecompressionLimits } from '../codec/decompression-limits.js';
import type { InputEntity } from './source-kind.js';

const LINE_FEED = 10;

export interface ContentReading {
  /** Told of the stored bytes as they are taken in. */
  readonly read: (bytes: number) => void;
  readonly inputLimits: { readonly decompression: DecompressionLimits };
  /** Chunks end at line feeds. */
  readonly samples?: boolean;
}

/**
 * The content of an entity, decompressed when its first bytes say so; an extension alone does not make it
 * compressed, and one that lies is an error. Each chunk is the caller's.
 * @throws ServiceError `input_unreadable` for damaged data, `resource_limit` for content beyond the limits
 */
export async function* contentOf(entity: InputEntity, { read, inputLimits, samples = false }: ContentReading): AsyncGenerator<Uint8Array> {
  const stored = await entity.open();
  const taken = { bytes: 0 };
  const chunks = counted(stored, (bytes) => {
    taken.bytes += bytes;
    read(bytes);
  });
  try {
    const head = await headOf(chunks);
    const compression = entity.isPlain === true ? undefined : compressionOf(entity.name, head.bytes);
    const content =
      compression === undefined
        ? head.all
        : decompressed(compression, head.all, { name: entity.name, taken, limits: inputLimits.decompression });
    if (samples) yield* linewise(content);
    else yield* content;
  } catch (error) {
    throw unreadable(entity.name, error);
  } finally {
    stored.destroy();
  }
}

/** A typed error that names the entity. */
export function unreadable(name: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('input_unreadable', `${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`, error);
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

/** The first bytes, enough to tell a compression if there are so many, and all chunks with them. */
export async function headOf(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ readonly bytes: Uint8Array; readonly all: AsyncGenerator<Uint8Array> }> {
  const rest = chunks[Symbol.asyncIterator]();
  let bytes: Uint8Array = Buffer.alloc(0);
  while (bytes.length < HEAD_BYTES) {
    const next = await rest.next();
    if (next.done === true) break;
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      if (bytes.length > 0) yield bytes;
      for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
    } finally {
      await rest.return?.();
    }
  }
  return { bytes, all: all() };
}

/** Whether content of this name and these first bytes is read as it is stored. */
export function isPlain(name: string, head: Uint8Array): boolean {
  const isKnown = [...COMPRESSIONS, ...UNREADABLE].some(({ isHead }) => isHead(head));
  return !isKnown && compressionNamed(name) === undefined && !/\.zip$/i.test(name);
}

function compressionOf(name: string, head: Uint8Array): Compression | undefined {
  const found = COMPRESSIONS.find(({ isHead }) => isHead(head));
  if (found !== undefined) return found;
  const other = UNREADABLE.find(({ isHead }) => isHead(head));
  if (other !== undefined)
    throw new ServiceError(
      'input_unreadable',
      `${name} is ${other.name}; accepted: uncompressed, zip, ${COMPRESSIONS.map((accepted) => accepted.name).join(', ')}`,
    );
  const named = compressionNamed(name);
  if (named !== undefined && head.length > 0)
    throw new ServiceError('input_unreadable', `${name} is named like a ${named.name} file but is not one`);
  return undefined;
}

async function* decompressed(
  compression: Compression,
  chunks: AsyncIterable<Uint8Array>,
  { name, taken, limits }: { readonly name: string; readonly taken: { readonly bytes: number }; readonly limits: DecompressionLimits },
): AsyncGenerator<Uint8Array> {
  let contentBytes = 0;
  try {
    for await (const content of compression.decode(chunks)) {
      contentBytes += content.length;
      checkExpansion(limits, { name, storedBytes: taken.bytes, contentBytes });
      yield content;
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw new ServiceError(
      'input_unreadable',
      `${name} is damaged: its ${compression.name} data cannot be decompressed, at or before byte ${taken.bytes} (${error instanceof Error ? error.message : String(error)})`,
      error,
    );
  }
}
