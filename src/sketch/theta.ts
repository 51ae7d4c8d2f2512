import { ServiceError } from '../base/errors.js';

/**
 * The `size` smallest of all hashes that were added, and theta: the smallest that is not kept. So the sketch of a set is
 * the same whatever the order of adding and merging. Laid out as Apache DataSketches' compact theta sketches are. Bytes,
 * lowest first in every number:
 *
 *    0  preamble in 8-byte words: 1 (empty or a single hash), 2 (every hash is kept), 3    1  version 3    2  family 3
 *    5  flags: 2 read-only, 4 empty, 8 compact, 16 ordered, 32 a single hash    6  u16 0x93cc, of the seed 9001
 *    8  u32 hashes  12 f32 1   16 u64 theta (preamble 3)   then hashes, u64, ascending; for a single one from 8 on
 *
 * Hashes have 63 bits and are not 0; theta begins at 2^63 - 1.
 */
export class Theta {
  readonly size: number;
  theta: bigint;
  #hashes: Set<bigint>;
  #thetaHigh = 0x7fffffff;

  /** @param size  hashes that are kept, a power of 2 */
  constructor(size: number, theta = THETA_MAX, hashes: Iterable<bigint> = []) {
    this.size = size;
    this.theta = theta;
    this.#hashes = new Set(hashes);
    this.#thetaHigh = Number(theta >> 32n);
  }

  get bytes(): number {
    return 96 + this.#hashes.size * 48;
  }

  /** @param high, low  the first word of a 128-bit hash */
  addHash(high: number, low: number): void {
    const upper = high >>> 1;
    if (upper > this.#thetaHigh) return;
    const lower = ((high << 31) | (low >>> 1)) >>> 0;
    this.#add((BigInt(upper) << 32n) | BigInt(lower));
  }

  merge(from: Theta): void {
    if (from.theta < this.theta) this.#lower(from.theta);
    for (const hash of from.#hashes) this.#add(hash);
  }

  /** Hashes that all of them have. */
  static intersect(size: number, sketches: readonly Theta[]): Theta {
    const [first, ...others] = sketches;
    const theta = lowest(sketches);
    return new Theta(
      size,
      theta,
      [...(first?.hashes() ?? [])].filter((hash) => hash < theta && others.every((other) => other.#hashes.has(hash))),
    );
  }

  /** Hashes of the first that none of the others has. */
  static subtract(size: number, sketches: readonly Theta[]): Theta {
    const [first, ...others] = sketches;
    const theta = lowest(sketches);
    return new Theta(
      size,
      theta,
      [...(first?.hashes() ?? [])].filter((hash) => hash < theta && !others.some((other) => other.#hashes.has(hash))),
    );
  }

  /** Ascending. */
  hashes(): BigInt64Array {
    this.#trim();
    return BigInt64Array.from(this.#hashes).sort();
  }

  estimate(): number {
    this.#trim();
    return this.theta === THETA_MAX ? this.#hashes.size : this.#hashes.size / (Number(this.theta) / 2 ** 63);
  }

  encode(): Uint8Array {
    const hashes = this.hashes();
    const isExact = this.theta === THETA_MAX;
    const words = isExact ? (hashes.length < 2 ? 1 : 2) : 3;
    const bytes = new Uint8Array((words + hashes.length) * 8);
    const view = new DataView(bytes.buffer);
    const flags = 2 | 8 | 16 | (isExact && hashes.length === 0 ? 4 : 0) | (isExact && hashes.length === 1 ? 32 : 0);
    bytes.set([words, 3, 3, 0, 0, flags, 0xcc, 0x93]);
    if (words > 1) {
      view.setUint32(8, hashes.length, true);
      view.setFloat32(12, 1, true);
    }
    if (words > 2) view.setBigInt64(16, this.theta, true);
    hashes.forEach((hash, index) => {
      view.setBigInt64((words + index) * 8, hash, true);
    });
    return bytes;
  }

  static decode(bytes: Uint8Array, size: number): Theta {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const words = (bytes[0] ?? 0) & 63;
    if (bytes.length < 8 || words < 1 || words > 3 || bytes.length < words * 8 || bytes[1] !== 3 || bytes[2] !== 3) throw malformed();
    if (bytes[6] !== 0xcc || bytes[7] !== 0x93) throw malformed();
    const flags = bytes[5] ?? 0;
    const isSingle = words === 1 && (flags & 4) === 0;
    const count = words > 1 ? view.getUint32(8, true) : isSingle ? 1 : 0;
    if (bytes.length < (words + count) * 8) throw malformed();
    const theta = words > 2 ? view.getBigInt64(16, true) : THETA_MAX;
    return new Theta(
      size,
      theta,
      Array.from({ length: count }, (_, index) => view.getBigInt64((words + index) * 8, true)),
    );
  }

  #add(hash: bigint): void {
    if (hash >= this.theta || hash === 0n) return;
    this.#hashes.add(hash);
    if (this.#hashes.size >= this.size * 2) this.#trim();
  }

  #trim(): void {
    if (this.#hashes.size <= this.size) return;
    const sorted = BigInt64Array.from(this.#hashes).sort();
    this.#lower(sorted[this.size] ?? THETA_MAX, sorted.subarray(0, this.size));
  }

  #lower(theta: bigint, kept?: Iterable<bigint>): void {
    this.theta = theta;
    this.#thetaHigh = Number(theta >> 32n);
    this.#hashes = new Set(kept ?? [...this.#hashes].filter((hash) => hash < theta));
  }
}

const THETA_MAX = 2n ** 63n - 1n;

function lowest(sketches: readonly Theta[]): bigint {
  let low = THETA_MAX;
  for (const sketch of sketches) {
    sketch.hashes();
    if (sketch.theta < low) low = sketch.theta;
  }
  return low;
}

function malformed(): ServiceError {
  return new ServiceError('query_invalid', 'a text that should hold a theta sketch does not');
}
