// Tuple sketches: distinct keys with numbers.

import { ServiceError } from '../base/errors.js';
import { addToMoments, emptyMoments, type Moments } from './moments.js';

/**
 * Keys with numbers: the `size` smallest hashes of all keys that were added, each with the sum of the rows of numbers that
 * came with it, and theta, the smallest hash that is not kept. Laid out as Apache DataSketches' compact array-of-doubles
 * sketches are. Bytes, lowest first in every number:
 *
 *    0  preamble in 8-byte words: 1   1  version 1   2  family 9   3  kind 3: compact, an array of doubles
 *    4  flags: 1 big-endian, 4 empty, 8 has entries, 16 ordered     5  numbers for each key
 *    6  u16 0x93cc, of the seed 9001                                8  u64 theta
 *   16  u32 keys  20  0   24  hashes, u64; then f64 numbers of each key     (from 16 on only where there are entries)
 *
 * Written ordered; read in any order. Hashes have 63 bits and are not 0; theta begins at 2^63 - 1.
 */
export class Tuple {
  readonly size: number;
  readonly width: number;
  theta: bigint;
  #rows: Map<bigint, Float64Array>;

  /**
   * @param size   keys that are kept, a power of 2
   * @param width  numbers for each key
   */
  constructor(size: number, width: number, theta = THETA_MAX, rows: Iterable<readonly [bigint, Float64Array]> = []) {
    this.size = size;
    this.width = width;
    this.theta = theta;
    this.#rows = new Map(rows);
  }

  get bytes(): number {
    return 96 + this.#rows.size * (112 + this.width * 8);
  }

  /** @param values  added to those the key has; copied */
  add(hash: bigint, values: Float64Array): void {
    if (hash >= this.theta || hash === 0n) return;
    const present = this.#rows.get(hash);
    if (present === undefined) {
      this.#rows.set(hash, values.slice());
      if (this.#rows.size >= this.size * 2) this.#trim();
      return;
    }
    addTo(present, values);
  }

  merge(from: Tuple): void {
    this.#sameWidth(from);
    if (from.theta < this.theta) this.#lower(from.theta);
    for (const [hash, values] of from.#rows) this.add(hash, values);
  }

  /** Keys that all of them have, with the sum of their numbers. */
  static intersect(size: number, sketches: readonly [Tuple, ...Tuple[]]): Tuple {
    const [first, ...others] = sketches;
    const result = new Tuple(size, first.width, lowest(sketches));
    for (const [hash, values] of first.#rows) {
      const rows = others.map((other) => other.#rows.get(hash));
      if (!rows.every((row) => row !== undefined)) continue;
      const sum = values.slice();
      for (const row of rows) addTo(sum, row);
      result.add(hash, sum);
    }
    return result;
  }

  /** Keys of the first that none of the others has. */
  static subtract(size: number, sketches: readonly [Tuple, ...Tuple[]]): Tuple {
    const [first, ...others] = sketches;
    const result = new Tuple(size, first.width, lowest(sketches));
    for (const [hash, values] of first.#rows) if (!others.some((other) => other.#rows.has(hash))) result.add(hash, values);
    return result;
  }

  /** Keys that are kept. */
  get entries(): number {
    this.#trim();
    return this.#rows.size;
  }

  /** The part of all hashes that is kept, from 0 to 1. */
  get fraction(): number {
    this.#trim();
    return this.theta === THETA_MAX ? 1 : Number(this.theta) / 2 ** 63;
  }

  estimate(): number {
    return this.entries / this.fraction;
  }

  /** Moments of each value position over the retained keys. */
  moments(): Moments[] {
    const moments = Array.from({ length: this.width }, emptyMoments);
    for (const [, values] of this.sorted()) moments.forEach((state, place) => addToMoments(state, values[place] ?? 0));
    return moments;
  }

  /** Ascending by hash, so that what is computed from them does not depend on the order in which they came. */
  sorted(): [bigint, Float64Array][] {
    this.#trim();
    return [...this.#rows].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  encode(): Uint8Array {
    const rows = this.sorted();
    const isEmpty = rows.length === 0 && this.theta === THETA_MAX;
    const bytes = new Uint8Array(rows.length === 0 ? 16 : 24 + rows.length * 8 * (1 + this.width));
    const view = new DataView(bytes.buffer);
    bytes.set([1, 1, 9, 3, (isEmpty ? 4 : 0) | (rows.length > 0 ? 8 : 0) | 16, this.width, 0xcc, 0x93]);
    view.setBigInt64(8, this.theta, true);
    if (rows.length === 0) return bytes;
    view.setUint32(16, rows.length, true);
    rows.forEach(([hash, values], index) => {
      view.setBigInt64(24 + index * 8, hash, true);
      const at = 24 + (rows.length + index * this.width) * 8;
      values.forEach((value, place) => {
        view.setFloat64(at + place * 8, value, true);
      });
    });
    return bytes;
  }

  static decode(bytes: Uint8Array, size: number): Tuple {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 16) throw malformed('it is too short');
    if (bytes[1] !== 1 || bytes[2] !== 9 || bytes[3] !== 3) throw malformed('its version, family or kind is another');
    if (bytes[6] !== 0xcc || bytes[7] !== 0x93) throw malformed('its hash seed is not 9001');
    const flags = bytes[4] ?? 0;
    const width = bytes[5] ?? 0;
    if ((flags & 1) !== 0 || width === 0) throw malformed('it is big-endian or has no numbers');
    const theta = view.getBigInt64(8, true);
    const count = (flags & 8) === 0 ? 0 : bytes.length < 24 ? -1 : view.getUint32(16, true);
    if (count < 0 || (count > 0 && bytes.length < 24 + count * 8 * (1 + width))) throw malformed('it is too short');
    const rows = Array.from({ length: count }, (_, index): [bigint, Float64Array] => {
      const at = 24 + (count + index * width) * 8;
      const values = Float64Array.from({ length: width }, (__, place) => view.getFloat64(at + place * 8, true));
      return [view.getBigInt64(24 + index * 8, true), values];
    });
    return new Tuple(size, width, theta, rows);
  }

  #sameWidth(other: Tuple): void {
    if (other.width !== this.width)
      throw new ServiceError(
        'query_invalid',
        `sketches of ${this.width} and ${other.width} numbers for each key cannot be combined (numberOfValues)`,
      );
  }

  #trim(): void {
    if (this.#rows.size <= this.size) return;
    const hashes = BigInt64Array.from(this.#rows.keys()).sort();
    this.#lower(hashes[this.size] ?? THETA_MAX);
  }

  #lower(theta: bigint): void {
    this.theta = theta;
    for (const hash of this.#rows.keys()) if (hash >= theta) this.#rows.delete(hash);
  }
}

const THETA_MAX = 2n ** 63n - 1n;

function addTo(into: Float64Array, values: Float64Array): void {
  values.forEach((value, place) => {
    into[place] = (into[place] ?? 0) + value;
  });
}

/** @throws ServiceError unless all have as many numbers for each key */
function lowest(sketches: readonly [Tuple, ...Tuple[]]): bigint {
  let low = THETA_MAX;
  for (const sketch of sketches) {
    if (sketch.width !== sketches[0].width)
      throw new ServiceError(
        'query_invalid',
        `sketches of ${sketches[0].width} and ${sketch.width} numbers for each key cannot be combined (numberOfValues)`,
      );
    // Reading the number of entries settles theta.
    if (sketch.entries >= 0 && sketch.theta < low) low = sketch.theta;
  }
  return low;
}

function malformed(why: string): ServiceError {
  return new ServiceError('query_invalid', `a string that should hold an array-of-doubles sketch does not: ${why}`);
}
