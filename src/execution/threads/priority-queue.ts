// A queue of work by priority, and by urgency within one.

import { urgencyOf, type Work } from './work.js';

/** One thing to do. */
export interface PrioritizedItem {
  readonly priority: number;
  /** Piece of work that it belongs to: a stream is pulled many times. */
  readonly work: Work;
}

/** Every so many picks the one that has waited longest is picked, whatever its priority: so all come to their turn. */
const PICKS_PER_OLDEST = 4;

interface Queued<Item> {
  readonly item: Item;
  readonly addedMs: number;
}

/** Work of a thread: highest priority first, among equals the most urgent. */
export class PriorityQueue<Item extends PrioritizedItem> {
  /** Items in order of arrival. */
  readonly #items: Queued<Item>[] = [];
  readonly #now: () => number;
  #picks = 0;
  #best = -Infinity;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The highest priority of what waits; -Infinity when nothing does. */
  get best(): number {
    return this.#best;
  }

  add(item: Item): void {
    this.#items.push({ item, addedMs: this.#now() });
    this.#best = Math.max(this.#best, item.priority);
  }

  /** Takes what is to be done next. */
  next(): Item | undefined {
    this.#picks++;
    return this.#take(this.#picks % PICKS_PER_OLDEST === 0 && this.#differ ? 0 : this.#indexOfBest(() => true));
  }

  /** Takes the most urgent of the highest priority that are let past; undefined: none is. */
  nextThat(passes: (work: Work, waitedMs: number) => boolean): Item | undefined {
    return this.#take(this.#indexOfBest(passes));
  }

  /** Whether priorities differ: among equals nobody starves, as waiting makes urgent. */
  get #differ(): boolean {
    return this.#items.some(({ item }) => item.priority !== this.#best);
  }

  #indexOfBest(passes: (work: Work, waitedMs: number) => boolean): number {
    const now = this.#now();
    let [found, most] = [-1, -Infinity];
    for (const [index, { item, addedMs }] of this.#items.entries()) {
      if (item.priority !== this.#best) continue;
      const waitedMs = item.work.waitedMs + now - addedMs;
      const urgency = urgencyOf(item.work, waitedMs);
      if (urgency > most && passes(item.work, waitedMs)) [found, most] = [index, urgency];
    }
    return found;
  }

  #take(index: number): Item | undefined {
    const [taken] = this.#items.splice(index, index < 0 ? 0 : 1);
    if (taken === undefined) return undefined;
    this.#best = this.#items.reduce((best, { item }) => Math.max(best, item.priority), -Infinity);
    taken.item.work.waitedMs += this.#now() - taken.addedMs;
    return taken.item;
  }
}
