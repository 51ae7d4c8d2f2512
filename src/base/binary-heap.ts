// Binary heap.

/** Items of which the one that goes before all others is known at any time. Adding and removing take logarithmic time. */
export class BinaryHeap<Item extends number | object> {
  readonly #items: Item[];
  readonly #order: (a: Item, b: Item) => number;
  readonly #moved: ((item: Item, place: number) => void) | undefined;

  /**
   * @param order  above 0 when `a` goes before `b`
   * @param moved  is told where an item stands now, for owners that change items and then call `update`
   */
  constructor(items: Iterable<Item>, order: (a: Item, b: Item) => number, moved?: (item: Item, place: number) => void) {
    this.#items = [...items];
    this.#order = order;
    this.#moved = moved;
    for (const [place, item] of this.#items.entries()) moved?.(item, place);
    for (let place = (this.#items.length >>> 1) - 1; place >= 0; place--) this.#sink(place);
  }

  /** All items; the first goes before all others, the rest are in no order. */
  get items(): readonly Item[] {
    return this.#items;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    this.#rise(this.#items.push(item) - 1);
  }

  replaceFirst(item: Item): void {
    this.#items[0] = item;
    this.#sink(0);
  }

  dropFirst(): void {
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) this.replaceFirst(last);
  }

  /** Puts an item in order again that has changed. */
  update(place = 0): void {
    this.#sink(this.#rise(place));
  }

  #rise(from: number): number {
    const items = this.#items;
    const item = items[from];
    if (item === undefined) return from;
    let place = from;
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      const above = items[parent];
      if (above === undefined || this.#order(item, above) <= 0) break;
      items[place] = above;
      this.#moved?.(above, place);
      place = parent;
    }
    items[place] = item;
    this.#moved?.(item, place);
    return place;
  }

  #sink(from: number): void {
    const items = this.#items;
    const order = this.#order;
    const moved = this.#moved;
    const item = items[from];
    if (item === undefined) return;
    let place = from;
    for (;;) {
      let child = 2 * place + 1;
      let below = items[child];
      if (below === undefined) break;
      const right = items[child + 1];
      if (right !== undefined && order(right, below) > 0) {
        child++;
        below = right;
      }
      if (order(below, item) <= 0) break;
      items[place] = below;
      moved?.(below, place);
      place = child;
    }
    items[place] = item;
    moved?.(item, place);
  }
}
