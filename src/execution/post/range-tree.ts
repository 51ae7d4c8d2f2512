// Answers which row of a range is smallest or largest.

import type { Value } from '../../expression/value.js';

/** Rows up to which a stretch is gone through one by one. */
export const STRETCH_ROWS_MAX = 32;

/** Aggregates of any range of neighbouring rows, from at most two nodes of each level. */
export class RangeTree {
  /** The rows, then pairs of them, then pairs of these, ... */
  readonly #levels: (readonly Value[])[];
  readonly #combine: (a: Exclude<Value, null>, b: Exclude<Value, null>) => Value;

  /** @param values  null: takes no part */
  constructor(values: readonly Value[], combine: (a: Exclude<Value, null>, b: Exclude<Value, null>) => Value) {
    this.#combine = combine;
    this.#levels = [values];
    for (let below = values; below.length > 1; ) {
      const level: Value[] = [];
      for (let at = 0; at < below.length; at += 2) level.push(this.join(below[at] ?? null, below[at + 1] ?? null));
      this.#levels.push(level);
      below = level;
    }
  }

  /** Aggregate of rows [start, end); short ranges go row by row. */
  over(start: number, end: number): Value {
    if (end - start <= STRETCH_ROWS_MAX) {
      const [rows = []] = this.#levels;
      let whole: Value = null;
      for (let row = start; row < end; row++) whole = this.join(whole, rows[row] ?? null);
      return whole;
    }
    let [left, right]: [Value, Value] = [null, null];
    let [low, high] = [start, end];
    for (const level of this.#levels) {
      if (low >= high) break;
      if (low % 2 === 1) left = this.join(left, level[low++] ?? null);
      if (high % 2 === 1) right = this.join(level[--high] ?? null, right);
      low >>>= 1;
      high >>>= 1;
    }
    return this.join(left, right);
  }

  join(a: Value, b: Value): Value {
    return a === null || b === null ? (a ?? b) : this.#combine(a, b);
  }
}
