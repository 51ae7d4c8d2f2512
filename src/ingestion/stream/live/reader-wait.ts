// Time for which rows wait for their readers.

/**
 * Time that rows wait while further ones wait in the stream, whoever reads: as long as the task has been behind, between these. Parts are
 * then few and large, which are seldom joined: most have all rows between two writes to disk.
 */
const [BEHIND_MS_MIN, BEHIND_MS_MAX] = [250, 2000];

/** Tells how long rows wait: not at all for a reader, but while the task is behind its stream. */
export class ReaderWait {
  /** Time since which further rows have waited in the stream; null: none do. */
  #behindSinceMs: number | null = null;

  get isBehind(): boolean {
    return this.#behindSinceMs !== null;
  }

  set isBehind(isBehind: boolean) {
    this.#behindSinceMs = isBehind ? (this.#behindSinceMs ?? performance.now()) : null;
  }

  /** Time that rows are still to wait, the first of which came at a time. */
  leftMs(sinceMs: number): number {
    if (this.#behindSinceMs === null) return 0;
    const nowMs = performance.now();
    const wholeMs = Math.min(BEHIND_MS_MAX, Math.max(BEHIND_MS_MIN, nowMs - this.#behindSinceMs));
    return sinceMs + wholeMs - nowMs;
  }
}
