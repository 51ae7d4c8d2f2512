// The only file that calls zstd.

import { createRequire } from 'node:module';
import type { Transform } from 'node:stream';
import { onFirstUse } from '../../base/on-first-use.js';

/** Loaded on first use: a start needs none of it before its port is open. */
const require = createRequire(import.meta.url);
const library = onFirstUse(() => require('zstd-napi') as typeof import('zstd-napi'));
const binding = onFirstUse(() => require('zstd-napi/binding.js') as typeof import('zstd-napi/binding.js'));

/** Higher levels were slower and hardly smaller on narrowed columns. */
const LEVEL = 1;

const compressor = onFirstUse(() => new (binding().CCtx)());
const decompressor = onFirstUse(() => new (binding().DCtx)());

/** Largest frame that `bytes` bytes can become. */
export function frameBytesMax(bytes: number): number {
  return binding().compressBound(bytes);
}

/** Writes one frame to the start of `out`, which has room for `frameBytesMax`; returns its bytes. */
export function compressInto(out: Uint8Array, bytes: Uint8Array): number {
  return compressor().compress(out, bytes, LEVEL);
}

/**
 * Decompresses a sequence of frames into `out`, which may be a view of kernel memory.
 * @returns bytes written
 * @throws Error of the library when the frames are damaged or hold more than `out`
 */
export function decompressInto(out: Uint8Array, frames: Uint8Array): number {
  return decompressor().decompress(out, frames);
}

/** Compressing stream for answers; `flush` ends a block, so that the client can read everything written. */
export function zstdCompression(level: number): Transform & { flush(done: (error?: Error | null) => void): void } {
  return new (library().CompressStream)({ compressionLevel: level });
}

/** Decompressing stream for input files: frames in, their content out. */
export function zstdDecompression(): Transform {
  return new (library().DecompressStream)();
}

/** Decompressed content of one frame that says its size; undefined for one that does not, or whose content is larger than `bytesMax`. */
export function decompressFrame(frame: Uint8Array, bytesMax: number): Uint8Array | undefined {
  const size = binding().getFrameContentSize(frame);
  if (size === null || size > bytesMax) return undefined;
  const out = new Uint8Array(size);
  return out.subarray(0, decompressInto(out, frame));
}

/** Room for a piece of what frames become. */
const PIECE_BYTES = 1 << 17;

/** Content of frames, which need not say their size. @throws Error of the library for damaged ones, and beyond `bytesMax` bytes */
export function decompressFrames(frames: Uint8Array, bytesMax: number): Buffer {
  const context = new (binding().DCtx)();
  const pieces: Uint8Array[] = [];
  let made = 0;
  for (let at = 0; ; ) {
    const piece = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, 4 * (frames.length - at)));
    const [left, produced, consumed] = context.decompressStream(piece, frames.subarray(at));
    at += consumed;
    made += produced;
    if (made > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes, decompressed`);
    pieces.push(piece.subarray(0, produced));
    // A frame may end where the piece does.
    if (at >= frames.length && (left === 0 || produced < piece.length)) {
      if (left > 0) throw new Error('it is cut off');
      return Buffer.concat(pieces);
    }
  }
}
