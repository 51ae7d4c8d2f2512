// Counts of numbers between given bounds.

import { ServiceError } from '../base/errors.js';

/** Bounds, ascending, that a histogram may have. */
export const BREAKS_MAX = 100_000;

/**
 * Counts of numbers, as floats, between one bound and the next, the upper one included; those up to the first bound, and
 * those above the last, count apart. Bytes, big-endian: i32 number of bounds, f32 bounds, i64 counts (one more), f32 min, f32 max.
 */
export class BreaksHistogram {
  readonly breaks: readonly number[];
  readonly counts: Float64Array;
  min = Infinity;
  max = -Infinity;

  constructor(breaks: readonly number[]) {
    this.breaks = breaks;
    this.counts = new Float64Array(breaks.length + 1);
  }

  get bytes(): number {
    return 64 + this.counts.length * 8;
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  add(number: number): void {
    const value = Math.fround(number);
    if (value > this.max) this.max = value;
    if (value < this.min) this.min = value;
    const place = this.#placeOf(value);
    this.counts[place] = (this.counts[place] ?? 0) + 1;
  }

  merge(from: BreaksHistogram): void {
    if (from.breaks.length !== this.breaks.length || from.breaks.some((bound, index) => bound !== this.breaks[index]))
      throw new ServiceError('query_invalid', 'histograms with different breaks cannot be merged');
    from.counts.forEach((count, place) => {
      this.counts[place] = (this.counts[place] ?? 0) + count;
    });
    this.min = Math.min(this.min, from.min);
    this.max = Math.max(this.max, from.max);
  }

  /** Counts between the bounds, with the names of the interface; infinities, of no numbers, as strings. */
  toJson(): Readonly<Record<string, unknown>> {
    const quantiles = [this.min, this.max].map((bound) => (Number.isFinite(bound) ? bound : String(bound)));
    return { breaks: this.breaks, counts: [...this.counts.subarray(1, -1)], quantiles };
  }

  encode(): Uint8Array {
    const { breaks, counts } = this;
    const view = new DataView(new ArrayBuffer(12 + 4 * breaks.length + 8 * counts.length));
    view.setInt32(0, breaks.length);
    breaks.forEach((bound, index) => {
      view.setFloat32(4 + 4 * index, bound);
    });
    const at = 4 + 4 * breaks.length;
    counts.forEach((count, index) => {
      view.setBigInt64(at + 8 * index, BigInt(count));
    });
    view.setFloat32(view.byteLength - 8, this.min);
    view.setFloat32(view.byteLength - 4, this.max);
    return new Uint8Array(view.buffer);
  }

  static decode(bytes: Uint8Array): BreaksHistogram {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = bytes.length < 20 ? -1 : view.getInt32(0);
    if (length < 0 || length > BREAKS_MAX || bytes.length !== 20 + 12 * length)
      throw new ServiceError('query_invalid', 'a string that should hold a histogram does not');
    const histogram = new BreaksHistogram(Array.from({ length }, (_, index) => view.getFloat32(4 + 4 * index)));
    const at = 4 + 4 * length;
    for (let index = 0; index <= length; index++) histogram.counts[index] = Number(view.getBigInt64(at + 8 * index));
    histogram.min = view.getFloat32(bytes.length - 8);
    histogram.max = view.getFloat32(bytes.length - 4);
    return histogram;
  }

  /** The number of bounds below a value; all of them for NaN. */
  #placeOf(value: number): number {
    let [low, high] = [0, this.breaks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.breaks[middle] ?? 0) >= value) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
