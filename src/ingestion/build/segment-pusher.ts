import { rm } from 'node:fs/promises';
import path from 'node:path';
import { formatInstant } from '../../base/time.js';
import type { Interval } from '../../model/interval.js';
import type { PushedSegment } from '../../model/publication.js';
import type { DeepStorage, SegmentInput } from '../../storage/contract.js';
import { writeSegment } from '../../storage/segment-writer.js';

/**
 * Frames to segment files in deep storage. While one file is being pushed, the next is built; nothing is published
 * here, so a task that dies leaves files that nobody knows.
 */
export class SegmentPusher {
  readonly segments: PushedSegment[] = [];
  rowCount = 0;
  sizeBytes = 0;
  private readonly storage: DeepStorage;
  private readonly workDirectory: string;
  private pushing: Promise<void> = Promise.resolve();
  private sequence = 0;

  constructor(storage: DeepStorage, workDirectory: string) {
    this.storage = storage;
    this.workDirectory = workDirectory;
  }

  async push(interval: Interval, input: SegmentInput): Promise<void> {
    const sequence = this.sequence++;
    const file = path.join(this.workDirectory, `segment-${sequence}`);
    const { sizeBytes, rowCount, columns } = await writeSegment(file, input);
    await this.pushing;
    this.rowCount += rowCount;
    this.sizeBytes += sizeBytes;
    this.pushing = this.storage.push(file, keyOf(interval, sequence)).then(async (loadSpec) => {
      const { dimensions, metrics } = input;
      this.segments.push({ interval, loadSpec, sizeBytes, rowCount, dimensions, metrics, columns });
      await rm(file, { force: true });
    });
    // A failure is met at the next push or at the end; until then it must not count as unhandled.
    this.pushing.catch(() => undefined);
  }

  async finish(): Promise<readonly PushedSegment[]> {
    await this.pushing;
    return this.segments;
  }
}

function keyOf({ start }: Interval, sequence: number): string {
  return `${formatInstant(start).replace(/[:.]/g, '')}_${sequence}`;
}
