// Numbers that rows are shuffled by: the bucket of a hash of columns, or the start of a time chunk.

import { type Frame, type FrameColumn, isNullAt } from '../../../model/frame.js';
import type { Buckets } from '../../../model/granularity.js';

/**
 * The bucket of each row by its first columns. Equal values have one bucket, whatever frame they stand in.
 * @param seed  another one divides the rows of a bucket
 */
export function hashBuckets({ rowCount, columns }: Frame, columnCount: number, buckets: number, seed = 0): Float64Array {
  const hashes = new Uint32Array(rowCount).fill(seed);
  for (const column of columns.slice(0, columnCount)) addHashes(column, hashes);
  const keys = new Float64Array(rowCount);
  for (let row = 0; row < rowCount; row++) keys[row] = mixed(hashes[row] ?? 0) % buckets;
  return keys;
}

/** The start of each row's chunk. */
export function chunkStarts(times: Float64Array, buckets: Buckets): Float64Array {
  const keys = new Float64Array(times.length);
  let [start, end] = [0, 0];
  for (let row = 0; row < times.length; row++) {
    const time = times[row] ?? 0;
    if (time < start || time >= end) {
      start = buckets.floor(time);
      end = buckets.next(time);
    }
    keys[row] = start;
  }
  return keys;
}

/** A number below 2^53 for a row of a worker, as good as drawn. */
export function rowHash(worker: number, row: number): number {
  const high = mixed(row ^ mixed(worker + 1));
  return high * 2 ** 21 + (mixed(high ^ (row + 0x9e3779b9)) >>> 11);
}

const [WORDS, BITS] = (() => {
  const words = new Uint32Array(2);
  return [words, new Float64Array(words.buffer)] as const;
})();

function addHashes(column: FrameColumn, hashes: Uint32Array): void {
  const add = (row: number, hash: number): void => {
    hashes[row] = (Math.imul(hashes[row] ?? 0, 31) + hash) >>> 0;
  };
  switch (column.kind) {
    case 'string': {
      const entries = Uint32Array.from(column.dictionary, hashOfText);
      for (let row = 0; row < hashes.length; row++) add(row, entries[column.ids[row] ?? 0] ?? 0);
      return;
    }
    case 'multi': {
      const entries = Uint32Array.from(column.dictionary, hashOfText);
      for (let row = 0; row < hashes.length; row++) {
        let hash = 0;
        for (let at = column.offsets[row] ?? 0; at < (column.offsets[row + 1] ?? 0); at++)
          hash = (Math.imul(hash, 31) + (entries[column.ids[at] ?? 0] ?? 0)) >>> 0;
        add(row, hash);
      }
      return;
    }
    // A value has one hash as a long and as a double; longs that doubles cannot tell apart share theirs.
    case 'long':
      for (let row = 0; row < hashes.length; row++)
        add(row, isNullAt(column.nulls, row) ? 0 : hashOfNumber(Number(column.values[row] ?? 0n)));
      return;
    case 'double':
      for (let row = 0; row < hashes.length; row++) add(row, isNullAt(column.nulls, row) ? 0 : hashOfNumber(column.values[row] ?? 0));
  }
}

function hashOfNumber(value: number): number {
  // Both zeros, and all values that are not numbers, are one.
  BITS[0] = value === 0 ? 0 : Number.isNaN(value) ? Number.NaN : value;
  return mixed((WORDS[0] ?? 0) ^ mixed(WORDS[1] ?? 0));
}

function hashOfText(text: string | null): number {
  if (text === null) return 0;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return mixed(hash);
}

/** The finishing step of murmur3: every bit of the input has its say in every bit. */
function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16);
  bits = Math.imul(bits, 0x85ebca6b);
  bits ^= bits >>> 13;
  bits = Math.imul(bits, 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
