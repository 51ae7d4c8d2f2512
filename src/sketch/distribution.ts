/** Ascending values that stand for `weight` values each. */
export interface WeightedRow {
  readonly values: Float64Array;
  readonly weight: number;
}

/** Weighted values of a sketch, ascending: what quantiles, ranks and histograms are read from. */
export class Distribution {
  readonly #values: Float64Array;
  /** Weight of all values up to and including this one. */
  readonly #cumulative: Float64Array;
  readonly count: number;
  readonly min: number;
  readonly max: number;

  constructor(rows: readonly WeightedRow[], min: number, max: number) {
    const { values, weights } = joinedRows(rows);
    this.#values = values;
    let sum = 0;
    this.#cumulative = weights.map((weight) => {
      sum += weight;
      return sum;
    });
    this.count = sum;
    this.min = min;
    this.max = max;
  }

  /** The smallest value such that at least this fraction of all is not larger; NaN of nothing. */
  quantile(fraction: number): number {
    if (this.count === 0) return Number.NaN;
    if (fraction <= 0) return this.min;
    if (fraction >= 1) return this.max;
    const wanted = fraction * this.count;
    return this.#values[lowerBound(this.#cumulative, wanted)] ?? this.max;
  }

  /** The fraction of all that is less than `value`; NaN of nothing. */
  rank(value: number): number {
    if (this.count === 0) return Number.NaN;
    const below = lowerBound(this.#values, value);
    return below === 0 ? 0 : (this.#cumulative[below - 1] ?? 0) / this.count;
  }

  /** Ranks of ascending points, and 1. */
  cumulative(points: readonly number[]): number[] {
    return [...points.map((point) => this.rank(point)), this.count === 0 ? Number.NaN : 1];
  }

  /** Number of values before the first point, between each point and the next, and from the last one on. */
  histogram(points: readonly number[]): number[] {
    const ranks = this.cumulative(points);
    return ranks.map((rank, index) => (rank - (ranks[index - 1] ?? 0)) * this.count);
  }

  /** Histogram over this many equal stretches from the least to the largest value. */
  evenHistogram(bins: number): number[] {
    if (this.count === 0) return new Array<number>(bins).fill(Number.NaN);
    if (this.min === this.max) return [this.count, ...new Array<number>(bins - 1).fill(0)];
    const width = (this.max - this.min) / bins;
    return this.histogram(Array.from({ length: bins - 1 }, (_, index) => this.min + width * (index + 1)));
  }
}

/** Rows as one: the first two, that with the next, and so on. */
function joinedRows(rows: readonly WeightedRow[]): Weighted {
  let joined: Weighted = { values: new Float64Array(0), weights: new Float64Array(0) };
  for (const { values, weight } of rows) {
    const weights = new Float64Array(values.length).fill(weight);
    joined = joined.values.length === 0 ? { values, weights } : merged(joined, { values, weights });
  }
  return joined;
}

interface Weighted {
  readonly values: Float64Array;
  readonly weights: Float64Array;
}

function merged(a: Weighted, b: Weighted): Weighted {
  const length = a.values.length + b.values.length;
  const [values, weights] = [new Float64Array(length), new Float64Array(length)];
  let [i, j] = [0, 0];
  for (let to = 0; to < length; to++) {
    const takesFirst = j >= b.values.length || (i < a.values.length && (a.values[i] ?? 0) <= (b.values[j] ?? 0));
    const from = takesFirst ? a : b;
    const at = takesFirst ? i++ : j++;
    values[to] = from.values[at] ?? 0;
    weights[to] = from.weights[at] ?? 0;
  }
  return { values, weights };
}

/** First index whose entry is not less. */
function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
