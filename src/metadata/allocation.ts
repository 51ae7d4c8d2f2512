// Gives a sequence of rows its segment in a time chunk, before it is published.

import type { EpochMs, Interval } from '../base/instant.js';
import { failpoint } from '../configuration/failpoint.js';
import type { SegmentId } from '../model/segment.js';
import type { Queries } from './database.js';
import type { Lock } from './locks.js';
import { findPending, insertPending, pendingVersion, removePendingBefore } from './pending-segments.js';
import { chunkKey, findHome, lastPartitionNumbers, timelineWithin } from './publish.js';

/** Longer than any task reads one sequence, or its replicas after it. */
const PENDING_MS_MAX = 7 * 24 * 3600_000;

export interface SegmentWanted {
  readonly dataSource: string;
  readonly sequence: string;
  /** Time chunk of the rows. */
  readonly interval: Interval;
}

/**
 * The segment for rows of a sequence in a time chunk: in the chunk that is visible there, else in one of the version that others were
 * given before, or of the task's lock. Whoever asks for the same sequence and chunk gets the same.
 * @param lockOver  the task's lock over a chunk, which it may get only now
 * @throws ServiceError `conflict`: the rows would reach over the bounds of chunks that are there; what `lockOver` throws
 */
export async function allocateSegment(
  queries: Queries,
  { dataSource, sequence, interval: asked }: SegmentWanted,
  lockOver: (chunk: Interval) => Promise<Lock>,
  nowMs: EpochMs,
): Promise<SegmentId> {
  const known = await findPending(queries, dataSource, { sequence, asked });
  if (known !== undefined) {
    // Whoever asked first may have lost its lock.
    await lockOver(asked);
    return known;
  }
  const home = findHome(dataSource, asked, await timelineWithin(queries, dataSource, [asked]));
  const interval = home?.interval ?? asked;
  const lock = await lockOver(interval);
  const version = home?.version ?? (await pendingVersion(queries, dataSource, asked)) ?? lock.version;
  const last = await lastPartitionNumbers(queries, dataSource, [interval]);
  const partitionNumber = (last.get(`${chunkKey(interval)}/${version}`) ?? -1) + 1;
  const id = { dataSource, interval, version, partitionNumber };
  await removePendingBefore(queries, dataSource, nowMs - PENDING_MS_MAX);
  await insertPending(queries, { sequence, asked, id }, nowMs);
  failpoint('allocate.beforeCommit');
  return id;
}
