// Opens the segments that an earlier process left on this historical's disk.

import { ServiceError } from '../../base/errors.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import type { SegmentStore } from '../../storage/contract.js';
import type { SegmentCache } from './segment-cache.js';

/** Segments that an earlier process left on disk. */
export interface Recovery {
  readonly served: readonly SegmentDescriptor[];
  readonly failed: readonly { readonly descriptor: SegmentDescriptor; readonly error: unknown }[];
}

/** Files given to the processing threads before the first is through: they are not to wait for this thread. */
const BYTES_AHEAD = 256 * 2 ** 20;
const FILES_AHEAD = { min: 4, max: 256 };

/** The segments on the disk of a historical. One that is opened is verified first, and removed when it is damaged. */
export class LocalSegments {
  /** Settles once all that was on disk at the start is open or removed. */
  readonly recovered: Promise<Recovery>;
  readonly #cache: SegmentCache;
  readonly #store: SegmentStore;
  #isStopped = false;

  /** Begins to verify what is on disk: that takes longest of a start, so it shall not wait for the rest. */
  constructor(cache: SegmentCache, store: SegmentStore) {
    this.#cache = cache;
    this.#store = store;
    this.recovered = this.#recover();
    // A failure is reported to the caller that awaits it; until then it is not unhandled.
    this.recovered.catch(() => undefined);
  }

  /** Brings the file here and opens it. */
  async fetch(descriptor: SegmentDescriptor): Promise<void> {
    await this.#cache.fetch(descriptor);
    await this.#open(descriptor);
  }

  async remove(descriptor: SegmentDescriptor): Promise<void> {
    await this.#cache.remove(descriptor);
  }

  /** Files whose verification has not begun are left as they are. */
  stop(): void {
    this.#isStopped = true;
  }

  async #recover(): Promise<Recovery> {
    const left = [...this.#cache.recover()];
    const served: SegmentDescriptor[] = [];
    const failed: { descriptor: SegmentDescriptor; error: unknown }[] = [];
    const openNext = async (): Promise<void> => {
      for (let descriptor = left.pop(); descriptor !== undefined && !this.#isStopped; descriptor = left.pop()) {
        try {
          await this.#open(descriptor);
          served.push(descriptor);
        } catch (error) {
          failed.push({ descriptor, error });
        }
      }
    };
    const meanBytes = left.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / Math.max(1, left.length);
    const ahead = Math.max(FILES_AHEAD.min, Math.min(FILES_AHEAD.max, Math.floor(BYTES_AHEAD / meanBytes)));
    await Promise.all(Array.from({ length: Math.min(ahead, left.length) }, openNext));
    return { served, failed };
  }

  async #open(descriptor: SegmentDescriptor): Promise<void> {
    try {
      await this.#store.open(this.#cache.fileOf(descriptor), descriptor);
    } catch (error) {
      // Other failures, such as a thread's, say nothing about the file.
      if (error instanceof ServiceError && error.code === 'segment_corrupt') await this.#cache.remove(descriptor);
      throw error;
    }
  }
}
