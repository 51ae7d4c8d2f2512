// Lists of servers, the same list for all segments that the same ones serve.

import type { SegmentServer } from '../../rpc/services.js';

export const NOBODY: readonly never[] = [];

/** Lists of servers, highest priority first, then by host; one list for the same servers. What servers are ordered by may not change. */
export class ServerLists<Server extends SegmentServer> {
  readonly #byHosts = new Map<string, readonly Server[]>();
  /** Lists by the list without, or with, a server, and that server. */
  readonly #longer = new Map<readonly Server[], Map<Server, readonly Server[]>>();
  readonly #shorter = new Map<readonly Server[], Map<Server, readonly Server[]>>();

  /** The last list that was made longer: for an inventory it is nearly always asked for again. */
  #last: { readonly list: readonly Server[]; readonly server: Server; readonly made: readonly Server[] } | undefined;

  /** A list and a server, which it may have already. */
  with(list: readonly Server[], server: Server): readonly Server[] {
    if (this.#last?.list !== list || this.#last.server !== server) {
      const made = this.#kept(this.#longer, list, server, () => (list.includes(server) ? list : [...list, server].sort(inOrder)));
      this.#last = { list, server, made };
    }
    return this.#last.made;
  }

  /** A list without a server, which it need not have. */
  without(list: readonly Server[], server: Server): readonly Server[] {
    return this.#kept(this.#shorter, list, server, () => list.filter((each) => each !== server));
  }

  #kept(
    kept: Map<readonly Server[], Map<Server, readonly Server[]>>,
    list: readonly Server[],
    server: Server,
    make: () => readonly Server[],
  ): readonly Server[] {
    const byServer = kept.get(list);
    const known = byServer?.get(server);
    if (known !== undefined) return known;
    const made = this.#one(make());
    if (byServer === undefined) kept.set(list, new Map([[server, made]]));
    else byServer.set(server, made);
    return made;
  }

  #one(list: readonly Server[]): readonly Server[] {
    if (list.length === 0) return NOBODY;
    const hosts = JSON.stringify(list.map(({ host }) => host));
    const known = this.#byHosts.get(hosts);
    if (known === undefined) this.#byHosts.set(hosts, list);
    return known ?? list;
  }
}

function inOrder(a: SegmentServer, b: SegmentServer): number {
  return b.priority - a.priority || (a.host < b.host ? -1 : 1);
}
