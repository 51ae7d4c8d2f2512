// Servers of segments as the Broker knows them, kept up by what inventories tell.

import type { LoopTurns } from '../../../base/loop-turns.js';
import type { HeldSegments } from '../../inventories.js';
import { Combinations, NOBODY } from './combinations.js';

/** Servers of each segment that is served, highest priority first, then by host. */
export class ServedSegments {
  #byId = new Map<string, readonly HeldSegments[]>();
  readonly #noteServed: (id: string, isServed: boolean) => void;

  /** @param noteServed  told of each segment that is served somewhere, or nowhere, from now on */
  constructor(noteServed: (id: string, isServed: boolean) => void) {
    this.#noteServed = noteServed;
  }

  /** Servers by printed id. */
  get byId(): ReadonlyMap<string, readonly HeldSegments[]> {
    return this.#byId;
  }

  /**
   * Takes in who serves some segments now, and gives the event loop its turns.
   * @returns whether one that was served is served by others now
   */
  async change(ids: Iterable<string>, held: readonly HeldSegments[], turns: LoopTurns): Promise<boolean> {
    const combinations = new Combinations(inOrder(held));
    let isAnother = false;
    for (const id of ids) {
      const before = this.#byId.get(id);
      const now = combinations.serving(id);
      if (now.length > 0) this.#byId.set(id, now);
      else this.#byId.delete(id);
      if ((before === undefined) !== (now.length === 0)) this.#noteServed(id, now.length > 0);
      isAnother ||= before !== undefined && (before.length !== now.length || before.some((server, at) => server !== now[at]));
      if (turns.isDue) await turns.give();
    }
    return isAnother;
  }

  /** Takes in who serves all segments now, and gives the event loop its turns: until it ends, everything is as before. */
  async replace(held: readonly HeldSegments[], turns: LoopTurns): Promise<void> {
    const servers = inOrder(held);
    const combinations = new Combinations(servers);
    const [before, now] = [this.#byId, new Map<string, readonly HeldSegments[]>()];
    for (const server of servers) {
      for (const id of server.served) {
        now.set(id, combinations.with(now.get(id) ?? NOBODY, server));
        if (turns.isDue) await turns.give();
      }
    }
    this.#byId = now;
    for (const id of before.keys()) {
      if (!now.has(id)) this.#noteServed(id, false);
      if (turns.isDue) await turns.give();
    }
    for (const id of now.keys()) {
      if (!before.has(id)) this.#noteServed(id, true);
      if (turns.isDue) await turns.give();
    }
  }
}

function inOrder(held: readonly HeldSegments[]): readonly HeldSegments[] {
  return held.toSorted((a, b) => b.priority - a.priority || (a.host < b.host ? -1 : 1));
}
