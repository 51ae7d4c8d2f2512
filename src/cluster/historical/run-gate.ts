import type { Frame } from '../../model/frame.js';
import { addStage, type Profile } from '../../model/profile.js';

interface Waiting {
  readonly priority: number;
  readonly enter: () => void;
}

/**
 * Lets so many runs begin at a time; when there are more, those of higher priority go first, and among equals the one
 * that came first. A run is through the gate when its first frame is made: what follows is made as it is read, and a
 * slow reader keeps nobody out.
 */
export class RunGate {
  readonly #slots: number;
  /** By priority, then arrival. */
  readonly #waiting: Waiting[] = [];
  #taken = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  async *through(
    frames: AsyncIterable<Frame>,
    { priority, signal, profile }: { readonly priority: number; readonly signal: AbortSignal; readonly profile: Profile },
  ): AsyncGenerator<Frame> {
    const startMs = performance.now();
    await this.#enter(priority, signal);
    addStage(profile, 'queue', performance.now() - startMs);
    let isInside = true;
    const leave = (): void => {
      if (isInside) this.#leave();
      isInside = false;
    };
    try {
      for await (const frame of frames) {
        leave();
        yield frame;
      }
    } finally {
      leave();
    }
  }

  async #enter(priority: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#taken < this.#slots) {
      this.#taken++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        priority,
        enter: () => {
          signal.removeEventListener('abort', abort);
          resolve();
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      const after = this.#waiting.findIndex((other) => other.priority < priority);
      this.#waiting.splice(after < 0 ? this.#waiting.length : after, 0, waiting);
    });
  }

  /** The slot goes to whoever is next. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken--;
    else next.enter();
  }
}
