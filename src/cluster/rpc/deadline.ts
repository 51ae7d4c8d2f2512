// Abort signals that also fire at a deadline.

import { setMaxListeners } from 'node:events';
import { ServiceError } from '../../base/errors.js';

/** A signal that follows another one and also fires at an instant; `release` when the work is over. */
export interface Deadline {
  /** Aborted with a ServiceError: `timeout` at the instant, `cancelled` when the parent fired. */
  readonly signal: AbortSignal;
  /** Fires it with `cancelled`. */
  cancel(): void;
  release(): void;
}

/** Node's timers hold 31 bits. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** One for all: every query ends by cancelling what may still run for it, and a stack of that tells nobody anything. */
const CANCELLED = new ServiceError('cancelled', 'the request was cancelled');

export function startDeadline(remainingMs: number, parent: AbortSignal | null): Deadline {
  const controller = new AbortController();
  // A statement may have more parts under way than the ten after which Node suspects a leak.
  setMaxListeners(0, controller.signal);
  const timer = setTimeout(
    () => controller.abort(new ServiceError('timeout', 'the deadline has passed; raise the timeout of the query context')),
    Math.min(Math.max(remainingMs, 0), TIMER_MS_MAX),
  );
  const cancel = () => {
    clearTimeout(timer);
    controller.abort(parent?.reason instanceof ServiceError ? parent.reason : CANCELLED);
  };
  if (parent?.aborted === true) cancel();
  else parent?.addEventListener('abort', cancel, { once: true });
  return {
    signal: controller.signal,
    cancel,
    release() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', cancel);
    },
  };
}
