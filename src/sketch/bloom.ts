// Bloom filters.

import { ServiceError } from '../base/errors.js';
import { type Hash64, murmur64 } from './murmur3.js';

/**
 * A Bloom filter in blocks of 512 bits, laid out and hashed as Hive's BloomKFilter is: made for 5 % false positives at
 * `expectedEntries` values. Bytes, highest first in every number:
 *
 *    0  number of hash functions   1  u32 number of 64-bit words, a multiple of 8   5  the words
 *
 * The 64-bit hash of a value gives two numbers of 32 bits, h1 its lower and h2 its upper half. Their sum chooses the block,
 * and h1 + (i + 1) h2, for i from 1 on, a word of the block (lowest 3 bits) and a bit of it (the next 6). Numbers that are
 * negative are inverted bit by bit first.
 */
export class Bloom {
  readonly hashes: number;
  /** Halves of words, the upper one first: so they are written and read. */
  readonly #words: Int32Array;

  private constructor(hashes: number, words: Int32Array) {
    this.hashes = hashes;
    this.#words = words;
  }

  /** @param expectedEntries  at least 1 */
  static create(expectedEntries: number): Bloom {
    const bits = Math.floor((-expectedEntries * Math.log(FALSE_POSITIVES)) / Math.LN2 ** 2);
    const words = Math.ceil(bits / 64);
    // A filter that fills its blocks gets one more.
    const padded = words + BLOCK_WORDS - (words % BLOCK_WORDS);
    return new Bloom(Math.max(1, Math.round((bits / expectedEntries) * Math.LN2)), new Int32Array(padded * 2));
  }

  get bytes(): number {
    return 64 + this.#words.byteLength;
  }

  add({ high, low }: Hash64): void {
    const words = this.#words;
    const block = this.#block(high, low);
    for (let i = 1; i <= this.hashes; i++) {
      const combined = positive((low + Math.imul(i + 1, high)) | 0);
      const bit = (combined >>> 3) & 63;
      const half = (block + (combined & 7)) * 2 + (bit < 32 ? 1 : 0);
      words[half] = (words[half] ?? 0) | (1 << (bit & 31));
    }
  }

  has({ high, low }: Hash64): boolean {
    const block = this.#block(high, low);
    for (let i = 1; i <= this.hashes; i++) {
      const combined = positive((low + Math.imul(i + 1, high)) | 0);
      const bit = (combined >>> 3) & 63;
      const half = (block + (combined & 7)) * 2 + (bit < 32 ? 1 : 0);
      if (((this.#words[half] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  merge(from: Bloom): void {
    if (from.hashes !== this.hashes || from.#words.length !== this.#words.length)
      throw new ServiceError(
        'query_invalid',
        `Bloom filters of ${this.#words.length / 2} and ${from.#words.length / 2} words cannot be merged (maxNumEntries)`,
      );
    from.#words.forEach((word, index) => {
      this.#words[index] = (this.#words[index] ?? 0) | word;
    });
  }

  get bitsSet(): number {
    let count = 0;
    for (const word of this.#words) for (let rest = word; rest !== 0; rest &= rest - 1) count++;
    return count;
  }

  encode(): Uint8Array {
    const bytes = new Uint8Array(5 + this.#words.length * 4);
    const view = new DataView(bytes.buffer);
    bytes[0] = this.hashes;
    view.setUint32(1, this.#words.length / 2);
    this.#words.forEach((word, index) => {
      view.setInt32(5 + index * 4, word);
    });
    return bytes;
  }

  static decode(bytes: Uint8Array): Bloom {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const hashes = bytes[0] ?? 0;
    const count = bytes.length < 5 ? 0 : view.getUint32(1);
    if (hashes === 0 || hashes > 127 || count === 0 || count % BLOCK_WORDS !== 0 || bytes.length !== 5 + count * 8)
      throw new ServiceError('query_invalid', 'a string that should hold a Bloom filter (BloomKFilter as base64) does not');
    return new Bloom(
      hashes,
      Int32Array.from({ length: count * 2 }, (_, index) => view.getInt32(5 + index * 4)),
    );
  }

  /** The first word of the block. */
  #block(high: number, low: number): number {
    return (positive((high + low) | 0) % (this.#words.length / (2 * BLOCK_WORDS))) * BLOCK_WORDS;
  }
}

const FALSE_POSITIVES = Math.fround(0.05);
const BLOCK_WORDS = 8;

function positive(value: number): number {
  return value < 0 ? ~value : value;
}

/** Hash of null. */
export const NULL_HASH: Hash64 = { high: 0x27bb2ee6, low: 0x87b0b0fd | 0 };

/** Hash of a string's UTF-8 bytes. */
export function hash64(bytes: DataView): Hash64 {
  return murmur64(bytes, SEED);
}

/** Hash of a string, over its UTF-8 bytes. */
export function hash64OfText(text: string): Hash64 {
  const bytes = Buffer.from(text);
  return hash64(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}

/** Hash of a LONG, over its 8 bytes, highest first. */
export function hash64OfLong(value: bigint): Hash64 {
  EIGHT_BYTES.setBigInt64(0, value);
  return hash64(EIGHT_BYTES);
}

/** Hash of a DOUBLE, over its IEEE 754 bits as 8 bytes, highest first. */
export function hash64OfDouble(value: number): Hash64 {
  EIGHT_BYTES.setFloat64(0, value);
  return hash64(EIGHT_BYTES);
}

/** Hash of a FLOAT, over its IEEE 754 bits as 4 bytes, lowest first. */
export function hash64OfFloat(value: number): Hash64 {
  FOUR_BYTES.setFloat32(0, value, true);
  return hash64(FOUR_BYTES);
}

const SEED = 104_729;
const EIGHT_BYTES = new DataView(new ArrayBuffer(8));
const FOUR_BYTES = new DataView(new ArrayBuffer(4));
