// Servers of segments, the same list for all that the same ones serve.

import type { HeldSegments } from '../../inventories.js';

export const NOBODY: readonly HeldSegments[] = [];

type Servers = readonly HeldSegments[];

/** Lists of servers, one for all segments that the same ones serve. */
export class Combinations {
  readonly #servers: Servers;
  /** Lists by the list without its last server, and that server. */
  readonly #longer = new Map<Servers, Map<HeldSegments, Servers>>();

  constructor(servers: Servers) {
    this.#servers = servers;
  }

  serving(id: string): Servers {
    let list = NOBODY;
    for (let at = 0; at < this.#servers.length; at++) {
      const server = this.#servers[at] as HeldSegments;
      if (server.served.has(id)) list = this.with(list, server);
    }
    return list;
  }

  /** A list and one server more behind it. */
  with(list: Servers, server: HeldSegments): Servers {
    let longer = this.#longer.get(list);
    if (longer === undefined) {
      longer = new Map();
      this.#longer.set(list, longer);
    }
    let made = longer.get(server);
    if (made === undefined) {
      made = [...list, server];
      longer.set(server, made);
    }
    return made;
  }
}
