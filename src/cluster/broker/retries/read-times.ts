// Times that reads usually take, and the number of those that may be asked for twice because they take longer.

import { BoundedCache } from '../../../base/bounded-cache.js';

/** Kinds of reads whose times are kept. */
const KINDS_KEPT = 1000;
/** No read counts as late sooner. */
const LATE_MS_MIN = 1000;
/** A read counts as late after so many times its usual time, which is the mean and four mean deviations. */
const LATE_FACTOR = 3;
const DEVIATIONS = 4;
/** The first read of a kind counts as late after so long. */
const UNKNOWN_LATE_MS = 10_000;
/** Part of a new time in the mean. */
const NEW_SHARE = 0.1;
/** One of so many reads may be asked for twice, and so many at once after a while without. */
const READS_PER_SECOND_TRY = 20;
const SECOND_TRIES_MAX = 10;

interface Times {
  readonly meanMs: number;
  readonly deviationMs: number;
}

/** Times of reads by their kind. Servers that are late because all have too much to do are not given the work twice: tries are counted. */
export class ReadTimes {
  readonly #times = new BoundedCache<string, Times>(KINDS_KEPT);
  #tries = SECOND_TRIES_MAX;

  /** Milliseconds after which a read of the kind is late. */
  lateAfterMs(kind: string): number {
    const times = this.#times.find(kind);
    if (times === undefined) return UNKNOWN_LATE_MS;
    return Math.max(LATE_MS_MIN, LATE_FACTOR * (times.meanMs + DEVIATIONS * times.deviationMs));
  }

  /** A read has been answered by the server that was asked first. One that waited very long says little about those to come. */
  note(kind: string, tookMs: number): void {
    const before = this.#times.find(kind);
    const ms = Math.min(tookMs, this.lateAfterMs(kind));
    const meanMs = before === undefined ? ms : before.meanMs + NEW_SHARE * (ms - before.meanMs);
    const deviationMs =
      before === undefined ? ms / 2 : before.deviationMs + NEW_SHARE * (Math.abs(ms - before.meanMs) - before.deviationMs);
    this.#times.keep(kind, { meanMs, deviationMs });
    this.#tries = Math.min(SECOND_TRIES_MAX, this.#tries + 1 / READS_PER_SECOND_TRY);
  }

  /** Whether a late read may be asked for a second time. */
  get maySecond(): boolean {
    return this.#tries >= 1;
  }

  countSecond(): void {
    this.#tries = Math.max(0, this.#tries - 1);
  }
}
