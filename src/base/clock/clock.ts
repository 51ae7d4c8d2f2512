// Clock and timers of a process: those of the machine, or ones that a simulation gives.

import type { EpochMs } from '../instant.js';

/** The longest time that a timer waits: longer ones end at once on the platform, and are set again in parts. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** A timer that was set; after `unref` the process does not stay for it. */
export type Timer = Pick<NodeJS.Timeout, 'unref'>;

/** Time as a process sees it. Classes are given one, and `SYSTEM_CLOCK` unless a simulation orders what happens (decision 34). */
export interface Clock {
  /** Time of the calendar, which a person may set back. */
  now(): EpochMs;
  /** Milliseconds since an instant of its own; never goes back. */
  monotonicMs(): number;
  setTimer<Told>(callback: (told: Told) => void, delayMs: number, told: Told): Timer;
  clearTimer(timer: Timer | undefined): void;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer: setTimeout,
  // Timers of this clock are those of Node.
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout | undefined),
};

/** A timer that may wait longer than one of the platform; the process does not stay for it. */
export interface LongTimer {
  clear(): void;
}

export function startLongTimer(clock: Clock, callback: () => void, delayMs: number): LongTimer {
  let timer: Timer | undefined;
  const wait = (leftMs: number): void => {
    const partMs = Math.min(leftMs, TIMER_MS_MAX);
    timer = clock.setTimer(() => (leftMs > partMs ? wait(leftMs - partMs) : callback()), Math.ceil(partMs), undefined);
    timer.unref();
  };
  wait(delayMs);
  return { clear: () => clock.clearTimer(timer) };
}

/** Resolves when the time is over. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(resolve, delayMs, undefined);
  });
}
