import type { Clock, Timer } from '../../src/base/clock/clock.js';

/** A clock on which time passes when a test says so: nothing depends on how fast the machine is. */
export class HandClock implements Clock {
  #ms = 1_000_000;
  #set = new Map<object, { readonly atMs: number; readonly fire: () => void }>();

  now(): number {
    return this.#ms;
  }

  monotonicMs(): number {
    return this.#ms;
  }

  setTimer<Told>(callback: (told: Told) => void, delayMs: number, told: Told): Timer {
    const timer: Timer = { unref: () => timer as NodeJS.Timeout };
    this.#set.set(timer, { atMs: this.#ms + Math.max(0, delayMs), fire: () => callback(told) });
    return timer;
  }

  clearTimer(timer: Timer | undefined): void {
    if (timer !== undefined) this.#set.delete(timer);
  }

  /** Timers that are set. */
  get waiting(): number {
    return this.#set.size;
  }

  /** Has time pass, from timer to timer; what hangs on each happens before the next. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#ms + ms;
    while (await this.#next(endMs));
    this.#ms = endMs;
    await settled();
  }

  /** Has time pass until a promise settles, an hour at most. */
  async passUntil<Value>(promise: Promise<Value>): Promise<Value> {
    let isSettled = false;
    const note = (): void => {
      isSettled = true;
    };
    void promise.then(note, note);
    const endMs = this.#ms + 3_600_000;
    await settled();
    while (!isSettled) if (!(await this.#next(endMs))) throw new Error('no timer is set that it could wait for');
    return promise;
  }

  async #next(endMs: number): Promise<boolean> {
    await settled();
    const [first] = [...this.#set].sort(([, a], [, b]) => a.atMs - b.atMs);
    if (first === undefined || first[1].atMs > endMs) return false;
    this.#set.delete(first[0]);
    this.#ms = Math.max(this.#ms, first[1].atMs);
    first[1].fire();
    await settled();
    return true;
  }
}

/** Resolves when all that hangs on promises alone has happened, turns of the event loop included. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}
