// Servers of segments, the same list for all that the same ones serve.

import type { HeldSegments } from '../inventories.js';

export const NOBODY: readonly HeldSegments[] = [];

/** Lists of servers, one for all segments that the same ones serve. */
export class Combinations {
  readonly #servers: readonly HeldSegments[];
  readonly #lists = new Map<string, readonly HeldSegments[]>([['', NOBODY]]);

  constructor(servers: readonly HeldSegments[]) {
    this.#servers = servers;
  }

  serving(id: string): readonly HeldSegments[] {
    let key = '';
    for (let at = 0; at < this.#servers.length; at++) if (this.#servers[at]?.served.has(id) === true) key += `${at} `;
    let list = this.#lists.get(key);
    if (list === undefined) {
      list = this.#servers.filter(({ served }) => served.has(id));
      this.#lists.set(key, list);
    }
    return list;
  }
}
