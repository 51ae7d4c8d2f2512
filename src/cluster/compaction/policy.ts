// Decides which candidates are compacted at all, and which of them first.

import type { Interval } from '../../base/instant.js';
import { contains } from '../../base/interval.js';
import type { Candidate } from './candidates.js';
import { type CompactionPolicy, eligibleInterval } from './cluster-config.js';

/** Why the policy leaves a pending candidate alone; undefined: it does not. */
export function rejectedBecause(policy: CompactionPolicy, candidate: Candidate): string | undefined {
  if (candidate.status.state !== 'PENDING') return undefined;
  if (policy.type === 'fixedIntervalOrder')
    return rankOf(policy, candidate) < 0 ? "Rejected by search policy: the interval is not in the list of 'eligibleCandidates'" : undefined;
  if (policy.type === 'newestSegmentFirst') return undefined;
  const { uncompacted } = candidate.status;
  const bytes = uncompacted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const reject = (what: string): string => `Rejected by search policy: ${what}`;
  if (uncompacted.length < policy.minUncompactedCount)
    return reject(`Uncompacted segments[${uncompacted.length}] in interval must be at least [${policy.minUncompactedCount}]`);
  if (bytes < policy.minUncompactedBytes)
    return reject(`Uncompacted bytes[${bytes}] in interval must be at least [${policy.minUncompactedBytes}]`);
  const average = Math.floor(bytes / uncompacted.length);
  if (average > policy.maxAverageUncompactedBytesPerSegment)
    return reject(
      `Average size[${average}] of uncompacted segments in interval must be at most [${policy.maxAverageUncompactedBytesPerSegment}]`,
    );
  return undefined;
}

/** Candidates in the order in which they are compacted. */
export function inOrder(policy: CompactionPolicy, candidates: readonly Candidate[]): readonly Candidate[] {
  if (policy.type === 'fixedIntervalOrder') {
    const ranks = new Map(candidates.map((candidate) => [candidate, rankOf(policy, candidate)]));
    return candidates.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0) || newestFirst(a, b));
  }
  const { priorityDatasource } = policy;
  const isLater = ({ dataSource }: Candidate): number => (dataSource === priorityDatasource ? 0 : 1);
  if (policy.type === 'newestSegmentFirst') return candidates.toSorted((a, b) => isLater(a) - isLater(b) || newestFirst(a, b));
  const fragmentation = new Map(candidates.map((candidate) => [candidate, fragmentationOf(policy, candidate)]));
  return candidates.toSorted(
    (a, b) => isLater(a) - isLater(b) || (fragmentation.get(b) ?? 0) - (fragmentation.get(a) ?? 0) || newestFirst(a, b),
  );
}

function newestFirst(a: Candidate, b: Candidate): number {
  return b.interval.start - a.interval.start || b.interval.end - a.interval.end || (a.dataSource < b.dataSource ? -1 : 1);
}

type FixedOrder = Extract<CompactionPolicy, { type: 'fixedIntervalOrder' }>;

/** Intervals of the list, which are read once. */
const ELIGIBLE = new WeakMap<FixedOrder, readonly { readonly dataSource: string; readonly interval: Interval }[]>();

/** Place in the list; -1: in none. */
function rankOf(policy: FixedOrder, { dataSource, interval }: Candidate): number {
  let eligible = ELIGIBLE.get(policy);
  if (eligible === undefined) {
    eligible = policy.eligibleCandidates.map((each) => ({ dataSource: each.datasource, interval: eligibleInterval(each.interval) }));
    ELIGIBLE.set(policy, eligible);
  }
  return eligible.findIndex((each) => each.dataSource === dataSource && contains(each.interval, interval));
}

/** Grows with the number of uncompacted segments, and with how small they are. */
function fragmentationOf(policy: Extract<CompactionPolicy, { type: 'mostFragmentedFirst' }>, { status }: Candidate): number {
  if (status.state !== 'PENDING') return 0;
  const bytes = status.uncompacted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const average = Math.max(1, bytes / status.uncompacted.length);
  return status.uncompacted.length + (policy.minUncompactedCount * policy.maxAverageUncompactedBytesPerSegment) / average;
}
