// Turns of the event loop: a turn every 2 ms for loops that grow with their input, and the coming one.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Clock, SYSTEM_CLOCK } from './clock/clock.js';

/** Longest stretch before the event loop gets its turn. */
const STRETCH_MS = 2;

/**
 * For loops on the event loop that grow with their input: they look after each step whether a turn is due, and if so wait
 * until everybody else had one.
 */
export class LoopTurns {
  /** Clock of all of them: a simulation stops it, so that what a turn is given for does not hang on the machine. */
  static clock: Pick<Clock, 'monotonicMs'> = SYSTEM_CLOCK;

  #sinceMs = LoopTurns.clock.monotonicMs();

  get isDue(): boolean {
    return LoopTurns.clock.monotonicMs() - this.#sinceMs > STRETCH_MS;
  }

  async give(): Promise<void> {
    await nextTurn();
    this.#sinceMs = LoopTurns.clock.monotonicMs();
  }
}

let coming: Promise<undefined> | undefined;

/** Resolves at the coming turn of the event loop: one timer for all who race with it. */
export function comingTurn(): Promise<undefined> {
  coming ??= nextTurn(undefined).then(() => {
    coming = undefined;
    return undefined;
  });
  return coming;
}
