// Merges parts of time chunks to segments.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import type { PushedSegment } from '../../model/publication.js';
import { joinRows } from '../builder/join-rows.js';
import { SegmentPusher } from '../builder/segment-pusher.js';
import type { TaskContext } from '../contract.js';
import { LazyEngine } from '../task-engine.js';
import { partsIn } from './partial-rows.js';
import { rollsUp, segmentDescription } from './row-load.js';
import type { MergeSpec } from './sub-task-spec.js';

/** The segments of the parts that have rows in the files, each with its place in its chunk. */
export async function mergeParts(
  { dataSchema, partitionLocations }: MergeSpec,
  context: TaskContext,
): Promise<readonly { readonly at: number; readonly segment: PushedSegment }[]> {
  const { dataSource, dimensions, metrics } = dataSchema;
  const engine = new LazyEngine(context);
  const pusher = new SegmentPusher(context.storage, context.workDirectory);
  try {
    const files: string[] = [];
    for (const [at, location] of partitionLocations.entries()) {
      const file = join(context.workDirectory, `partial-${at}`);
      await context.storage.pull(location, file);
      files.push(file);
    }
    const places: number[] = [];
    for (const { interval, at, read } of await partsIn(files)) {
      if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      const { part, frames } = await read();
      const rollup = rollsUp(dataSchema);
      const joined = await joinRows(frames, {
        dataSource,
        dimensions: dimensions.declared,
        metrics,
        rollup,
        engine: () => engine.get(),
        kernels: context.kernels,
      });
      await pusher.push(interval, part, { frame: joined.frame, dimensions: joined.dimensions, ...segmentDescription(dataSchema) });
      places.push(at);
    }
    const segments = await pusher.finish();
    context.log(
      `merged ${partitionLocations.length} files to ${segments.length} segments: ${pusher.rowCount} rows, ${pusher.sizeBytes} bytes`,
    );
    for (const file of files) await rm(file, { force: true });
    return segments.map((segment, position) => ({ at: places[position] ?? 0, segment }));
  } finally {
    await pusher.close();
    await engine.close();
  }
}
