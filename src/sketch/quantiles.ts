// Classic quantiles sketch.

import { ServiceError } from '../base/errors.js';
import { Distribution } from './distribution.js';
import { randomBit } from './random-bit.js';

/**
 * The classic quantiles sketch of doubles: a buffer of up to 2k values, and per level k values that stand for 2^(level + 1)
 * each. A full buffer is sorted and every other value of it goes to level 0; two full rows of a level make one of the
 * next. Laid out as Apache DataSketches' compact doubles sketches are. Bytes, lowest first in every number:
 *
 *    0  preamble in 8-byte words: 1 (empty), 2    1  version 3    2  family 8    3  flags: 4 empty, 8 compact, 16 ordered
 *    4  u16 k    8  u64 number of values   16 f64 least   24 f64 largest   32 f64 buffer, ascending; then the levels that
 *                                                                        have values, lowest first, ascending
 *
 * Read as well: not compact, with 2k places for the buffer, less while it is all there is, and k for every level;
 * version 2, always compact; version 1, never compact, with 8 bytes more before the buffer.
 */
export class Quantiles {
  #k: number;
  count = 0;
  min = Number.NaN;
  max = Number.NaN;
  #buffer: Float64Array;
  #buffered = 0;
  #levels: (Float64Array | undefined)[] = [];

  constructor(k: number) {
    this.#k = k;
    this.#buffer = new Float64Array(Math.min(k * 2, FIRST_ROOM));
  }

  /** k of the sketch; after merging, the least k of the sketches that had outgrown their buffer. */
  get k(): number {
    return this.#k;
  }

  /** Number of values kept. */
  get retained(): number {
    return this.#buffered + this.#levels.reduce((sum, level) => sum + (level?.length ?? 0), 0);
  }

  get bytes(): number {
    return 128 + this.retained * 8;
  }

  /** NaN is left out. */
  add(value: number): void {
    if (Number.isNaN(value)) return;
    if (!(this.min <= value)) this.min = value;
    if (!(this.max >= value)) this.max = value;
    this.count++;
    if (this.#buffered === this.#buffer.length) this.#buffer = grown(this.#buffer, this.#k * 2);
    this.#buffer[this.#buffered++] = value;
    if (this.#buffered === 2 * this.#k) this.#empty();
  }

  /** Values [from, to) of `values`, which are ascending there and none NaN. */
  addAscending(values: Float64Array, from: number, to: number): void {
    if (from >= to) return;
    this.#widen(values[from] ?? 0, values[to - 1] ?? 0);
    const full = 2 * this.#k;
    for (let at = from; at < to; ) {
      const taken = Math.min(to - at, full - this.#buffered);
      while (this.#buffered + taken > this.#buffer.length) this.#buffer = grown(this.#buffer, full);
      this.#buffer.set(values.subarray(at, at + taken), this.#buffered);
      this.#buffered += taken;
      this.count += taken;
      at += taken;
      if (this.#buffered === full) this.#empty();
    }
  }

  /** The same of values that may be many: a row of a level is every so many of them. */
  addSorted(values: Float64Array, from: number, to: number): void {
    if (from >= to) return;
    const full = 2 * this.#k;
    const filling = Math.min(to - from, (full - this.#buffered) % full);
    this.addAscending(values, from, from + filling);
    const first = from + filling;
    for (const { start, level, offset } of this.#rowsOf(to - first)) {
      const row = new Float64Array(this.#k);
      for (let index = 0; index < row.length; index++) row[index] = values[first + start + index * 2 ** (level + 1) + offset] ?? 0;
      this.count += full * 2 ** level;
      this.#carry(row, level);
    }
    if (first < to) this.#widen(values[first] ?? 0, values[to - 1] ?? 0);
    this.addAscending(values, to - ((to - first) % full), to);
  }

  /** Rows that so many ascending values make, the higher levels first: where the values of each begin, and the first that it takes. */
  #rowsOf(length: number): readonly { readonly start: number; readonly level: number; readonly offset: number }[] {
    const rows: { start: number; level: number; offset: number }[] = [];
    const full = 2 * this.#k;
    for (let start = 0; length - start >= full; ) {
      const level = Math.floor(Math.log2((length - start) / full));
      let offset = 0;
      for (let bit = 0; bit <= level; bit++) offset += randomBit(this.count + start, bit) * 2 ** bit;
      rows.push({ start, level, offset });
      start += full * 2 ** level;
    }
    return rows;
  }

  /** Values that the buffer has room for. */
  get room(): number {
    return 2 * this.#k - this.#buffered;
  }

  /** The same as of `distribution`, of which only what lies below it is read. */
  quantile(fraction: number): number {
    if (this.count === 0) return Number.NaN;
    if (fraction <= 0) return this.min;
    if (fraction >= 1) return this.max;
    const wanted = fraction * this.count;
    const buffer = this.#sortedBuffer();
    // Each value stands for itself.
    if (this.#levels.length === 0) return buffer[Math.max(0, Math.ceil(wanted) - 1)] ?? this.max;
    const rows = [buffer];
    const weights = [1];
    this.#levels.forEach((level, index) => {
      if (level === undefined) return;
      rows.push(level);
      weights.push(2 ** (index + 1));
    });
    const places = new Uint32Array(rows.length);
    for (let sum = 0; ; ) {
      let [least, row] = [Number.NaN, -1];
      for (let each = 0; each < rows.length; each++) {
        const value = rows[each]?.[places[each] ?? 0];
        if (value === undefined || value >= least) continue;
        [least, row] = [value, each];
      }
      if (row < 0) return this.max;
      sum += weights[row] ?? 0;
      if (sum >= wanted) return least;
      places[row] = (places[row] ?? 0) + 1;
    }
  }

  /** Values [from, to) of `values` in any order, none NaN; only where they and those before are fewer than 2k. */
  addFew(values: Float64Array, from: number, to: number): void {
    const end = this.#buffered + (to - from);
    if (end > this.#buffer.length) {
      const larger = new Float64Array(Math.min(Math.max(end, this.#buffer.length * 2), this.#k * 2));
      larger.set(this.#buffer);
      this.#buffer = larger;
    }
    for (let at = from; at < to; at++) {
      const value = values[at] ?? 0;
      this.#buffer[this.#buffered++] = value;
      this.#widen(value, value);
    }
    this.count += to - from;
  }

  /** All values, ascending, while none has left the buffer; undefined: some have. */
  buffered(): Float64Array | undefined {
    return this.#levels.length === 0 ? this.#sortedBuffer() : undefined;
  }

  /** The sketch of the larger k is thinned out to the other's. */
  merge(from: Quantiles): void {
    if (from.count === 0) return;
    if (from.#k < this.#k && from.#levels.length > 0) this.#reduce(from.#k);
    // Ascending, as they are when the sketch has been sent, so that sending changes nothing.
    const values = from.#sortedBuffer();
    this.addAscending(values, 0, values.length);
    const halvings = Math.max(0, Math.log2(from.#k / this.#k));
    from.#levels.forEach((level, index) => {
      if (level === undefined) return;
      this.count += 2 ** (index + 1) * from.#k;
      let row = level;
      for (let halving = 0; halving < halvings; halving++) row = everyOther(row, randomBit(this.count, index + halving));
      this.#carry(row, index + halvings);
    });
    this.#widen(from.min, from.max);
  }

  distribution(): Distribution {
    const rows = [{ values: this.#sortedBuffer(), weight: 1 }];
    this.#levels.forEach((values, index) => {
      if (values !== undefined) rows.push({ values, weight: 2 ** (index + 1) });
    });
    return new Distribution(rows, this.min, this.max);
  }

  encode(): Uint8Array {
    const rows = [this.#sortedBuffer(), ...this.#levels.flatMap((level) => (level === undefined ? [] : [level]))];
    const isEmpty = this.count === 0;
    const bytes = new Uint8Array(isEmpty ? 8 : 32 + rows.reduce((sum, row) => sum + row.length * 8, 0));
    const view = new DataView(bytes.buffer);
    bytes.set([isEmpty ? 1 : 2, 3, 8, 8 | 16 | (isEmpty ? 4 : 0)]);
    view.setUint16(4, this.k, true);
    if (isEmpty) return bytes;
    view.setBigUint64(8, BigInt(this.count), true);
    view.setFloat64(16, this.min, true);
    view.setFloat64(24, this.max, true);
    let at = 32;
    for (const row of rows) {
      new Float64Array(bytes.buffer, at, row.length).set(row);
      at += row.length * 8;
    }
    return bytes;
  }

  static decode(bytes: Uint8Array): Quantiles {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const version = bytes[1] ?? 0;
    if (bytes.length < 8 || version < 1 || version > 3 || bytes[2] !== 8) throw malformed();
    const sketch = new Quantiles(view.getUint16(4, true));
    if (((bytes[3] ?? 0) & 4) !== 0) return sketch;
    if (sketch.k < 2 || !Number.isInteger(Math.log2(sketch.k)) || bytes.length < 32) throw malformed();
    const isCompact = version === 2 || (version === 3 && ((bytes[3] ?? 0) & 8) !== 0);
    sketch.count = Number(view.getBigUint64(8, true));
    sketch.min = view.getFloat64(16, true);
    sketch.max = view.getFloat64(24, true);
    let at = version === 1 ? 40 : 32;
    const take = (length: number, places = length): Float64Array => {
      if (bytes.length < at + length * 8) throw malformed();
      const values = new Float64Array(bytes.slice(at, at + length * 8).buffer);
      at += places * 8;
      return values;
    };
    const full = sketch.k * 2;
    sketch.#buffer = take(sketch.count % full, isCompact ? sketch.count % full : full);
    sketch.#buffered = sketch.#buffer.length;
    for (let rest = Math.floor(sketch.count / full); rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) sketch.#levels.push(take(sketch.k));
      else {
        sketch.#levels.push(undefined);
        if (!isCompact) at += sketch.k * 8;
      }
    }
    return sketch;
  }

  #reduce(k: number): void {
    const reduced = new Quantiles(k);
    reduced.merge(this);
    this.#k = k;
    this.#buffer = reduced.#buffer;
    this.#buffered = reduced.#buffered;
    this.#levels = reduced.#levels;
  }

  #widen(min: number, max: number): void {
    if (!(this.min <= min)) this.min = min;
    if (!(this.max >= max)) this.max = max;
  }

  #sortedBuffer(): Float64Array {
    return inOrder(this.#buffer.slice(0, this.#buffered));
  }

  #empty(): void {
    const row = inOrder(this.#buffer);
    this.#buffered = 0;
    this.#carry(everyOther(row, randomBit(this.count, 0)), 0);
  }

  /** Rows are copied before they are kept. */
  #carry(row: Float64Array, level: number): void {
    const present = this.#levels[level];
    if (present === undefined) {
      while (this.#levels.length < level) this.#levels.push(undefined);
      this.#levels[level] = row.slice();
      return;
    }
    this.#levels[level] = undefined;
    this.#carry(halfOfBoth(present, row, randomBit(this.count, level + 1)), level + 1);
  }
}

const FIRST_ROOM = 16;

/** Sorts values, which are in their order already where they came from one that had sorted them. */
function inOrder(values: Float64Array): Float64Array {
  for (let at = 1; at < values.length; at++) {
    const [before = 0, value = 0] = [values[at - 1], values[at]];
    if (!(before < value || (before === value && value !== 0))) return values.sort();
  }
  return values;
}

function grown(buffer: Float64Array, limit: number): Float64Array {
  const larger = new Float64Array(Math.min(Math.max(buffer.length * 2, FIRST_ROOM), limit));
  larger.set(buffer);
  return larger;
}

/** Every other value of two ascending rows of one length, beginning with the one at `offset`. */
function halfOfBoth(a: Float64Array, b: Float64Array, offset: 0 | 1): Float64Array {
  const half = new Float64Array(a.length);
  let [i, j] = [0, 0];
  for (let to = 0; to < half.length; to++) {
    // The values at 2 * to and behind it; the last of all may be of either row.
    for (let place = 0; place < 2; place++) {
      const [left = Number.NaN, right = Number.NaN] = [a[i], b[j]];
      const takesLeft = j >= b.length || left <= right;
      if (place === offset) half[to] = takesLeft ? left : right;
      if (takesLeft) i++;
      else j++;
    }
  }
  return half;
}

function everyOther(row: Float64Array, offset: 0 | 1): Float64Array {
  const half = new Float64Array(row.length / 2);
  for (let index = 0; index < half.length; index++) half[index] = row[index * 2 + offset] ?? 0;
  return half;
}

function malformed(): ServiceError {
  return new ServiceError('query_invalid', 'a string that should hold a quantiles sketch does not');
}
