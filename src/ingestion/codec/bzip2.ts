// The only file that calls seek-bzip.

import { Buffer } from 'node:buffer';
import { createRequire } from 'node:module';
import { ByteSource } from './byte-source.js';
import type { CodecPort } from './codec-port.js';

/** The part of the library that is used; it comes without types. */
interface Library {
  decode(
    input: { readByte(): number; read(buffer: Uint8Array, offset: number, length: number): number },
    output: { writeByte(byte: number): void },
  ): void;
}

const PIECE_BYTES = 1 << 20;

/** Streams one after the other, block by block: memory is that of a block. Checksums of blocks and streams are checked. */
export function decodeBzip2(port: CodecPort): void {
  const library = createRequire(import.meta.url)('seek-bzip') as Library;
  const source = new ByteSource(port);
  let piece = Buffer.allocUnsafe(PIECE_BYTES);
  let filled = 0;
  const input = {
    readByte: () => source.readByte(),
    read(buffer: Uint8Array, offset: number, length: number): number {
      buffer.set(source.take(length), offset);
      return length;
    },
  };
  const output = {
    writeByte(byte: number): void {
      piece[filled++] = byte;
      if (filled < PIECE_BYTES) return;
      port.write(piece);
      piece = Buffer.allocUnsafe(PIECE_BYTES);
      filled = 0;
    },
  };
  do library.decode(input, output);
  while (!source.isAtEnd);
  port.write(piece.subarray(0, filled));
}
