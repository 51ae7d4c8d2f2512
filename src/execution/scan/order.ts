// Order of scanned rows: by segment or by time.

import { TIME_COLUMN } from '../../model/schema.js';
import { parseSegmentId } from '../../model/segment-id.js';
import type { SegmentView } from '../../storage/view.js';
import type { RunContext } from '../block/context.js';
import type { RowCounts } from '../block/row-counts.js';
import { meets } from '../block/row-ranges.js';
import { openRows, type RowQuery, type RowSource } from './row-source.js';

/** Rows of one segment that follow each other in the result. */
export interface RowBatch {
  readonly source: RowSource;
  readonly rows: Uint32Array;
}

/** Segments ordered by interval start, version, partition. */
export function inSegmentOrder(views: readonly SegmentView[]): SegmentView[] {
  return [...views].sort((a, b) => a.interval.start - b.interval.start || compareIds(a.id, b.id));
}

/** Compares ids of segments that begin together; most begin alone, so ids are rarely read. */
function compareIds(a: string, b: string): number {
  const [left, right] = [parseSegmentId(a), parseSegmentId(b)];
  const [leftVersion, rightVersion] = [left?.version ?? '', right?.version ?? ''];
  if (leftVersion !== rightVersion) return leftVersion < rightVersion ? -1 : 1;
  return (left?.partitionNumber ?? 0) - (right?.partitionNumber ?? 0);
}

/** Segments of the last interval first, those of one interval in their order; undefined where intervals overlap. */
export function fromLastInterval(views: readonly SegmentView[]): SegmentView[] | undefined {
  const ordered = inSegmentOrder(views);
  for (const [at, { interval }] of ordered.entries()) {
    const before = ordered[at - 1]?.interval ?? interval;
    if (interval.start < before.end && (interval.start !== before.start || interval.end !== before.end)) return undefined;
  }
  return ordered.sort((a, b) => b.interval.start - a.interval.start);
}

/**
 * Segments that meet the query's intervals, in the order given, each opened when it is asked for and added to `opened`, for the caller to
 * release.
 * @param isWanted  tells whether a segment is opened, when its turn has come
 */
export function* openedInOrder(
  context: RunContext,
  ordered: readonly SegmentView[],
  query: RowQuery,
  opened: Set<RowSource>,
  counts: RowCounts,
  isWanted: (view: SegmentView) => boolean = () => true,
): Generator<RowSource> {
  for (const view of ordered) {
    if (!meets(view, query.intervals) || !isWanted(view)) continue;
    const source = openRows(context, view, query, counts);
    opened.add(source);
    yield source;
  }
}

/** Segments after each other, each in row order. What is opened is added to `opened`, for the caller to release. */
export function* rowsInSegmentOrder(
  context: RunContext,
  views: readonly SegmentView[],
  query: RowQuery,
  opened: Set<RowSource>,
  counts: RowCounts,
): Generator<RowBatch> {
  for (const source of openedInOrder(context, inSegmentOrder(views), query, opened, counts))
    for (const rows of source.blocks(false)) yield { source, rows };
}

interface Cursor {
  readonly index: number;
  readonly source: RowSource;
  readonly blocks: Generator<Uint32Array>;
  rows: Uint32Array;
  at: number;
}

/**
 * Rows by time. Segments are opened only when the order reaches them, and blocks read only as rows are asked for.
 * Equal instants come in segment order, then row order; descending is the exact reverse. What is opened is added to
 * `opened`, for the caller to release.
 */
export function* rowsInTimeOrder(
  context: RunContext,
  views: readonly SegmentView[],
  query: RowQuery,
  descending: boolean,
  opened: Set<RowSource>,
  counts: RowCounts,
): Generator<RowBatch> {
  const sign = descending ? -1 : 1;
  const edge = (view: SegmentView): number => (descending ? -view.timeMax : view.timeMin);
  const waiting = inSegmentOrder(views)
    .map((view, index) => ({ view, index }))
    .filter(({ view }) => meets(view, query.intervals))
    .sort((a, b) => edge(a.view) - edge(b.view) || sign * (a.index - b.index));
  const active: Cursor[] = [];
  const timeAt = (cursor: Cursor, at: number): number => sign * instantAt(cursor.source, cursor.rows[at] ?? 0);
  const comesBefore = (a: Cursor, b: Cursor): boolean => {
    const order = timeAt(a, a.at) - timeAt(b, b.at);
    return order < 0 || (order === 0 && sign * (a.index - b.index) < 0);
  };
  while (waiting.length > 0 || active.length > 0) {
    const first = active.reduce<Cursor | undefined>(
      (best, cursor) => (best === undefined || comesBefore(cursor, best) ? cursor : best),
      undefined,
    );
    const next = waiting[0];
    if (next !== undefined && (first === undefined || edge(next.view) <= timeAt(first, first.at))) {
      waiting.shift();
      const source = openRows(context, next.view, query, counts);
      opened.add(source);
      const cursor: Cursor = { index: next.index, source, blocks: source.blocks(descending), rows: new Uint32Array(0), at: 0 };
      if (advance(cursor)) active.push(cursor);
      continue;
    }
    if (first === undefined) break;
    // Take the rows before any other segment's: the whole block when it is alone.
    const rivals = active.filter((cursor) => cursor !== first);
    const nextEdge = next === undefined ? Infinity : edge(next.view);
    let end = first.at + 1;
    if (rivals.length === 0 && timeAt(first, first.rows.length - 1) < nextEdge) end = first.rows.length;
    else {
      const probe: Cursor = { ...first };
      for (; end < first.rows.length; end++) {
        probe.at = end;
        if (timeAt(probe, end) >= nextEdge || rivals.some((rival) => comesBefore(rival, probe))) break;
      }
    }
    yield { source: first.source, rows: first.rows.subarray(first.at, end) };
    first.at = end;
    if (end === first.rows.length && !advance(first)) active.splice(active.indexOf(first), 1);
  }
}

function advance(cursor: Cursor): boolean {
  const { value, done } = cursor.blocks.next();
  if (done === true) return false;
  cursor.rows = value;
  cursor.at = 0;
  return true;
}

/** Instant of a row; rows without `__time` are all of one instant. */
export function instantAt({ scope }: RowSource, row: number): number {
  const time = scope.view.columns[TIME_COLUMN];
  if (time?.kind !== 'number') return 0;
  const { memory } = scope.context;
  switch (time.physical) {
    case 'U8':
      return Number(time.base) + (memory.u8(time.values + row, 1)[0] ?? 0);
    case 'U16':
      return Number(time.base) + (memory.u16(time.values + row * 2, 1)[0] ?? 0);
    case 'U32':
      return Number(time.base) + (memory.u32(time.values + row * 4, 1)[0] ?? 0);
    default:
      return Number(time.base + (memory.i64(time.values + row * 8, 1)[0] ?? 0n));
  }
}
