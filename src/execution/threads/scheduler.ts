// Schedules the work of one thread: urgent work overtakes between two blocks.

import { type PrioritizedItem, PriorityQueue } from './priority-queue.js';

/** Work that was overtaken goes on as soon as it has had less than this part of the time. */
const OVERTAKEN_PART_MIN = 1 / 5;
/** Time after which a running part may be overtaken: a short query is done by then. */
const GRACE_MS = 50;

interface Turn {
  readonly priority: number;
  readonly startMs: number;
  /** Time taken by work that overtook it. */
  overtakenMs: number;
}

/**
 * The order in which a thread does its work. Work looks up between blocks (`yieldToUrgent`): what has a higher priority is
 * done then and there, on top of it, and it goes on when that is through. Nothing waits for ever: among what has not
 * begun every fourth pick is the oldest, and work that was overtaken keeps a fifth of the time.
 */
export class Scheduler<Item extends PrioritizedItem> {
  readonly #queue = new PriorityQueue<Item>();
  readonly #perform: (item: Item) => void;
  readonly #now: () => number;
  /** The one under way is the last; those before it are overtaken. */
  readonly #stack: Turn[] = [];

  constructor(perform: (item: Item) => void, now: () => number = () => performance.now()) {
    this.#perform = perform;
    this.#now = now;
  }

  add(item: Item): void {
    this.#queue.add(item);
  }

  /** Does everything there is to do, and what `receive` brings meanwhile. */
  run(receive: () => void): void {
    for (let item = this.#queue.next(); item !== undefined; item = this.#queue.next()) {
      this.#do(item);
      receive();
    }
  }

  /** Between blocks of the work under way. */
  yieldToUrgent(): void {
    const turn = this.#stack.at(-1);
    if (turn === undefined || this.#queue.best <= turn.priority || !this.#mayBeOvertaken(turn)) return;
    const item = this.#queue.nextAbove(turn.priority);
    if (item === undefined) return;
    const startMs = this.#now();
    this.#do(item);
    turn.overtakenMs += this.#now() - startMs;
  }

  #mayBeOvertaken({ startMs, overtakenMs }: Turn): boolean {
    const ranMs = this.#now() - startMs - overtakenMs;
    return overtakenMs <= GRACE_MS + ranMs * (1 / OVERTAKEN_PART_MIN - 1);
  }

  #do(item: Item): void {
    this.#stack.push({ priority: item.priority, startMs: this.#now(), overtakenMs: 0 });
    try {
      this.#perform(item);
    } finally {
      this.#stack.pop();
    }
  }
}
