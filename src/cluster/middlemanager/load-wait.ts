// Waits until segments are served.

import { setTimeout as sleep } from 'node:timers/promises';
import { Inventories } from '../inventories.js';
import type { Peers } from '../rpc/peers.js';

interface LoadWaitOptions {
  readonly peers: Pick<Peers, 'all'>;
  readonly limitMs: number;
  readonly keepsWaiting: () => boolean;
}

/** Time between two looks at the servers. */
const LOOK_MS = 250;

/** Resolves when each of the segments is served by a Historical, or the time is over; says whether they are. */
export async function untilServed(ids: readonly string[], { peers, limitMs, keepsWaiting }: LoadWaitOptions): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  // Each server lists all that it holds once, and then what has changed.
  const inventories = new Inventories();
  while (keepsWaiting() && performance.now() < endMs) {
    const servers = peers.all('historical');
    await Promise.all(
      servers.map(async ({ host, service }) => {
        try {
          const update = await service.inventoryAfter(inventories.find(host)?.generation ?? null);
          if (update !== null) await inventories.update(update);
        } catch {
          // A server that does not answer serves nothing, as far as this goes.
          inventories.remove(host);
        }
      }),
    );
    const there = new Set(servers.map(({ host }) => host));
    for (const host of inventories.hosts) if (!there.has(host)) inventories.remove(host);
    if (ids.every((id) => inventories.servers.some(({ served }) => served.has(id)))) return true;
    await sleep(LOOK_MS);
  }
  return false;
}
