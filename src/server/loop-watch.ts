import { readFileSync } from 'node:fs';
import type { Log } from '../base/log.js';
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
  readonly #timer: { stop(): void } | undefined;
  /** The latest requests, in turn: each place is written anew after `NAMED_MAX` others. */
  readonly #latest: string[] = new Array<string>(NAMED_MAX).fill('');
  #seen = 0;
  /** `#seen` when the timer last fired. */
  #seenBefore = 0;
  #lookedMs: number;
  #processorMs: number | undefined;

  /** @param lateMs  lateness that is logged; 0: nothing is watched */
  constructor(lateMs: number, log: Log, clock: LoopClock = SYSTEM_CLOCK) {
    this.#lateMs = lateMs;
    this.#periodMs = Math.max(1, lateMs / 4);
    this.#log = log;
    this.#clock = clock;
    this.#lookedMs = clock.nowMs();
    this.#processorMs = clock.processorMs();
    this.#timer = lateMs === 0 ? undefined : clock.every(this.#periodMs, () => this.#look());
  }

  /** The same routes, whose requests are known to the watch. */
  watched(routes: Iterable<Route>): Route[] {
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
    const nowMs = this.#clock.nowMs();
    const processorMs = this.#clock.processorMs();
    const lateMs = Math.round(nowMs - this.#lookedMs - this.#periodMs);
    if (lateMs >= this.#lateMs) {
      // Much less than it was late: other threads or processes had the processor, or the machine stood still.
      const busyMs = processorMs === undefined || this.#processorMs === undefined ? undefined : Math.round(processorMs - this.#processorMs);
      this.#log.warn(`event loop late by ${lateMs} ms: ${this.#requests()}`, { lateMs, busyMs });
    }
    this.#lookedMs = nowMs;
    this.#processorMs = processorMs;
    this.#seenBefore = this.#seen;
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

/** Linux counts the processor time of each thread; that of the event loop has the number of the process. */
const THREAD_FILE = `/proc/self/task/${process.pid}/schedstat`;

const SYSTEM_CLOCK: LoopClock = {
  nowMs: () => performance.now(),
  processorMs() {
    try {
      return Number.parseInt(readFileSync(THREAD_FILE, 'latin1'), 10) / NANOSECONDS_PER_MS;
    } catch {
      return undefined;
    }
  },
  every(periodMs, look) {
    const timer = setInterval(look, periodMs).unref();
    return { stop: () => clearInterval(timer) };
  },
};
