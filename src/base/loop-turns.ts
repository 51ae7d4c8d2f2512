// Turns of the event loop: a turn every 2 ms for loops that grow with their input, and the coming one.

import { setImmediate as nextTurn } from 'node:timers/promises';

/** Longest stretch before the event loop gets its turn. */
const STRETCH_MS = 2;

/**
 * For loops on the event loop that grow with their input: they look after each step whether a turn is due, and if so wait
 * until everybody else had one.
 */
export class LoopTurns {
  #sinceMs = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#sinceMs > STRETCH_MS;
  }

  async give(): Promise<void> {
    await nextTurn();
    this.#sinceMs = performance.now();
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
