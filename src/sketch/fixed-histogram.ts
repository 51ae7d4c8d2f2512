// Histogram over buckets of equal width.

import { ServiceError } from '../base/errors.js';

/** Treatment of values outside: ignored, counted apart, or counted at the nearer end. Encoded as the position here. */
export const OUTLIER_MODES = ['ignore', 'overflow', 'clip'] as const;

export interface FixedBuckets {
  readonly lower: number;
  readonly upper: number;
  readonly number: number;
  readonly outliers: (typeof OUTLIER_MODES)[number];
}

/**
 * Counts of values in buckets of one width over [lower, upper); the upper limit itself is an outlier. Bytes, highest first
 * in every number:
 *
 *    0  version 1   1  form: 1 full, 2 sparse   2  f64 lower   10  f64 upper   18  i32 buckets   22  outliers: 0, 1 or 2
 *   23  i64 values   31  i64 below   39  i64 above   47  i64 nulls   55  f64 largest   63  f64 least
 *   71  full: i64 for each bucket; sparse, where less than half of them have values: i32 n, n times i32 bucket, i64 count
 *
 * Without values the largest is -Infinity and the least Infinity.
 */
export class FixedHistogram {
  readonly shape: FixedBuckets;
  readonly counts: Float64Array;
  count = 0;
  below = 0;
  above = 0;
  nulls = 0;
  min = Infinity;
  max = -Infinity;
  readonly #width: number;

  constructor(shape: FixedBuckets) {
    this.shape = shape;
    this.counts = new Float64Array(shape.number);
    this.#width = (shape.upper - shape.lower) / shape.number;
  }

  get bytes(): number {
    return 200 + this.counts.byteLength;
  }

  /** NaN counts as null. */
  add(value: number | null): void {
    if (value === null || Number.isNaN(value)) {
      this.nulls++;
      return;
    }
    const { lower, upper } = this.shape;
    if (value < lower || value >= upper) this.#outside(value < lower, 1);
    else this.#inside(this.#bucketOf(value), 1, value, value);
  }

  /**
   * The buckets of this one stay. Where those of the other are different, their values are taken to be evenly spread, and
   * its outliers to be outliers here.
   */
  merge(from: FixedHistogram): void {
    this.nulls += from.nulls;
    this.#outside(true, from.below);
    this.#outside(false, from.above);
    const { lower, upper, number } = from.shape;
    if (lower === this.shape.lower && upper === this.shape.upper && number === this.shape.number) {
      from.counts.forEach((count, index) => {
        if (count > 0) this.#inside(index, count, from.min, from.max);
      });
      return;
    }
    from.counts.forEach((count, index) => {
      if (count > 0) this.#spread(count, lower + index * from.#width, lower + (index + 1) * from.#width, from);
    });
  }

  /** A value below which this fraction of all lies, taking values to be evenly spread in their bucket; NaN of nothing. */
  quantile(fraction: number): number {
    if (this.count === 0) return Number.NaN;
    const wanted = fraction * this.count;
    let before = 0;
    for (let index = 0; index < this.counts.length; index++) {
      const count = this.counts[index] ?? 0;
      if (count > 0 && before + count >= wanted) return Math.fround(this.shape.lower + (index + (wanted - before) / count) * this.#width);
      before += count;
    }
    return Math.fround(this.shape.upper);
  }

  /** The histogram as JSON, with the names of the interface. */
  toJson(): Readonly<Record<string, unknown>> {
    const { lower, upper, number, outliers } = this.shape;
    return {
      lowerLimit: lower,
      upperLimit: upper,
      numBuckets: number,
      outlierHandlingMode: outliers,
      count: this.count,
      lowerOutlierCount: this.below,
      upperOutlierCount: this.above,
      missingValueCount: this.nulls,
      max: this.count === 0 ? null : this.max,
      min: this.count === 0 ? null : this.min,
      histogram: [...this.counts],
    };
  }

  encode(): Uint8Array {
    const filled = this.counts.reduce((sum, count) => sum + (count > 0 ? 1 : 0), 0);
    const isSparse = filled < this.counts.length / 2;
    const bytes = new Uint8Array(71 + (isSparse ? 4 + filled * 12 : this.counts.length * 8));
    const view = new DataView(bytes.buffer);
    const { lower, upper, number, outliers } = this.shape;
    bytes.set([1, isSparse ? 2 : 1]);
    view.setFloat64(2, lower);
    view.setFloat64(10, upper);
    view.setInt32(18, number);
    bytes[22] = OUTLIER_MODES.indexOf(outliers);
    [this.count, this.below, this.above, this.nulls].forEach((count, index) => {
      view.setBigInt64(23 + index * 8, BigInt(count));
    });
    view.setFloat64(55, this.max);
    view.setFloat64(63, this.min);
    let at = 71;
    if (isSparse) {
      view.setInt32(at, filled);
      at += 4;
    }
    this.counts.forEach((count, index) => {
      if (isSparse && count === 0) return;
      if (isSparse) {
        view.setInt32(at, index);
        at += 4;
      }
      view.setBigInt64(at, BigInt(count));
      at += 8;
    });
    return bytes;
  }

  static decode(bytes: Uint8Array): FixedHistogram {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const isSparse = bytes[1] === 2;
    const outliers = OUTLIER_MODES[bytes[22] ?? -1];
    if (bytes.length < 71 || bytes[0] !== 1 || (bytes[1] !== 1 && !isSparse) || outliers === undefined) throw malformed();
    const shape = { lower: view.getFloat64(2), upper: view.getFloat64(10), number: view.getInt32(18), outliers };
    const entries = isSparse ? (bytes.length < 75 ? -1 : view.getInt32(71)) : shape.number;
    if (shape.number < 1 || shape.number > FIXED_BUCKETS_MAX || !(shape.upper > shape.lower) || entries < 0 || entries > shape.number)
      throw malformed();
    if (bytes.length < (isSparse ? 75 + entries * 12 : 71 + entries * 8)) throw malformed();
    const histogram = new FixedHistogram(shape);
    const number = (at: number): number => Number(view.getBigInt64(at));
    [histogram.count, histogram.below, histogram.above, histogram.nulls] = [number(23), number(31), number(39), number(47)];
    histogram.max = view.getFloat64(55);
    histogram.min = view.getFloat64(63);
    for (let entry = 0; entry < entries; entry++) {
      const bucket = isSparse ? view.getInt32(75 + entry * 12) : entry;
      if (bucket < 0 || bucket >= shape.number) throw malformed();
      histogram.counts[bucket] = number(isSparse ? 79 + entry * 12 : 71 + entry * 8);
    }
    return histogram;
  }

  #bucketOf(value: number): number {
    return Math.min(this.counts.length - 1, Math.floor((value - this.shape.lower) / this.#width));
  }

  #inside(bucket: number, count: number, min: number, max: number): void {
    this.counts[bucket] = (this.counts[bucket] ?? 0) + count;
    this.count += count;
    if (min < this.min) this.min = min;
    if (max > this.max) this.max = max;
  }

  #outside(isBelow: boolean, count: number): void {
    const { outliers, lower, upper, number } = this.shape;
    if (outliers === 'ignore' || count === 0) return;
    if (outliers === 'clip') {
      const at = isBelow ? lower : upper;
      this.#inside(isBelow ? 0 : number - 1, count, at, at);
    } else if (isBelow) this.below += count;
    else this.above += count;
  }

  /** Values of a bucket [start, end) of another histogram; each of them is counted in one place. */
  #spread(count: number, start: number, end: number, { min, max }: FixedHistogram): void {
    const { lower, upper } = this.shape;
    const upTo = (bound: number): number => Math.round(count * Math.min(1, Math.max(0, (bound - start) / (end - start))));
    this.#outside(true, upTo(lower));
    this.#outside(false, count - upTo(upper));
    const first = start <= lower ? 0 : this.#bucketOf(Math.min(start, upper));
    let taken = upTo(lower);
    for (let bucket = first; bucket < this.counts.length && taken < upTo(upper); bucket++) {
      const [from, to] = [lower + bucket * this.#width, bucket + 1 === this.counts.length ? upper : lower + (bucket + 1) * this.#width];
      const part = upTo(to) - taken;
      taken += part;
      if (part > 0) this.#inside(bucket, part, Math.max(from, start, min), Math.min(to, end, max));
    }
  }
}

export const FIXED_BUCKETS_MAX = 1_000_000;

function malformed(): ServiceError {
  return new ServiceError('query_invalid', 'a string that should hold a fixed buckets histogram does not');
}
