// Compresses responses as the client accepts them.

import { once } from 'node:events';
import type { Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, createDeflate, createGzip } from 'node:zlib';
import { highest } from '../base/lists.js';
import { createByName, extended } from '../base/names.js';
import { zstdCompression } from '../storage/codecs/zstd.js';
import type { HttpResponse } from './http.types.js';

type Chunk = string | Uint8Array;
type Callback = (error?: Error | null) => void;

/** Codings by preference where a client likes them equally: gzip is known everywhere and runs on threads. */
const CODINGS = ['gzip', 'zstd', 'deflate'] as const;
type Coding = (typeof CODINGS)[number];

/** Smaller answers fit one packet as they are. */
const PACKED_BYTES_MIN = 1400;

/** Bytes packed in one step; other requests have their turn between two steps. */
const STEP_BYTES = 64 * 1024;

/** Content types that are compressed already, or read only by peers of the cluster. */
const LEFT_ALONE = /^application\/(octet-stream|zip|gzip|x-gzip)\b/i;

/**
 * The response as its client wants it: packed, unless it is small.
 * @param accepted  the request's header Accept-Encoding
 * @param level     `svc.server.http.compressionLevel`
 * @returns         a promise when a body that is whole has to be packed: threads do it
 */
export function packed(response: HttpResponse, accepted: string | undefined, level: number): HttpResponse | Promise<HttpResponse> {
  const { body } = response;
  if (level === 0 || body === undefined) return response;
  const isWhole = typeof body === 'string' || body instanceof Uint8Array;
  if (isWhole && body.length < PACKED_BYTES_MIN) return response;
  const named = Object.entries(response.headers ?? {});
  if (named.some(([name, value]) => /^content-encoding$/i.test(name) || (/^content-type$/i.test(name) && LEFT_ALONE.test(value))))
    return response;
  const coding = acceptedCoding(accepted);
  if (coding === undefined) return { ...response, headers: extended(response.headers ?? {}, { Vary: 'Accept-Encoding' }) };
  const head = { ...response, headers: { ...response.headers, 'Content-Encoding': coding, Vary: 'Accept-Encoding' } };
  return isWhole ? packWhole(head, body, coding, level) : { ...head, body: packChunks(body, coding, level) };
}

/** The coding that a client likes best of those we know; undefined: it wants none. */
export function acceptedCoding(accepted: string | undefined): Coding | undefined {
  if (accepted === undefined) return undefined;
  const weights = createByName<number>();
  for (const item of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    weights[name === 'x-gzip' ? 'gzip' : name] = weight === undefined ? 1 : Number(weight.slice(2)) || 0;
  }
  const weightOf = (coding: Coding) => weights[coding] ?? weights['*'] ?? 0;
  const most = highest(CODINGS.map(weightOf));
  if (most === 0 || most < (weights['identity'] ?? 0)) return undefined;
  return CODINGS.find((coding) => weightOf(coding) === most);
}

async function packWhole(head: HttpResponse, body: Chunk, coding: Coding, level: number): Promise<HttpResponse> {
  const parts: Uint8Array[] = [];
  for await (const part of packedParts([body][Symbol.iterator](), coding, level)) parts.push(part);
  return { ...head, body: Buffer.concat(parts) };
}

/** Packs a body chunk by chunk. Ending it early, even before the first step, ends the source as well. */
function packChunks(chunks: AsyncIterable<Chunk>, coding: Coding, level: number): AsyncIterable<Chunk> {
  const source = chunks[Symbol.asyncIterator]();
  const parts = packedParts(source, coding, level);
  const iterator: AsyncIterator<Chunk> = {
    next: () => parts.next(),
    async return() {
      await parts.return(undefined);
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}

/** A client can unpack each chunk before the next one is made. */
async function* packedParts(source: AsyncIterator<Chunk> | Iterator<Chunk>, coding: Coding, level: number): AsyncGenerator<Uint8Array> {
  const packer = createPacker(coding, level);
  const made: Uint8Array[] = [];
  packer.stream.on('data', (part: Uint8Array) => made.push(part));
  // Whoever waits for a step hears of it.
  packer.stream.on('error', () => undefined);
  try {
    for (let next = await source.next(); next.done !== true; next = await source.next()) {
      const bytes = Buffer.from(next.value);
      for (let at = 0; at < bytes.length; at += STEP_BYTES) {
        await step((done) => packer.stream.write(bytes.subarray(at, at + STEP_BYTES), done));
        yield* made.splice(0);
      }
      await step(packer.flush);
      yield* made.splice(0);
    }
    packer.stream.end();
    await once(packer.stream, 'end');
    yield* made.splice(0);
  } finally {
    packer.stream.destroy();
  }
}

/** Runs one step of packing. All output of the step has been emitted when it resolves. */
async function step(begin: (done: Callback) => void): Promise<void> {
  await new Promise<void>((resolve, reject) => begin((error) => (error ? reject(error) : resolve())));
  await nextTurn();
}

interface Packer {
  readonly stream: Transform;
  /** Makes everything written so far readable for the client. */
  flush(done: Callback): void;
}

function createPacker(coding: Coding, level: number): Packer {
  if (coding === 'zstd') {
    const stream = zstdCompression(level);
    return { stream, flush: (done) => stream.flush(done) };
  }
  const stream = coding === 'gzip' ? createGzip({ level }) : createDeflate({ level });
  return { stream, flush: (done) => stream.flush(constants.Z_SYNC_FLUSH, () => done()) };
}
