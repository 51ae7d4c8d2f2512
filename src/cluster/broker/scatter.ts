// Divides a query among the servers of its segments.

import { BoundedCache } from '../../base/bounded-cache.js';
import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { condenseIntervals, contains, formatInterval, intersect } from '../../base/interval.js';
import { highest, lowest } from '../../base/lists.js';
import { LoopTurns } from '../../base/loop-turns.js';
import type { VisibleChunk } from '../../metadata/timeline.js';
import type { Plan } from '../../model/plan.js';
import type { PinnedSegments } from '../../model/publication.js';
import type { SegmentDescriptor, UnreadableSegment } from '../../model/segment.js';
import { idTextOf, parseSegmentId } from '../../model/segment-id.js';
import type { SegmentServer } from '../rpc/services.js';
import { Missing } from './missing.js';

/** Segments that one server reads in one request. */
export interface Read {
  readonly host: string;
  readonly segmentIds: readonly string[];
  /** The part of the query's intervals to read: narrower than the query's for segments that are hidden in part. */
  readonly intervals: readonly Interval[];
}

/**
 * Divides a query among servers; gives the event loop its turns.
 * @param intervals  sorted, disjoint
 * @throws ServiceError `segments_unavailable` naming the intervals of segments that nobody serves
 */
export async function planReads(
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  intervals: readonly Interval[],
  serving: Serving,
): Promise<readonly Read[]> {
  const missing = new Missing();
  const turns = new LoopTurns();
  const reads = new Map<string, { host: string; segmentIds: string[]; intervals: readonly Interval[] }>();
  for (const chunk of chunks) {
    if (turns.isDue) await turns.give();
    if (!isWithin(chunk, intervals)) continue;
    const clipped = isWhole(chunk) ? intervals : intersections(intervals, chunk.visible);
    const clip = isWhole(chunk) ? '' : JSON.stringify(chunk.visible);
    for (const segment of chunk.segments) {
      const id = idTextOf(segment);
      const host = chooseServer(id, serving.of(id), serving.silent)?.host;
      if (host === undefined) {
        missing.add(id, intersections(intervals, chunk.visible));
        continue;
      }
      // One read, one datasource: ids of its dictionaries are shared among its segments only.
      const key = `${host} ${segment.id.dataSource} ${clip}`;
      const read = reads.get(key);
      if (read === undefined) reads.set(key, { host, segmentIds: [id], intervals: clipped });
      else read.segmentIds.push(id);
    }
  }
  missing.refuse();
  return [...reads.values()];
}

/** Who serves what at the moment; replaced as a whole when anything of it changes. */
export interface Serving {
  /** Servers of a segment, best first. */
  readonly of: (segmentId: string) => readonly SegmentServer[];
  /** Hosts that do not answer at the moment: they are asked for what nobody else serves. */
  readonly silent?: ReadonlySet<string>;
}

/** Different reads of one view that are kept. */
const INTERVALS_KEPT = 32;

/** Reads planned before: a dashboard asks the same intervals of the same segments again and again. */
export class PlannedReads {
  readonly #known = new WeakMap<object, { readonly serving: Serving; readonly reads: BoundedCache<string, readonly PlannedRead[]> }>();

  /** Like `planReads`; segments that were asked for before come as the very same list. */
  async of(chunks: readonly VisibleChunk<SegmentDescriptor>[], intervals: readonly Interval[], serving: Serving): Promise<readonly Read[]> {
    let known = this.#known.get(chunks);
    if (known === undefined || known.serving !== serving) {
      known = { serving, reads: new BoundedCache(INTERVALS_KEPT) };
      this.#known.set(chunks, known);
    }
    const key = readsKey(chunks, intervals);
    let planned = known.reads.find(key);
    if (planned === undefined) {
      planned = (await planReads(chunks, intervals, serving)).map((read) => ({
        ...read,
        intervals: read.intervals === intervals ? null : read.intervals,
      }));
      known.reads.keep(key, planned);
    }
    return planned.map((read) => ({ ...read, intervals: read.intervals ?? intervals }));
  }
}

/** More chunks are not looked at for a key. */
const CHUNKS_LISTED_MAX = 64;

/** Equal for intervals that have the same reads: those of the same chunks, where all of these are whole. */
function readsKey(chunks: readonly VisibleChunk<SegmentDescriptor>[], intervals: readonly Interval[]): string {
  if (chunks.length > CHUNKS_LISTED_MAX) return JSON.stringify(intervals);
  let touched = '';
  for (let index = 0; index < chunks.length; index++) {
    const chunk = chunks[index];
    if (chunk === undefined || !isWithin(chunk, intervals)) continue;
    if (!isWhole(chunk)) return JSON.stringify(intervals);
    touched += `${index} `;
  }
  return touched;
}

interface PlannedRead extends Omit<Read, 'intervals'> {
  /** Null: those of the query. */
  readonly intervals: readonly Interval[] | null;
}

/**
 * Refuses what cannot be answered in full: a used segment that cannot be read may hold rows of the intervals.
 * @throws ServiceError `segments_unavailable` naming the first such segment and how many there are
 */
export function refuseUnreadable(unreadable: readonly UnreadableSegment[], intervals: readonly Interval[]): void {
  const touched = unreadable.filter(
    ({ interval }) => interval === null || intervals.some((asked) => intersect(interval, asked) !== undefined),
  );
  const [first] = touched;
  if (first !== undefined)
    throw new ServiceError(
      'segments_unavailable',
      `segment ${first.id} of ${first.dataSource}${touched.length > 1 ? ` and ${touched.length - 1} more` : ''} cannot be read in the metadata store; see /svc/coordinator/v1/metadataFaults`,
    );
}

/** The part of its tables that a plan reads. */
export type Asked = Pick<Plan, 'intervals' | 'segments'>;

/**
 * The segments that a plan names, as chunks of their own, or all.
 * @throws ServiceError `segments_unavailable` naming one that is not among the chunks
 */
export function namedSegments(
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  { segments }: Asked,
): readonly VisibleChunk<SegmentDescriptor>[] {
  if (segments === undefined) return chunks;
  const byVersion = new Map<string, VisibleChunk<SegmentDescriptor>[]>();
  for (const chunk of chunks) addTo(byVersion, chunk.version, chunk);
  const asked = new Map<SegmentDescriptor, Interval[]>();
  for (const { interval, version, partitionNumber } of segments) {
    const chunk = lastStarted(byVersion.get(version) ?? [], interval.start);
    const covers = chunk !== undefined && contains(chunk.interval, interval);
    const segment = covers ? chunk.segments.find(({ id }) => id.partitionNumber === partitionNumber) : undefined;
    if (segment === undefined)
      throw new ServiceError(
        'segments_unavailable',
        `intervals: no visible segment of version "${version}" and partition ${partitionNumber} covers ${formatInterval(interval)}`,
      );
    addTo(asked, segment, interval);
  }
  return chunks.flatMap((chunk) =>
    chunk.segments.flatMap((segment) => {
      const visible = asked.get(segment);
      return visible === undefined ? [] : [{ ...chunk, segments: [segment], visible: condenseIntervals(visible) }];
    }),
  );
}

/**
 * The chunks without what was appended to a datasource after a task pinned its segments.
 * @throws ServiceError `segments_unavailable` when one of those is not among the chunks
 */
export function pinnedSegments(
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  { dataSource, intervals, ids }: PinnedSegments,
): readonly VisibleChunk<SegmentDescriptor>[] {
  const missing = new Set(ids);
  const kept = chunks.flatMap((chunk) => {
    const isOther = chunk.segments[0]?.id.dataSource !== dataSource || !intervals.some((interval) => intersect(interval, chunk.interval));
    if (isOther) return [chunk];
    const segments = chunk.segments.filter((segment) => missing.delete(idTextOf(segment)));
    return segments.length === 0 ? [] : [{ ...chunk, segments }];
  });
  const [first] = missing;
  if (first !== undefined)
    throw new ServiceError('segments_unavailable', `segment ${first}, which the task replaces, is not visible any more`);
  return kept;
}

function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

/** The last chunk that starts at an instant or before; chunks of one version are disjoint and come in order. */
function lastStarted<Chunk extends { readonly interval: Interval }>(chunks: readonly Chunk[], instant: number): Chunk | undefined {
  let [low, high] = [0, chunks.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((chunks[middle]?.interval.start ?? 0) <= instant) low = middle + 1;
    else high = middle;
  }
  return chunks[low - 1];
}

/** The same read divided among servers that are not `gone`; undefined when a segment has no other server. */
export function readsElsewhere(read: Read, serving: Serving, gone: ReadonlySet<string>): readonly Read[] | undefined {
  const reads = new Map<string, string[]>();
  for (const id of read.segmentIds) {
    const servers = serving.of(id).filter(({ host }) => !gone.has(host));
    const host = chooseServer(id, servers, serving.silent)?.host;
    if (host === undefined) return undefined;
    const same = reads.get(host);
    if (same === undefined) reads.set(host, [id]);
    else same.push(id);
  }
  return [...reads].map(([host, segmentIds]) => ({ host, segmentIds, intervals: read.intervals }));
}

/** @throws ServiceError `segments_unavailable` naming the intervals of a read of which nobody but those `gone` serves the segments */
export function refuseMissing(read: Read, serving: Serving, gone: ReadonlySet<string>, cause: unknown): void {
  const missing = new Missing();
  for (const id of read.segmentIds) {
    const interval = parseSegmentId(id)?.interval;
    if (interval !== undefined && serving.of(id).every(({ host }) => gone.has(host)))
      missing.add(id, intersections(read.intervals, [interval]));
  }
  missing.refuse(cause);
}

/** The plan with its intervals narrowed to the span of the chunks when it asks for that; undefined when nothing is left. */
export function withinData<RowsPlan extends Plan>(
  plan: RowsPlan,
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
): RowsPlan | undefined {
  if (plan.operator !== 'group' || plan.withinData !== true) return plan;
  const pieces = chunks.flatMap((chunk) => chunk.visible);
  const span = { start: lowest(pieces.map(({ start }) => start)), end: highest(pieces.map(({ end }) => end)) };
  const intervals = plan.intervals.flatMap((interval) => intersect(interval, span) ?? []);
  return intervals.length === 0 ? undefined : { ...plan, intervals };
}

/** Chunks of which some visible part meets the intervals. */
export function chunksWithin<Chunk extends VisibleChunk<SegmentDescriptor>>(
  chunks: readonly Chunk[],
  intervals: readonly Interval[],
): readonly Chunk[] {
  return chunks.filter((chunk) => isWithin(chunk, intervals));
}

export function isWithin({ visible }: Pick<VisibleChunk<SegmentDescriptor>, 'visible'>, intervals: readonly Interval[]): boolean {
  return visible.some((piece) => intervals.some(({ start, end }) => piece.start < end && piece.end > start));
}

function isWhole(chunk: VisibleChunk<SegmentDescriptor>): boolean {
  const [piece, second] = chunk.visible;
  return second === undefined && piece?.start === chunk.interval.start && piece.end === chunk.interval.end;
}

function intersections(intervals: readonly Interval[], pieces: readonly Interval[]): readonly Interval[] {
  return intervals.flatMap((interval) => pieces.flatMap((piece) => intersect(interval, piece) ?? []));
}

/** Always the same of the equally good servers for a segment: that one has its columns in memory. Silent ones are passed over. */
function chooseServer(id: string, all: readonly SegmentServer[], silent: ReadonlySet<string> | undefined): SegmentServer | undefined {
  const [only, second] = all;
  if (second === undefined) return only;
  const heard = silent === undefined ? all : all.filter(({ host }) => !silent.has(host));
  const servers = heard.length === 0 ? all : heard;
  const best = servers.filter((server) => server.priority === servers[0]?.priority);
  return best[hash(id) % Math.max(1, best.length)];
}

/** FNV-1a. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}
