// XXH32, the checksum of LZ4 frames..

import { Buffer } from 'node:buffer';

const PRIMES = [0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f, 0x165667b1] as const;
const [P1, P2, P3, P4, P5] = PRIMES;
const STRIPE_BYTES = 16;

/** The checksum of bytes that come in pieces, with the seed 0. */
export class Xxh32 {
  readonly #lanes = new Int32Array([P1 + P2, P2, 0, -P1]);
  #pending: Uint8Array = new Uint8Array(0);
  #length = 0;

  update(bytes: Uint8Array): this {
    this.#length += bytes.length;
    const all = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    const whole = all.length - (all.length % STRIPE_BYTES);
    const view = new DataView(all.buffer, all.byteOffset, all.length);
    let [a = 0, b = 0, c = 0, d = 0] = this.#lanes;
    for (let at = 0; at < whole; at += STRIPE_BYTES) {
      a = round(a, view.getInt32(at, true));
      b = round(b, view.getInt32(at + 4, true));
      c = round(c, view.getInt32(at + 8, true));
      d = round(d, view.getInt32(at + 12, true));
    }
    this.#lanes.set([a, b, c, d]);
    this.#pending = new Uint8Array(all.subarray(whole));
    return this;
  }

  /** Unsigned. */
  digest(): number {
    const [a = 0, b = 0, c = 0, d = 0] = this.#lanes;
    let hash = this.#length < STRIPE_BYTES ? P5 : rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    hash = (hash + this.#length) | 0;
    const view = new DataView(this.#pending.buffer, 0, this.#pending.length);
    let at = 0;
    for (; at + 4 <= view.byteLength; at += 4) hash = Math.imul(rotate((hash + Math.imul(view.getInt32(at, true), P3)) | 0, 17), P4);
    for (; at < view.byteLength; at++) hash = Math.imul(rotate((hash + Math.imul(view.getUint8(at), P5)) | 0, 11), P1);
    hash = Math.imul(hash ^ (hash >>> 15), P2);
    hash = Math.imul(hash ^ (hash >>> 13), P3);
    return (hash ^ (hash >>> 16)) >>> 0;
  }
}

export function xxh32(bytes: Uint8Array): number {
  return new Xxh32().update(bytes).digest();
}

function round(lane: number, value: number): number {
  return Math.imul(rotate((lane + Math.imul(value, P2)) | 0, 13), P1);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
