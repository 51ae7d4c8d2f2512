// The only file that calls lz4-napi: reads the frames of LZ4, whose blocks the library decompresses.
//
// A frame (little-endian): magic 4, flags 1, sizes 1, [content size 8], [dictionary id 4], header checksum 1, then blocks: size 4 (its
// highest bit: stored as they are), bytes, [checksum 4]; a size of 0 ends them, then [checksum of the content 4].

import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import { ByteSource } from './byte-source.js';
import type { CodecPort } from './codec-port.js';
import { Xxh32, xxh32 } from './xxh32.js';

const MAGIC = 0x184d2204;
/** Sixteen magic numbers of frames that are passed over. */
const SKIPPABLE = 0x184d2a50;
/** Largest blocks by their number in the header, in bytes. */
const BLOCK_BYTES_MAX: Readonly<Record<number, number>> = { 4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22 };
/** Content before a block that it may refer to. */
const WINDOW_BYTES = 1 << 16;
const STORED = 0x8000_0000;
const SKIPPED_AT_ONCE = 1 << 16;

/** Frames one after the other, block by block: memory is that of a block. Checksums are checked where there are any. */
export function decodeLz4(port: CodecPort): void {
  const require = createRequire(import.meta.url);
  const { uncompressSync } = require('lz4-napi') as typeof import('lz4-napi');
  const source = new ByteSource(port);
  while (!source.isAtEnd) {
    const magic = source.take(4).readUInt32LE();
    if (magic >>> 4 === SKIPPABLE >>> 4) {
      for (let left = source.take(4).readUInt32LE(); left > 0; left -= SKIPPED_AT_ONCE) source.take(Math.min(left, SKIPPED_AT_ONCE));
      continue;
    }
    if (magic !== MAGIC) throw new Error('a frame does not begin with the magic number of LZ4 frames');
    const flags = source.readByte();
    const sizes = source.readByte();
    const has = (bit: number): boolean => (flags & bit) !== 0;
    const blockBytesMax = BLOCK_BYTES_MAX[(sizes >> 4) & 7];
    if (flags >> 6 !== 1 || (flags & 2) !== 0 || (sizes & 0x8f) !== 0 || blockBytesMax === undefined)
      throw new Error('the header of a frame is not one of LZ4 frames 1.6');
    if (has(1)) throw new Error('a frame needs a dictionary, which is not supported');
    const contentSize = has(8) ? source.take(8) : Buffer.alloc(0);
    const header = Buffer.concat([Buffer.from([flags, sizes]), contentSize]);
    if (((xxh32(header) >>> 8) & 255) !== source.readByte()) throw new Error('the checksum of the header of a frame differs');
    const isLinked = !has(32);
    const hash = has(4) ? new Xxh32() : null;
    let window: Buffer = Buffer.alloc(0);
    let made = 0;
    for (;;) {
      const word = source.take(4).readUInt32LE();
      if (word === 0) break;
      const size = word & ~STORED;
      if (size > blockBytesMax)
        throw new Error(`a block of ${size} bytes is larger than the header of its frame allows (${blockBytesMax})`);
      const block = source.take(size);
      if (has(16) && xxh32(block) !== source.take(4).readUInt32LE()) throw new Error('the checksum of a block differs');
      const content = (word & STORED) !== 0 ? block : uncompressSync(sized(block, blockBytesMax), window.length > 0 ? window : undefined);
      if (isLinked) window = windowAfter(window, content);
      hash?.update(content);
      made += content.length;
      port.write(content);
    }
    if (contentSize.length > 0 && contentSize.readBigUInt64LE() !== BigInt(made))
      throw new Error(`a frame has ${made} bytes, its header says ${contentSize.readBigUInt64LE()}`);
    if (hash !== null && hash.digest() !== source.take(4).readUInt32LE()) throw new Error('the checksum of the content differs');
  }
}

/** The library wants the size of the content before a block; the largest that there may be does. */
function sized(block: Buffer, contentBytesMax: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(contentBytesMax);
  return Buffer.concat([size, block]);
}

/** The last bytes of the content, in memory of their own: pieces that were written are the reader's. */
function windowAfter(window: Buffer, content: Buffer): Buffer {
  if (content.length >= WINDOW_BYTES) return Buffer.from(content.subarray(content.length - WINDOW_BYTES));
  return Buffer.concat([window.subarray(Math.max(0, window.length + content.length - WINDOW_BYTES)), content]);
}
