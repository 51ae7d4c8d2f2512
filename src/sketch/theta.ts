/**
 * The `size` smallest of all hashes that were added, and theta: the smallest that is not kept. So the sketch of a set is
 * the same whatever the order of adding and merging. Hashes have 63 bits and are not 0; theta begins at 2^63 - 1.
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
    return this.#hashes.size / this.fraction;
  }

  /** Whether every hash that was added is kept. */
  get isExact(): boolean {
    this.#trim();
    return this.theta === THETA_MAX;
  }

  /** The share of all hashes that are kept. */
  get fraction(): number {
    return this.isExact ? 1 : Number(this.theta) / 2 ** 63;
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

export const THETA_MAX = 2n ** 63n - 1n;

function lowest(sketches: readonly Theta[]): bigint {
  let low = THETA_MAX;
  for (const sketch of sketches) {
    sketch.hashes();
    if (sketch.theta < low) low = sketch.theta;
  }
  return low;
}
