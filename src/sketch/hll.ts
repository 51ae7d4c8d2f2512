// HyperLogLog sketches.

import { HASH_HALVES, type TakesHashes } from './hashes.js';

/**
 * HyperLogLog of 2^lgK registers. A coupon is a register's value in the upper 6 bits and 26 bits of address. Few distinct
 * values are kept as coupons, which are exact but for collisions of 2^26 addresses.
 */
export type HllTarget = 4 | 6 | 8;

export const LG_K_MIN = 4;
export const LG_K_MAX = 21;

export const ADDRESS_BITS = 26;
export const ADDRESS_MASK = (1 << ADDRESS_BITS) - 1;
export const LIST_MAX = 8;

export class Hll implements TakesHashes {
  #lgK: number;
  #couponsMax: number;
  #coupons: Coupons | undefined = new Coupons();
  #registers: Uint8Array | undefined;

  constructor(lgK: number) {
    this.#lgK = lgK;
    this.#couponsMax = couponsMax(lgK);
  }

  /** lgK of the sketch; that of a union is at most that of any part with registers. */
  get lgK(): number {
    return this.#lgK;
  }

  /** Whether distinct values are still kept as coupons. */
  get isExact(): boolean {
    return this.#registers === undefined;
  }

  get bytes(): number {
    return 64 + (this.#registers?.length ?? this.#coupons?.bytes ?? 0);
  }

  /** @param first, second  the words of a 128-bit hash; of the first the lowest 26 bits are used */
  addHash(firstLow: number, secondHigh: number, secondLow: number): void {
    this.addCoupon(couponOf(firstLow, secondHigh, secondLow));
  }

  addHashes(words: Uint32Array, places: Uint32Array, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const at = (places[i] ?? 0) * HASH_HALVES;
      const coupon = couponOf(words[at] ?? 0, words[at + 3] ?? 0, words[at + 2] ?? 0);
      if (this.#registers === undefined) this.addCoupon(coupon);
      else raise(this.#registers, coupon);
    }
  }

  /** Writes the coupons of hashes, beginning at position `at` of `out`; arguments as those of `addHashes`. */
  static coupons(words: Uint32Array, places: Uint32Array, from: number, to: number, out: Uint32Array, at: number): void {
    for (let i = from; i < to; i++) {
      const word = (places[i] ?? 0) * HASH_HALVES;
      out[at + i - from] = couponOf(words[word] ?? 0, words[word + 3] ?? 0, words[word + 2] ?? 0);
    }
  }

  /** Most coupons that are kept; registers are smaller than more of them. */
  static couponsMax(lgK: number): number {
    return couponsMax(lgK);
  }

  addCoupons(coupons: Uint32Array, from: number, to: number): void {
    this.#coupons?.reserve(Math.min(to - from, this.#couponsMax + 1));
    for (let i = from; i < to; i++) this.addCoupon(coupons[i] ?? 0);
  }

  addCoupon(coupon: number): void {
    if (this.#registers !== undefined) raise(this.#registers, coupon);
    else if (this.#coupons !== undefined) {
      this.#coupons.add(coupon >>> 0);
      if (this.#coupons.size > this.#couponsMax) this.#promote();
    }
  }

  /** The sketch of more registers is folded down to the other's. */
  merge(from: Hll): void {
    if (from.#registers === undefined) {
      for (const coupon of from.#coupons?.all() ?? []) this.addCoupon(coupon);
      return;
    }
    if (from.lgK < this.lgK) this.#shrink(from.lgK);
    raiseAll(this.#registers ?? this.#promote(), from.#registers);
  }

  /** Ertl's improved raw estimator: nearly unbiased over the whole range, without tables. */
  estimate(): number {
    if (this.#registers === undefined) return uncollided(this.#coupons?.size ?? 0);
    const m = this.#registers.length;
    const counts = new Float64Array(64);
    for (const value of this.#registers) counts[value] = (counts[value] ?? 0) + 1;
    let z = m * tau(1 - (counts[63] ?? 0) / m);
    for (let value = 62; value >= 1; value--) z = 0.5 * (z + (counts[value] ?? 0));
    z += m * sigma((counts[0] ?? 0) / m);
    return (m * m) / (2 * Math.LN2 * z);
  }

  /** Bounds within `deviations` standard deviations. */
  bounds(deviations: number): { readonly lower: number; readonly upper: number } {
    const estimate = this.estimate();
    const error = deviations * (this.#registers === undefined ? COUPON_ERROR : 1.04 / Math.sqrt(this.#registers.length));
    const least = this.#registers === undefined ? (this.#coupons?.size ?? 0) : 0;
    return { lower: Math.max(least, estimate / (1 + error)), upper: estimate / (1 - error) };
  }

  /** Undefined while distinct values are kept as coupons. */
  get registers(): Uint8Array | undefined {
    return this.#registers;
  }

  /** Ascending; none once there are registers. */
  coupons(): Uint32Array {
    return this.#coupons?.all().sort() ?? new Uint32Array(0);
  }

  /** lgK, and whether registers follow, four a word, or coupons. */
  pack(): Uint32Array {
    const registers = this.#registers;
    if (registers === undefined) {
      const coupons = this.#coupons?.all() ?? new Uint32Array(0);
      const packed = new Uint32Array(2 + coupons.length);
      packed[0] = this.#lgK;
      packed.set(coupons, 2);
      return packed;
    }
    const packed = new Uint32Array(2 + registers.length / 4);
    packed.set([this.#lgK, 1]);
    new Uint8Array(packed.buffer, 8).set(registers);
    return packed;
  }

  static unpack(packed: Uint32Array): Hll {
    const [lgK = 0, hasRegisters] = packed;
    if (hasRegisters === 1) return Hll.ofRegisters(lgK, new Uint8Array(packed.buffer, packed.byteOffset + 8, packed.byteLength - 8));
    const sketch = new Hll(lgK);
    sketch.addCoupons(packed, 2, packed.length);
    return sketch;
  }

  static ofRegisters(lgK: number, registers: Uint8Array): Hll {
    const sketch = new Hll(lgK);
    sketch.#coupons = undefined;
    sketch.#registers = registers;
    return sketch;
  }

  #shrink(lgK: number): void {
    this.#lgK = lgK;
    if (this.#registers === undefined) return;
    const registers = new Uint8Array(1 << lgK);
    raiseAll(registers, this.#registers);
    this.#registers = registers;
  }

  #promote(): Uint8Array {
    const registers = new Uint8Array(1 << this.lgK);
    for (const coupon of this.#coupons?.all() ?? []) raise(registers, coupon);
    this.#coupons = undefined;
    this.#registers = registers;
    return registers;
  }
}

/** A set of coupons, none of which is 0: open addressing, at most half full. */
class Coupons {
  #table = new Uint32Array(16);
  size = 0;

  get bytes(): number {
    return this.#table.length * 4;
  }

  /** Room for so many, all of which are new or few. */
  reserve(more: number): void {
    if ((this.size + more) * 2 <= this.#table.length) return;
    this.#resize(2 ** Math.ceil(Math.log2((this.size + more) * 2)));
  }

  add(coupon: number): void {
    const table = this.#table;
    const mask = table.length - 1;
    let at = coupon & mask;
    while (table[at] !== 0) {
      if (table[at] === coupon) return;
      at = (at + 1) & mask;
    }
    table[at] = coupon;
    if (++this.size * 2 > table.length) this.#resize(table.length * 2);
  }

  /** All coupons, in no order. */
  all(): Uint32Array {
    const coupons = new Uint32Array(this.size);
    let to = 0;
    for (let at = 0; at < this.#table.length; at++) {
      const coupon = this.#table[at] ?? 0;
      if (coupon !== 0) coupons[to++] = coupon;
    }
    return coupons;
  }

  #resize(places: number): void {
    const coupons = this.all();
    this.#table = new Uint32Array(places);
    this.size = 0;
    for (const coupon of coupons) this.add(coupon);
  }
}

const COUPON_ERROR = 0.409 / (1 << 13);

/** Number of coupons beyond which registers are smaller. */
function couponsMax(lgK: number): number {
  return lgK < 8 ? LIST_MAX - 1 : 3 * 2 ** (lgK - 5);
}

function couponOf(firstLow: number, secondHigh: number, secondLow: number): number {
  const zeros = secondHigh !== 0 ? Math.clz32(secondHigh) : 32 + Math.clz32(secondLow);
  return ((Math.min(zeros, 62) + 1) << ADDRESS_BITS) | (firstLow & ADDRESS_MASK);
}

function raise(registers: Uint8Array, coupon: number): void {
  const slot = coupon & (registers.length - 1);
  const value = coupon >>> ADDRESS_BITS;
  if (value > (registers[slot] ?? 0)) registers[slot] = value;
}

/** Registers of as many or more, whose addresses end alike. */
function raiseAll(into: Uint8Array, from: Uint8Array): void {
  const mask = into.length - 1;
  for (let slot = 0; slot < from.length; slot++) {
    const value = from[slot] ?? 0;
    if (value > (into[slot & mask] ?? 0)) into[slot & mask] = value;
  }
}

/** Two values share a coupon with probability 2^-26 / 3: the same address, and as many zeros. */
function uncollided(coupons: number): number {
  return coupons + (coupons * (coupons - 1)) / (2 * 3 * 2 ** ADDRESS_BITS);
}

function tau(start: number): number {
  if (start === 0 || start === 1) return 0;
  let [x, y, z, before] = [start, 1, 1 - start, Number.NaN];
  while (z !== before) {
    x = Math.sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) ** 2 * y;
  }
  return z / 3;
}

function sigma(start: number): number {
  if (start === 1) return Infinity;
  let [x, y, z, before] = [start, 1, start, Number.NaN];
  while (z !== before) {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  }
  return z;
}
