// KLL quantiles sketch.

import { ServiceError } from '../base/errors.js';
import { Distribution } from './distribution.js';
import { randomBit } from './random-bit.js';

/**
 * The sketch of Karnin, Lang and Liberty: values of level l stand for 2^l each. When all levels together are full, the
 * lowest full one is sorted and every other value of it moves up. Capacities fall by two thirds from the highest level
 * down, never below 8. Laid out as Apache DataSketches' compact KLL sketches are. Bytes, lowest first in every number:
 *
 *    0  preamble in 4-byte words: 2 (empty or single), 5   1  version 1 (2: single)   2  family 15
 *    3  flags: 1 empty, 2 level 0 sorted, 4 a single value   4  u16 k   6  8, the least capacity
 *    8  u64 number of values   16 u16 least k of what was merged   18 number of levels
 *   20  u32 per level: where it begins in an array of all capacities, filled from its end
 *       then the least value, the largest, and all values, level by level (f64 or f32); of a single value only that, from 8 on
 */
export type KllNumber = 'DOUBLE' | 'FLOAT';

const LEAST_CAPACITY = 8;

export class Kll {
  readonly k: number;
  readonly type: KllNumber;
  /** The least k of all that was merged: what the error goes by. */
  #leastK: number;
  count = 0;
  min = Number.NaN;
  max = Number.NaN;
  #levels: number[][] = [[]];
  #retained = 0;
  #capacities: readonly number[];
  #room: number;

  constructor(k: number, type: KllNumber) {
    this.k = k;
    this.type = type;
    this.#leastK = k;
    this.#capacities = capacitiesOf(k, 1);
    this.#room = sumOf(this.#capacities);
  }

  get leastK(): number {
    return this.#leastK;
  }

  /** Number of values kept. */
  get retained(): number {
    return this.#retained;
  }

  get bytes(): number {
    return 128 + this.#retained * 8;
  }

  /** NaN is left out. */
  add(given: number): void {
    if (Number.isNaN(given)) return;
    const value = this.type === 'FLOAT' ? Math.fround(given) : given;
    this.#widen(value, value);
    // Before there is one more, as others do: so all keep as many values of as many.
    if (this.#retained >= this.#room) this.#compress();
    this.count++;
    this.#push(0, value);
  }

  /** The other may have another k. */
  merge(from: Kll): void {
    if (from.count === 0) return;
    this.count += from.count;
    if (from.#leastK < this.#leastK) this.#leastK = from.#leastK;
    this.#widen(from.min, from.max);
    while (this.#levels.length < from.#levels.length) this.#grow();
    from.#levels.forEach((level, height) => {
      for (const value of level) this.#push(height, value);
    });
    while (this.#retained > this.#room) this.#compress();
  }

  distribution(): Distribution {
    const rows = this.#levels.map((level, height) => ({ values: Float64Array.from(level).sort(), weight: 2 ** height }));
    return new Distribution(rows, this.min, this.max);
  }

  encode(): Uint8Array {
    const width = this.type === 'FLOAT' ? 4 : 8;
    const start = this.count < 2 ? 8 : 20 + this.#levels.length * 4;
    const values =
      this.count < 2
        ? this.#levels.flat()
        : [this.min, this.max, ...this.#levels.flatMap((level, height) => (height === 0 ? level : ascending(level)))];
    const bytes = new Uint8Array(start + values.length * width);
    const view = new DataView(bytes.buffer);
    bytes.set([this.count < 2 ? 2 : 5, this.count === 1 ? 2 : 1, 15, this.count === 0 ? 1 : this.count === 1 ? 4 : 0]);
    view.setUint16(4, this.k, true);
    bytes[6] = LEAST_CAPACITY;
    if (this.count > 1) {
      view.setBigUint64(8, BigInt(this.count), true);
      view.setUint16(16, this.#leastK, true);
      bytes[18] = this.#levels.length;
      let begin = this.#room - this.#retained;
      this.#levels.forEach((level, height) => {
        view.setUint32(20 + height * 4, begin, true);
        begin += level.length;
      });
    }
    values.forEach((value, index) => {
      if (width === 4) view.setFloat32(start + index * 4, value, true);
      else view.setFloat64(start + index * 8, value, true);
    });
    return bytes;
  }

  static decode(bytes: Uint8Array, type: KllNumber): Kll {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 8 || bytes[2] !== 15 || bytes[6] !== LEAST_CAPACITY) throw malformed();
    const sketch = new Kll(view.getUint16(4, true), type);
    const width = type === 'FLOAT' ? 4 : 8;
    const read = (at: number): number => {
      if (at + width > bytes.length) throw malformed();
      return width === 4 ? view.getFloat32(at, true) : view.getFloat64(at, true);
    };
    const flags = bytes[3] ?? 0;
    if ((flags & 1) !== 0) return sketch;
    if ((flags & 4) !== 0) {
      sketch.add(read(8));
      return sketch;
    }
    const levels = bytes[18] ?? 0;
    if (bytes[0] !== 5 || levels === 0 || bytes.length < 20 + levels * 4) throw malformed();
    sketch.count = Number(view.getBigUint64(8, true));
    sketch.#leastK = view.getUint16(16, true);
    sketch.#capacities = capacitiesOf(sketch.k, levels);
    const room = sumOf(sketch.#capacities);
    const begins = Array.from({ length: levels }, (_, height) => view.getUint32(20 + height * 4, true));
    let at = 20 + levels * 4;
    sketch.min = read(at);
    sketch.max = read(at + width);
    at += 2 * width;
    sketch.#levels = begins.map((begin, height) => {
      const length = (begins[height + 1] ?? room) - begin;
      if (length < 0 || length > room) throw malformed();
      return Array.from({ length }, () => {
        const value = read(at);
        at += width;
        return value;
      });
    });
    sketch.#room = room;
    sketch.#retained = sketch.#levels.reduce((sum, level) => sum + level.length, 0);
    return sketch;
  }

  #push(height: number, value: number): void {
    this.#levels[height]?.push(value);
    this.#retained++;
  }

  #widen(min: number, max: number): void {
    if (!(this.min <= min)) this.min = min;
    if (!(this.max >= max)) this.max = max;
  }

  #grow(): void {
    this.#levels.push([]);
    this.#capacities = capacitiesOf(this.k, this.#levels.length);
    this.#room = sumOf(this.#capacities);
  }

  /** One level is full when all of them together are. */
  #compress(): void {
    const height = this.#levels.findIndex((level, index) => level.length >= (this.#capacities[index] ?? 0));
    if (height === this.#levels.length - 1) this.#grow();
    this.#halve(height);
  }

  /** Halves a level; of an odd number of values the least stays. */
  #halve(height: number): void {
    const sorted = sortedFew(this.#levels[height] ?? []);
    const left = sorted.length % 2;
    this.#levels[height] = left === 0 ? [] : [sorted[0] ?? 0];
    const offset = randomBit(this.count, height);
    for (let at = left + offset; at < sorted.length; at += 2) this.#levels[height + 1]?.push(sorted[at] ?? 0);
    this.#retained -= (sorted.length - left) / 2;
  }
}

/** Values a level has room for; the highest has k. */
function capacity(k: number, levels: number, height: number): number {
  const depth = levels - height - 1;
  return Math.max(LEAST_CAPACITY, Math.floor((Math.floor((2 * k * 2 ** depth) / 3 ** depth) + 1) / 2));
}

function capacitiesOf(k: number, levels: number): readonly number[] {
  return Array.from({ length: levels }, (_, height) => capacity(k, levels, height));
}

function sumOf(capacities: readonly number[]): number {
  return capacities.reduce((sum, each) => sum + each, 0);
}

const FEW = 32;

/** Sorts in place; levels mostly have eight values, for which a call of `sort` takes longer than this. */
function sortedFew(values: number[]): ArrayLike<number> {
  if (values.length > FEW) return Float64Array.from(values).sort();
  for (let next = 1; next < values.length; next++) {
    const value = values[next] ?? 0;
    let at = next;
    for (; at > 0 && (values[at - 1] ?? 0) > value; at--) values[at] = values[at - 1] ?? 0;
    values[at] = value;
  }
  return values;
}

function ascending(values: readonly number[]): number[] {
  return [...Float64Array.from(values).sort()];
}

function malformed(): ServiceError {
  return new ServiceError('query_invalid', 'a string that should hold a KLL sketch does not');
}
