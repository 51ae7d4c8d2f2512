// Tries small scans on the calling thread for half a millisecond, before a thread is woken.

import type { KernelMemory } from '../../kernels/memory.js';
import type { KernelSets } from '../../kernels/registry.js';
import type { OpenStream } from './executor.js';
import { STREAMS, type Streams } from './jobs.js';
import type { StreamItem } from './stream-items.js';
import { ThreadContext } from './thread-context.js';

/** Ends work that lasts longer than it may. No failure: nobody but `InlineAttempt` sees it. */
class OutOfTime extends Error {}

/**
 * Scans that may be over sooner than another thread is woken up and has answered. They run where they are asked for, for a
 * part of a millisecond at most, looking at the clock between blocks; what is not through by then leaves nothing behind.
 */
export class InlineAttempt {
  readonly #thread: ThreadContext;
  readonly #limitMs: number;
  readonly #now: () => number;
  #endMs = 0;

  constructor(memory: KernelMemory, kernels: KernelSets, limitMs: number, now: () => number = () => performance.now()) {
    this.#limitMs = limitMs;
    this.#now = now;
    const yieldToUrgent = (): number => {
      if (this.#now() > this.#endMs) throw new OutOfTime();
      return 0;
    };
    // To make kernels that are looked at takes as long as all of the scan.
    this.#thread = new ThreadContext(memory, kernels, yieldToUrgent, Infinity);
  }

  /** @returns what a thread's stream would have given, all of it; undefined: it took too long */
  scan(request: Streams['scan']): OpenStream | undefined {
    const items: StreamItem[] = [];
    this.#endMs = this.#now() + this.#limitMs;
    const stream = STREAMS.scan(request, this.#thread);
    try {
      for (let next = stream.next(); next.done !== true; next = stream.next()) items.push(next.value);
    } catch (error) {
      if (error instanceof OutOfTime) return undefined;
      throw error;
    }
    return {
      next: async () => items.shift() ?? null,
      close: async () => undefined,
    };
  }
}
