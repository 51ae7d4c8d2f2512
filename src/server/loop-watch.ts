// Logs what keeps the event loop late.

import { openSync, readSync } from 'node:fs';
import type { Log } from '../base/log.js';
import { onFirstUse } from '../base/on-first-use.js';
import type { Route } from './http.types.js';

/** Clock and timers of the watch; tests pass their own. */
export interface LoopClock {
  nowMs(): number;
  /** Processor time that the thread of the event loop has had, in milliseconds; undefined where the system does not tell. */
  processorMs(): number | undefined;
  every(periodMs: number, look: () => void): { stop(): void };
}

/** Requests that are named in one line. */
const NAMED_MAX = 4;
const NAME_LENGTH_MAX = 200;

/**
 * Watches the event loop: a timer that fires late means that something ran in one piece meanwhile, and that every other
 * request waited for it. Says so in the log, with the requests that began since the timer was last on time.
 */
export class LoopWatch {
  readonly #lateMs: number;
  readonly #periodMs: number;
  readonly #log: Log;
  readonly #clock: LoopClock;
  #timer: { stop(): void } | undefined;
  /** The latest requests, in turn: each place is written anew after `NAMED_MAX` others. */
  readonly #latest: string[] = new Array<string>(NAMED_MAX).fill('');
  #seen = 0;
  /** `#seen` when the timer last fired. */
  #seenBefore = 0;
  #lookedMs = 0;
  #processorMs: number | undefined;

  /** @param lateMs  lateness that is logged; 0: nothing is watched */
  constructor(lateMs: number, log: Log, clock: LoopClock = SYSTEM_CLOCK) {
    this.#lateMs = lateMs;
    this.#periodMs = Math.max(1, lateMs / 4);
    this.#log = log;
    this.#clock = clock;
  }

  /** Begins to watch: a process that is not ready yet holds up nobody. */
  start(): void {
    if (this.#lateMs === 0) return;
    this.#begin();
    this.#timer = this.#clock.every(this.#periodMs, () => this.#look());
  }

  /** The same routes, whose requests are known to the watch. */
  watched(routes: Iterable<Route>): Route[] {
    if (this.#lateMs === 0) return [...routes];
    return Array.from(routes, (route) => ({
      ...route,
      handle: (request, parameters) => {
        this.#latest[this.#seen++ % NAMED_MAX] = `${request.method} ${request.rawUrl}`;
        return route.handle(request, parameters);
      },
    }));
  }

  stop(): void {
    this.#timer?.stop();
  }

  #look(): void {
    const lateMs = Math.round(this.#clock.nowMs() - this.#lookedMs - this.#periodMs);
    if (lateMs >= this.#lateMs) {
      const processorMs = this.#clock.processorMs();
      // Much less than it was late: other threads or processes had the processor, or the machine stood still.
      const busyMs = processorMs === undefined || this.#processorMs === undefined ? undefined : Math.round(processorMs - this.#processorMs);
      this.#log.warn(`event loop late by ${lateMs} ms: ${this.#requests()}`, { lateMs, busyMs });
    }
    // The next stretch begins behind this look, which is not a part of it.
    this.#begin();
    this.#seenBefore = this.#seen;
  }

  #begin(): void {
    this.#processorMs = this.#clock.processorMs();
    this.#lookedMs = this.#clock.nowMs();
  }

  #requests(): string {
    const begun = Math.min(this.#seen - this.#seenBefore, NAMED_MAX);
    const named = Math.max(begun, Math.min(this.#seen, 1));
    if (named === 0) return 'no request';
    const names = Array.from({ length: named }, (_, place) =>
      (this.#latest[(this.#seen - named + place) % NAMED_MAX] ?? '').slice(0, NAME_LENGTH_MAX),
    );
    return `${begun === 0 ? 'after request' : 'request'} ${names.join(', ')}`;
  }
}

const NANOSECONDS_PER_MS = 1e6;

/**
 * Linux counts the processor time of each thread, of one that runs up to its last tick, a few milliseconds ago; the thread of the event
 * loop has the number of the process.
 */
const THREAD_FILE = `/proc/self/task/${process.pid}/schedstat`;

/** Descriptor of the thread's statistics. It stays open: a read takes 2 microseconds, opening it each time 20. */
const threadFile = onFirstUse(() => {
  try {
    return openSync(THREAD_FILE, 'r');
  } catch {
    return undefined;
  }
});
const threadTimes = Buffer.alloc(64);

const SYSTEM_CLOCK: LoopClock = {
  nowMs: () => performance.now(),
  processorMs() {
    const file = threadFile();
    if (file === undefined) return undefined;
    return (
      Number.parseInt(threadTimes.toString('latin1', 0, readSync(file, threadTimes, 0, threadTimes.length, 0)), 10) / NANOSECONDS_PER_MS
    );
  },
  every(periodMs, look) {
    const timer = setInterval(look, periodMs).unref();
    return { stop: () => clearInterval(timer) };
  },
};
