// Writes segments and pushes them to deep storage.

import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Interval } from '../../base/instant.js';
import { formatInstant } from '../../base/time.js';
import type { PushedSegment } from '../../model/publication.js';
import type { DeepStorage, SegmentInput } from '../../storage/contract.js';
import { SegmentWriters } from './segment-writers.js';

/** Frames under way hold no more rows together, unless one alone does. */
const ROWS_UNDER_WAY_MAX = 3_000_000;

/**
 * Frames to segment files in deep storage, several at a time. Nothing is published here, so a task that dies leaves
 * files that nobody knows.
 */
export class SegmentPusher {
  rowCount = 0;
  sizeBytes = 0;
  readonly #storage: Pick<DeepStorage, 'push'>;
  readonly #workDirectory: string;
  readonly #writers = new SegmentWriters();
  readonly #pushed = new Map<number, PushedSegment>();
  readonly #underWay = new Set<Promise<void>>();
  #rowsUnderWay = 0;
  #failure: { readonly error: unknown } | null = null;
  #sequence = 0;

  constructor(storage: Pick<DeepStorage, 'push'>, workDirectory: string) {
    this.#storage = storage;
    this.#workDirectory = workDirectory;
  }

  /** Resolves when the next frame may be made; a failure shows at a later call. */
  async push(interval: Interval, input: SegmentInput): Promise<void> {
    const { rowCount } = input.frame;
    while (
      this.#underWay.size > 0 &&
      (this.#underWay.size >= SegmentWriters.parallelism || this.#rowsUnderWay + rowCount > ROWS_UNDER_WAY_MAX)
    ) {
      await Promise.race(this.#underWay);
    }
    this.#throwFailure();
    this.#rowsUnderWay += rowCount;
    const work: Promise<void> = this.#build(this.#sequence++, interval, input)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#rowsUnderWay -= rowCount;
        this.#underWay.delete(work);
      });
    this.#underWay.add(work);
  }

  /** All segments, in the order in which they were pushed. */
  async finish(): Promise<readonly PushedSegment[]> {
    await Promise.all(this.#underWay);
    this.#throwFailure();
    return [...this.#pushed].sort(([a], [b]) => a - b).map(([, segment]) => segment);
  }

  async close(): Promise<void> {
    await this.#writers.close();
  }

  async #build(sequence: number, interval: Interval, input: SegmentInput): Promise<void> {
    const file = path.join(this.#workDirectory, `segment-${sequence}`);
    const { sizeBytes, rowCount, columns } = await this.#writers.write(file, input);
    const loadSpec = await this.#storage.push(file, keyOf(interval, sequence));
    await rm(file, { force: true });
    const { dimensions, metrics } = input;
    this.#pushed.set(sequence, { interval, loadSpec, sizeBytes, rowCount, dimensions, metrics, columns });
    this.rowCount += rowCount;
    this.sizeBytes += sizeBytes;
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}

function keyOf({ start }: Interval, sequence: number): string {
  return `${formatInstant(start).replace(/[:.]/g, '')}_${sequence}`;
}
