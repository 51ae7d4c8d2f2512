// Positions of the sequences of a task in its stream, as those tell who publish them or ask for their rows.

import { lowest } from '../../../base/lists.js';
import { compareOffsets, type Offsets, type StreamPosition, startAfter } from '../../../model/stream/offsets.js';
import type { PartitionReach, StreamReach } from '../../../model/stream/reach.js';
import type { StreamTaskSpec } from '../stream-task.js';
import type { Sequence, Sequences } from './sequences.js';

const NONE: ReadonlySet<string> = new Set();

/** Start and end of a sequence. */
export function boundsOf(
  { io, checkpoints }: Pick<StreamTaskSpec, 'io' | 'checkpoints'>,
  { number, start, end }: Sequence,
): { readonly start: StreamPosition; readonly end: StreamPosition } {
  const first = number === lowest([...checkpoints.keys()]);
  const from = first ? { ...io.start, offsets: start } : startAfter({ ...io.start, offsets: start });
  return { start: from, end: { ...io.end, offsets: end, exclusive: NONE } };
}

/**
 * Rows that a task shows.
 * @param shown  before these offsets every row is shown
 * @param last  records by partition that are being taken in, some rows of which may be shown
 */
export function reachOf(
  { supervisorId, io, dataSchema }: Pick<StreamTaskSpec, 'supervisorId' | 'io' | 'dataSchema'>,
  sequences: Sequences,
  shown: Offsets,
  last: Offsets,
): StreamReach {
  const starts = sequences.heldFrom;
  const partitions = new Map<string, PartitionReach>();
  for (const [partition, position] of sequences.positions) {
    const start = starts.get(partition) ?? position;
    const record = last.get(partition);
    const behind = record === undefined ? position : sequences.placeBehind(record);
    const most = compareOffsets(behind, position) > 0 ? behind : position;
    const least = shown.get(partition) ?? start;
    partitions.set(partition, { start, least: compareOffsets(least, start) > 0 ? least : start, most });
  }
  const { dataSource } = dataSchema;
  return { dataSource, supervisorId, stream: io.start.stream, baseSequenceName: io.baseSequenceName, partitions };
}
