import { createRequire } from 'node:module';
import type { Transform } from 'node:stream';
import zstd from 'zstd-napi/binding.js';

/** Higher levels were slower and hardly smaller on narrowed columns. */
const LEVEL = 1;

const compressor = new zstd.CCtx();
const decompressor = new zstd.DCtx();

/** Largest frame that `bytes` bytes can become. */
export function frameBytesMax(bytes: number): number {
  return zstd.compressBound(bytes);
}

/** Writes one frame to the start of `out`, which has room for `frameBytesMax`; returns its bytes. */
export function compressInto(out: Uint8Array, bytes: Uint8Array): number {
  return compressor.compress(out, bytes, LEVEL);
}

/**
 * Decompresses a sequence of frames into `out`, which may be a view of kernel memory.
 * @returns bytes written
 * @throws Error of the library when the frames are damaged or hold more than `out`
 */
export function decompressInto(out: Uint8Array, frames: Uint8Array): number {
  return decompressor.decompress(out, frames);
}

/** For answers: `flush` ends a block, so that what was written can be read. */
export function zstdCompression(level: number): Transform & { flush(done: (error?: Error | null) => void): void } {
  const { CompressStream } = createRequire(import.meta.url)('zstd-napi') as typeof import('zstd-napi');
  return new CompressStream({ compressionLevel: level });
}

/** For input files: frames in, their content out. */
export function zstdDecompression(): Transform {
  const { DecompressStream } = createRequire(import.meta.url)('zstd-napi') as typeof import('zstd-napi');
  return new DecompressStream();
}
