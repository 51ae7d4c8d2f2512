import type { Hll, HllTarget } from './hll.js';
import { decodeHllBytes, encodeHllBytes } from './hll-bytes.js';
import type { KllNumber } from './kll.js';
import { Kll } from './kll.js';
import { Quantiles } from './quantiles.js';
import type { Theta } from './theta.js';
import { decodeThetaBytes, encodeThetaBytes } from './theta-bytes.js';

/** Sketches as base64 of their bytes: the one place that says how they travel in frames and results. */

export const SKETCH_SEED = 9001;

export function encodeHll(sketch: Hll, target: HllTarget): string {
  return toText(encodeHllBytes(sketch, target));
}

export function decodeHll(text: string): Hll {
  return decodeHllBytes(fromText(text));
}

export function encodeTheta(sketch: Theta): string {
  return toText(encodeThetaBytes(sketch));
}

export function decodeTheta(text: string, size: number): Theta {
  return decodeThetaBytes(fromText(text), size);
}

export function encodeQuantiles(sketch: Quantiles | Kll): string {
  return toText(sketch.encode());
}

export function decodeQuantiles(text: string): Quantiles {
  return Quantiles.decode(fromText(text));
}

export function decodeKll(text: string, type: KllNumber): Kll {
  return Kll.decode(fromText(text), type);
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

function fromText(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
