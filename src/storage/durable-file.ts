// Writes files so that they are whole and on disk, or absent.

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ByteSink } from './codecs/array-encoder.js';

/** Size of the pieces that are written. */
const BUFFER_BYTES = 1024 * 1024;

/** Temporary name next to the final one, so that the rename stays within one file system. */
export function temporaryName(file: string): string {
  return `${file}.${process.pid}.tmp`;
}

/**
 * A file that appears under its name whole or not at all: written beside it, synced, renamed, and the directory
 * synced. Exactly one of `commit` and `abandon` ends it.
 */
export class DurableFile implements ByteSink {
  readonly #file: string;
  readonly #temporary: string;
  readonly #descriptor: number;
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #buffered = 0;
  #offset = 0;
  #isOpen = true;

  constructor(file: string) {
    this.#file = file;
    this.#temporary = temporaryName(file);
    this.#descriptor = openSync(this.#temporary, 'w', 0o644);
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

  commit(): void {
    this.#flush();
    fsyncSync(this.#descriptor);
    this.#close();
    renameSync(this.#temporary, this.#file);
    syncDirectory(dirname(this.#file));
  }

  abandon(): void {
    this.#close();
    rmSync(this.#temporary, { force: true });
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #flush(): void {
    writeAll(this.#descriptor, this.#buffer.subarray(0, this.#buffered));
    this.#buffered = 0;
  }
}

/** Makes names created, renamed or removed in it survive a crash. */
function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}
