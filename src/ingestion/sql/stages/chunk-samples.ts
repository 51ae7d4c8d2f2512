// Samples of rows by time chunk, by which several workers write the ranges of one chunk.

import type { Interval } from '../../../base/instant.js';
import type { Frame } from '../../../model/frame.js';
import type { PartitionKey } from '../../../model/segment.js';
import { boundsFor, type ChunkSample, RowSamples } from '../../batch/row-sample.js';
import { keyTexts } from '../../builder/partitions.js';
import type { RangePartitions } from '../../task-spec/partitions-spec.js';
import { rowHash } from './partition-keys.js';

/** Rows that a worker keeps of all chunks together. */
const SAMPLE_ROWS = 1 << 16;

/** Sample of the rows that one worker has left. */
export interface SampledRows {
  /** No row has several values in a column that chunks are divided by. */
  readonly isDividable: boolean;
  readonly chunks: readonly ChunkSample[];
}

/** Samples the keys of rows as they are shuffled by time. */
export class KeySampler {
  readonly #dimensions: readonly string[];
  readonly #worker: number;
  readonly #samples = new RowSamples(SAMPLE_ROWS);
  #isDividable = true;
  #rows = 0;

  constructor(dimensions: readonly string[], worker: number) {
    this.#dimensions = dimensions;
    this.#worker = worker;
  }

  /** @param starts  start of each row's chunk */
  add(frame: Frame, starts: Float64Array): void {
    const columns = this.#dimensions.map((name) => frame.columns.find((column) => column.name === name));
    this.#isDividable &&= columns.every((column) => column?.kind !== 'multi');
    if (!this.#isDividable) return;
    const texts = columns.map(keyTexts);
    let chunk: Interval = { start: 0, end: 0 };
    for (let row = 0; row < frame.rowCount; row++) {
      const start = starts[row] ?? 0;
      if (start !== chunk.start) chunk = { start, end: start };
      this.#samples.add(chunk, rowHash(this.#worker, this.#rows + row), () => texts.map((textAt) => textAt(row)));
    }
    this.#rows += frame.rowCount;
  }

  finish(): SampledRows {
    return { isDividable: this.#isDividable, chunks: this.#isDividable ? this.#samples.finish() : [] };
  }
}

/** Keys at which the segments of each chunk begin, the first apart, by the start of the chunk; empty: rows have several values. */
export function chunkBounds(sampled: readonly SampledRows[], partitions: RangePartitions): ReadonlyMap<number, readonly PartitionKey[]> {
  if (!sampled.every(({ isDividable }) => isDividable)) return new Map();
  const samples = new RowSamples(SAMPLE_ROWS * Math.max(1, sampled.length));
  for (const { chunks } of sampled) samples.join(chunks);
  return new Map(samples.finish().map((sample) => [sample.interval.start, boundsFor(sample, partitions)]));
}
