// Base64 form of sketches.

import { fromBase64, toBase64 } from './base64.js';
import type { Hll, HllTarget } from './hll.js';
import { decodeHllBytes, encodeHllBytes } from './hll-bytes.js';
import { Kll, type KllNumber } from './kll.js';
import { Quantiles } from './quantiles.js';
import type { Theta } from './theta.js';
import { decodeThetaBytes, encodeThetaBytes } from './theta-bytes.js';

/** Sketches as base64 of their bytes: the one place that says how they travel in frames and results. */

export const SKETCH_SEED = 9001;

export function encodeHll(sketch: Hll, target: HllTarget): string {
  return toBase64(encodeHllBytes(sketch, target));
}

export function decodeHll(text: string): Hll {
  return decodeHllBytes(fromBase64(text));
}

export function encodeTheta(sketch: Theta): string {
  return toBase64(encodeThetaBytes(sketch));
}

export function decodeTheta(text: string, size: number): Theta {
  return decodeThetaBytes(fromBase64(text), size);
}

export function encodeQuantiles(sketch: Quantiles | Kll): string {
  return toBase64(sketch.encode());
}

export function decodeQuantiles(text: string): Quantiles {
  return Quantiles.decode(fromBase64(text));
}

export function decodeKll(text: string, type: KllNumber): Kll {
  return Kll.decode(fromBase64(text), type);
}
