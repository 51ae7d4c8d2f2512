// Finds the intervals of a datasource that can be compacted together, and says of each whether it has to be.

import { isDeepStrictEqual } from 'node:util';
import { ETERNITY, type Interval } from '../../base/instant.js';
import { intersect } from '../../base/interval.js';
import { isRecord, parseJson, stringifyJson } from '../../base/json.js';
import { addPeriod } from '../../base/time.js';
import { alignedGroups, alignedInterval } from '../../metadata/aligned-groups.js';
import type { VisibleChunk } from '../../metadata/timeline.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { type CompactionConfig, segmentGranularityOf, skipOffsetOf } from './compaction-config.js';

/** Segments that are compacted together, by one task over `interval`. */
export interface Candidate {
  readonly dataSource: string;
  readonly interval: Interval;
  readonly segments: readonly SegmentDescriptor[];
  readonly bytes: number;
  readonly status: CandidateStatus;
}

export type CandidateStatus =
  | { readonly state: 'COMPLETE' }
  | { readonly state: 'RUNNING'; readonly reason: string }
  /** `uncompacted`: segments that are not as they should be. */
  | { readonly state: 'PENDING'; readonly reason: string; readonly uncompacted: readonly SegmentDescriptor[] }
  | { readonly state: 'SKIPPED'; readonly reason: string };

/** Facts about a datasource that decide what is compacted. */
export interface CandidateInput {
  readonly config: CompactionConfig;
  /** Parts of the state of segments that the configuration decides. */
  readonly wanted: Readonly<Record<string, unknown>>;
  readonly chunks: readonly VisibleChunk<SegmentDescriptor>[];
  /** Intervals of compaction tasks that have not ended. */
  readonly running: readonly Interval[];
  /** Intervals that other tasks have locked. */
  readonly locked: readonly Interval[];
  /** Intervals of used segments that cannot be read. */
  readonly unreadable: readonly Interval[];
  /** Says why an interval of which tasks have failed is left alone; undefined: it is not. */
  readonly rest: (interval: Interval) => string | undefined;
}

/** Candidates by time, one after the other: there may be very many. */
export function* findCandidates({ config, wanted, chunks, running, locked, unreadable, rest }: CandidateInput): Generator<Candidate> {
  const granularity = segmentGranularityOf(config);
  const latest = chunks.reduce((end, { interval }) => Math.max(end, interval.end), ETERNITY.start);
  const reachesEternity = chunks.some(({ interval }) => isEndless(interval));
  const offset = { start: addPeriod(latest, skipOffsetOf(config), -1), end: latest };
  const skipped =
    granularity === null || offset.start >= latest ? offset : { start: alignedInterval(offset, granularity).start, end: latest };
  const groups = reachesEternity
    ? chunks.map((chunk) => ({ interval: chunk.interval, items: [chunk] }))
    : alignedGroups(chunks, (chunk) => chunk.interval, granularity);
  for (const { interval, items } of groups) {
    const segments = items.flatMap((chunk) => chunk.segments);
    const bytes = segments.reduce((sum, segment) => sum + segment.sizeBytes, 0);
    const status = (): CandidateStatus => {
      if (reachesEternity) return { state: 'SKIPPED', reason: 'segments of the datasource have intervals without a start or an end' };
      if (meets(interval, running)) return { state: 'RUNNING', reason: 'a task for the interval has not ended' };
      if (meets(interval, [skipped])) return { state: 'SKIPPED', reason: `skip offset from latest[${config.skipOffsetFromLatest}]` };
      const found = statusOf(segments, wanted);
      if (found.state === 'COMPLETE') return found;
      if (bytes > config.inputSegmentSizeBytes)
        return {
          state: 'SKIPPED',
          reason: `'inputSegmentSize' exceeded: Total segment size[${bytes}] is larger than allowed inputSegmentSize[${config.inputSegmentSizeBytes}]`,
        };
      if (meets(interval, unreadable))
        return { state: 'SKIPPED', reason: 'a segment of the interval cannot be read in the metadata store' };
      if (meets(interval, locked)) return { state: 'SKIPPED', reason: 'interval locked by another task' };
      const resting = rest(interval);
      return resting === undefined ? found : { state: 'SKIPPED', reason: resting };
    };
    yield { dataSource: config.dataSource, interval, segments, bytes, status: status() };
  }
}

const isEndless = ({ start, end }: Interval): boolean => start <= ETERNITY.start || end >= ETERNITY.end;

function meets(interval: Interval, others: readonly Interval[]): boolean {
  return others.some((other) => intersect(interval, other) !== undefined);
}

/** Whether each segment was made as it should be; the first reason counts. */
function statusOf(segments: readonly SegmentDescriptor[], wanted: CandidateInput['wanted']): CandidateStatus {
  const uncompacted: SegmentDescriptor[] = [];
  let reason: string | undefined;
  const reasons = new Map<string | undefined, string | undefined>([[undefined, 'not compacted yet']]);
  for (const segment of segments) {
    const { lastCompactionState } = segment;
    if (!reasons.has(lastCompactionState)) reasons.set(lastCompactionState, mismatch(wanted, parseJson(lastCompactionState ?? 'null')));
    const own = reasons.get(lastCompactionState);
    if (own === undefined) continue;
    uncompacted.push(segment);
    reason ??= own;
  }
  return reason === undefined ? { state: 'COMPLETE' } : { state: 'PENDING', reason, uncompacted };
}

/** The first part that differs; parts that the configuration leaves open never do. */
function mismatch(wanted: CandidateInput['wanted'], state: unknown): string | undefined {
  const parts = isRecord(state) ? state : {};
  for (const [name, value] of fieldsOf(wanted)) {
    const current = fieldsOf(parts).get(name) ?? null;
    if (!isDeepStrictEqual(value, current))
      return `'${name}' mismatch: required[${stringifyJson(value)}], current[${stringifyJson(current)}]`;
  }
  return undefined;
}

/** The parts of a state, each granularity a part of its own. */
function fieldsOf(state: Readonly<Record<string, unknown>>): ReadonlyMap<string, unknown> {
  const { granularitySpec, ...others } = state;
  return new Map([...Object.entries(others), ...(isRecord(granularitySpec) ? Object.entries(granularitySpec) : [])]);
}
