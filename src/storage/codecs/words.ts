/*
 * Elements of up to 64 bits as pairs of 32-bit words, which is how JavaScript computes with them fast; and the two
 * layouts made from words: byte planes and packed bits (see `format.ts`).
 */

export type Elements = Uint8Array | Uint16Array | Uint32Array | BigInt64Array | Float32Array | Float64Array;

/** The raw bits of a block of elements. `high` is all zeros for elements of up to 32 bits. Reused from block to block. */
export class Words {
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  length = 0;

  constructor(capacity: number) {
    this.low = new Uint32Array(capacity);
    this.high = new Uint32Array(capacity);
  }

  load(elements: Elements): void {
    this.length = elements.length;
    if (elements.BYTES_PER_ELEMENT === 8) {
      const words = new Uint32Array(elements.buffer, elements.byteOffset, elements.length * 2);
      for (let i = 0; i < elements.length; i++) {
        this.low[i] = words[2 * i] ?? 0;
        this.high[i] = words[2 * i + 1] ?? 0;
      }
      return;
    }
    this.high.fill(0, 0, elements.length);
    this.low.set(elements instanceof Float32Array ? new Uint32Array(elements.buffer, elements.byteOffset, elements.length) : (elements as Uint32Array));
  }

  /** Replaces each element by its distance from the one before; the first by its distance from (low, high). */
  differences(beforeLow: number, beforeHigh: number): void {
    const { low, high } = this;
    let lastLow = beforeLow >>> 0;
    let lastHigh = beforeHigh >>> 0;
    for (let i = 0; i < this.length; i++) {
      const nextLow = low[i] ?? 0;
      const nextHigh = high[i] ?? 0;
      low[i] = nextLow - lastLow;
      high[i] = nextHigh - lastHigh - (nextLow < lastLow ? 1 : 0);
      lastLow = nextLow;
      lastHigh = nextHigh;
    }
  }

  /** Bits of the largest element taken as unsigned, at least 1. */
  bitWidth(): number {
    let low = 0;
    let high = 0;
    for (let i = 0; i < this.length; i++) {
      low |= this.low[i] ?? 0;
      high |= this.high[i] ?? 0;
    }
    return Math.max(1, high === 0 ? 32 - Math.clz32(low) : 64 - Math.clz32(high));
  }

  /** Byte `plane` of every element. */
  writePlane(plane: number, out: Uint8Array): void {
    const words = plane < 4 ? this.low : this.high;
    const shift = (plane & 3) * 8;
    for (let i = 0; i < this.length; i++) out[i] = (words[i] ?? 0) >>> shift;
  }

  /** The lowest `width` (1 to 32) bits of every element one after the other; returns the words written to `out`. */
  pack(width: number, out: Uint32Array): number {
    const count = Math.ceil((this.length * width) / 32);
    out.fill(0, 0, count);
    for (let i = 0, bit = 0; i < this.length; i++, bit += width) {
      const value = this.low[i] ?? 0;
      const at = bit >>> 5;
      const shift = bit & 31;
      out[at] = (out[at] ?? 0) | (value << shift);
      if (shift + width > 32) out[at + 1] = value >>> (32 - shift);
    }
    return count;
  }
}

/** Puts byte planes (`planes[p * length + i]`, `width` of them, lowest first) together again as 16-bit elements. */
export function joinPlanes16(planes: Uint8Array, width: number, out: Uint16Array): void {
  const length = out.length;
  const second = width > 1 ? length : 0;
  const mask = width > 1 ? 0xffff : 0xff;
  for (let i = 0; i < length; i++) out[i] = ((planes[i] ?? 0) | ((planes[second + i] ?? 0) << 8)) & mask;
}

/** The same as 32-bit elements. */
export function joinPlanes32(planes: Uint8Array, width: number, out: Uint32Array): void {
  joinWords(planes, 0, width, out, 1, 0, out.length);
}

/** The same as 64-bit elements, `out` being their words. */
export function joinPlanes64(planes: Uint8Array, width: number, out: Uint32Array): void {
  const length = out.length / 2;
  joinWords(planes, 0, Math.min(width, 4), out, 2, 0, length);
  joinWords(planes, 4, Math.max(width - 4, 0), out, 2, 1, length);
}

/** out[i * step + offset] = byte i of planes [first, first + width), width 0 to 4. */
function joinWords(planes: Uint8Array, first: number, width: number, out: Uint32Array, step: number, offset: number, length: number): void {
  // A missing plane is read from some other one and cleared by the mask.
  const at0 = width > 0 ? first * length : 0;
  const at1 = width > 1 ? (first + 1) * length : 0;
  const at2 = width > 2 ? (first + 2) * length : 0;
  const at3 = width > 3 ? (first + 3) * length : 0;
  const mask = width > 3 ? 0xffffffff : 2 ** (8 * width) - 1;
  for (let i = 0, to = offset; i < length; i++, to += step) {
    out[to] = ((planes[at0 + i] ?? 0) | ((planes[at1 + i] ?? 0) << 8) | ((planes[at2 + i] ?? 0) << 16) | ((planes[at3 + i] ?? 0) << 24)) & mask;
  }
}
