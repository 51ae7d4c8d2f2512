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
