// Samples of the rows of time chunks, by which chunks are divided before all their rows are in one place.

import type { EpochMs, Interval } from '../../base/instant.js';
import { highest } from '../../base/lists.js';
import type { PartitionKey } from '../../model/segment.js';
import { boundsOf, compareKeys } from '../builder/range-bounds.js';
import type { HashedPartitions, RangePartitions } from '../task-spec/partitions-spec.js';

/** Hashes are whole numbers below it. */
export const HASH_END = 2 ** 53;
/** Rows that are kept of all chunks together, and of one at least. */
const SAMPLE_ROWS = 1 << 19;
const CHUNK_ROWS_MIN = 64;

/** Sampled rows of one chunk: those with the smallest hashes, by which samples of different tasks are joined. */
export interface ChunkSample {
  readonly interval: Interval;
  /** Hashes below it are all there. */
  readonly bound: number;
  readonly hashes: Float64Array;
  /** Keys of the rows that the hashes are of. */
  readonly keys: readonly PartitionKey[];
}

interface OpenChunk {
  readonly interval: Interval;
  bound: number;
  keys: Map<number, PartitionKey>;
}

/**
 * Rows that are kept, or their number, without looking at all of them: of a chunk with few rows all, else an even sample. A row that
 * rollup makes of several has one hash, so that it counts once, whichever tasks read parts of it.
 */
export class RowSamples {
  readonly #chunks = new Map<EpochMs, OpenChunk>();
  #rowsMax: number;
  #rows = 0;

  constructor(rowsMax = SAMPLE_ROWS) {
    this.#rowsMax = rowsMax;
  }

  /** @param hash  of all that makes the row the one it is */
  add(interval: Interval, hash: number, keyOf: () => PartitionKey): void {
    const chunk = this.#chunkOf(interval);
    if (hash >= chunk.bound || chunk.keys.has(hash)) return;
    chunk.keys.set(hash, keyOf());
    if (++this.#rows > this.#rowsMax) this.#shrink();
  }

  /** Takes in the samples of another task. */
  join(samples: readonly ChunkSample[]): void {
    for (const { interval, bound, hashes, keys } of samples) {
      const chunk = this.#chunkOf(interval);
      if (bound < chunk.bound) this.#cut(chunk, bound);
      for (const [at, hash] of hashes.entries()) this.add(interval, hash, () => keys[at] ?? []);
    }
  }

  finish(): readonly ChunkSample[] {
    return [...this.#chunks.values()]
      .sort((a, b) => a.interval.start - b.interval.start)
      .map(({ interval, bound, keys }) => ({ interval, bound, hashes: Float64Array.from(keys.keys()), keys: [...keys.values()] }));
  }

  #chunkOf(interval: Interval): OpenChunk {
    let chunk = this.#chunks.get(interval.start);
    if (chunk === undefined) {
      chunk = { interval, bound: HASH_END, keys: new Map() };
      this.#chunks.set(interval.start, chunk);
    }
    return chunk;
  }

  /** Halves what is kept of the chunks with the most rows. */
  #shrink(): void {
    const largest = highest([...this.#chunks.values()].map(({ keys }) => keys.size));
    if (largest <= CHUNK_ROWS_MIN) this.#rowsMax *= 2;
    for (const chunk of this.#chunks.values()) {
      const kept = Math.max(CHUNK_ROWS_MIN, largest >>> 1);
      if (chunk.keys.size <= kept) continue;
      const bound = Float64Array.from(chunk.keys.keys()).sort()[kept];
      if (bound !== undefined) this.#cut(chunk, bound);
    }
  }

  #cut(chunk: OpenChunk, bound: number): void {
    const before = chunk.keys.size;
    chunk.bound = bound;
    chunk.keys = new Map([...chunk.keys].filter(([hash]) => hash < bound));
    this.#rows -= before - chunk.keys.size;
  }
}

/** Rows of a chunk: exact where the sample has all, else about. */
function rowCountOf({ bound, hashes }: ChunkSample): number {
  return bound === HASH_END ? hashes.length : (hashes.length * HASH_END) / bound;
}

/** Buckets that make parts of about as many rows as asked for. */
export function bucketsFor(sample: ChunkSample, { targetRowsPerSegment }: HashedPartitions): number {
  return Math.max(1, Math.ceil(rowCountOf(sample) / targetRowsPerSegment));
}

/** Keys at which parts of about as many rows as asked for begin, the first part apart. */
export function boundsFor(sample: ChunkSample, partitions: RangePartitions): readonly PartitionKey[] {
  const sorted = sample.keys.toSorted(compareKeys);
  const rowsOfOne = rowCountOf(sample) / Math.max(1, sorted.length);
  const different: PartitionKey[] = [];
  const rows: number[] = [];
  for (const key of sorted) {
    const last = different.at(-1);
    if (last !== undefined && compareKeys(last, key) === 0) rows[rows.length - 1] = (rows.at(-1) ?? 0) + rowsOfOne;
    else {
      different.push(key);
      rows.push(rowsOfOne);
    }
  }
  return boundsOf(different, Float64Array.from(rows), partitions);
}
