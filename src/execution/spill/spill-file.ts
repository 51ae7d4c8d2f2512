import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { assert, ServiceError } from '../../base/errors.js';

/** The disk space that a file takes its bytes from. */
interface SpillBudget {
  /** @throws ServiceError `resource_limit` */
  reserve(bytes: number): void;
  /** Releases one whole reservation. */
  release(bytes: number): void;
}

/** A file that one thread appends to and one thread, perhaps another, reads. What lies where is its owner's to know. */
export class SpillFile {
  readonly path: string;
  readonly #space: SpillBudget;
  readonly #reserved: number[] = [];
  #descriptor: number | undefined;
  #end = 0;

  private constructor(path: string, space: SpillBudget, descriptor: number) {
    this.path = path;
    this.#space = space;
    this.#descriptor = descriptor;
  }

  static create(path: string, space: SpillBudget): SpillFile {
    return new SpillFile(path, space, openSync(path, 'wx+', 0o600));
  }

  /** One that another thread has written; its bytes stay counted until the query ends. */
  static open(path: string, space: SpillBudget): SpillFile {
    return new SpillFile(path, space, openSync(path, 'r'));
  }

  /** Returns where the bytes begin. @throws ServiceError `resource_limit` when the query or the disk has no more room */
  append(bytes: Uint8Array): number {
    const start = this.#end;
    this.#space.reserve(bytes.length);
    this.#reserved.push(bytes.length);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.#open(), bytes, done, bytes.length - done, start + done);
    } catch (error) {
      if (error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))
        throw new ServiceError('resource_limit', 'the disk is full; groups are spilled to svc.query.groupBy.spillDirectory', error);
      throw error;
    }
    this.#end = start + bytes.length;
    return start;
  }

  read(at: number, into: Uint8Array): void {
    for (let done = 0; done < into.length; ) {
      const count = readSync(this.#open(), into, done, into.length - done, at + done);
      assert(count > 0, `spill file ${this.path} ends at ${at + done}`);
      done += count;
    }
  }

  /** Ends writing here; another thread opens the file by its path. */
  handOver(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Closes and removes it. */
  remove(): void {
    this.handOver();
    rmSync(this.path, { force: true });
    for (const bytes of this.#reserved.splice(0)) this.#space.release(bytes);
  }

  #open(): number {
    assert(this.#descriptor !== undefined, `spill file ${this.path} is closed`);
    return this.#descriptor;
  }
}
