// Cancellation of running work, without the cost of the platform's own signals.

/**
 * The part of an AbortSignal that running work looks at; every AbortSignal is one. Each query has two or three, and making one of
 * the platform's takes longer than planning a known statement.
 */
export interface CancelSignal {
  readonly aborted: boolean;
  /** The error that work is to end with; undefined before. */
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: (value: unknown) => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: (value: unknown) => void): void;
}

/** A signal together with the means to fire it. */
export class Canceller implements CancelSignal {
  #aborted = false;
  #reason: unknown;
  /** Told once, in the order they came. */
  #listeners: ((value: unknown) => void)[] = [];

  get aborted(): boolean {
    return this.#aborted;
  }

  get reason(): unknown {
    return this.#reason;
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.#reason;
  }

  addEventListener(_type: 'abort', listener: (value: unknown) => void): void {
    if (!this.#aborted && !this.#listeners.includes(listener)) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: (value: unknown) => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at >= 0) this.#listeners.splice(at, 1);
  }

  /** The first call counts. */
  abort(reason: unknown): void {
    if (this.#aborted) return;
    this.#aborted = true;
    this.#reason = reason;
    const told = this.#listeners;
    this.#listeners = [];
    // Listeners wait for something each: one that fails must not keep the others waiting.
    for (const listener of told) {
      try {
        listener(undefined);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

export function isCancelSignal(value: unknown): value is CancelSignal {
  return value instanceof Canceller || value instanceof AbortSignal;
}

/** The platform's own form of a signal, for its libraries. */
export function platformSignal(signal: CancelSignal): AbortSignal {
  if (signal instanceof AbortSignal) return signal;
  const controller = new AbortController();
  const follow = (): void => controller.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  return controller.signal;
}
