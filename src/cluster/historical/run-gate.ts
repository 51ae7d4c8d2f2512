// Limits how many plans a historical runs at a time; urgent ones overtake others.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import { expectedMsOf, isMuchSmaller, newWork, urgencyOf, type Work } from '../../execution/threads/work.js';
import type { Frame } from '../../model/frame.js';
import { addStage, type Profile } from '../../model/profile.js';

/** Priority and size of a run. */
interface Place {
  readonly priority: number;
  readonly work: Work;
}

interface Waiting {
  readonly place: Place;
  readonly sinceMs: number;
  readonly enter: () => void;
}

/** Runs of higher and higher priorities, or smaller and smaller ones, that overtake each other are inside together: so many times the slots at most. */
const CROWD_MAX = 4;

/**
 * Lets so many runs of a priority or a higher one be under way at a time: those of lower ones and
 * much larger ones are no reason to wait, since threads let others overtake them. When there are more, those of higher priority go first, and
 * among equals the most urgent (`urgencyOf`): of one size the one that came first. A run is through the gate when its first frame is made: what follows is made as it is read, and a
 * slow reader keeps nobody out.
 */
export class RunGate {
  readonly #slots: number;
  readonly #waitingMax: number;
  readonly #now: () => number;
  /** Waiting runs in order of arrival. */
  readonly #waiting: Waiting[] = [];
  readonly #inside: Place[] = [];

  /** @param waitingMax  runs that may wait */
  constructor(slots: number, waitingMax: number, now: () => number = () => performance.now()) {
    this.#slots = slots;
    this.#waitingMax = waitingMax;
    this.#now = now;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get inside(): number {
    return this.#inside.length;
  }

  async *through(
    frames: AsyncIterable<Frame>,
    {
      priority,
      rows,
      signal,
      profile,
    }: { readonly priority: number; readonly rows: number; readonly signal: CancelSignal; readonly profile: Profile },
  ): AsyncGenerator<Frame> {
    const startMs = performance.now();
    const place: Place = { priority, work: newWork(expectedMsOf(rows)) };
    await this.#enter(place, signal);
    addStage(profile, 'queue', performance.now() - startMs);
    let isInside = true;
    const leave = (): void => {
      if (isInside) this.#leave(place);
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

  async #enter(place: Place, signal: CancelSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#hasRoomFor(place)) {
      this.#inside.push(place);
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
        place,
        sinceMs: this.#now(),
        enter: () => {
          signal.removeEventListener('abort', abort);
          resolve();
        },
      };
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #hasRoomFor({ priority, work }: Place): boolean {
    const isRival = (other: Place): boolean =>
      other.priority > priority || (other.priority === priority && !isMuchSmaller(work, other.work));
    const rivals = this.#inside.filter(isRival).length;
    return rivals < this.#slots && this.#inside.length < this.#slots * CROWD_MAX;
  }

  /** Lets in the next run, and others that find room after it. */
  #leave(place: Place): void {
    this.#inside.splice(this.#inside.indexOf(place), 1);
    for (let next = this.#first(); next !== undefined && this.#hasRoomFor(next.place); next = this.#first()) {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      this.#inside.push(next.place);
      next.enter();
    }
  }

  /** The most urgent of the highest priority. */
  #first(): Waiting | undefined {
    const now = this.#now();
    const urgency = ({ place, sinceMs }: Waiting): number => urgencyOf(place.work, now - sinceMs);
    return this.#waiting.reduce<Waiting | undefined>((best, each) => {
      if (best === undefined || each.place.priority > best.place.priority) return each;
      return each.place.priority === best.place.priority && urgency(each) > urgency(best) ? each : best;
    }, undefined);
  }
}
