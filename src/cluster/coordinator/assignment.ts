// Decides which server loads or drops which segment; pure.

import { own } from '../../base/names.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import type { HeldSegments } from '../inventories.js';

/** A visible segment and how many copies each tier shall hold. */
export interface Target {
  /** Printed. */
  readonly id: string;
  readonly segment: SegmentDescriptor;
  readonly tieredReplicants: Readonly<Record<string, number>>;
}

export interface Assignment {
  /** Loads by host. */
  readonly loads: ReadonlyMap<string, readonly SegmentDescriptor[]>;
  readonly drops: ReadonlyMap<string, readonly string[]>;
  /** Targets of which no server has to load or drop anything. */
  readonly settled: ReadonlySet<string>;
}

/** A server as the assignment looks at it. */
export type AssignedServer = Pick<HeldSegments, 'host' | 'tier' | 'served' | 'loading'> & {
  /** Room for segments besides those that it serves and loads. */
  readonly freeBytes: number;
  /** Size of those. */
  readonly heldBytes: number;
  /** Another one whenever what it holds has changed. */
  readonly generation: string;
  /** Segments that it may be asked for besides those that it loads. */
  readonly places: number;
  /** It does not answer at the moment: its copies count, but it is told nothing, and no other copy goes for the sake of its own. */
  readonly isSilent?: boolean;
};

/** Segments that a server is asked for before it has loaded some of them. */
const LOADS_AHEAD = 500;
/** No rule names this tier: what its servers hold is wanted elsewhere, and leaves them once it is served there. */
const DECOMMISSIONED_TIER = '(decommissioned)';

/**
 * A server for the assignment.
 * @param facts  wanted segments by printed id, whether the server is to be emptied, and whether it does not answer at the moment
 */
export function assignedServer(
  { host, tier, served, loading, maxSizeBytes, currentSizeBytes, generation }: HeldSegments,
  {
    targets,
    isDecommissioned,
    isSilent,
  }: Pick<ClusterPicture, 'targets'> & { readonly isDecommissioned: boolean; readonly isSilent: boolean },
): AssignedServer {
  let heldBytes = currentSizeBytes;
  for (const id of loading) heldBytes += targets.get(id)?.segment.sizeBytes ?? 0;
  return {
    host,
    tier: isDecommissioned ? DECOMMISSIONED_TIER : tier,
    served,
    loading,
    freeBytes: maxSizeBytes - heldBytes,
    heldBytes,
    generation,
    places: LOADS_AHEAD - loading.size,
    isSilent,
  };
}

/** Picture of the duties, for the endpoints that show it. */
export interface ClusterPicture {
  readonly servers: readonly HeldSegments[];
  /** Targets by printed id. */
  readonly targets: ReadonlyMap<string, Target>;
  readonly drops: ReadonlyMap<string, readonly string[]>;
}

export interface AssignmentInput {
  /** Targets to look at. */
  readonly targets: Iterable<Target>;
  /** Segments that no target names and nobody reads: they leave all servers. */
  readonly unneeded: Iterable<string>;
  readonly servers: readonly AssignedServer[];
  /** Whether this server shall be asked to load this segment now; false for a while after it failed there. */
  readonly mayLoad: (host: string, segmentId: string) => boolean;
}

type Server = { -readonly [Fact in keyof AssignedServer]: AssignedServer[Fact] };

/**
 * Decides which server loads or drops which segment, from one picture of the cluster; pure. A copy is only surplus when enough
 * others are served, so that the number of queryable copies never goes down on the way.
 */
export function assignSegments({ targets, unneeded, servers: inventories, mayLoad }: AssignmentInput): Assignment {
  const loads = new Map<string, SegmentDescriptor[]>();
  const drops = new Map<string, string[]>();
  const settled = new Set<string>();
  const servers = inventories.map((server): Server => ({ ...server }));
  const tiers = new Map([...tiersOf(servers)].map((tier) => [tier, servers.filter((server) => server.tier === tier)]));
  for (const { id, segment, tieredReplicants } of targets) {
    if (isSettled(tiers, id, tieredReplicants)) {
      settled.add(id);
      continue;
    }
    // Whatever the rules say, one copy stays until another one is served.
    let spare = servers.filter((server) => isHeard(server) && server.served.has(id)).length - 1;
    for (const [tier, members] of tiers) {
      const count = Math.min(own(tieredReplicants, tier) ?? 0, members.length);
      const served = members.filter((server) => isHeard(server) && server.served.has(id));
      const holders = members.filter((server) => server.served.has(id) || server.loading.has(id));
      for (const server of chooseLoaders(members, { id, segment }, count - holders.length, mayLoad)) {
        server.freeBytes -= segment.sizeBytes;
        server.heldBytes += segment.sizeBytes;
        server.places--;
        addTo(loads, server.host, segment);
      }
      const surplus = Math.max(0, Math.min(served.length - count, spare));
      spare -= surplus;
      for (const server of served.toSorted((a, b) => fullness(b) - fullness(a)).slice(0, surplus)) {
        // Room that is not free before it is dropped.
        server.heldBytes -= segment.sizeBytes;
        addTo(drops, server.host, id);
      }
    }
  }
  for (const id of unneeded) for (const server of servers) if (isHeard(server) && server.served.has(id)) addTo(drops, server.host, id);
  return { loads, drops, settled };
}

/** Whether a segment needs no load or drop. True for nearly all segments nearly always, so it allocates nothing. */
function isSettled(tiers: ReadonlyMap<string, readonly Server[]>, id: string, tieredReplicants: Target['tieredReplicants']): boolean {
  for (const [tier, members] of tiers) {
    const count = Math.min(own(tieredReplicants, tier) ?? 0, members.length);
    let served = 0;
    let coming = 0;
    for (const server of members) {
      if (server.served.has(id)) served++;
      else if (server.loading.has(id)) coming++;
    }
    if (served > count || served + coming < count) return false;
  }
  return true;
}

/** The emptiest servers that do not have the segment and have room for it. */
function chooseLoaders(
  members: readonly Server[],
  { id, segment }: Pick<Target, 'id' | 'segment'>,
  count: number,
  mayLoad: AssignmentInput['mayLoad'],
): readonly Server[] {
  if (count <= 0) return [];
  return members
    .filter(
      (server) =>
        isHeard(server) &&
        server.places > 0 &&
        server.freeBytes >= segment.sizeBytes &&
        !server.served.has(id) &&
        !server.loading.has(id) &&
        mayLoad(server.host, id),
    )
    .sort((a, b) => fullness(a) - fullness(b) || (a.host < b.host ? -1 : 1))
    .slice(0, count);
}

/** Part of its room that a server uses: those of different sizes fill alike. */
export function fullness({ heldBytes, freeBytes }: Pick<AssignedServer, 'heldBytes' | 'freeBytes'>): number {
  const maxBytes = heldBytes + freeBytes;
  return maxBytes > 0 ? heldBytes / maxBytes : 1;
}

export const isHeard = ({ isSilent = false }: AssignedServer): boolean => !isSilent;

const tiersOf = (servers: readonly Server[]): ReadonlySet<string> => new Set(servers.map((server) => server.tier));

/** Adds to the list of a key. */
export function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
