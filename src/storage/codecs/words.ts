// Values of up to 64 bits as pairs of 32-bit words.

import type { Elements } from './elements.js';

/*
 * Elements of up to 64 bits as pairs of 32-bit words, which is how JavaScript computes with them fast; and the two
 * layouts made from words: byte planes and packed bits (see `format.ts`).
 */

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
    if (elements instanceof BigInt64Array || elements instanceof Float64Array) {
      const words = new Uint32Array(elements.buffer, elements.byteOffset, elements.length * 2);
      for (let i = 0; i < elements.length; i++) {
        this.low[i] = words[2 * i] ?? 0;
        this.high[i] = words[2 * i + 1] ?? 0;
      }
      return;
    }
    const bits = elements instanceof Float32Array ? new Uint32Array(elements.buffer, elements.byteOffset, elements.length) : elements;
    this.low.set(bits);
    this.high.fill(0, 0, elements.length);
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

/**
 * Puts byte planes (`planes[p * rows + i]`, `width` of them, lowest first, 4-byte aligned) together again as unsigned
 * elements; `out` is their words: two elements of 16 bits to a word, one of 32, or two words to an element of 64.
 */
export function joinPlanes(planes: Uint8Array, width: number, rows: number, elementBytes: 2 | 4 | 8, out: Uint32Array): void {
  if (elementBytes === 2) return joinPairs(planes, width, rows, out);
  const wordsPerRow = elementBytes / 4;
  joinQuads(planes, 0, Math.min(width, 4), rows, out, wordsPerRow, 0);
  if (wordsPerRow === 2) joinQuads(planes, 4, Math.max(width - 4, 0), rows, out, wordsPerRow, 1);
}

// Both work on words of four rows at a time, a byte of each; rows past the last multiple of four follow one by one.
// A plane that is not there is read from plane 0 and cleared by a mask.
const EVEN = 0x00ff00ff;
const ODD = 0xff00ff00;

function joinPairs(planes: Uint8Array, width: number, rows: number, out: Uint32Array): void {
  const maskB = width > 1 ? -1 : 0;
  const atB = width > 1 ? rows : 0;
  const quads = rows % 4 === 0 ? rows / 4 : 0; // else planes do not begin at words
  const words = new Uint32Array(planes.buffer, planes.byteOffset, quads * width);
  for (let q = 0, b = atB / 4; q < quads; q++, b++) {
    const wordA = words[q] ?? 0;
    const wordB = (words[b] ?? 0) & maskB;
    const even = (wordA & EVEN) | ((wordB & EVEN) << 8);
    const odd = ((wordA >>> 8) & EVEN) | (wordB & ODD);
    out[2 * q] = (even & 0xffff) | (odd << 16);
    out[2 * q + 1] = (even >>> 16) | (odd & 0xffff0000);
  }
  const elements = new Uint16Array(out.buffer, out.byteOffset, rows);
  for (let row = quads * 4; row < rows; row++) elements[row] = (planes[row] ?? 0) | (((planes[atB + row] ?? 0) << 8) & maskB);
}

/** out[row * step + offset] = the bytes of planes [first, first + width), width 0 to 4. */
function joinQuads(planes: Uint8Array, first: number, width: number, rows: number, out: Uint32Array, step: number, offset: number): void {
  const [atA, maskA] = width > 0 ? [first * rows, -1] : [0, 0];
  const [atB, maskB] = width > 1 ? [(first + 1) * rows, -1] : [0, 0];
  const [atC, maskC] = width > 2 ? [(first + 2) * rows, -1] : [0, 0];
  const [atD, maskD] = width > 3 ? [(first + 3) * rows, -1] : [0, 0];
  const quads = rows % 4 === 0 ? rows / 4 : 0;
  const words = new Uint32Array(planes.buffer, planes.byteOffset, quads === 0 ? 0 : planes.length / 4);
  for (let q = 0, to = offset; q < quads; q++, to += 4 * step) {
    const wordA = (words[atA / 4 + q] ?? 0) & maskA;
    const wordB = (words[atB / 4 + q] ?? 0) & maskB;
    const wordC = (words[atC / 4 + q] ?? 0) & maskC;
    const wordD = (words[atD / 4 + q] ?? 0) & maskD;
    const evenLow = (wordA & EVEN) | ((wordB & EVEN) << 8);
    const oddLow = ((wordA >>> 8) & EVEN) | (wordB & ODD);
    const evenHigh = (wordC & EVEN) | ((wordD & EVEN) << 8);
    const oddHigh = ((wordC >>> 8) & EVEN) | (wordD & ODD);
    out[to] = (evenLow & 0xffff) | (evenHigh << 16);
    out[to + step] = (oddLow & 0xffff) | (oddHigh << 16);
    out[to + 2 * step] = (evenLow >>> 16) | (evenHigh & 0xffff0000);
    out[to + 3 * step] = (oddLow >>> 16) | (oddHigh & 0xffff0000);
  }
  for (let row = quads * 4; row < rows; row++) {
    const low = ((planes[atA + row] ?? 0) & maskA) | (((planes[atB + row] ?? 0) & maskB) << 8);
    const high = ((planes[atC + row] ?? 0) & maskC) | (((planes[atD + row] ?? 0) & maskD) << 8);
    out[row * step + offset] = low | (high << 16);
  }
}
