// Analyzes segments on their servers, elsewhere when one of them does not answer.

import type { CancelSignal } from '../../../base/cancel-signal.js';
import type { SegmentMetadataPlan } from '../../../model/plan.js';
import type { SegmentAnalysis } from '../../../model/segment.js';
import type { QueryOptions } from '../contract.js';
import { type Read, refuseMissing } from '../scatter.js';
import { type Cluster, findElsewhere, isServerGone, requestFor } from '../segment-runs.js';
import { firstAnswer } from './first-answer.js';
import { secondTry } from './second-try.js';

/** Analyses of the segments of reads; a server that is gone, silent or late is replaced as for other queries. */
export async function analyzeSegments(
  cluster: Cluster,
  plan: SegmentMetadataPlan,
  reads: readonly Read[],
  options: QueryOptions,
  signal: CancelSignal,
): Promise<readonly SegmentAnalysis[]> {
  const kind = `${plan.dataSource} ${plan.operator}`;
  const analyze = async (
    read: Read,
    retries: number,
    gone: ReadonlySet<string>,
    asking: CancelSignal,
  ): Promise<readonly SegmentAnalysis[]> => {
    const goneNow = new Set([...gone, read.host]);
    const ask = (each: CancelSignal): Promise<readonly SegmentAnalysis[]> =>
      cluster.historical(read.host).analyzeSegments(requestFor(plan, read, 'partial', options), each);
    const analyzeAll = async (others: readonly Read[], each: CancelSignal): Promise<readonly SegmentAnalysis[]> =>
      (await Promise.all(others.map((other) => analyze(other, retries - 1, goneNow, each)))).flat();
    let isSecond = false;
    try {
      if (retries === 0 || !cluster.mayMove(read.host)) return await ask(asking);
      const elsewhere = (others: readonly Read[]) => async (each: CancelSignal) => {
        isSecond = true;
        await cluster.streams.lost(read.host, read.segmentIds, each);
        return analyzeAll(others, each);
      };
      const startMs = cluster.clock.monotonicMs();
      const tries = secondTry(cluster, { read, gone: goneNow, kind, elsewhere, discard: () => undefined });
      const found = await firstAnswer(ask, tries, asking);
      found.release();
      if (!found.isSecond) cluster.times.note(kind, cluster.clock.monotonicMs() - startMs);
      return found.answer;
    } catch (error) {
      if (isSecond || retries === 0 || asking.aborted || !isServerGone(error)) throw error;
      if (error.code === 'unavailable') await cluster.streams.lost(read.host, read.segmentIds, asking);
      const others = await findElsewhere(cluster, read, goneNow, asking);
      if (others === undefined) {
        if (!asking.aborted) refuseMissing(read, cluster.serving(), goneNow, error);
        throw error;
      }
      return analyzeAll(others, asking);
    }
  };
  return (await Promise.all(reads.map((read) => analyze(read, cluster.retries, new Set(), signal)))).flat();
}
