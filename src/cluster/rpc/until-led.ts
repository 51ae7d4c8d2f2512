// Repeats a call until a leader is there to answer it.

import { type Clock, SYSTEM_CLOCK, sleep } from '../../base/clock/clock.js';
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
  {
    limitMs,
    keepsTrying = () => true,
    clock = SYSTEM_CLOCK,
  }: { readonly limitMs: number; readonly keepsTrying?: () => boolean; readonly clock?: Clock },
): Promise<Result> {
  const endMs = clock.monotonicMs() + limitMs;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isMomentary = error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'not_leader');
      if (!isMomentary || clock.monotonicMs() >= endMs || !keepsTrying()) throw error;
      await sleep(clock, Math.min(TRY_AGAIN_MS, Math.max(1, endMs - clock.monotonicMs())));
    }
  }
}
