// Servers of segments as the Broker knows them, kept up by what inventories tell.

import type { LoopTurns } from '../../../base/loop-turns.js';
import type { InventoryUpdate, SegmentServer } from '../../rpc/services.js';
import { NOBODY, ServerLists } from './server-lists.js';

/** A server as of its last inventory; the same object for as long as it is there. */
type Server = { -readonly [Fact in keyof SegmentServer]: SegmentServer[Fact] } & { generation: string };

/** Effect of inventories. */
export interface ServedChange {
  /** Whether a server, or who serves a segment, is another one than before. */
  readonly isChanged: boolean;
  /** Whether that is so of a server, or of a segment that was served. */
  readonly isOther: boolean;
}

/** The servers, and of each segment that is served those that serve it, highest priority first, then by host. */
export class ServedSegments {
  readonly #servers = new Map<string, Server>();
  readonly #byId = new Map<string, readonly Server[]>();
  readonly #noteServed: (id: string, isServed: boolean) => void;
  #lists = new ServerLists<Server>();

  /** @param noteServed  told of each segment that is served somewhere, or nowhere, from now on */
  constructor(noteServed: (id: string, isServed: boolean) => void) {
    this.#noteServed = noteServed;
  }

  /** Servers by printed id. */
  get byId(): ReadonlyMap<string, readonly SegmentServer[]> {
    return this.#byId;
  }

  get servers(): readonly SegmentServer[] {
    return [...this.#servers.values()];
  }

  /** Generation of what is known of a server; null: nothing is. */
  generationOf(host: string): string | null {
    return this.#servers.get(host)?.generation ?? null;
  }

  /**
   * Takes in what servers have told, one call after the other, and gives the event loop its turns. Of each segment it changes at once
   * who serves it.
   * @param hosts  the servers that are there: others serve nothing any more
   */
  async update(updates: readonly InventoryUpdate[], hosts: ReadonlySet<string>, turns: LoopTurns): Promise<ServedChange> {
    const gone = [...this.#servers.values()].filter(({ host }) => !hosts.has(host));
    let [isChanged, isOther] = [gone.length > 0, gone.length > 0];
    for (const { host } of gone) this.#servers.delete(host);
    if (gone.length > 0) await this.#relist((list) => list.filter((server) => !gone.includes(server)), turns);
    for (const update of updates) {
      const change = await this.#take(update, turns);
      isChanged ||= change.isChanged;
      isOther ||= change.isOther;
    }
    return { isChanged, isOther };
  }

  async #take(
    { host, tier, priority, maxSizeBytes, generation, segmentIds, since }: InventoryUpdate,
    turns: LoopTurns,
  ): Promise<ServedChange> {
    const known = this.#servers.get(host);
    // A change of what is not known any more counts for nothing: the server is asked for all that it has.
    if (known === undefined && since !== undefined) return { isChanged: false, isOther: false };
    const server = known ?? { host, tier, priority, maxSizeBytes, generation };
    this.#servers.set(host, server);
    const isSame = known?.tier === tier && known.priority === priority && known.maxSizeBytes === maxSizeBytes;
    let [isChanged, isOther] = [!isSame, !isSame];
    const set = (id: string, before: readonly Server[] | undefined, now: readonly Server[]): void => {
      if (now === (before ?? NOBODY)) return;
      isChanged = true;
      isOther ||= before !== undefined;
      this.#set(id, before, now);
    };
    Object.assign(server, { tier, priority, maxSizeBytes, generation });
    if (known !== undefined && !isSame) await this.#relist((list) => list, turns);
    if (known !== undefined && since === undefined) {
      const now = new Set(segmentIds);
      for (const [id, list] of this.#byId) {
        if (!now.has(id)) set(id, list, this.#lists.without(list, server));
        if (turns.isDue) await turns.give();
      }
    }
    for (const id of since?.gone ?? []) {
      const before = this.#byId.get(id);
      if (before !== undefined) set(id, before, this.#lists.without(before, server));
      if (turns.isDue) await turns.give();
    }
    for (const id of segmentIds) {
      const before = this.#byId.get(id);
      set(id, before, this.#lists.with(before ?? NOBODY, server));
      if (turns.isDue) await turns.give();
    }
    return { isChanged, isOther };
  }

  /** Changes all lists; those that were made before are forgotten. */
  async #relist(change: (list: readonly Server[]) => readonly Server[], turns: LoopTurns): Promise<void> {
    const [lists, changed] = [new ServerLists<Server>(), new Map<readonly Server[], readonly Server[]>()];
    this.#lists = lists;
    for (const [id, before] of this.#byId) {
      let now = changed.get(before);
      if (now === undefined) {
        now = change(before).reduce((list, server) => lists.with(list, server), NOBODY as readonly Server[]);
        changed.set(before, now);
      }
      this.#set(id, before, now);
      if (turns.isDue) await turns.give();
    }
  }

  #set(id: string, before: readonly Server[] | undefined, now: readonly Server[]): void {
    if (now.length > 0) this.#byId.set(id, now);
    else this.#byId.delete(id);
    if ((before === undefined) !== (now.length === 0)) this.#noteServed(id, now.length > 0);
  }
}
