// Samples the rows that a sub-task has read.

import { Murmur3 } from '../../sketch/murmur3.js';
import { keyTexts, rowKeys } from '../builder/partitions.js';
import type { IndexSpec } from '../task-spec/index-spec.js';
import { type RowLoad, rollsUp } from './row-load.js';
import { type ChunkSample, RowSamples } from './row-sample.js';

/**
 * The samples of all chunks of a load.
 * @param taskId  makes rows that are kept as they come different from those of other sub-tasks
 */
export async function sampleRows({ dataSchema, tuning }: IndexSpec, load: RowLoad, taskId: string): Promise<readonly ChunkSample[]> {
  const dimensions = tuning.partitions.kind === 'range' ? tuning.partitions.dimensions : [];
  const isRolledUp = rollsUp(dataSchema);
  const samples = new RowSamples();
  const hasher = new Murmur3(0);
  for (const chunk of await load.store.finish()) {
    let number = 0;
    for (const frame of await load.store.keysOf(chunk)) {
      const keyAt = rowKeys(frame, []);
      const texts = dimensions.map((name) => keyTexts(frame.columns.find((column) => column.name === name)));
      for (let row = 0; row < frame.rowCount; row++) {
        hasher.hashText(isRolledUp ? keyAt(row) : `${taskId}/${chunk.interval.start}/${number++}`);
        // The 53 upper bits of the first word.
        const hash = (hasher.firstHigh >>> 0) * 2 ** 21 + (hasher.firstLow >>> 11);
        samples.add(chunk.interval, hash, () => texts.map((textAt) => textAt(row)));
      }
    }
  }
  return samples.finish();
}
