/** A seeded source of random choices (mulberry32): the same seed gives the same cases on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer in [0, end). */
  below(end: number): number {
    return Math.floor(this.fraction() * end);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.below(values.length)];
    if (value === undefined && values.length === 0) throw new Error('there is nothing to pick from');
    return value as Value;
  }

  /** Between `least` and `most` values, each made anew. */
  list<Value>(least: number, most: number, make: () => Value): Value[] {
    return Array.from({ length: least + this.below(most - least + 1) }, make);
  }

  /** Distinct values in random order, at most `most` of them and at least one. */
  some<Value>(values: readonly Value[], most: number): Value[] {
    const left = [...values];
    const chosen: Value[] = [];
    for (let count = 1 + this.below(most); count > 0 && left.length > 0; count--) chosen.push(...left.splice(this.below(left.length), 1));
    return chosen;
  }
}
