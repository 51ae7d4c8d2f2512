// Segments that the servers of a cluster hold, kept up by what their inventories tell.

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

  /** @returns the segments of which something has changed; undefined when the server itself has, or is new */
  update(update: InventoryUpdate): ReadonlySet<string> | undefined {
    const { host, tier, priority, maxSizeBytes, generation, currentSizeBytes } = update;
    const facts = { host, tier, priority, maxSizeBytes, generation, currentSizeBytes };
    const known = this.#servers.get(host);
    if (known === undefined) {
      this.#servers.set(host, { ...facts, ...contentsOf(update) });
      return undefined;
    }
    const isSame = known.tier === tier && known.priority === priority && known.maxSizeBytes === maxSizeBytes;
    const changed = update.since === undefined ? replace(known, update) : change(known, update, update.since.gone);
    Object.assign(known, facts);
    return isSame ? changed : undefined;
  }

  /** False when it was not there. */
  remove(host: string): boolean {
    return this.#servers.delete(host);
  }
}

function contentsOf({ segmentIds, loading, failed }: InventoryUpdate): Pick<Held, 'served' | 'loading' | 'failed'> {
  return { served: new Set(segmentIds), loading: new Set(loading), failed: new Map(Object.entries(failed)) };
}

function change(held: Held, update: InventoryUpdate, gone: readonly string[]): ReadonlySet<string> {
  const { served, loading, failed } = contentsOf(update);
  const changed = new Set([...gone, ...served, ...loading, ...failed.keys()]);
  for (const id of changed) {
    held.served.delete(id);
    held.loading.delete(id);
    held.failed.delete(id);
  }
  for (const id of served) held.served.add(id);
  for (const id of loading) held.loading.add(id);
  for (const [id, reason] of failed) held.failed.set(id, reason);
  return changed;
}

function replace(held: Held, update: InventoryUpdate): ReadonlySet<string> {
  const changed = new Set<string>();
  const contents = contentsOf(update);
  for (const kind of ['served', 'loading', 'failed'] as const) {
    for (const id of held[kind].keys()) if (!contents[kind].has(id)) changed.add(id);
    for (const id of contents[kind].keys()) if (!held[kind].has(id)) changed.add(id);
  }
  Object.assign(held, contents);
  return changed;
}
