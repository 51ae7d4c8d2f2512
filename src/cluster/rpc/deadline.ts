// Signals that also fire at a deadline.

import { Canceller, type CancelSignal } from '../../base/cancel-signal.js';
import { type Clock, SYSTEM_CLOCK, TIMER_MS_MAX, type Timer } from '../../base/clock/clock.js';
import { ServiceError } from '../../base/errors.js';

/** A signal that follows another one and also fires at an instant; `release` when the work is over. */
export interface Deadline {
  /** Aborted with a ServiceError: `timeout` at the instant, `cancelled` when the parent fired. */
  readonly signal: CancelSignal;
  /** Fires it with `cancelled`. */
  cancel(): void;
  /** Fires so much later than now instead, unless it has fired. */
  renew(remainingMs: number): void;
  release(): void;
}

/** One for all: every query ends by cancelling what may still run for it, and a stack of that tells nobody anything. */
const CANCELLED = new ServiceError('cancelled', 'the request was cancelled');

export function startDeadline(remainingMs: number, parent: CancelSignal | null, clock: Clock = SYSTEM_CLOCK): Deadline {
  return new RunningDeadline(inTimerRange(remainingMs), parent, clock);
}

class RunningDeadline implements Deadline {
  readonly signal = new Canceller();
  readonly #clock: Clock;
  #timer: Timer;
  readonly #parent: CancelSignal | null;
  readonly #cancel = (): void => this.cancel();

  constructor(remainingMs: number, parent: CancelSignal | null, clock: Clock) {
    this.#clock = clock;
    this.#parent = parent;
    this.#timer = clock.setTimer(endInTime, remainingMs, this.signal);
    if (parent?.aborted === true) this.cancel();
    else parent?.addEventListener('abort', this.#cancel, { once: true });
  }

  cancel(): void {
    this.#clock.clearTimer(this.#timer);
    const reason = this.#parent?.reason;
    this.signal.abort(reason instanceof ServiceError ? reason : CANCELLED);
  }

  renew(remainingMs: number): void {
    this.#clock.clearTimer(this.#timer);
    if (!this.signal.aborted) this.#timer = this.#clock.setTimer(endInTime, inTimerRange(remainingMs), this.signal);
  }

  release(): void {
    this.#clock.clearTimer(this.#timer);
    this.#parent?.removeEventListener('abort', this.#cancel);
  }
}

function inTimerRange(ms: number): number {
  return Math.min(Math.max(ms, 0), TIMER_MS_MAX);
}

function endInTime(signal: Canceller): void {
  signal.abort(new ServiceError('timeout', 'the deadline has passed; raise the timeout of the query context'));
}
