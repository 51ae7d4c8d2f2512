// Bucket of a row in a chunk that is divided by hash.

import type { PartitionKey } from '../model/segment.js';
import { murmur32 } from '../sketch/murmur3.js';

/** Bucket of a key: Murmur3 (32 bits, seed 0) of the UTF-8 bytes of its JSON text. */
export function bucketOf(key: PartitionKey, numBuckets: number): number {
  return bucketOfText(JSON.stringify(key), numBuckets);
}

const ENCODER = new TextEncoder();

/** @param text  JSON text of a key */
export function bucketOfText(text: string, numBuckets: number): number {
  return Math.abs(murmur32(ENCODER.encode(text)) % numBuckets);
}
