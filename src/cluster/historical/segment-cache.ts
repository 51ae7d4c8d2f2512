// Segment files on a historical's own disk.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseJsonWithDoubles } from '../../base/json.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';
import type { DeepStorage } from '../../storage/contract.js';

/**
 * The segment files a historical keeps on its own disk:
 *
 *   segments/<sha-256 of the printed id>.segment   the file as deep storage has it
 *   info/<sha-256 of the printed id>.json          its descriptor, written after the file: one without it is not ours
 */
export class SegmentCache {
  readonly #segments: string;
  readonly #info: string;
  readonly #storage: DeepStorage;

  constructor(directory: string, storage: DeepStorage) {
    this.#segments = join(directory, 'segments');
    this.#info = join(directory, 'info');
    this.#storage = storage;
  }

  fileOf(descriptor: SegmentDescriptor): string {
    return join(this.#segments, `${nameOf(descriptor)}.segment`);
  }

  /**
   * Lists complete segments on disk and removes incomplete ones of a killed process. Synchronous: at a start nobody else waits for
   * this thread, and its event loop has all modules of the program to load.
   */
  recover(): readonly SegmentDescriptor[] {
    mkdirSync(this.#segments, { recursive: true });
    mkdirSync(this.#info, { recursive: true });
    const files = new Set(readdirSync(this.#segments));
    const found: SegmentDescriptor[] = [];
    for (const name of readdirSync(this.#info)) {
      const descriptor = name.endsWith('.json') ? readInfo(join(this.#info, name)) : undefined;
      if (descriptor !== undefined && files.delete(`${nameOf(descriptor)}.segment`)) found.push(descriptor);
      else rmSync(join(this.#info, name), { force: true });
    }
    for (const stray of files) rmSync(join(this.#segments, stray), { force: true });
    return found;
  }

  /**
   * Brings the file here, unverified. A machine that fails may leave anything: every byte is verified at the next start, and
   * what is not whole is fetched again.
   */
  async fetch(descriptor: SegmentDescriptor): Promise<void> {
    // Somebody may have removed the folders meanwhile.
    for (const folder of [this.#segments, this.#info]) if (!existsSync(folder)) mkdirSync(folder, { recursive: true });
    await this.#storage.pull(descriptor.loadSpec, this.fileOf(descriptor));
    failpoint('load.copied');
    await writeFile(join(this.#info, `${nameOf(descriptor)}.json`), JSON.stringify(descriptor));
    failpoint('load.described');
  }

  async remove(descriptor: SegmentDescriptor): Promise<void> {
    await rm(join(this.#info, `${nameOf(descriptor)}.json`), { force: true });
    await rm(this.fileOf(descriptor), { force: true });
  }
}

const nameOf = (descriptor: SegmentDescriptor): string => createHash('sha256').update(segmentIdText(descriptor.id)).digest('hex');

function readInfo(file: string): SegmentDescriptor | undefined {
  try {
    return parseJsonWithDoubles(readFileSync(file, 'utf8')) as SegmentDescriptor;
  } catch {
    return undefined; // cut off by a crash: the segment is fetched again
  }
}
