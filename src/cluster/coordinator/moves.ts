// Plans which segments move from full servers to empty ones: an extra load, after which a copy on a fuller server is surplus.

import { LoopTurns } from '../../base/loop-turns.js';
import { own } from '../../base/names.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { type AssignedServer, addTo, fullness, isHeard, type Target } from './assignment.js';

export interface MovesInput {
  /** Wanted segments by printed id. */
  readonly targets: ReadonlyMap<string, Target>;
  readonly servers: readonly AssignedServer[];
  readonly mayLoad: (host: string, segmentId: string) => boolean;
}

/** Differences below this part of how full the fuller server is are left: moving costs reads from deep storage. */
const UNEVEN_PART = 0.05;
/** Moves to a server that are under way at once: what is published meanwhile is loaded behind them. */
const MOVES_PER_SERVER = 10;
/** Segments of a server that are looked at for each that is to move: some may be too large, or be there already. */
const LOOKS_PER_MOVE = 4;

/** Plans of moves; where nothing can be moved, nothing is looked at again before something has changed. */
export class Moves {
  #nothingAt: string | undefined;

  /**
   * Loads by host; see `planMoves`.
   * @param revision  another one whenever targets have changed
   */
  async plan(revision: number | null, input: MovesInput): ReturnType<typeof planMoves> {
    const servers = input.servers.map(({ host, tier, generation, isSilent }) => [host, tier, generation, isSilent]);
    const state = JSON.stringify([revision, servers]);
    if (state === this.#nothingAt) return new Map();
    let isRefused = false;
    const mayLoad = (host: string, id: string): boolean => {
      const may = input.mayLoad(host, id);
      isRefused ||= !may;
      return may;
    };
    const loads = await planMoves({ ...input, mayLoad });
    // Loads that have failed may be tried again after a while, without any other change.
    this.#nothingAt = loads.size === 0 && !isRefused ? state : undefined;
    return loads;
  }
}

type Server = { -readonly [Fact in keyof AssignedServer]: AssignedServer[Fact] };

/**
 * Loads by host that make the servers of each tier more evenly full. Each makes the difference of two servers smaller and never turns it
 * round, so that moves come to an end. Gives the event loop its turns.
 */
export async function planMoves({ targets, servers, mayLoad }: MovesInput): Promise<ReadonlyMap<string, readonly SegmentDescriptor[]>> {
  const loads = new Map<string, SegmentDescriptor[]>();
  const turns = new LoopTurns();
  for (const tier of new Set(servers.map((server) => server.tier))) {
    const members = servers
      .filter((server) => server.tier === tier && isHeard(server))
      .map((server): Server => ({ ...server, places: Math.min(server.places, MOVES_PER_SERVER) }));
    const [emptiest] = members.toSorted((a, b) => fullness(a) - fullness(b));
    const uneven = members.filter((server) => emptiest !== undefined && isUneven(server, emptiest));
    if (uneven.length === 0) continue;
    let left = MOVES_PER_SERVER * Math.max(1, members.length - uneven.length);
    for (const from of uneven.sort((a, b) => fullness(b) - fullness(a))) {
      for (const id of spread(from.served, Math.min(left, countOver(from, emptiest)))) {
        if (turns.isDue) await turns.give();
        if (left === 0) break;
        const target = id === undefined ? undefined : targets.get(id);
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
      }
    }
  }
  return loads;
}

function isUneven(from: AssignedServer, to: AssignedServer): boolean {
  return fullness(from) - fullness(to) > UNEVEN_PART * fullness(from);
}

function change(server: Server, bytes: number): void {
  server.heldBytes += bytes;
  server.freeBytes -= bytes;
}

/** About as many segments as one server holds too many beside the other. */
function countOver(from: AssignedServer, to: AssignedServer | undefined): number {
  const share = to === undefined ? 0 : (1 - fullness(to) / fullness(from)) / 2;
  return Math.max(1, Math.ceil(share * from.served.size));
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

/**
 * About so many ids at equal distances, then those behind them, and so on: neighbours in time are read together, and shall not go to
 * one server together. Undefined stands for each that is left out.
 */
function* spread(ids: ReadonlySet<string>, count: number): Generator<string | undefined> {
  const step = Math.max(1, Math.floor(ids.size / count));
  for (let first = 0; first < Math.min(step, LOOKS_PER_MOVE); first++) {
    let at = 0;
    for (const id of ids) yield at++ % step === first ? id : undefined;
  }
}
