// Segments that the servers of a cluster hold, kept up by what their inventories tell.

import { LoopTurns } from '../base/loop-turns.js';
import type { InventoryUpdate, SegmentServer } from './rpc/services.js';

/** A server and its segments, by printed id, as of its last inventory. */
export interface HeldSegments extends SegmentServer {
  readonly generation: string;
  readonly currentSizeBytes: number;
  readonly served: ReadonlySet<string>;
  readonly loading: ReadonlySet<string>;
  readonly failed: ReadonlyMap<string, string>;
}

/** The same object for as long as the server is there. */
type Held = { -readonly [Fact in keyof HeldSegments]: HeldSegments[Fact] } & {
  served: Set<string>;
  loading: Set<string>;
  failed: Map<string, string>;
};

/** The servers by host. Each gives all that it holds once, and then what has changed. */
export class Inventories {
  readonly #servers = new Map<string, Held>();

  get servers(): readonly HeldSegments[] {
    return [...this.#servers.values()];
  }

  get hosts(): readonly string[] {
    return [...this.#servers.keys()];
  }

  find(host: string): HeldSegments | undefined {
    return this.#servers.get(host);
  }

  /**
   * Takes in what a server has told, and gives the event loop its turns; of one server, one call after the other.
   * @returns the segments of which something has changed; undefined when the server itself has, or is new
   */
  async update(update: InventoryUpdate): Promise<ReadonlySet<string> | undefined> {
    const { host, tier, priority, maxSizeBytes, generation, currentSizeBytes } = update;
    const facts = { host, tier, priority, maxSizeBytes, generation, currentSizeBytes };
    const turns = new LoopTurns();
    const contents = await contentsOf(update, turns);
    const known = this.#servers.get(host);
    if (known === undefined) {
      this.#servers.set(host, { ...facts, ...contents });
      return undefined;
    }
    const isSame = known.tier === tier && known.priority === priority && known.maxSizeBytes === maxSizeBytes;
    const changed =
      update.since === undefined ? await replace(known, contents, turns) : await change(known, contents, update.since.gone, turns);
    Object.assign(known, facts);
    return isSame ? changed : undefined;
  }

  /** False when it was not there. */
  remove(host: string): boolean {
    return this.#servers.delete(host);
  }
}

type Contents = Pick<Held, 'served' | 'loading' | 'failed'>;

async function contentsOf({ segmentIds, loading, failed }: InventoryUpdate, turns: LoopTurns): Promise<Contents> {
  const served = new Set<string>();
  for (const id of segmentIds) {
    served.add(id);
    if (turns.isDue) await turns.give();
  }
  return { served, loading: new Set(loading), failed: new Map(Object.entries(failed)) };
}

/** Each segment changes at once: none that is served before and after is not served between. */
async function change(
  held: Held,
  { served, loading, failed }: Contents,
  gone: readonly string[],
  turns: LoopTurns,
): Promise<ReadonlySet<string>> {
  const changed = new Set([...gone, ...served, ...loading, ...failed.keys()]);
  for (const id of changed) {
    if (served.has(id)) held.served.add(id);
    else held.served.delete(id);
    if (loading.has(id)) held.loading.add(id);
    else held.loading.delete(id);
    const reason = failed.get(id);
    if (reason === undefined) held.failed.delete(id);
    else held.failed.set(id, reason);
    if (turns.isDue) await turns.give();
  }
  return changed;
}

async function replace(held: Held, contents: Contents, turns: LoopTurns): Promise<ReadonlySet<string>> {
  const changed = new Set<string>();
  for (const kind of ['served', 'loading', 'failed'] as const) {
    for (const [some, others] of [
      [held[kind], contents[kind]],
      [contents[kind], held[kind]],
    ] as const)
      for (const id of some.keys()) {
        if (!others.has(id)) changed.add(id);
        if (turns.isDue) await turns.give();
      }
  }
  Object.assign(held, contents);
  return changed;
}
