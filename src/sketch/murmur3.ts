// Murmur3 hashes of values, as sketches use them.

/** The bytes that stand for a string when it is hashed; sketches merge only when both hashed the same. */
export type StringEncoding = 'utf8' | 'utf16le';

/**
 * MurmurHash3, the 128-bit variant for 64-bit machines. JavaScript has no 64-bit integers that are fast, so every
 * number is two halves of 32 bits; products and sums leave theirs in `high` and `low`.
 */
export class Murmur3 {
  /** The two 64-bit words of the last hash, in halves. */
  firstHigh = 0;
  firstLow = 0;
  secondHigh = 0;
  secondLow = 0;
  readonly #seed: number;
  readonly #number = new DataView(new ArrayBuffer(8));

  /** @param seed  a number of 32 bits, not negative */
  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The last hash as four halves, the lower of a word first. */
  copyTo(halves: Uint32Array): void {
    halves[0] = this.firstLow;
    halves[1] = this.firstHigh;
    halves[2] = this.secondLow;
    halves[3] = this.secondHigh;
  }

  hashText(text: string, encoding: StringEncoding = 'utf8'): void {
    const bytes = Buffer.from(text, encoding);
    this.hash(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  /** Hashes a LONG over its 8 bytes, lowest first. */
  hashLong(value: bigint): void {
    this.#number.setBigInt64(0, value, true);
    this.hash(this.#number);
  }

  /** Hashes a double over its IEEE 754 bits as 8 bytes, lowest first; all zeros hash alike, and all NaNs. */
  hashDouble(value: number): void {
    this.#number.setFloat64(0, value === 0 ? 0 : value, true);
    this.hash(this.#number);
  }

  hash(bytes: DataView): void {
    const length = bytes.byteLength;
    let aHigh = 0;
    let aLow = this.#seed | 0;
    let bHigh = 0;
    let bLow = this.#seed | 0;
    const whole = length - (length % 16);
    for (let at = 0; at < whole; at += 16) {
      mixFirst(bytes.getInt32(at + 4, true), bytes.getInt32(at, true));
      rotate(aHigh ^ high, aLow ^ low, 27);
      add(high, low, bHigh, bLow);
      multiply(high, low, 0, 5);
      add(high, low, 0, 0x52dce729);
      aHigh = high;
      aLow = low;
      mixSecond(bytes.getInt32(at + 12, true), bytes.getInt32(at + 8, true));
      rotate(bHigh ^ high, bLow ^ low, 31);
      add(high, low, aHigh, aLow);
      multiply(high, low, 0, 5);
      add(high, low, 0, 0x38495ab5);
      bHigh = high;
      bLow = low;
    }
    if (length > whole + 8) {
      mixSecond(restOf(bytes, whole + 12), restOf(bytes, whole + 8));
      bHigh ^= high;
      bLow ^= low;
    }
    if (length > whole) {
      mixFirst(restOf(bytes, whole + 4), restOf(bytes, whole));
      aHigh ^= high;
      aLow ^= low;
    }
    aLow ^= length;
    bLow ^= length;
    add(aHigh, aLow, bHigh, bLow);
    aHigh = high;
    aLow = low;
    add(bHigh, bLow, aHigh, aLow);
    bHigh = high;
    bLow = low;
    finish(aHigh, aLow);
    aHigh = high;
    aLow = low;
    finish(bHigh, bLow);
    bHigh = high;
    bLow = low;
    add(aHigh, aLow, bHigh, bLow);
    this.firstHigh = high;
    this.firstLow = low;
    add(bHigh, bLow, high, low);
    this.secondHigh = high;
    this.secondLow = low;
  }
}

/** A hash of 64 bits in halves, each a number of 32 bits with a sign. */
export interface Hash64 {
  readonly high: number;
  readonly low: number;
}

/** Hive's variant of 64 bits, which has one of the two words, and nothing of the other in it. */
export function murmur64(bytes: DataView, seed: number): Hash64 {
  const length = bytes.byteLength;
  let hashHigh = 0;
  let hashLow = seed | 0;
  const whole = length - (length % 8);
  for (let at = 0; at < whole; at += 8) {
    mixFirst(bytes.getInt32(at + 4, true), bytes.getInt32(at, true));
    rotate(hashHigh ^ high, hashLow ^ low, 27);
    multiply(high, low, 0, 5);
    add(high, low, 0, 0x52dce729);
    hashHigh = high;
    hashLow = low;
  }
  if (length > whole) {
    mixFirst(restOf(bytes, whole + 4), restOf(bytes, whole));
    hashHigh ^= high;
    hashLow ^= low;
  }
  finish(hashHigh, hashLow ^ length);
  return { high, low };
}

let high = 0;
let low = 0;

function mixFirst(wordHigh: number, wordLow: number): void {
  multiply(wordHigh, wordLow, 0x87c37b91, 0x114253d5);
  rotate(high, low, 31);
  multiply(high, low, 0x4cf5ad43, 0x2745937f);
}

function mixSecond(wordHigh: number, wordLow: number): void {
  multiply(wordHigh, wordLow, 0x4cf5ad43, 0x2745937f);
  rotate(high, low, 33);
  multiply(high, low, 0x87c37b91, 0x114253d5);
}

function finish(wordHigh: number, wordLow: number): void {
  multiply(wordHigh, wordLow ^ (wordHigh >>> 1), 0xff51afd7, 0xed558ccd);
  multiply(high, low ^ (high >>> 1), 0xc4ceb9fe, 0x1a85ec53);
  low ^= high >>> 1;
}

function multiply(aHigh: number, aLow: number, bHigh: number, bLow: number): void {
  const a0 = aLow & 0xffff;
  const a1 = aLow >>> 16;
  const b0 = bLow & 0xffff;
  const b1 = bLow >>> 16;
  const middle = a1 * b0 + Math.floor((a0 * b0) / 65536);
  const carry = a0 * b1 + (middle % 65536);
  high = (a1 * b1 + Math.floor(middle / 65536) + Math.floor(carry / 65536) + Math.imul(aHigh, bLow) + Math.imul(aLow, bHigh)) | 0;
  low = Math.imul(aLow, bLow);
}

function add(aHigh: number, aLow: number, bHigh: number, bLow: number): void {
  const sum = (aLow >>> 0) + (bLow >>> 0);
  high = (aHigh + bHigh + (sum > 0xffffffff ? 1 : 0)) | 0;
  low = sum | 0;
}

function rotate(wordHigh: number, wordLow: number, bits: number): void {
  const [a, b, by] = bits < 32 ? [wordHigh, wordLow, bits] : [wordLow, wordHigh, bits - 32];
  high = (a << by) | (b >>> (32 - by));
  low = (b << by) | (a >>> (32 - by));
}

/** Up to four bytes from `at` on, lowest first; those behind the end are 0. */
function restOf(bytes: DataView, at: number): number {
  let word = 0;
  for (let byte = Math.min(bytes.byteLength, at + 4) - 1; byte >= at; byte--) word = (word << 8) | bytes.getUint8(byte);
  return word;
}

/** Murmur3 in its x86 form of 32 bits, with seed 0, as a signed number. Source: Appleby's public description of MurmurHash3. */
export function murmur32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const whole = bytes.length & ~3;
  let hash = 0;
  for (let at = 0; at < whole; at += 4) {
    hash ^= scrambled(view.getUint32(at, true));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let at = bytes.length - 1; at >= whole; at--) rest = (rest << 8) | (bytes[at] ?? 0);
  hash ^= scrambled(rest) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) | 0;
}

function scrambled(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
