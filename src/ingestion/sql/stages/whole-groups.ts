// Merges parts of groups within the memory of a task.

import path from 'node:path';
import { ServiceError } from '../../../base/errors.js';
import { frameBytes } from '../../../execution/block/frame-bytes.js';
import type { Frame } from '../../../model/frame.js';
import { hashBuckets } from './partition-keys.js';
import type { PlanParts } from './plan-parts.js';
import type { Reading } from './reading.js';
import { framesOf, PartitionWriter } from './stage-output.js';

const BUCKETS_ON_DISK = 32;
/** Buckets within buckets: what is left of that many are groups that no division makes fewer. */
const LEVELS_MAX = 4;

/**
 * Whole groups from their parts; of no parts, the group of no rows where the plan has one. Parts that outgrow memory are merged among
 * themselves first; where that leaves too many groups, they go to disk in buckets by their keys, and each bucket is merged by itself.
 */
export async function* wholeGroups(parts: AsyncIterable<Frame>, plan: PlanParts, reading: Reading, level = 0): AsyncGenerator<Frame> {
  const { context, engine } = reading;
  if (plan.merge === null) throw new ServiceError('internal', 'readers give rows, no groups');
  const bytesMax = context.maxBytesInMemory / 8;
  const seed = level + 1;
  let held: Frame[] = [];
  let bytesHeld = 0;
  let bytesFull = bytesMax;
  let file: PartitionWriter | null = null;
  try {
    for await (const part of parts) {
      held.push(part);
      bytesHeld += frameBytes(part);
      if (bytesHeld <= bytesFull) continue;
      if (file === null) {
        const merged: Frame[] = [];
        for await (const frame of engine.get().merge(plan.merge, [held], 'partial')) merged.push(frame);
        held = merged;
        bytesHeld = merged.reduce((sum, frame) => sum + frameBytes(frame), 0);
        const isDivided = plan.keyCount > 0 && level < LEVELS_MAX;
        if (!isDivided) bytesFull = 2 * bytesHeld + bytesMax;
        if (!isDivided || bytesHeld < bytesMax / 2) continue;
        file = await PartitionWriter.open(path.join(context.workDirectory, `groups-${level}`), bytesMax);
      }
      for (const each of held.splice(0)) await file.add(each, hashBuckets(each, plan.keyCount, BUCKETS_ON_DISK, seed));
      bytesHeld = 0;
    }
    if (file === null) {
      yield* engine.get().merge(plan.merge, [held], 'final');
      return;
    }
    for (const each of held.splice(0)) await file.add(each, hashBuckets(each, plan.keyCount, BUCKETS_ON_DISK, seed));
    await file.finish();
    const { index, read } = file;
    for (const bucket of index.keys()) {
      if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      yield* wholeGroups(framesOf(index, bucket, read), plan, reading, level + 1);
    }
  } finally {
    await file?.close();
  }
}
