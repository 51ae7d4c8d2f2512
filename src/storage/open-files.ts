// Opens segment files, within the limit on open files.

import { closeSync, openSync } from 'node:fs';
import { basename } from 'node:path';
import { ServiceError } from '../base/errors.js';
import type { SegmentFile } from './codecs/array-decoder.js';

interface OpenFile {
  readonly source: SegmentFile;
  users: number;
  /** Whether the file is closed as soon as its users are through. */
  isForgotten: boolean;
}

/**
 * Descriptors of segment files: opened when they are read and left open for the next read, no more than `max` at a
 * time. The least recently used one that nobody reads gives way; while all are being read, the next reader waits.
 */
export class OpenFiles {
  readonly #max: number;
  /** Least recently used first. */
  readonly #open = new Map<string, OpenFile>();
  readonly #waiting: (() => void)[] = [];
  /** Forgotten ones that are still being read count too. */
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Descriptors that are open. */
  get count(): number {
    return this.#count;
  }

  /**
   * Runs `read` with the file open.
   * @throws ServiceError `not_found` when there is no such file
   */
  async use<Result>(file: string, read: (source: SegmentFile) => Promise<Result>): Promise<Result> {
    while (!this.#open.has(file) && !this.#hasRoom()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    const entry = this.#open.get(file) ?? this.#openFile(file);
    // Last, so that it is the last to give way.
    this.#open.delete(file);
    this.#open.set(file, entry);
    entry.users++;
    try {
      return await read(entry.source);
    } finally {
      entry.users--;
      if (entry.isForgotten && entry.users === 0) this.#close(entry);
      if (entry.users === 0) this.#waiting.shift()?.();
    }
  }

  /** The file of this name is another one from now on, or none: its descriptor is closed once nobody reads it. */
  forget(file: string): void {
    const entry = this.#open.get(file);
    if (entry === undefined) return;
    this.#open.delete(file);
    if (entry.users === 0) this.#close(entry);
    else entry.isForgotten = true;
  }

  #hasRoom(): boolean {
    if (this.#count < this.#max) return true;
    for (const [file, { users }] of this.#open) {
      if (users > 0) continue;
      this.forget(file);
      return true;
    }
    return false;
  }

  #openFile(file: string): OpenFile {
    const entry = { source: { file, descriptor: openDescriptor(file) }, users: 0, isForgotten: false };
    this.#count++;
    return entry;
  }

  #close({ source }: OpenFile): void {
    closeSync(source.descriptor);
    this.#count--;
    this.#waiting.shift()?.();
  }
}

function openDescriptor(file: string): number {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new ServiceError('not_found', `segment file ${basename(file)} does not exist`, error);
    throw error;
  }
}
