// Answers which row of a range is smallest or largest, or what its numbers add up to.

/** Numbers of rows, one each: values to add up, or places of rows to choose from. */
export type RowNumbers = Float64Array | Int32Array;

/** Joins what is known of two neighbouring ranges; `none` with anything gives that. */
export type Combine = (a: number, b: number) => number;

/** Aggregates of any range of neighbouring rows, from at most two nodes of each level. */
export class RangeTree {
  /** The rows, then pairs of them, then pairs of these, ... */
  readonly #levels: RowNumbers[];
  readonly #combine: Combine;
  readonly #none: number;

  /** @param none  stands for no row */
  constructor(rows: RowNumbers, none: number, combine: Combine) {
    this.#combine = combine;
    this.#none = none;
    this.#levels = [rows];
    for (let below = rows; below.length > 1; ) {
      const count = Math.ceil(below.length / 2);
      const level = below instanceof Int32Array ? new Int32Array(count) : new Float64Array(count);
      for (let at = 0; at < count; at++) level[at] = combine(below[at * 2] ?? none, below[at * 2 + 1] ?? none);
      this.#levels.push(level);
      below = level;
    }
  }

  /** Aggregate of rows [start, end). */
  over(start: number, end: number): number {
    let [left, right] = [this.#none, this.#none];
    let [low, high] = [start, end];
    for (const level of this.#levels) {
      if (low >= high) break;
      if (low % 2 === 1) left = this.#combine(left, level[low++] ?? this.#none);
      if (high % 2 === 1) right = this.#combine(level[--high] ?? this.#none, right);
      low >>>= 1;
      high >>>= 1;
    }
    return this.#combine(left, right);
  }
}
