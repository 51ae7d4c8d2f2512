import { Buffer } from 'node:buffer';
import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { ServiceError } from '../../base/errors.js';

/** Position of an array in a spill file; its owner knows the element type. */
export interface SpillPlace {
  readonly offset: number;
  readonly sizeBytes: number;
}

/**
 * A scratch file in the task's work directory: arrays as they are in memory, appended and read back by this process
 * alone, so it has no format, no checksum and no name that means anything to others.
 */
export class SpillFile {
  readonly #path: string;
  #descriptor: number | null = null;
  #end = 0;

  constructor(path: string) {
    this.#path = path;
  }

  get sizeBytes(): number {
    return this.#end;
  }

  write(array: ArrayBufferView): SpillPlace {
    this.#descriptor ??= openSync(this.#path, 'wx+');
    const offset = this.#end;
    const bytes = Buffer.from(array.buffer, array.byteOffset, array.byteLength);
    for (let written = 0; written < bytes.length; )
      written += writeSync(this.#descriptor, bytes, written, bytes.length - written, offset + written);
    this.#end += bytes.length;
    return { offset, sizeBytes: bytes.length };
  }

  read(place: SpillPlace): ArrayBuffer {
    const buffer = new ArrayBuffer(place.sizeBytes);
    const bytes = Buffer.from(buffer);
    for (let taken = 0; taken < bytes.length; ) {
      const count = this.#descriptor === null ? 0 : readSync(this.#descriptor, bytes, taken, bytes.length - taken, place.offset + taken);
      if (count === 0)
        throw new ServiceError('internal', `the spill file ${this.#path} ends before byte ${place.offset + place.sizeBytes}`);
      taken += count;
    }
    return buffer;
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }
}
