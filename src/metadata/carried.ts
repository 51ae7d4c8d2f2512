// Segments that are appended while a task replaces, which it carries along to the version that it writes.

import { assert, ServiceError } from '../base/errors.js';
import { contains, formatInterval, intersect } from '../base/interval.js';
import type { SegmentDescriptor, VisibleSegment } from '../model/segment.js';
import { segmentIdText } from '../model/segment-id.js';
import type { Binding, Queries } from './database.js';
import { type Lock, locksOfDataSource } from './locks.js';
import { SegmentTimeline } from './segment-timeline.js';

/** Rows per INSERT. */
const ROWS_PER_INSERT = 500;

/** Notes segments that were just appended for the tasks that replace around them, which have not read them. */
export async function noteAppended(queries: Queries, appended: readonly SegmentDescriptor[]): Promise<void> {
  const [first] = appended;
  if (first === undefined) return;
  const replacing = (await locksOfDataSource(queries, first.id.dataSource)).filter(({ kind }) => kind === 'replace');
  const rows = replacing.flatMap(({ taskId, interval }) =>
    appended.filter(({ id }) => intersect(interval, id.interval) !== undefined).map(({ id }): Binding[] => [taskId, segmentIdText(id)]),
  );
  for (let from = 0; from < rows.length; from += ROWS_PER_INSERT) {
    const batch = rows.slice(from, from + ROWS_PER_INSERT);
    await queries.rows(`INSERT INTO carried_segments (task_id, segment_id) VALUES ${batch.map(() => '(?, ?)').join(', ')}`, batch.flat());
  }
}

/** Printed ids of the segments that were appended within the locks of a task since it has them. */
export async function carriedBy(queries: Queries, taskId: string): Promise<ReadonlySet<string>> {
  const rows = await queries.rows<{ segment_id: string }>('SELECT segment_id FROM carried_segments WHERE task_id = ?', [taskId]);
  return new Set(rows.map(({ segment_id }) => segment_id));
}

/**
 * The carried segments under the version of the lock: each joins the chunk that takes the place of its time, behind the
 * segments there, or stays a chunk of its own. Their files stay where they are.
 * @param written  segments that the task publishes
 * @throws ServiceError `conflict` where the new chunks are finer than a carried segment: it cannot join them
 */
export function placeCarried(
  carried: readonly VisibleSegment[],
  written: readonly SegmentDescriptor[],
  lockOver: (segment: SegmentDescriptor) => Lock,
): readonly SegmentDescriptor[] {
  const timeline = new SegmentTimeline<SegmentDescriptor>();
  timeline.change([], written);
  const next = new Map<string, number>();
  for (const { id } of written) next.set(chunkKey(id), Math.max(next.get(chunkKey(id)) ?? 0, id.partitionNumber + 1));
  const placed: SegmentDescriptor[] = [];
  // A finer one joins a coarser one.
  for (const { segment, visible } of carried.toSorted((a, b) => lengthOf(b.segment) - lengthOf(a.segment))) {
    const { interval } = segment.id;
    const [home, second] = timeline.overlapping(interval);
    const isShownWhole = visible.some((piece) => contains(piece, interval));
    if (!isShownWhole || second !== undefined || (home !== undefined && !contains(home.interval, interval)))
      throw new ServiceError(
        'conflict',
        `segment ${segmentIdText(segment.id)} was appended meanwhile, and reaches over the chunk ${formatInterval((home ?? segment.id).interval)} that replaces it; nothing is published: append by a segment granularity that is no coarser`,
      );
    const { version } = lockOver(segment);
    const partitions = home?.segments[0]?.shardSpec.partitions ?? 0;
    const id = { ...segment.id, interval: home?.interval ?? interval, version };
    const partition = next.get(chunkKey(id)) ?? 0;
    next.set(chunkKey(id), partition + 1);
    const carriedOn: SegmentDescriptor = {
      ...segment,
      id: { ...id, partitionNumber: partition },
      shardSpec: { type: 'numbered', partitionNum: partition, partitions },
    };
    assert(home === undefined || home.version === version, 'a task writes one version');
    if (home === undefined) timeline.change([], [carriedOn]);
    placed.push(carriedOn);
  }
  return placed;
}

const chunkKey = ({ interval }: SegmentDescriptor['id']): string => `${interval.start}/${interval.end}`;

const lengthOf = ({ id: { interval } }: SegmentDescriptor): number => interval.end - interval.start;
