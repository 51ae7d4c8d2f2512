// Theta sketches.

import { HASH_HALVES, type TakesHashes } from './hashes.js';
import { selectAscending } from './select.js';

/**
 * The `size` smallest of all hashes that were added, and theta: the smallest that is not kept. So the sketch of a set is
 * the same whatever the order of adding and merging. Hashes have 63 bits and are not 0; theta begins at 2^63 - 1.
 */
export class Theta implements TakesHashes {
  readonly size: number;
  /** Open addressing; a place holds a hash, the lower half first, or zeros. At most half full. */
  #table = new Uint32Array(FIRST_PLACES * 2);
  #count = 0;
  #thetaHigh: number;
  #thetaLow: number;

  /** @param size  hashes that are kept, a power of 2 */
  constructor(size: number, theta = THETA_MAX, hashes: Iterable<bigint> = []) {
    this.size = size;
    this.#thetaHigh = theta === THETA_MAX ? THETA_MAX_HIGH : highOf(theta);
    this.#thetaLow = theta === THETA_MAX ? THETA_MAX_LOW : lowOf(theta);
    for (const hash of hashes) this.#add(highOf(hash), lowOf(hash));
  }

  get theta(): bigint {
    return (BigInt(this.#thetaHigh) << 32n) | BigInt(this.#thetaLow);
  }

  get bytes(): number {
    return 96 + this.#table.length * 4;
  }

  /** @param high, low  the first word of a 128-bit hash */
  addHash(high: number, low: number): void {
    const upper = high >>> 1;
    if (upper <= this.#thetaHigh) this.#add(upper, ((high << 31) | (low >>> 1)) >>> 0);
  }

  addHashes(words: Uint32Array, places: Uint32Array, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const at = (places[i] ?? 0) * HASH_HALVES;
      this.addHash(words[at + 1] ?? 0, words[at] ?? 0);
    }
  }

  /** Writes the halves of hashes, the lower one first, beginning with the hash at position `at` of `out`; arguments as those of `addHashes`. */
  static halves(words: Uint32Array, places: Uint32Array, from: number, to: number, out: Uint32Array, at: number): void {
    let into = at * 2;
    for (let i = from; i < to; i++) {
      const word = (places[i] ?? 0) * HASH_HALVES;
      const [low = 0, high = 0] = [words[word], words[word + 1]];
      out[into++] = (high << 31) | (low >>> 1);
      out[into++] = high >>> 1;
    }
  }

  /** Adds hashes [from, to) of those that `halves` has written. */
  addHalves(halves: Uint32Array, from: number, to: number): void {
    const places = Math.min(to - from, this.size) * 2;
    if (this.#count === 0 && places > this.#table.length / 2) this.#table = new Uint32Array(2 ** Math.ceil(Math.log2(places)) * 2);
    for (let i = from * 2; i < to * 2; i += 2) this.#add(halves[i + 1] ?? 0, halves[i] ?? 0);
  }

  /** Theta and the hashes that are kept, in no order; the lower half of each first. */
  pack(): Uint32Array {
    this.#trim();
    const packed = new Uint32Array((this.#count + 1) * 2);
    packed[0] = this.#thetaLow;
    packed[1] = this.#thetaHigh;
    const table = this.#table;
    let to = 2;
    for (let at = 0; at < table.length; at += 2) {
      const [low = 0, high = 0] = [table[at], table[at + 1]];
      if (low === 0 && high === 0) continue;
      packed[to++] = low;
      packed[to++] = high;
    }
    return packed;
  }

  static unpack(size: number, packed: Uint32Array): Theta {
    const sketch = new Theta(size);
    sketch.#thetaLow = packed[0] ?? 0;
    sketch.#thetaHigh = packed[1] ?? 0;
    sketch.addHalves(packed, 1, packed.length / 2);
    return sketch;
  }

  merge(from: Theta): void {
    if (from.theta < this.theta) this.#lower(from.theta);
    const table = from.#table;
    for (let at = 0; at < table.length; at += 2) this.#add(table[at + 1] ?? 0, table[at] ?? 0);
  }

  /** Hashes that all of them have. */
  static intersect(size: number, sketches: readonly Theta[]): Theta {
    return Theta.#ofFirst(size, sketches, (hash, others) => others.every((other) => other.#has(hash)));
  }

  /** Hashes of the first that none of the others has. */
  static subtract(size: number, sketches: readonly Theta[]): Theta {
    return Theta.#ofFirst(size, sketches, (hash, others) => !others.some((other) => other.#has(hash)));
  }

  /** Hashes of the first below the bounds of all that `keeps` says to keep. */
  static #ofFirst(size: number, sketches: readonly Theta[], keeps: (hash: bigint, others: readonly Theta[]) => boolean): Theta {
    const [first, ...others] = sketches;
    const theta = lowest(sketches);
    const kept = [...(first?.hashes() ?? [])].filter((hash) => hash < theta && keeps(hash, others));
    return new Theta(size, theta, kept);
  }

  /** Ascending. */
  hashes(): BigInt64Array {
    this.#trim();
    return this.#sorted();
  }

  estimate(): number {
    this.#trim();
    return this.#count / this.fraction;
  }

  /** Whether every hash that was added is kept. */
  get isExact(): boolean {
    this.#trim();
    return this.#thetaHigh === THETA_MAX_HIGH && this.#thetaLow === THETA_MAX_LOW;
  }

  /** The share of all hashes that are kept. */
  get fraction(): number {
    return this.isExact ? 1 : Number(this.theta) / 2 ** 63;
  }

  #add(high: number, low: number): void {
    if (high > this.#thetaHigh || (high === this.#thetaHigh && low >= this.#thetaLow) || (high === 0 && low === 0)) return;
    const at = this.#placeOf(high, low);
    if (this.#table[at] !== 0 || this.#table[at + 1] !== 0) return;
    this.#table[at] = low;
    this.#table[at + 1] = high;
    if (++this.#count >= this.size * 2) this.#trim();
    else if (this.#count * 4 > this.#table.length) this.#rebuild(this.#table, this.#largerLength());
  }

  /** Places for twice the hashes that are kept are never more than half full. */
  #largerLength(): number {
    const { length } = this.#table;
    return Math.max(length * 2, Math.min(length * 4, this.size * 8));
  }

  #has(hash: bigint): boolean {
    const at = this.#placeOf(highOf(hash), lowOf(hash));
    return this.#table[at] !== 0 || this.#table[at + 1] !== 0;
  }

  /** Slot of a hash, present or not. Hashes are nearly random, so probing starts at their lower bits. */
  #placeOf(high: number, low: number): number {
    const table = this.#table;
    const mask = table.length - 2;
    let at = (low * 2) & mask;
    while ((table[at] !== low || table[at + 1] !== high) && (table[at] !== 0 || table[at + 1] !== 0)) at = (at + 2) & mask;
    return at;
  }

  #sorted(): BigInt64Array {
    const all = new BigInt64Array(this.#count);
    const halves = new Uint32Array(all.buffer);
    const table = this.#table;
    let to = 0;
    for (let at = 0; at < table.length; at += 2) {
      if (table[at] === 0 && table[at + 1] === 0) continue;
      halves[to++] = table[at] ?? 0;
      halves[to++] = table[at + 1] ?? 0;
    }
    return all.sort();
  }

  #trim(): void {
    if (this.#count <= this.size) return;
    // Sort by the upper 52 bits, which a double holds; hashes that share them are compared whole.
    const keys = new Float64Array(this.#count);
    const table = this.#table;
    let to = 0;
    for (let at = 0; at < table.length; at += 2) {
      const [low = 0, high = 0] = [table[at], table[at + 1]];
      if (low !== 0 || high !== 0) keys[to++] = keyOf(high, low);
    }
    const key = selectAscending(keys, this.size);
    let below = 0;
    for (const each of keys) if (each < key) below++;
    const alike: bigint[] = [];
    for (let at = 0; at < table.length; at += 2) {
      const [low = 0, high = 0] = [table[at], table[at + 1]];
      if (keyOf(high, low) === key) alike.push((BigInt(high) << 32n) | BigInt(low));
    }
    alike.sort((a, b) => (a < b ? -1 : 1));
    this.#lower(alike[this.size - below] ?? THETA_MAX);
  }

  #lower(theta: bigint): void {
    this.#thetaHigh = highOf(theta);
    this.#thetaLow = lowOf(theta);
    this.#rebuild(this.#table, this.#table.length);
  }

  /** The hashes of a table below theta, in a new one. */
  #rebuild(from: Uint32Array, length: number): void {
    this.#table = new Uint32Array(length);
    this.#count = 0;
    for (let at = 0; at < from.length; at += 2) {
      const [low = 0, high = 0] = [from[at], from[at + 1]];
      if (high > this.#thetaHigh || (high === this.#thetaHigh && low >= this.#thetaLow) || (high === 0 && low === 0)) continue;
      const place = this.#placeOf(high, low);
      this.#table[place] = low;
      this.#table[place + 1] = high;
      this.#count++;
    }
  }
}

export const THETA_MAX = 2n ** 63n - 1n;
const THETA_MAX_HIGH = 0x7fffffff;
const THETA_MAX_LOW = 0xffffffff;

const FIRST_PLACES = 16;

function keyOf(high: number, low: number): number {
  return high * 2 ** 21 + (low >>> 11);
}

function highOf(hash: bigint): number {
  return Number(hash >> 32n);
}

function lowOf(hash: bigint): number {
  return Number(hash & 0xffffffffn);
}

function lowest(sketches: readonly Theta[]): bigint {
  let low = THETA_MAX;
  for (const sketch of sketches) {
    sketch.hashes();
    if (sketch.theta < low) low = sketch.theta;
  }
  return low;
}
