// Streaming histogram with adaptive buckets.

import { ServiceError } from '../base/errors.js';
import { type Centroid, joined, joinNearest, mergedCentroids } from './centroids.js';

/**
 * The streaming histogram of Ben-Haim and Tom-Tov (2010): at most `resolution` centroids, each a value with a count; when
 * there are more, the two that are nearest to each other become one. A centroid is exact while all it counts are the
 * same value, else it stands for values on both sides of it. Values are taken in many at a time. Numbers are
 * rounded to 32 bits. Laid out as Druid's are.
 * Bytes, highest first in every number, in one of three forms, of which the first is written:
 *
 *    sparse:  i32 resolution, i32 -n, n f32 centroids ascending, n u64 counts (highest bit: not exact), f32 least, f32 largest
 *    dense:   i32 resolution, i32 n, `resolution` f32 centroids, `resolution` counts, f32 least, f32 largest
 *    compact: i16 -resolution; if some are not exact: i8 -m, m f32 of such, f32 least, f32 largest; i8 n, n f32 of exact ones;
 *             every centroid as often as it counts
 */
export class ApproximateHistogram {
  readonly resolution: number;
  readonly lowerLimit: number;
  readonly upperLimit: number;
  count = 0;
  min = Infinity;
  max = -Infinity;
  #centroids: readonly Centroid[] = [];
  /** Values that are not among the centroids yet. */
  #pending: number[] = [];
  /** Values of all centroids before each; undefined: to be counted again. */
  #before: Float64Array | undefined;

  /** @param limits  values below the first, and those above the second, share one centroid each */
  constructor(resolution: number, limits: { readonly lower: number; readonly upper: number } = { lower: -Infinity, upper: Infinity }) {
    this.resolution = resolution;
    this.lowerLimit = limits.lower;
    this.upperLimit = limits.upper;
  }

  get bytes(): number {
    return 128 + this.#centroids.length * 72 + this.#pending.length * 8;
  }

  /** NaN is left out. */
  add(given: number): void {
    const value = Math.fround(given);
    if (Number.isNaN(value)) return;
    this.#widen(value, value);
    this.count++;
    this.#pending.push(value);
    if (this.#pending.length >= this.resolution * PENDING) this.#settle();
  }

  merge(from: ApproximateHistogram): void {
    this.#widen(from.min, from.max);
    this.count += from.count;
    this.#settle();
    this.#take(from.#settle());
  }

  /** About how many values are not above `bound`: an exact centroid counts as a whole, any other by the area beside it. */
  countUpTo(bound: number): number {
    if (bound < this.min) return 0;
    if (bound >= this.max) return this.count;
    const centroids = this.#settle();
    const next = firstAbove(centroids, bound);
    const [left, right] = [centroids[next - 1], centroids[next]];
    const [from, to] = [left?.value ?? this.min, right?.value ?? this.max];
    const share = to === from ? 0 : (bound - from) / (to - from);
    const [low, high] = [spread(left), spread(right)];
    const atBound = low + (high - low) * share;
    const before = next < 1 ? 0 : (this.#countsBefore()[next - 1] ?? 0);
    return before + ((low + atBound) / 2) * share + (left === undefined ? 0 : left.isExact ? left.count : left.count / 2);
  }

  /** A value such that about this fraction of all lies below it; NaN of nothing. */
  quantile(fraction: number): number {
    if (this.count === 0) return Number.NaN;
    if (fraction >= 1) return this.max;
    const wanted = fraction * this.count;
    const centroids = this.#settle();
    let before = 0;
    for (let index = 0; index < centroids.length; index++) {
      const centroid = centroids[index];
      if (centroid === undefined) break;
      if (before + centroid.count <= wanted) {
        before += centroid.count;
        continue;
      }
      const previous = centroids[index - 1];
      if (previous === undefined) return this.min;
      // Between two centroids the density goes from the count of one to that of the other in a straight line.
      const slope = centroid.count - previous.count;
      const rest = wanted - before;
      const share =
        slope === 0 ? rest / previous.count : (Math.sqrt(previous.count * previous.count + 2 * slope * rest) - previous.count) / slope;
      return Math.min(Math.fround(previous.value + (centroid.value - previous.value) * share), this.max);
    }
    return this.max;
  }

  /** @param breaks  ascending, at least two */
  buckets(breaks: readonly number[]): BucketCounts {
    const sums = breaks.map((bound) => this.countUpTo(bound));
    return { breaks, counts: sums.slice(1).map((sum, index) => Math.fround(sum - (sums[index] ?? 0))) };
  }

  /** `number` buckets of equal width; the first ends at the least value, the last at the largest. No values: no buckets. */
  equalBuckets(number: number): BucketCounts {
    if (this.count === 0) return { breaks: [], counts: [] };
    const width = Math.fround((this.max - this.min) / Math.max(1, number - 1));
    const breaks = [Math.fround(this.min - width)];
    for (let index = 1; index < number; index++) breaks.push(Math.fround((breaks[index - 1] ?? 0) + width));
    return this.buckets([...breaks, this.max]);
  }

  /**
   * Buckets of one width that begin at `offset` and its multiples; those in which there is nothing are joined.
   * @throws ServiceError when there would be more than a million
   */
  alignedBuckets(width: number, offset: number): BucketCounts {
    if (this.count === 0) return { breaks: [], counts: [] };
    const aligned = (value: number, round: (value: number) => number): number =>
      Math.fround(round((value - offset) / width) * width + offset);
    const first = Math.max(aligned(this.min, Math.floor), aligned(this.lowerLimit, Math.floor));
    const last = Math.min(aligned(this.max, Math.ceil), aligned(this.upperLimit, Math.ceil));
    if ((last - first) / width > BUCKETS_MAX)
      throw new ServiceError(
        'resource_limit',
        `bucketSize ${width} cuts the values from ${first} to ${last} into more than ${BUCKETS_MAX} buckets`,
      );
    const breaks: number[] = [];
    const holds = (from: number, to: number): boolean => this.countUpTo(to) - this.countUpTo(from) > LEAST_COUNT;
    // Left edge before the first bound, where the least value is a bound itself or below the limit.
    const before = Math.fround(aligned(this.min, Math.floor) - width);
    if (holds(before, first)) breaks.push(before, first);
    const number = Math.round((last - first) / width);
    for (let index = 0; index < number; index++) {
      const [from, to] = [Math.fround(first + index * width), Math.fround(first + (index + 1) * width)];
      if (!holds(from, to)) continue;
      if (breaks.at(-1) !== from) breaks.push(from);
      breaks.push(to);
    }
    const end = aligned(this.max, Math.ceil);
    const reached = breaks.at(-1) ?? first;
    if (end > reached && holds(reached, end)) {
      if (breaks.length === 0) breaks.push(reached);
      breaks.push(end);
    }
    return this.buckets(breaks);
  }

  encode(): Uint8Array {
    const centroids = this.#settle();
    const n = centroids.length;
    const bytes = new Uint8Array(16 + n * 12);
    const view = new DataView(bytes.buffer);
    view.setInt32(0, this.resolution);
    view.setInt32(4, -n);
    centroids.forEach(({ value, count, isExact }, index) => {
      view.setFloat32(8 + index * 4, value);
      view.setBigUint64(8 + n * 4 + index * 8, BigInt(count) | (isExact ? 0n : NOT_EXACT));
    });
    view.setFloat32(8 + n * 12, this.min);
    view.setFloat32(12 + n * 12, this.max);
    return bytes;
  }

  /** @param limits  as of the constructor: they are not part of the bytes */
  static decode(bytes: Uint8Array, limits?: { readonly lower: number; readonly upper: number }): ApproximateHistogram {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    try {
      return view.getInt16(0) < 0 ? decodeCompact(view, limits) : decodeCounted(view, limits);
    } catch (error) {
      if (error instanceof RangeError)
        throw new ServiceError('query_invalid', 'a string that should hold an approximate histogram does not', error);
      throw error;
    }
  }

  /** Takes over what was read. */
  static of(
    resolution: number,
    centroids: readonly Centroid[],
    range: { readonly min: number; readonly max: number },
    limits?: { readonly lower: number; readonly upper: number },
  ): ApproximateHistogram {
    const histogram = new ApproximateHistogram(resolution, limits);
    for (const { count } of centroids) histogram.count += count;
    histogram.#take(distinct(centroids));
    histogram.#widen(range.min, range.max);
    return histogram;
  }

  #widen(min: number, max: number): void {
    if (min < this.min) this.min = min;
    if (max > this.max) this.max = max;
  }

  /** The centroids, all values among them. */
  #settle(): readonly Centroid[] {
    const pending = this.#pending;
    if (pending.length > 0) {
      this.#pending = [];
      this.#take(counted(Float64Array.from(pending).sort()));
    }
    return this.#centroids;
  }

  #countsBefore(): Float64Array {
    if (this.#before !== undefined) return this.#before;
    let sum = 0;
    this.#before = Float64Array.from(this.#centroids, ({ count }) => {
      sum += count;
      return sum - count;
    });
    return this.#before;
  }

  /** Centroids of the same value are one, as are those beyond the same limit. */
  #take(centroids: readonly Centroid[]): void {
    const merged = mergedCentroids(this.#centroids, centroids);
    const below = merged.findIndex(({ value }) => value >= this.lowerLimit);
    const lower = below < 0 ? merged.length : below;
    const upper = Math.max(lower, firstAbove(merged, this.upperLimit));
    const limited = [
      merged.slice(0, lower).reduce<Centroid[]>(intoOne, []),
      merged.slice(lower, upper),
      merged.slice(upper).reduce<Centroid[]>(intoOne, []),
    ];
    this.#centroids = joinNearest(limited.flat(), this.resolution);
    this.#before = undefined;
  }
}

function intoOne([one]: Centroid[], centroid: Centroid): Centroid[] {
  return [one === undefined ? centroid : joined(one, centroid)];
}

/** Centroids of ascending values, one for each distinct value. */
function counted(values: Float64Array): Centroid[] {
  const found: Centroid[] = [];
  for (let start = 0, at = 1; start < values.length; at++) {
    const value = values[start] ?? 0;
    if (at < values.length && values[at] === value) continue;
    found.push({ value, count: at - start, isExact: true });
    start = at;
  }
  return found;
}

/** Ascending, each value once. */
function distinct(centroids: readonly Centroid[]): Centroid[] {
  const found: Centroid[] = [];
  for (const centroid of [...centroids].sort((a, b) => a.value - b.value)) {
    const last = found.at(-1);
    if (last?.value === centroid.value) found[found.length - 1] = joined(last, centroid);
    else found.push(centroid);
  }
  return found;
}

function firstAbove(centroids: readonly Centroid[], bound: number): number {
  let [low, high] = [0, centroids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((centroids[middle]?.value ?? 0) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Values for each centroid that are taken in at a time. */
const PENDING = 8;

const NOT_EXACT = 1n << 63n;
const BUCKETS_MAX = 1_000_000;

/** Buckets with less in them are empty but for rounding. */
const LEAST_COUNT = 0.1;

/** Spread of a centroid to its sides. */
function spread(centroid: Centroid | undefined): number {
  return centroid === undefined || centroid.isExact ? 0 : centroid.count;
}

function decodeCounted(view: DataView, limits?: { readonly lower: number; readonly upper: number }): ApproximateHistogram {
  const resolution = view.getInt32(0);
  const signed = view.getInt32(4);
  const n = Math.abs(signed);
  const slots = signed > 0 ? resolution : n;
  if (resolution < 1 || n > slots || view.byteLength < 16 + slots * 12) throw new RangeError('too short');
  const centroids = Array.from({ length: n }, (_, index): Centroid => {
    const bits = view.getBigUint64(8 + slots * 4 + index * 8);
    return { value: view.getFloat32(8 + index * 4), count: Number(bits & (NOT_EXACT - 1n)), isExact: (bits & NOT_EXACT) === 0n };
  });
  const end = 8 + slots * 12;
  return ApproximateHistogram.of(resolution, centroids, { min: view.getFloat32(end), max: view.getFloat32(end + 4) }, limits);
}

function decodeCompact(view: DataView, limits?: { readonly lower: number; readonly upper: number }): ApproximateHistogram {
  const resolution = -view.getInt16(0);
  const centroids: Centroid[] = [];
  let at = 2;
  const take = (count: number, isExact: boolean): void => {
    for (let index = 0; index < count; index++, at += 4) centroids.push({ value: view.getFloat32(at), count: 1, isExact });
  };
  let [min, max] = [Infinity, -Infinity];
  const first = view.getInt8(at++);
  if (first < 0) {
    take(-first, false);
    [min, max] = [view.getFloat32(at), view.getFloat32(at + 4)];
    at += 8;
    take(view.getInt8(at++), true);
  } else take(first, true);
  for (const { value } of centroids) [min, max] = [Math.min(min, value), Math.max(max, value)];
  return ApproximateHistogram.of(resolution, centroids, { min, max }, limits);
}

/** Bounds of buckets, one more than there are counts between them. */
export interface BucketCounts {
  readonly breaks: readonly number[];
  readonly counts: readonly number[];
}
