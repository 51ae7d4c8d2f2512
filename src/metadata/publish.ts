// Publishes the segments of a task in one transaction.

import { assert, ServiceError } from '../base/errors.js';
import type { EpochMs, Interval } from '../base/instant.js';
import { condenseIntervals, contains, formatInterval, intersect, joinNearby, liesWithin } from '../base/interval.js';
import { highest } from '../base/lists.js';
import { LoopTurns } from '../base/loop-turns.js';
import { failpoint } from '../configuration/failpoint.js';
import type { PinnedSegments, PublishRequest, PushedSegment, ReplaceMode } from '../model/publication.js';
import type { SegmentDescriptor, VisibleSegment } from '../model/segment.js';
import { segmentIdText } from '../model/segment-id.js';
import { carriedBy, noteAppended, placeCarried } from './carried.js';
import type { Queries } from './database.js';
import { highestPartitions } from './killed-partitions.js';
import { type Lock, type LockKind, locksOfTask } from './locks.js';
import { SegmentTimeline } from './segment-timeline.js';
import { bumpRevision, firstUnused, insertSegments, markReplaced, selectReadable, selectSegments } from './segments.js';
import { findSequence, moveOffsets, noteSequence } from './stream-offsets.js';
import { findTask } from './tasks.js';
import type { VisibleChunk } from './timeline.js';
import { emptiedChunks, isTombstone, tombstone } from './tombstones.js';

/**
 * Makes all segments of a task visible at once; to be called in one leader transaction. A repeated request of the same
 * task (its answer was lost on the way) changes nothing and gets the same ids.
 *
 * @returns the printed ids, in the order of `request.segments`, and those of the tombstones
 * @throws  ServiceError `conflict`: the task does not run any more, holds no lock over what it writes, has already
 *          published something else, appends across existing chunks, or replaces by chunks that are finer than what was
 *          appended meanwhile; `resource_limit`: it would leave too many time chunks without rows
 */
export async function publishSegments(queries: Queries, request: PublishRequest, nowMs: EpochMs): Promise<readonly string[]> {
  const earlier = await earlierPublication(queries, request);
  if (earlier !== undefined) return earlier;

  const task = await findTask(queries, request.taskId);
  if (task?.state !== 'RUNNING')
    throw new ServiceError('conflict', `task ${request.taskId} is ${task?.state ?? 'unknown'}: only a running task may publish`);
  const locks = await locksOfTask(queries, request.taskId);
  const { mode } = request;
  const carried = await carriedBy(queries, request.taskId);
  await checkInputs(queries, request, carried);
  // Looked up before it is marked as replaced.
  const appended = mode.kind === 'replace' && carried.size > 0 ? await appendedMeanwhile(queries, request, carried) : [];
  const descriptors =
    mode.kind === 'replace'
      ? await planReplace(queries, request, { ...mode, intervals: condenseIntervals(mode.intervals) }, locks, carried, nowMs)
      : await planAppend(queries, request, locks);
  const carriedOn = placeCarried(appended, descriptors, ({ id }) => lockOver(locks, id.interval, REPLACING, request.taskId));
  if (carriedOn.length > 0) failpoint('carry.placed');

  await insertSegments(queries, [...descriptors, ...carriedOn], nowMs, await bumpRevision(queries));
  if (mode.kind === 'append') await noteAppended(queries, descriptors);
  const ids = descriptors.map((descriptor) => segmentIdText(descriptor.id));
  if (request.stream !== undefined) {
    await moveOffsets(queries, request.dataSource, request.stream);
    await noteSequence(queries, request.stream, request.taskId, ids, nowMs);
    return ids;
  }
  await queries.rows('INSERT INTO publications (task_id, load_paths, segment_ids, published_ms) VALUES (?, ?, ?, ?)', [
    request.taskId,
    loadPathsText(request),
    JSON.stringify(ids),
    nowMs,
  ]);
  return ids;
}

/**
 * Refuses to replace what a task has not read: a segment that a person marked unused meanwhile would come back with the rows that
 * were read of it, one that was marked used would be lost, and so would a part of a chunk that is not complete.
 */
async function checkInputs(
  queries: Queries,
  { taskId, dataSource, mode, inputs }: PublishRequest,
  carried: ReadonlySet<string>,
): Promise<void> {
  if (inputs === undefined) return;
  const unused = await firstUnused(queries, inputs);
  if (unused !== undefined)
    throw new ServiceError('conflict', `task ${taskId} has read segment ${unused}, which is not used any more; nothing is published`);
  if (mode.kind === 'append') return;
  const read = new Set(inputs);
  const visible = await visibleSegments(queries, dataSource, mode.intervals, async () => carried);
  const shown = new Set(visible.map(({ segment }) => segmentIdText(segment.id)));
  for (const overlapping of condenseIntervals(mode.intervals))
    for (const segment of await selectSegments(queries, { dataSource, used: true, overlapping })) {
      const id = segmentIdText(segment.id);
      if (isTombstone(segment) || read.has(id) || carried.has(id) || (!shown.has(id) && isHidden(segment, visible))) continue;
      throw new ServiceError('conflict', `task ${taskId} would replace segment ${id}, which it has not read; nothing is published`);
    }
}

/** Whether newer segments answer for all of the time of a segment. */
function isHidden({ id }: SegmentDescriptor, visible: readonly VisibleSegment[]): boolean {
  const newer = visible.filter(({ segment }) => segment.id.version > id.version);
  return condenseIntervals(newer.flatMap((each) => each.visible)).some((interval) => contains(interval, id.interval));
}

/** The visible segments within the intervals that the task has not read, since they were appended after it got its locks. */
async function appendedMeanwhile(
  queries: Queries,
  { dataSource, mode }: PublishRequest,
  carried: ReadonlySet<string>,
): Promise<readonly VisibleSegment[]> {
  if (mode.kind === 'append') return [];
  const visible = await visibleSegments(queries, dataSource, mode.intervals);
  return visible.filter(({ segment }) => carried.has(segmentIdText(segment.id)));
}

/**
 * The visible segments that meet one of the intervals.
 * @param findWithout  printed ids of segments that count as not there, read after the segments: of one that is appended in between, the ids tell
 * @throws ServiceError `segments_unavailable` when a used one of them cannot be read: whoever replaces them would lose its rows
 */
export async function visibleSegments(
  queries: Queries,
  dataSource: string,
  intervals: readonly Interval[],
  findWithout: () => Promise<ReadonlySet<string>> = async () => NONE,
): Promise<readonly VisibleSegment[]> {
  const timeline = new SegmentTimeline<SegmentDescriptor>();
  const condensed = condenseIntervals(intervals);
  const found = new Map<string, SegmentDescriptor>();
  for (const overlapping of condensed) {
    const { segments, unreadable } = await selectReadable(queries, { dataSource, used: true, overlapping });
    if (unreadable.length > 0)
      throw new ServiceError('segments_unavailable', `segment ${unreadable[0]} cannot be read in the metadata store; nothing is replaced`);
    for (const segment of segments) found.set(segmentIdText(segment.id), segment);
  }
  for (const id of await findWithout()) found.delete(id);
  timeline.change([], [...found.values()]);
  const chunks = condensed.flatMap((interval) => timeline.overlapping(interval));
  return [...new Set(chunks)].flatMap(({ segments, visible }) => segments.map((segment) => ({ segment, visible })));
}

/** The visible segments that meet one of the intervals and have rows. */
export async function segmentsToRead(...asked: Parameters<typeof visibleSegments>): Promise<readonly VisibleSegment[]> {
  return (await visibleSegments(...asked)).filter(({ segment }) => !isTombstone(segment));
}

/**
 * Segments that a task may read within the locks under which it replaces beside appends; null: it holds no such lock.
 * @throws ServiceError `segments_unavailable` when one of them cannot be read
 */
export async function pinnedSegments(queries: Queries, taskId: string): Promise<PinnedSegments | null> {
  const locks = (await locksOfTask(queries, taskId)).filter(({ kind }) => kind === 'replace');
  const [first] = locks;
  if (first === undefined) return null;
  const intervals = locks.map(({ interval }) => interval);
  const visible = await segmentsToRead(queries, first.dataSource, intervals, () => carriedBy(queries, taskId));
  return { dataSource: first.dataSource, intervals, ids: visible.map(({ segment }) => segmentIdText(segment.id)) };
}

/** Publication of the task; undefined when there is none yet. */
export async function findPublication(
  queries: Queries,
  taskId: string,
): Promise<{ readonly loadPaths: string; readonly ids: readonly string[] } | undefined> {
  const rows = await queries.rows<{ load_paths: string; segment_ids: string }>(
    'SELECT load_paths, segment_ids FROM publications WHERE task_id = ?',
    [taskId],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  // The row alone proves the publish.
  const ids = queries.faults.read({ table: 'publications', column: 'segment_ids', key: taskId }, row.segment_ids, parseIds);
  return { loadPaths: row.load_paths, ids: ids ?? [] };
}

/** Segments of a request that was carried out before: by the same task, or by a replica that read the same rows of a stream. */
async function earlierPublication(queries: Queries, request: PublishRequest): Promise<readonly string[] | undefined> {
  if (request.stream !== undefined) return findSequence(queries, request.stream);
  const earlier = await findPublication(queries, request.taskId);
  return earlier === undefined ? undefined : repeatPublication(earlier, request);
}

function parseIds(value: unknown): readonly string[] {
  if (!Array.isArray(value) || !value.every((id): id is string => typeof id === 'string'))
    throw new Error('it is not a list of segment ids');
  return value;
}

function repeatPublication(earlier: { loadPaths: string; ids: readonly string[] }, request: PublishRequest): readonly string[] {
  if (earlier.loadPaths === loadPathsText(request)) return earlier.ids;
  throw new ServiceError('conflict', `task ${request.taskId} has already published other segments; a task publishes once`);
}

const loadPathsText = (request: PublishRequest): string => JSON.stringify(request.segments.map((segment) => segment.loadSpec.path));

/**
 * Clears the intervals and gives the new segments the lock's version, numbered from 0 in each chunk. Newer chunks hide a segment that
 * lies across the bounds of an interval, and tombstones everything where there are none.
 * @param mode     intervals condensed: a segment that lies across two adjacent ones is replaced
 * @param carried  printed ids of segments that come after the new ones
 */
async function planReplace(
  queries: Queries,
  request: PublishRequest,
  { intervals, granularity }: Omit<ReplaceMode, 'kind'>,
  locks: readonly Lock[],
  carried: ReadonlySet<string>,
  nowMs: EpochMs,
): Promise<readonly SegmentDescriptor[]> {
  const { dataSource, segments, taskId } = request;
  const before: Interval[] = [];
  for (const interval of intervals) lockOver(locks, interval, REPLACING, taskId);
  for (const overlapping of joinNearby(intervals))
    for (const segment of await selectSegments(queries, { dataSource, used: true, overlapping })) {
      // One between the intervals meets none of them, and matters to nothing.
      const staysUsed = !liesWithin(intervals, segment.id.interval);
      if ((granularity !== undefined || staysUsed) && !carried.has(segmentIdText(segment.id))) before.push(segment.id.interval);
    }
  await markReplaced(queries, dataSource, intervals, nowMs);
  const counts = new Map<string, number>();
  for (const segment of segments) counts.set(chunkKey(segment.interval), (counts.get(chunkKey(segment.interval)) ?? 0) + 1);
  const next = new Map<string, number>();
  const placed: SegmentDescriptor[] = [];
  const turns = new LoopTurns();
  for (const segment of segments) {
    if (!liesWithin(intervals, segment.interval))
      throw new ServiceError(
        'conflict',
        `segment interval ${formatInterval(segment.interval)} lies outside of the replaced intervals ${intervals.map(formatInterval).join(', ')}`,
      );
    const key = chunkKey(segment.interval);
    const partition = next.get(key) ?? 0;
    next.set(key, partition + 1);
    const { version } = lockOver(locks, segment.interval, REPLACING, taskId);
    placed.push(describe(dataSource, segment, { interval: segment.interval, version, partition, partitions: counts.get(key) ?? 0 }));
    if (turns.isDue) await turns.give();
  }
  const written = segments.map(({ interval }) => interval);
  for (const interval of emptiedChunks(intervals, granularity, written, before))
    placed.push(tombstone({ dataSource, interval, version: lockOver(locks, interval, REPLACING, taskId).version, partitionNumber: 0 }));
  return placed;
}

/** Joins each segment to the visible chunk that holds its interval, or opens a chunk at the lock's version. */
async function planAppend(queries: Queries, request: PublishRequest, locks: readonly Lock[]): Promise<readonly SegmentDescriptor[]> {
  const { dataSource, segments, taskId } = request;
  const timeline = await timelineWithin(
    queries,
    dataSource,
    segments.map(({ interval }) => interval),
  );
  const turns = new LoopTurns();
  const places: Omit<Place, 'partition'>[] = [];
  for (const segment of segments) {
    const { version: lockVersion } = lockOver(locks, segment.interval, APPENDING, taskId);
    const home = findHome(dataSource, segment.interval, timeline);
    // Appended segments are not part of the core set that the chunk waits for: a new chunk has none.
    const partitions = home === undefined ? 0 : highest(home.segments.map((each) => each.shardSpec.partitions));
    const given = segment.allocated;
    const interval = home?.interval ?? given?.interval ?? segment.interval;
    places.push({ interval, version: home?.version ?? given?.version ?? lockVersion, partitions });
    if (turns.isDue) await turns.give();
  }
  const last = await lastPartitionNumbers(queries, dataSource, condenseIntervals(places.map(({ interval }) => interval)));
  return segments.map((segment, at) => {
    const place = places[at];
    assert(place !== undefined, 'each segment has its place');
    const key = `${chunkKey(place.interval)}/${place.version}`;
    const given = segment.allocated;
    const isKept = given !== undefined && `${chunkKey(given.interval)}/${given.version}` === key;
    const partition = isKept ? given.partitionNumber : (last.get(key) ?? -1) + 1;
    last.set(key, Math.max(partition, last.get(key) ?? 0));
    // Rows that come later are not divided as the chunk was.
    const placed = describe(dataSource, { ...segment, part: null }, { ...place, partition });
    return given === undefined || isKept ? placed : { ...placed, liveId: segmentIdText(given) };
  });
}

/** Timeline of the used segments that meet one of the intervals, and of some between them. */
export async function timelineWithin(
  queries: Queries,
  dataSource: string,
  intervals: readonly Interval[],
): Promise<SegmentTimeline<SegmentDescriptor>> {
  const timeline = new SegmentTimeline<SegmentDescriptor>();
  for (const overlapping of joinNearby(condenseIntervals(intervals)))
    timeline.change([], await selectSegments(queries, { dataSource, used: true, overlapping }));
  return timeline;
}

/** Highest partition number ever given in each chunk that begins in one of the intervals, sorted and disjoint. Numbers are not given twice. */
export async function lastPartitionNumbers(
  queries: Queries,
  dataSource: string,
  intervals: readonly Interval[],
): Promise<Map<string, number>> {
  const last = new Map<string, number>();
  for (const { start, end } of joinNearby(intervals)) {
    for (const { start_ms, end_ms, version, partition_number } of await highestPartitions(queries, dataSource, { start, end }))
      last.set(`${chunkKey({ start: start_ms, end: end_ms })}/${version}`, partition_number);
  }
  return last;
}

/**
 * The visible chunk that a new segment joins. A segment finer than the chunk joins it under the chunk's interval; one
 * that reaches over the chunk's bounds would hide its rows with a newer version, or double them with the same.
 */
export function findHome(
  dataSource: string,
  interval: Interval,
  timeline: SegmentTimeline<SegmentDescriptor>,
): VisibleChunk<SegmentDescriptor> | undefined {
  const [home, second] = timeline
    .overlapping(interval)
    .filter((chunk) => chunk.visible.some((piece) => intersect(piece, interval) !== undefined));
  if (home === undefined) return undefined;
  const whole = home.visible.some((piece) => contains(piece, interval));
  if (second !== undefined || !whole)
    throw new ServiceError(
      'conflict',
      `cannot append ${formatInterval(interval)} to ${dataSource}: it reaches over the existing chunk ${formatInterval(home.interval)}; use a segment granularity that is no coarser`,
    );
  return home;
}

/** Locks under which a task may replace, and under which it may append. */
const REPLACING: readonly LockKind[] = ['exclusive', 'replace'];
export const APPENDING: readonly LockKind[] = ['shared', 'append', 'exclusive'];

export function lockOver(locks: readonly Lock[], interval: Interval, kinds: readonly LockKind[], taskId: string): Lock {
  const lock = locks.find((each) => kinds.includes(each.kind) && contains(each.interval, interval));
  if (lock === undefined)
    throw new ServiceError('conflict', `task ${taskId} holds no lock (${kinds.join(', ')}) over ${formatInterval(interval)}`);
  return lock;
}

const NONE: ReadonlySet<string> = new Set();

interface Place {
  readonly interval: Interval;
  readonly version: string;
  readonly partition: number;
  readonly partitions: number;
}

function describe(dataSource: string, segment: PushedSegment, place: Place): SegmentDescriptor {
  const { interval: _built, allocated: _given, part, ...payload } = segment;
  return {
    id: { dataSource, interval: place.interval, version: place.version, partitionNumber: place.partition },
    shardSpec: { ...(part ?? { type: 'numbered' }), partitionNum: place.partition, partitions: place.partitions },
    ...payload,
  };
}

export const chunkKey = (interval: Interval): string => `${interval.start}/${interval.end}`;
