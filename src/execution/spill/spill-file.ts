// A spill file: one thread appends, another may read.

import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { assert, ServiceError } from '../../base/errors.js';
import { failpoint } from '../../configuration/failpoint.js';

/** The disk space that a file takes its bytes from. */
export interface SpillBudget {
  /** Property that says where the file lies. */
  readonly directoryProperty: string;
  /** @throws ServiceError `resource_limit` */
  reserve(bytes: number): void;
  /** Releases one whole reservation. */
  release(bytes: number): void;
}

/** Bytes in a spill file; what they are is their owner's to know. */
export interface SpilledBytes {
  readonly at: number;
  readonly bytes: number;
}

/**
 * A file that one thread appends to and one thread, perhaps another, reads: arrays as they are in memory, so it has no format
 * and no checksum, and never outlives its process.
 */
export class SpillFile {
  readonly path: string;
  readonly #space: SpillBudget;
  readonly #reserved: number[] = [];
  #descriptor: number | undefined;
  #isClosed = false;
  #end = 0;

  /** A file that does not exist yet; it is made with its first bytes. */
  constructor(path: string, space: SpillBudget) {
    this.path = path;
    this.#space = space;
  }

  /** One that another thread has written; its bytes stay counted until the query ends. */
  static open(path: string, space: SpillBudget): SpillFile {
    const file = new SpillFile(path, space);
    file.#descriptor = openSync(path, 'r');
    return file;
  }

  /** Bytes appended here. */
  get sizeBytes(): number {
    return this.#end;
  }

  /** @throws ServiceError `resource_limit` when the budget or the disk has no more room */
  append(array: ArrayBufferView): SpilledBytes {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const at = this.#end;
    this.#space.reserve(bytes.length);
    this.#reserved.push(bytes.length);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#open(), bytes, done, bytes.length - done, at + done);
      failpoint('task.spilled');
    } catch (error) {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
        throw new ServiceError('resource_limit', `the disk is full; files are spilled to ${this.#space.directoryProperty}`, error);
      throw error;
    }
    this.#end = at + bytes.length;
    return { at, bytes: bytes.length };
  }

  /** @param into  as long as what was appended `at` */
  readInto(at: number, into: Uint8Array): void {
    for (let done = 0; done < into.length; ) {
      const count = readSync(this.#open(), into, done, into.length - done, at + done);
      assert(count > 0, `spill file ${this.path} ends at ${at + done}`);
      done += count;
    }
  }

  read({ at, bytes }: SpilledBytes): ArrayBuffer {
    const buffer = new ArrayBuffer(bytes);
    this.readInto(at, new Uint8Array(buffer));
    return buffer;
  }

  /** Ends writing here; another thread opens the file by its path. */
  handOver(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#isClosed = true;
  }

  /** Closes and removes it. */
  remove(): void {
    this.handOver();
    rmSync(this.path, { force: true });
    for (const bytes of this.#reserved.splice(0)) this.#space.release(bytes);
  }

  #open(): number {
    assert(!this.#isClosed, `spill file ${this.path} is closed`);
    this.#descriptor ??= openSync(this.path, 'wx+', 0o600);
    return this.#descriptor;
  }
}
