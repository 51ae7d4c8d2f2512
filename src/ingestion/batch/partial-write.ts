// Divides the rows that a sub-task has read, for those that merge them.

import { join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { bucketOfText } from '../../expression/partition-bucket.js';
import { plainFrame } from '../../storage/columns/packed-column.js';
import type { TaskContext } from '../contract.js';
import type { PartitionsSpec } from '../task-spec/partitions-spec.js';
import { PartialRowsWriter } from './partial-rows.js';
import type { RowLoad } from './row-load.js';
import type { LoadSpec, ReadSpec } from './sub-task-spec.js';

/** File with the rows of a group of parts, all of which one sub-task merges. */
export interface PartialFile {
  readonly group: number;
  readonly loadSpec: LoadSpec;
}

/** Writes the rows of a load, divided, to deep storage: a file for each group that has any. */
export async function writeParts({ spec, parts }: ReadSpec, load: RowLoad, context: TaskContext): Promise<readonly PartialFile[]> {
  const { partitions, subTasks } = spec.tuning;
  const fileOf = (group: number): string => join(context.workDirectory, `partial-${group}`);
  const writer = new PartialRowsWriter(fileOf);
  load.progress.phase('building');
  try {
    for (const { interval, rowCount } of await load.store.finish())
      for await (const { at, part, frame } of load.store.frames({ interval, rowCount }, partsOfChunk(partitions, interval, parts))) {
        if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
        await writer.add(bucketOfText(`${interval.start}/${at}`, subTasks.mergeTasks), { interval, at, part, frame: plainFrame(frame) });
        load.progress.tick();
      }
  } finally {
    await writer.close();
  }
  const { groups } = writer;
  const pushed = await context.storage.push(groups.map((group) => ({ localFile: fileOf(group), key: `partial-${group}` })));
  return groups.map((group, at) => {
    const loadSpec = pushed[at];
    if (loadSpec === undefined) throw new ServiceError('internal', `partial rows of group ${group} were not stored`);
    return { group, loadSpec };
  });
}

/** The rule for a chunk, such as all sub-tasks follow. */
function partsOfChunk(partitions: PartitionsSpec, interval: Interval, parts: ReadSpec['parts']): PartitionsSpec {
  if (parts === null) return partitions;
  const found = parts.get(formatInterval(interval));
  if (found === undefined)
    throw new ServiceError('input_unreadable', `the input was changed: it has rows of ${formatInterval(interval)}, and had none before`);
  if (partitions.kind === 'hashed' && typeof found === 'number') return { ...partitions, numShards: found };
  if (partitions.kind === 'range' && typeof found !== 'number') return { ...partitions, bounds: found };
  throw new ServiceError('internal', `intervalToParts does not fit ${partitions.kind} partitions`);
}
