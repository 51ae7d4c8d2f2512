// A queue of work by priority, first come first served within one.

/** One thing to do. */
export interface PrioritizedItem {
  readonly priority: number;
}

/** Every so many picks the one that has waited longest is picked, whatever its priority: so all come to their turn. */
const PICKS_PER_OLDEST = 4;

/** Work of a thread: highest priority first, equals in order of arrival. */
export class PriorityQueue<Item extends PrioritizedItem> {
  /** Items in order of arrival. */
  readonly #items: Item[] = [];
  #picks = 0;
  #best = -Infinity;

  /** The highest priority of what waits; -Infinity when nothing does. */
  get best(): number {
    return this.#best;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#best = Math.max(this.#best, item.priority);
  }

  /** Takes what is to be done next. */
  next(): Item | undefined {
    this.#picks++;
    return this.#take(this.#picks % PICKS_PER_OLDEST === 0 ? 0 : this.#indexOfBest());
  }

  /** Takes what goes before work of this priority. */
  nextAbove(priority: number): Item | undefined {
    return this.#best > priority ? this.#take(this.#indexOfBest()) : undefined;
  }

  #indexOfBest(): number {
    return this.#items.findIndex((item) => item.priority === this.#best);
  }

  #take(index: number): Item | undefined {
    const [item] = this.#items.splice(index, index < 0 ? 0 : 1);
    this.#best = this.#items.reduce((best, { priority }) => Math.max(best, priority), -Infinity);
    return item;
  }
}
