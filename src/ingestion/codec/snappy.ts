// The only file that calls snappy.

import { createRequire } from 'node:module';
import type { CodecPort } from './codec-port.js';

const PIECE_BYTES = 1 << 16;

/** Frames of at most 64 KiB each. Checksums are checked. */
export async function decodeSnappy(port: CodecPort): Promise<void> {
  const { Decompressor } = createRequire(import.meta.url)('snappy') as typeof import('snappy');
  const decompressor = new Decompressor();
  for (let bytes = port.read(); bytes !== undefined; bytes = port.read()) {
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) port.write(decompressor.update(bytes.subarray(from, from + PIECE_BYTES)));
  }
  port.write(await decompressor.finish());
}

/**
 * A block without frames, as other formats hold them.
 * @throws Error for damaged data, and for a block that becomes larger than `bytesMax`
 */
export async function uncompressBlock(block: Uint8Array, bytesMax: number): Promise<Buffer> {
  const { uncompress } = createRequire(import.meta.url)('snappy') as typeof import('snappy');
  checkSize(block, bytesMax);
  return (await uncompress(block, { asBuffer: true })) as Buffer;
}

/** The same at once. */
export function uncompressBlockNow(block: Uint8Array, bytesMax: number): Buffer {
  const { uncompressSync } = createRequire(import.meta.url)('snappy') as typeof import('snappy');
  checkSize(block, bytesMax);
  return uncompressSync(block, { asBuffer: true }) as Buffer;
}

/** The size of the content comes first, seven bits a byte. */
function checkSize(block: Uint8Array, bytesMax: number): void {
  let size = 0;
  for (let at = 0; at < 5; at++) {
    const byte = block[at] ?? 0;
    size += (byte & 127) * 2 ** (7 * at);
    if (byte < 128) break;
  }
  if (size > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes, decompressed`);
}
