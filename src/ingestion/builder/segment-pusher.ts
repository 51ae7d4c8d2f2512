// Writes segments and pushes them to deep storage.

import path from 'node:path';
import { assert } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { formatInstant } from '../../base/time.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { PushedSegment } from '../../model/publication.js';
import { type SegmentPart, segmentColumns } from '../../model/segment.js';
import type { DeepStorage, SegmentInput } from '../../storage/contract.js';
import { cellsOf, SegmentWriters } from './segment-writers.js';

/** Frames under way hold no more cells together, unless one alone does. */
const CELLS_UNDER_WAY_MAX = 15_000_000;
/** Files that are pushed together: what it takes to have them on disk for good is waited for once. */
const FILES_PUSHED_TOGETHER = 64;
const BYTES_PUSHED_TOGETHER = 2 ** 24;

/**
 * Frames to segment files in deep storage, several at a time. Nothing is published here, so a task that dies leaves
 * files that nobody knows.
 */
export class SegmentPusher {
  rowCount = 0;
  sizeBytes = 0;
  readonly #storage: Pick<DeepStorage, 'push'>;
  readonly #workDirectory: string;
  readonly #frames: 'taken' | 'copied';
  readonly #writers = new SegmentWriters();
  readonly #pushed = new Map<number, PushedSegment>();
  readonly #underWay = new Set<Promise<void>>();
  #cellsUnderWay = 0;
  /** Written, and waiting for others to be pushed together. */
  #written: Written[] = [];
  #writtenBytes = 0;
  #pushing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;
  #sequence: number;

  /**
   * @param frames  taken: they are made for one segment each, which may have their arrays
   * @param first   number of its first file: those of one run of a task have different ones, for they lie in one folder
   */
  constructor(storage: Pick<DeepStorage, 'push'>, workDirectory: string, frames: 'taken' | 'copied' = 'copied', first = 0) {
    this.#storage = storage;
    this.#frames = frames;
    this.#workDirectory = workDirectory;
    this.#sequence = first;
  }

  /**
   * Resolves when the next frame may be made; a failure shows at a later call.
   * @param part  of its chunk; null: any rows
   */
  async push(interval: Interval, part: SegmentPart | null, input: SegmentInput): Promise<void> {
    const cells = cellsOf(input);
    while (
      this.#underWay.size > 0 &&
      (this.#underWay.size >= SegmentWriters.parallelism || this.#cellsUnderWay + cells > CELLS_UNDER_WAY_MAX)
    ) {
      await Promise.race(this.#underWay);
    }
    this.#throwFailure();
    this.#cellsUnderWay += cells;
    const work: Promise<void> = this.#build(this.#sequence++, interval, part, input)
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => {
        this.#cellsUnderWay -= cells;
        this.#underWay.delete(work);
      });
    this.#underWay.add(work);
  }

  /** All segments, in the order in which they were pushed. */
  async finish(): Promise<readonly PushedSegment[]> {
    await Promise.all(this.#underWay);
    await this.#pushWritten();
    await this.#pushing;
    this.#throwFailure();
    return [...this.#pushed].sort(([a], [b]) => a - b).map(([, segment]) => segment);
  }

  async close(): Promise<void> {
    await this.#writers.close();
  }

  async #build(sequence: number, interval: Interval, part: SegmentPart | null, input: SegmentInput): Promise<void> {
    const file = path.join(this.#workDirectory, `segment-${sequence}`);
    const { sizeBytes, rowCount, columns } = await this.#writers.write(file, input, this.#frames);
    failpoint('task.segmentWritten');
    const { dimensions, metrics } = input;
    this.#written.push({
      sequence,
      file,
      segment: { interval, part, sizeBytes, rowCount, dimensions, metrics, ...segmentColumns(columns) },
    });
    this.#writtenBytes += sizeBytes;
    if (this.#written.length >= FILES_PUSHED_TOGETHER || this.#writtenBytes >= BYTES_PUSHED_TOGETHER) await this.#pushWritten();
  }

  /** Resolves when those before are pushed; they themselves are pushed meanwhile. */
  async #pushWritten(): Promise<void> {
    const written = this.#written;
    this.#written = [];
    this.#writtenBytes = 0;
    const before = this.#pushing;
    this.#pushing = before
      .then(() => this.#pushAll(written))
      .catch((error: unknown) => {
        this.#failure ??= { error };
      });
    await before;
  }

  async #pushAll(written: readonly Written[]): Promise<void> {
    const loadSpecs = await this.#storage.push(
      written.map(({ sequence, file, segment }) => ({ localFile: file, key: keyOf(segment.interval, sequence) })),
    );
    for (const [at, { sequence, segment }] of written.entries()) {
      const loadSpec = loadSpecs[at];
      assert(loadSpec !== undefined, 'each pushed file has its load spec');
      this.#pushed.set(sequence, { ...segment, loadSpec });
      this.rowCount += segment.rowCount;
      this.sizeBytes += segment.sizeBytes;
    }
  }

  #throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}

interface Written {
  readonly sequence: number;
  readonly file: string;
  readonly segment: Omit<PushedSegment, 'loadSpec'>;
}

function keyOf({ start }: Interval, sequence: number): string {
  return `${formatInstant(start).replace(/[:.]/g, '')}_${sequence}`;
}
