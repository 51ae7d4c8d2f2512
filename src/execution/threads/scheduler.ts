// Schedules the work of one thread: urgent and small work overtakes between two blocks.

import { type PrioritizedItem, PriorityQueue } from './priority-queue.js';
import { isMuchSmaller, urgencyOf, type Work } from './work.js';

/** Work that was overtaken by a higher priority goes on as soon as it has had less than this part of the time. */
const OVERTAKEN_PART_MIN = 1 / 5;
/** Time after which a running part may be overtaken: a short query is done by then. */
const GRACE_MS = 50;
/** Between two looks at work of the same priority, so that blocks are not read slower while others wait. */
const PIECE_MS = 0.5;
/** Pieces of work that a thread has begun at most, one on top of the other, before equals wait: each holds its memory. */
const BEGUN_MAX = 3;

interface Turn {
  readonly priority: number;
  readonly work: Work;
  readonly startMs: number;
  /** Time taken by work that overtook it. */
  overtakenMs: number;
  lookedMs: number;
}

/**
 * The order in which a thread does its work. Work looks up between blocks (`yieldToUrgent`): what has a higher priority is
 * done then and there, on top of it, and so is much smaller work of the same priority that is more urgent (`urgencyOf`); it goes on
 * when that is through. Work that turns out larger than it was thought to be is overtaken like any other of its size. Nothing
 * waits for ever: among what has not begun every fourth pick is the oldest where priorities differ, work that was overtaken by a higher
 * priority keeps a fifth of the time, and the time that it waits makes it urgent among its equals.
 */
export class Scheduler<Item extends PrioritizedItem> {
  readonly #queue: PriorityQueue<Item>;
  readonly #perform: (item: Item) => void;
  readonly #now: () => number;
  /** The one under way is the last; those before it are overtaken. */
  readonly #stack: Turn[] = [];

  constructor(perform: (item: Item) => void, now: () => number = () => performance.now()) {
    this.#perform = perform;
    this.#now = now;
    this.#queue = new PriorityQueue(now);
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

  /**
   * Between blocks of the work under way.
   * @returns milliseconds that went into other work
   */
  yieldToUrgent(): number {
    const turn = this.#stack.at(-1);
    if (turn === undefined || this.#queue.best < turn.priority) return 0;
    const item = this.#queue.best > turn.priority ? this.#nextAbove(turn) : this.#nextAmongEquals(turn);
    if (item === undefined) return 0;
    const startMs = this.#now();
    this.#do(item);
    const tookMs = this.#now() - startMs;
    turn.overtakenMs += tookMs;
    return tookMs;
  }

  #nextAbove({ startMs, overtakenMs }: Turn): Item | undefined {
    const ranMs = this.#now() - startMs - overtakenMs;
    return overtakenMs <= GRACE_MS + ranMs * (1 / OVERTAKEN_PART_MIN - 1) ? this.#queue.nextThat(() => true) : undefined;
  }

  #nextAmongEquals(turn: Turn): Item | undefined {
    const now = this.#now();
    if (this.#stack.length >= BEGUN_MAX || now - turn.lookedMs < PIECE_MS) return undefined;
    turn.lookedMs = now;
    const { work, startMs, overtakenMs } = turn;
    const soFar = { ...work, ranMs: work.ranMs + now - startMs - overtakenMs };
    const urgency = urgencyOf(soFar, work.waitedMs + overtakenMs);
    return this.#queue.nextThat((other, waitedMs) => isMuchSmaller(other, soFar) && urgencyOf(other, waitedMs) >= urgency);
  }

  #do(item: Item): void {
    const startMs = this.#now();
    const turn: Turn = { priority: item.priority, work: item.work, startMs, overtakenMs: 0, lookedMs: startMs };
    this.#stack.push(turn);
    try {
      this.#perform(item);
    } finally {
      this.#stack.pop();
      turn.work.ranMs += this.#now() - startMs - turn.overtakenMs;
      turn.work.waitedMs += turn.overtakenMs;
    }
  }
}
