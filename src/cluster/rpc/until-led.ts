// Repeats a call until a leader is there to answer it.

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../base/errors.js';

/** Time between two tries. */
const TRY_AGAIN_MS = 250;

/**
 * Calls a peer that may be missing for a moment, because a leader or a process is being replaced, and calls again while
 * it is. What it asks for must do no harm when repeated.
 * @param keepsTrying  asked before each further try
 * @throws what the last try failed with, as soon as that is anything but `unavailable` or `not_leader`, or `limitMs` are over
 */
export async function untilLed<Result>(
  call: () => Promise<Result>,
  { limitMs, keepsTrying = () => true }: { readonly limitMs: number; readonly keepsTrying?: () => boolean },
): Promise<Result> {
  const endMs = performance.now() + limitMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isMomentary = error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'not_leader');
      if (!isMomentary || performance.now() >= endMs || !keepsTrying()) throw error;
      await sleep(Math.min(TRY_AGAIN_MS, Math.max(1, endMs - performance.now())));
    }
  }
}
