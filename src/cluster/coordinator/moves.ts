// Plans which segments move from full servers to empty ones: an extra load, after which a copy on a fuller server is surplus.

import { LoopTurns } from '../../base/loop-turns.js';
import { own } from '../../base/names.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { type AssignedServer, type Assignment, addTo, fullness, isHeard, type Target } from './assignment.js';
import { MoveLooks } from './move-looks.js';

export interface MovesInput {
  /** Wanted segments by printed id. */
  readonly targets: ReadonlyMap<string, Target>;
  readonly servers: readonly AssignedServer[];
  readonly mayLoad: (host: string, segmentId: string) => boolean;
  /** Segments of a tier that may be on the way at once. */
  readonly most: number;
}

/** Moves that were ordered since this process began to lead. */
export interface MovedSegments {
  readonly tier: string;
  readonly dataSource: string;
  readonly count: number;
  readonly bytes: number;
}

/** Differences below this part of how full the fuller server is are left: moving costs reads from deep storage. */
const UNEVEN_PART = 0.05;
/** Moves to a server that are under way at once: what is published meanwhile is loaded behind them. */
const MOVES_PER_SERVER = 10;
/** Segments of a tier that one plan looks at: some may be too large, or be on the other servers already. */
const LOOKS_PER_PLAN = 2000;

/** Plans of moves; where nothing can be moved, nothing is looked at again before something has changed. */
export class Moves {
  readonly #looks = new MoveLooks();
  readonly #moved = new Map<string, MovedSegments>();
  #state: string | undefined;
  #isFinished = false;

  get moved(): Iterable<MovedSegments> {
    return this.#moved.values();
  }

  /**
   * Loads by host; see `planMoves`. A plan looks at some segments, the next one at those behind them.
   * @param revision  another one whenever targets have changed
   */
  async plan(revision: number | null, input: MovesInput): Promise<ReadonlyMap<string, readonly SegmentDescriptor[]>> {
    if (input.servers.length === 0) return new Map();
    const servers = input.servers.map(({ host, tier, generation, isSilent }) => [host, tier, generation, isSilent]);
    const state = JSON.stringify([revision, input.most, servers]);
    if (state !== this.#state) this.#looks.beginRounds();
    else if (this.#isFinished) return new Map();
    let isRefused = false;
    const mayLoad = (host: string, id: string): boolean => {
      const may = input.mayLoad(host, id);
      isRefused ||= !may;
      return may;
    };
    const { loads, isThrough } = await planMoves({ ...input, mayLoad }, this.#looks);
    for (const [host, segments] of loads) this.#note(input.servers.find((server) => server.host === host)?.tier ?? '', segments);
    // Loads that have failed may be tried again after a while, without any other change.
    if (loads.size > 0 || isRefused) this.#looks.beginRounds();
    this.#isFinished = loads.size === 0 && !isRefused && isThrough;
    this.#state = state;
    return loads;
  }

  #note(tier: string, segments: readonly SegmentDescriptor[]): void {
    for (const { id, sizeBytes } of segments) {
      const key = JSON.stringify([tier, id.dataSource]);
      const { count = 0, bytes = 0 } = this.#moved.get(key) ?? {};
      this.#moved.set(key, { tier, dataSource: id.dataSource, count: count + 1, bytes: bytes + sizeBytes });
    }
  }
}

/** Servers of the tiers in which nothing is loaded, nor is to be loaded or dropped, as far as their servers answer. */
export function calmServers(
  servers: readonly AssignedServer[],
  { loads, drops }: Pick<Assignment, 'loads' | 'drops'>,
): readonly AssignedServer[] {
  const isBusy = ({ host, loading }: AssignedServer): boolean => loading.size > 0 || loads.has(host) || drops.has(host);
  const busy = new Set(servers.filter((server) => isHeard(server) && isBusy(server)).map(({ tier }) => tier));
  return servers.filter(({ tier }) => !busy.has(tier));
}

type Server = { -readonly [Fact in keyof AssignedServer]: AssignedServer[Fact] };

/**
 * Loads by host that make the servers of each tier more evenly full. Each makes the difference of two servers smaller and never turns it
 * round, so that moves come to an end. Gives the event loop its turns. `isThrough`: all that might move has been looked at.
 */
export async function planMoves(
  { targets, servers, mayLoad, most }: MovesInput,
  looks: MoveLooks,
): Promise<{ readonly loads: ReadonlyMap<string, readonly SegmentDescriptor[]>; readonly isThrough: boolean }> {
  const loads = new Map<string, SegmentDescriptor[]>();
  const turns = new LoopTurns();
  let isThrough = true;
  for (const tier of new Set(servers.map((server) => server.tier))) {
    const members = servers
      .filter((server) => server.tier === tier && isHeard(server))
      .map((server): Server => ({ ...server, places: Math.min(server.places, MOVES_PER_SERVER) }));
    const [emptiest] = members.toSorted((a, b) => fullness(a) - fullness(b));
    const uneven = members.filter((server) => emptiest !== undefined && isUneven(server, emptiest));
    let left = Math.min(most, MOVES_PER_SERVER * Math.max(1, members.length - uneven.length));
    for (const from of uneven.sort((a, b) => fullness(b) - fullness(a))) {
      if (left === 0) break;
      for (const id of looks.next(from, Math.ceil(LOOKS_PER_PLAN / uneven.length))) {
        if (turns.isDue) await turns.give();
        const target = targets.get(id);
        if (target === undefined || (own(target.tieredReplicants, tier) ?? 0) === 0) continue;
        const { segment } = target;
        const to = emptiestWithout(members, target, mayLoad);
        if (to === undefined || !isUneven(from, to)) continue;
        change(from, -segment.sizeBytes);
        change(to, segment.sizeBytes);
        if (fullness(to) > fullness(from)) {
          change(from, segment.sizeBytes);
          change(to, -segment.sizeBytes);
          continue;
        }
        to.places--;
        left--;
        addTo(loads, to.host, segment);
        if (left === 0) break;
      }
      isThrough &&= looks.isThrough(from);
    }
  }
  return { loads, isThrough };
}

function isUneven(from: AssignedServer, to: AssignedServer): boolean {
  return fullness(from) - fullness(to) > UNEVEN_PART * fullness(from);
}

function change(server: Server, bytes: number): void {
  server.heldBytes += bytes;
  server.freeBytes -= bytes;
}

/** The server with the most room of those that have nothing of the segment. */
function emptiestWithout(members: readonly Server[], { id, segment }: Target, mayLoad: MovesInput['mayLoad']): Server | undefined {
  let found: Server | undefined;
  for (const server of members) {
    const isEmptier = found === undefined || fullness(server) < fullness(found);
    const hasRoom = server.places > 0 && server.freeBytes >= segment.sizeBytes;
    if (isEmptier && hasRoom && !server.served.has(id) && mayLoad(server.host, id)) found = server;
  }
  return found;
}
