// Limits how many plans a historical runs at a time; urgent ones overtake others.

import { ServiceError } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import { addStage, type Profile } from '../../model/profile.js';

interface Waiting {
  readonly priority: number;
  readonly enter: () => void;
}

/** Runs of higher and higher priorities that overtake each other are inside together: so many times the slots at most. */
const CROWD_MAX = 4;

/**
 * Lets so many runs of a priority or a higher one be under way at a time: those of lower ones are no reason to wait, since
 * threads do the higher ones first. When there are more, those of higher priority go first, and among equals the one
 * that came first. A run is through the gate when its first frame is made: what follows is made as it is read, and a
 * slow reader keeps nobody out.
 */
export class RunGate {
  readonly #slots: number;
  readonly #waitingMax: number;
  /** Waiting runs by priority, then arrival. */
  readonly #waiting: Waiting[] = [];
  /** Priorities of the runs inside. */
  readonly #inside: number[] = [];

  /** @param waitingMax  runs that may wait */
  constructor(slots: number, waitingMax: number) {
    this.#slots = slots;
    this.#waitingMax = waitingMax;
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
      if (isInside) this.#leave(priority);
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
    if (this.#hasRoomFor(priority)) {
      this.#inside.push(priority);
      return;
    }
    if (this.#waiting.length >= this.#waitingMax)
      throw new ServiceError(
        'capacity_exceeded',
        `${this.#waiting.length} runs wait for their turn, as many as svc.historical.queue.maxSize allows`,
      );
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

  #hasRoomFor(priority: number): boolean {
    const rivals = this.#inside.filter((other) => other >= priority).length;
    return rivals < this.#slots && this.#inside.length < this.#slots * CROWD_MAX;
  }

  /** Lets in the next run, and others that find room after it. */
  #leave(priority: number): void {
    this.#inside.splice(this.#inside.indexOf(priority), 1);
    for (let next = this.#waiting[0]; next !== undefined && this.#hasRoomFor(next.priority); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#inside.push(next.priority);
      next.enter();
    }
  }
}
