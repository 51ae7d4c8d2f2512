// Segments that a Historical does not serve, fetched from deep storage for as long as some run reads them.

import { ServiceError } from '../../base/errors.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';

export interface FetchedSegmentsOptions {
  /** Brings a segment here and opens it, unless it is open; takes its turn after what is done to it already. */
  readonly open: (id: string, descriptor: SegmentDescriptor) => Promise<void>;
  /** Closes and removes a segment, unless it is served or held. */
  readonly close: (id: string, descriptor: SegmentDescriptor) => Promise<void>;
  /** Bytes that the segments of this server may take beside those that it serves. */
  readonly spareBytes: () => number;
  /** Segments fetched at a time, for one run. */
  readonly fetchesAtATime: number;
}

interface Held {
  readonly descriptor: SegmentDescriptor;
  readers: number;
  readonly opened: Promise<void>;
}

/** Counts who reads a segment; the last one closes it. */
export class FetchedSegments {
  readonly #options: FetchedSegmentsOptions;
  readonly #held = new Map<string, Held>();
  #bytes = 0;

  constructor(options: FetchedSegmentsOptions) {
    this.#options = options;
  }

  holds(id: string): boolean {
    return this.#held.has(id);
  }

  /**
   * Resolves once all of them are open; the result lets go of them.
   * @throws ServiceError `resource_limit` when they do not fit, or whatever fetching one fails with; then none is held
   */
  async take(descriptors: readonly SegmentDescriptor[], signal: { throwIfAborted(): void }): Promise<() => Promise<void>> {
    const taken: string[] = [];
    const left = [...descriptors].reverse();
    const takeNext = async (): Promise<void> => {
      for (let descriptor = left.pop(); descriptor !== undefined; descriptor = left.pop()) {
        signal.throwIfAborted();
        const id = segmentIdText(descriptor.id);
        const held = this.#hold(id, descriptor);
        taken.push(id);
        await held.opened;
      }
    };
    const letGo = async (): Promise<void> => {
      await Promise.all(taken.splice(0).map((id) => this.#letGo(id)));
    };
    const all = await Promise.allSettled(Array.from({ length: this.#options.fetchesAtATime }, takeNext));
    const failed = all.find((each) => each.status === 'rejected');
    if (failed === undefined) return letGo;
    await letGo();
    throw failed.reason;
  }

  #hold(id: string, descriptor: SegmentDescriptor): Held {
    const known = this.#held.get(id);
    if (known !== undefined) {
      known.readers++;
      return known;
    }
    const spareBytes = this.#options.spareBytes() - this.#bytes;
    if (descriptor.sizeBytes > spareBytes)
      throw new ServiceError(
        'resource_limit',
        `segment ${id}, which is loaded nowhere, has ${descriptor.sizeBytes} bytes, and ${Math.max(0, spareBytes)} are left of svc.server.maxSize: read a shorter interval at a time`,
      );
    this.#bytes += descriptor.sizeBytes;
    const held = { descriptor, readers: 1, opened: this.#options.open(id, descriptor) };
    this.#held.set(id, held);
    return held;
  }

  async #letGo(id: string): Promise<void> {
    const held = this.#held.get(id);
    if (held === undefined || --held.readers > 0) return;
    this.#held.delete(id);
    this.#bytes -= held.descriptor.sizeBytes;
    await this.#options.close(id, held.descriptor);
  }
}
