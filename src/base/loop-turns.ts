// Turns of the event loop: a turn every 2 ms for loops that grow with their input, the coming one, and who shares one.

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

/** So many requests of a turn wait for each other for longer than it takes to hand one of them over to another thread. */
const SHARED_BY = 5;
/** Turns after one that many requests shared, which are as good as shared: answers that come from elsewhere make turns short. */
const SHARED_TURNS = 8;

/** Requests that began to be answered in this turn of the event loop. */
let begun = 0;
/** Turns that count as shared still, of those in which a request begins. */
let sharedTurns = 0;

function endTurn(): void {
  if (begun >= SHARED_BY) sharedTurns = SHARED_TURNS;
  else if (sharedTurns > 0) sharedTurns--;
  begun = 0;
}

/** Counts a request that begins to be answered. */
export function beginRequest(): void {
  if (begun++ === 0) setImmediate(endTurn);
}

/** Whether many requests begin in this turn, or began in one of the last. */
export function isTurnShared(): boolean {
  return begun >= SHARED_BY || sharedTurns > 0;
}
