// Reads object container files of Avro block by block.
//
// A file: "Obj" 1, metadata (a map of bytes), sync 16, then blocks: rows (long), bytes (long), data, sync 16. The library's own reader takes a
// file that is cut off for a whole one, and blocks of any size into memory.

import { Buffer } from 'node:buffer';
import { promisify } from 'node:util';
import { crc32, inflateRaw } from 'node:zlib';
import { own } from '../../../base/names.js';
import { zstdDecompression } from '../../../storage/codecs/zstd.js';
import { decodedOnThread } from '../../codec/codec-thread.js';
import { throughStream } from '../../codec/compressions.js';
import { uncompressBlock } from '../../codec/snappy.js';

const MAGIC = Buffer.from('Obj\x01');
const SYNC_BYTES = 16;
const METADATA_BYTES_MAX = 1 << 24;
/** Largest block, stored or decompressed; writers make them of 16 KiB to some MiB. */
export const BLOCK_BYTES_MAX = 1 << 28;

/** Some rows of a file. */
export interface AvroBlock {
  readonly rowCount: number;
  readonly data: Buffer;
  /** Byte of the file at which it begins. */
  readonly at: number;
}

/** A file whose header was read. */
export interface AvroFile {
  /** The schema that it was written with, as JSON. */
  readonly schema: string;
  readonly blocks: AsyncGenerator<AvroBlock>;
}

/** @throws Error that says what is wrong, and where */
export async function openAvroFile(chunks: AsyncIterable<Uint8Array>): Promise<AvroFile> {
  const bytes = new Bytes(chunks);
  const magic = await bytes.take(MAGIC.length);
  if (!magic.equals(MAGIC)) throw new Error(`it is not an Avro container file: it begins with ${JSON.stringify(magic.toString('latin1'))}`);
  const metadata = await readMetadata(bytes);
  const schema = metadata.get('avro.schema');
  if (schema === undefined) throw new Error('its header has no schema');
  const name = metadata.get('avro.codec')?.toString('utf8') ?? 'null';
  const decode = own(CODECS, name);
  if (decode === undefined) throw new Error(`its codec is "${name}"; accepted: ${Object.keys(CODECS).join(', ')}`);
  return { schema: schema.toString('utf8'), blocks: blocksOf(bytes, await bytes.take(SYNC_BYTES), decode) };
}

async function readMetadata(bytes: Bytes): Promise<ReadonlyMap<string, Buffer>> {
  const metadata = new Map<string, Buffer>();
  for (let count = await bytes.long(); count !== 0n; count = await bytes.long()) {
    if (count < 0n) {
      count = -count;
      await bytes.long();
    }
    for (; count > 0n; count--) {
      const name = await bytes.take(sizeOf(await bytes.long(), METADATA_BYTES_MAX));
      metadata.set(name.toString('utf8'), await bytes.take(sizeOf(await bytes.long(), METADATA_BYTES_MAX)));
      if (bytes.position > METADATA_BYTES_MAX) throw new Error(`its header is longer than ${METADATA_BYTES_MAX} bytes`);
    }
  }
  return metadata;
}

async function* blocksOf(bytes: Bytes, sync: Buffer, decode: Decode): AsyncGenerator<AvroBlock> {
  while (await bytes.hasMore()) {
    const at = bytes.position;
    try {
      const rowCount = sizeOf(await bytes.long(), Number.MAX_SAFE_INTEGER);
      const stored = await bytes.take(sizeOf(await bytes.long(), BLOCK_BYTES_MAX));
      const mark = await bytes.take(SYNC_BYTES);
      if (!mark.equals(sync)) throw new Error('the block does not end with the mark of the file');
      yield { rowCount, data: await decode(stored), at };
    } catch (error) {
      throw new Error(`the block at byte ${at}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
}

function sizeOf(value: bigint, max: number): number {
  if (value < 0n || value > BigInt(max)) throw new Error(`a size is ${value}; from 0 to ${max} are accepted`);
  return Number(value);
}

type Decode = (stored: Buffer) => Promise<Buffer>;

const CODECS: Readonly<Record<string, Decode>> = {
  null: async (stored) => stored,
  deflate: (stored) => promisify(inflateRaw)(stored, { maxOutputLength: BLOCK_BYTES_MAX }),
  snappy: uncompressedSnappy,
  zstandard: (stored) => collected(throughStream(zstdDecompression)(once(stored))),
  bzip2: (stored) => collected(decodedOnThread('bzip2', once(stored))),
  xz: (stored) => collected(decodedOnThread('xz', once(stored))),
};

async function uncompressedSnappy(stored: Buffer): Promise<Buffer> {
  const data = await uncompressBlock(stored.subarray(0, -4), BLOCK_BYTES_MAX);
  if (stored.length < 4 || crc32(data) !== stored.readUInt32BE(stored.length - 4)) throw new Error('its checksum differs');
  return data;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function collected(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (size > BLOCK_BYTES_MAX) throw new Error(`it is larger than ${BLOCK_BYTES_MAX} bytes, decompressed`);
    all.push(chunk);
  }
  return Buffer.concat(all, size);
}

/** The bytes of a file in order. */
class Bytes {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = Buffer.alloc(0);
  #next = 0;
  position = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async hasMore(): Promise<boolean> {
    while (this.#next >= this.#chunk.length) {
      const next = await this.#chunks.next();
      if (next.done === true) return false;
      this.#chunk = next.value;
      this.#next = 0;
    }
    return true;
  }

  /** @throws Error when the file ends before */
  async take(count: number): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for (let have = 0; have < count; ) {
      if (!(await this.hasMore())) throw new Error('the file ends too early');
      const piece = this.#chunk.subarray(this.#next, this.#next + count - have);
      pieces.push(piece);
      have += piece.length;
      this.#next += piece.length;
    }
    this.position += count;
    return Buffer.concat(pieces, count);
  }

  /** A long as Avro writes it: seven bits a byte, the lowest first, zigzag. */
  async long(): Promise<bigint> {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const [byte = 0] = await this.take(1);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return (value >> 1n) ^ -(value & 1n);
    }
    throw new Error('a number is longer than a long');
  }
}
