// Used segments of some datasources, and how many copies the rules ask for.

import { LoopTurns } from '../../base/loop-turns.js';
import { idTextOf } from '../../model/segment-id.js';
import type { SegmentServer, UsedSegment } from '../rpc/services.js';
import type { Target } from './assignment.js';
import type { SegmentCatalog } from './catalog.js';

/** Gives the event loop its turns: nothing may be planned meanwhile. */
export async function usedSegments(
  dataSources: readonly string[],
  catalog: SegmentCatalog,
  targets: ReadonlyMap<string, Target>,
  servers: readonly SegmentServer[],
): Promise<readonly UsedSegment[]> {
  const serversOf = new Map<string, number>();
  for (const { tier } of servers) serversOf.set(tier, (serversOf.get(tier) ?? 0) + 1);
  const turns = new LoopTurns();
  const used: UsedSegment[] = [];
  for (const dataSource of dataSources) {
    for (const segment of catalog.used(dataSource)) {
      const replicants = Object.entries(targets.get(idTextOf(segment))?.tieredReplicants ?? {});
      // A broadcast asks for more copies than there are servers.
      const copies = replicants.map(([tier, count]) => (count === Number.MAX_SAFE_INTEGER ? (serversOf.get(tier) ?? 0) : count));
      const replicationFactor = copies.reduce((sum, count) => sum + count, 0);
      used.push({ segment, overshadowed: catalog.isOvershadowed(segment), replicationFactor });
      if (turns.isDue) await turns.give();
    }
  }
  return used;
}
