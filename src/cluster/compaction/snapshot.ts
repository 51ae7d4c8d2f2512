// Adds up the candidates of a datasource, as the status endpoints show them.

import { formatInterval } from '../../base/interval.js';
import type { Candidate, CandidateStatus } from './candidates.js';

/** Status of a datasource, as the interface spells it. */
export interface CompactionSnapshot {
  readonly dataSource: string;
  readonly scheduleStatus: 'RUNNING' | 'NOT_ENABLED';
  readonly message: string | null;
  readonly bytesAwaitingCompaction: number;
  readonly bytesCompacted: number;
  readonly bytesSkipped: number;
  readonly segmentCountAwaitingCompaction: number;
  readonly segmentCountCompacted: number;
  readonly segmentCountSkipped: number;
  readonly intervalCountAwaitingCompaction: number;
  readonly intervalCountCompacted: number;
  readonly intervalCountSkipped: number;
}

/** A candidate for people: why it is not compacted, or when it will be. */
export interface IntervalStatus {
  readonly dataSource: string;
  readonly interval: string;
  readonly state: CandidateStatus['state'];
  readonly reason: string | null;
  readonly segments: number;
  readonly bytes: number;
}

/** Status of the last run. */
export interface CompactionReport {
  readonly snapshots: readonly CompactionSnapshot[];
  /** Intervals of the datasource that was asked for, newest first. */
  readonly intervals: readonly IntervalStatus[];
}

/** A task that runs is awaited until it has ended. */
const COUNTED_AS = { COMPLETE: 'compacted', PENDING: 'awaiting', RUNNING: 'awaiting', SKIPPED: 'skipped' } as const;

/** @param message  says why there are no candidates; null: there is no such reason */
export function snapshotOf(dataSource: string, candidates: readonly Candidate[], message: string | null = null): CompactionSnapshot {
  const counts = {
    awaiting: { bytes: 0, segments: 0, intervals: new Set<string>() },
    compacted: { bytes: 0, segments: 0, intervals: new Set<string>() },
    skipped: { bytes: 0, segments: 0, intervals: new Set<string>() },
  };
  for (const { bytes, segments, status } of candidates) {
    const count = counts[COUNTED_AS[status.state]];
    count.bytes += bytes;
    count.segments += segments.length;
    for (const { id } of segments) count.intervals.add(`${id.interval.start}/${id.interval.end}`);
  }
  const { awaiting, compacted, skipped } = counts;
  return {
    dataSource,
    scheduleStatus: 'RUNNING',
    message,
    bytesAwaitingCompaction: awaiting.bytes,
    bytesCompacted: compacted.bytes,
    bytesSkipped: skipped.bytes,
    segmentCountAwaitingCompaction: awaiting.segments,
    segmentCountCompacted: compacted.segments,
    segmentCountSkipped: skipped.segments,
    intervalCountAwaitingCompaction: awaiting.intervals.size,
    intervalCountCompacted: compacted.intervals.size,
    intervalCountSkipped: skipped.intervals.size,
  };
}

export function intervalStatus({ dataSource, interval, segments, bytes, status }: Candidate): IntervalStatus {
  return {
    dataSource,
    interval: formatInterval(interval),
    state: status.state,
    reason: 'reason' in status ? status.reason : null,
    segments: segments.length,
    bytes,
  };
}

/** Status of a datasource whose configuration was removed. */
export function notEnabled(dataSource: string): CompactionSnapshot {
  return { ...snapshotOf(dataSource, []), scheduleStatus: 'NOT_ENABLED' };
}
