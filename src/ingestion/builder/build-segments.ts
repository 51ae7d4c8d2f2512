// Builds segments from the rows of a task, time chunk by time chunk.

import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import type { PushedSegment } from '../../model/publication.js';
import type { PartitionKey } from '../../model/segment.js';
import type { SegmentInput } from '../../storage/contract.js';
import type { TaskContext } from '../contract.js';
import type { PartitionsSpec } from '../task-spec/partitions-spec.js';
import type { RowStore } from './row-store.js';
import { SegmentPusher } from './segment-pusher.js';

export interface BuildOptions {
  readonly store: RowStore;
  readonly partitions: PartitionsSpec;
  /** Keys at which the segments of a chunk that is divided by ranges begin, by the start of the chunk; others are made of its rows. */
  readonly bounds?: ReadonlyMap<EpochMs, readonly PartitionKey[]>;
  /** Called with the number of time chunks before one is written; throws when it is too many. */
  readonly checkChunks: (count: number) => void;
  /** Description stored in every segment file. */
  readonly description: Omit<SegmentInput, 'frame' | 'dimensions'>;
  readonly context: TaskContext;
  /** Called as rows reach deep storage. */
  readonly pushed: (rowCount: number) => void;
}

/** The rows of a finished store as segments in deep storage, chunk after chunk. */
export async function buildSegments({
  store,
  partitions,
  bounds,
  checkChunks,
  description,
  context,
  pushed,
}: BuildOptions): Promise<readonly PushedSegment[]> {
  const chunks = await store.finish();
  if (store.spilledBytes > 0) context.log(`spilled ${Math.ceil(store.spilledBytes / 1e6)} MB to disk while reading`);
  checkChunks(chunks.length);
  // Metrics that are kept as they were come as columns of the rows.
  const metrics = new Set(description.metrics);
  const dimensions = store.dimensions().flatMap(({ name }) => (metrics.has(name) ? [] : [name]));
  const pusher = new SegmentPusher(context.storage, context.workDirectory, 'taken');
  try {
    for (const chunk of chunks) {
      const known = bounds?.get(chunk.interval.start);
      const spec = known === undefined || partitions.kind !== 'range' ? partitions : { ...partitions, bounds: known };
      for await (const { frame, part } of store.frames(chunk, spec)) {
        if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
        await pusher.push(chunk.interval, part, { frame, dimensions, ...description });
        pushed(pusher.rowCount);
      }
    }
    const segments = await pusher.finish();
    pushed(pusher.rowCount);
    context.log(`built ${segments.length} segments for ${chunks.length} time chunks: ${pusher.rowCount} rows, ${pusher.sizeBytes} bytes`);
    return segments;
  } finally {
    await pusher.close();
  }
}
