// Leaves out rows whose string their group has met before in the segment, by kernels.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import { type Block, takeZeroed } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import { GroupRoom } from './best-texts.js';
import { computedIds, storedIds } from './sketch/hash-feed.js';
import type { IdSource } from './sketch/id-source.js';
import type { Positions } from './timed/best-times.js';

/** Bytes of marks: one for each string of each group. */
const MARKS_MAX = 1 << 24;

/** Positions of rows whose string is new to their group; among further ones, where there are too many to mark. */
export type FirstMeetings = (block: Block, positions: Positions) => Positions;

/** Undefined where a column has no strings, or several a row. */
export function firstMeetings(scope: SegmentScope, column: string): FirstMeetings | undefined {
  const source = scope.source(column);
  if (source.kind === 'string')
    return source.column.offsets === 0 && source.column.type === 'STRING'
      ? keepNew(scope, storedIds(scope, source.column), () => source.column.dictionary.count)
      : undefined;
  if (source.kind !== 'computed' || source.vector.kind !== 'string' || source.vector.type !== 'STRING') return undefined;
  const { vector } = source;
  return keepNew(scope, computedIds(scope, vector), () => vector.pool.count);
}

/** @param idCount  ids are below it, those of the block that was read last among them */
function keepNew(scope: SegmentScope, ids: IdSource, idCount: () => number): FirstMeetings {
  const { arena, context } = scope;
  const room = new GroupRoom(scope);
  const [keptRows, keptGroups] = [arena.take(BLOCK_ROWS * 4), arena.take(BLOCK_ROWS * 4)];
  let marks: Address = 0;
  let [groupCount, stride] = [0, 0];
  /** Marks that are made anew are clear: what was met before is met once more. */
  const reserve = (): void => {
    if (idCount() <= stride && (room.groups <= groupCount || groupCount * stride + stride > MARKS_MAX)) return;
    if (idCount() > stride) stride = Math.max(idCount(), 2 * stride);
    groupCount = Math.min(room.groups, Math.floor(MARKS_MAX / stride));
    if (marks !== 0 && arena.letGo(marks)) context.memory.free(marks);
    marks = takeZeroed(arena, context, Math.max(1, groupCount * stride));
  };
  return (block, { rows, groups, n }) => {
    let kept = 0;
    room.reserve(groups, n, () => undefined);
    ids.gather(block, rows, groups, n, (found, _groups, count) => {
      reserve();
      kept = context.kernels.compactUnmarked(found, rows, groups, count, groupCount, stride, marks, keptRows, keptGroups);
    });
    return { rows: keptRows, groups: keptGroups, n: kept };
  };
}
