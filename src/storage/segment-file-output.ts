// Writes a segment file where it is made.

import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import type { ByteSink } from './codecs/array-encoder.js';

/** Size of the pieces that are written. */
const BUFFER_BYTES = 1024 * 1024;

/** A buffer that the next file takes: memory for each would cost more than a small file. */
let spare: Buffer | undefined;

/**
 * A file in the making. Exactly one of `close` and `abandon` ends it. It is not synced: whoever keeps it for good does that.
 */
export class SegmentFileOutput implements ByteSink {
  readonly #file: string;
  readonly #descriptor: number;
  readonly #buffer: Buffer;
  #buffered = 0;
  #offset = 0;

  constructor(file: string) {
    this.#file = file;
    this.#descriptor = openSync(file, 'w', 0o644);
    this.#buffer = spare ?? Buffer.allocUnsafeSlow(BUFFER_BYTES);
    spare = undefined;
  }

  /** Bytes appended so far. */
  get offset(): number {
    return this.#offset;
  }

  append(bytes: Uint8Array): void {
    this.#offset += bytes.length;
    if (bytes.length > BUFFER_BYTES - this.#buffered) this.#flush();
    if (bytes.length > BUFFER_BYTES) return writeAll(this.#descriptor, bytes);
    this.#buffer.set(bytes, this.#buffered);
    this.#buffered += bytes.length;
  }

  close(): void {
    this.#flush();
    closeSync(this.#descriptor);
    spare = this.#buffer;
  }

  abandon(): void {
    closeSync(this.#descriptor);
    spare = this.#buffer;
    rmSync(this.#file, { force: true });
  }

  #flush(): void {
    writeAll(this.#descriptor, this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
