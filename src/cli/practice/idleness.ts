// The time for which nobody has asked a process for anything.

import type { RunCounters } from '../../execution/run/engine.js';

/** Tells how long nobody has asked: queries of users, and runs for other processes, by the segments that they read. */
export class Idleness {
  readonly #counters: Pick<RunCounters, 'segments'>;
  readonly #now: () => number;
  #segments: number;
  #askedMs: number;

  constructor(counters: Pick<RunCounters, 'segments'>, now: () => number = () => performance.now()) {
    this.#counters = counters;
    this.#now = now;
    this.#segments = counters.segments;
    this.#askedMs = now();
  }

  /** To be called with each query. */
  asked(): void {
    this.#askedMs = this.#now();
  }

  /** Milliseconds since the last query, or since a run was noticed here. */
  get ms(): number {
    const { segments } = this.#counters;
    if (segments !== this.#segments) this.asked();
    this.#segments = segments;
    return this.#now() - this.#askedMs;
  }
}
