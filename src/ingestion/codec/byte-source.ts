// Bytes of a compressed file, read one by one or many at a time.

import { Buffer } from 'node:buffer';
import type { CodecPort } from './codec-port.js';

/** The bytes of a file in order. */
export class ByteSource {
  readonly #port: CodecPort;
  #bytes: Uint8Array = Buffer.alloc(0);
  #next = 0;
  #before = 0;

  constructor(port: CodecPort) {
    this.#port = port;
  }

  /** Bytes taken so far. */
  get position(): number {
    return this.#before + this.#next;
  }

  get isAtEnd(): boolean {
    return !this.#hasMore();
  }

  /** @throws Error at the end of the file */
  readByte(): number {
    if (this.#next >= this.#bytes.length && !this.#hasMore()) throw this.#cutOff();
    return this.#bytes[this.#next++] ?? 0;
  }

  /** @throws Error when the file ends before */
  take(count: number): Buffer {
    const taken = Buffer.alloc(count);
    for (let have = 0; have < count; ) {
      if (!this.#hasMore()) throw this.#cutOff();
      const piece = this.#bytes.subarray(this.#next, this.#next + count - have);
      taken.set(piece, have);
      have += piece.length;
      this.#next += piece.length;
    }
    return taken;
  }

  #hasMore(): boolean {
    while (this.#next >= this.#bytes.length) {
      this.#before += this.#bytes.length;
      this.#next = 0;
      const bytes = this.#port.read();
      this.#bytes = bytes ?? Buffer.alloc(0);
      if (bytes === undefined) return false;
    }
    return true;
  }

  #cutOff(): Error {
    return new Error('the file ends too early');
  }
}
