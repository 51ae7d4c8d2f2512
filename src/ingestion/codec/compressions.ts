// Table of the compressions of input files.

import { pipeline, type Transform } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { zstdDecompression } from '../../storage/codecs/zstd.js';
import { decodedOnThread } from './codec-thread.js';

/** A way to compress a file. */
export interface Compression {
  readonly name: string;
  readonly extensions: readonly string[];
  /** Whether a file that begins with these bytes, `HEAD_BYTES` of them or the whole file, is compressed so. */
  readonly isHead: (head: Uint8Array) => boolean;
  /** The content; throws the library's errors. */
  readonly decode: (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;
}

/** First bytes of a file that tell its compression. */
export const HEAD_BYTES = 10;

const BZIP2_MAGIC = [0x42, 0x5a, 0x68];
/** A block, or the end of a stream without any. */
const BZIP2_BLOCKS = [
  [0x31, 0x41, 0x59, 0x26, 0x53, 0x59],
  [0x17, 0x72, 0x45, 0x38, 0x50, 0x90],
];

/** Every compression that is read. */
export const COMPRESSIONS: readonly Compression[] = [
  {
    name: 'gzip',
    extensions: ['.gz', '.gzip'],
    isHead: (head) => startsWith(head, [0x1f, 0x8b]),
    decode: throughStream(() => createGunzip({ chunkSize: 1 << 20 })),
  },
  {
    name: 'zstd',
    extensions: ['.zst', '.zstd'],
    isHead: (head) => startsWith(head, [0x28, 0xb5, 0x2f, 0xfd]),
    decode: throughStream(zstdDecompression),
  },
  {
    name: 'bzip2',
    extensions: ['.bz2', '.bz'],
    isHead: (head) => startsWith(head, BZIP2_MAGIC) && BZIP2_BLOCKS.some((block) => startsWith(head.subarray(4), block)),
    decode: (chunks) => decodedOnThread('bzip2', chunks),
  },
  {
    name: 'xz',
    extensions: ['.xz'],
    isHead: (head) => startsWith(head, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]),
    decode: (chunks) => decodedOnThread('xz', chunks),
  },
  {
    name: 'lz4',
    extensions: ['.lz4'],
    isHead: (head) => startsWith(head, [0x04, 0x22, 0x4d, 0x18]),
    decode: (chunks) => decodedOnThread('lz4', chunks),
  },
  {
    name: 'framed snappy',
    extensions: ['.sz', '.snappy'],
    isHead: (head) => startsWith(head, [0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59]),
    decode: (chunks) => decodedOnThread('snappy', chunks),
  },
];

/** Told by their first bytes, so that they are refused by name rather than as broken rows. */
export const UNREADABLE: readonly { readonly name: string; readonly isHead: (head: Uint8Array) => boolean }[] = [
  { name: 'a zip archive inside an archive', isHead: (head) => startsWith(head, [0x50, 0x4b, 0x03, 0x04]) },
  { name: 'a 7z archive', isHead: (head) => startsWith(head, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]) },
  { name: 'in the old frames of lz4', isHead: (head) => startsWith(head, [0x02, 0x21, 0x4c, 0x18]) },
  { name: 'compressed by compress (.Z)', isHead: (head) => startsWith(head, [0x1f, 0x9d]) },
];

export function startsWith(head: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, at) => head[at] === byte);
}

/** A compression by one of the extensions, if the name of a file has any. */
export function compressionNamed(name: string): Compression | undefined {
  const lower = name.toLowerCase();
  return COMPRESSIONS.find(({ extensions }) => extensions.some((extension) => lower.endsWith(extension)));
}

/** Decompresses by a stream of a library. */
export function throughStream(open: () => Transform): Compression['decode'] {
  return async function* decode(chunks) {
    const stream = open();
    // Errors of the source and of the stream both end the loop below.
    pipeline(chunks, stream, () => undefined);
    try {
      yield* stream as AsyncIterable<Uint8Array>;
    } finally {
      stream.destroy();
    }
  };
}
