// Samples of rows by time chunk, by which several workers write the ranges of one chunk.

import type { Interval } from '../../../base/instant.js';
import type { Frame } from '../../../model/frame.js';
import type { PartitionKey } from '../../../model/segment.js';
import { boundsFor, type ChunkSample, RowSamples } from '../../batch/row-sample.js';
import { keyTexts } from '../../builder/partitions.js';
import type { RangePartitions } from '../../task-spec/partitions-spec.js';
import { rowHash } from './partition-keys.js';

/** Rows that all workers together keep of all chunks, those of one worker at most, and at least. */
const [SAMPLE_ROWS, WORKER_ROWS_MAX, WORKER_ROWS_MIN] = [1 << 19, 1 << 16, 512];
/** Characters of a key that is kept: with longer ones, chunks go to one worker each. */
const KEY_LENGTH_MAX = 1024;

/** Sample of the rows that one worker has left. */
export interface SampledRows {
  /** No row has several values, or a very long one, in a column that chunks are divided by. */
  readonly isDividable: boolean;
  readonly chunks: readonly ChunkSample[];
}

/** Samples the keys of rows as they are shuffled by time. */
export class KeySampler {
  readonly #dimensions: readonly string[];
  readonly #worker: number;
  readonly #samples: RowSamples;
  #isDividable = true;
  #rows = 0;

  /** @param worker  number of this one, of so many `workers` */
  constructor(dimensions: readonly string[], worker: number, workers: number) {
    this.#dimensions = dimensions;
    this.#worker = worker;
    this.#samples = new RowSamples(Math.max(WORKER_ROWS_MIN, Math.min(WORKER_ROWS_MAX, Math.floor(SAMPLE_ROWS / workers))));
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
      this.#samples.add(chunk, rowHash(this.#worker, this.#rows + row), () => {
        const key = texts.map((textAt) => textAt(row));
        if (key.some((text) => text !== null && text.length > KEY_LENGTH_MAX)) this.#isDividable = false;
        return key;
      });
      if (!this.#isDividable) return;
    }
    this.#rows += frame.rowCount;
  }

  finish(): SampledRows {
    return { isDividable: this.#isDividable, chunks: this.#isDividable ? this.#samples.finish() : [] };
  }
}

/** Keys at which the segments of each chunk begin, the first apart, by the start of the chunk; empty: chunks are not divided. */
export function chunkBounds(sampled: readonly SampledRows[], partitions: RangePartitions): ReadonlyMap<number, readonly PartitionKey[]> {
  if (!sampled.every(({ isDividable }) => isDividable)) return new Map();
  const samples = new RowSamples(SAMPLE_ROWS);
  for (const { chunks } of sampled) samples.join(chunks);
  return new Map(samples.finish().map((sample) => [sample.interval.start, boundsFor(sample, partitions)]));
}
