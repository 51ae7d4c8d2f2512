import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { membershipOver } from '../../src/cluster/membership/membership-store.js';
import { StoredCoordination } from '../../src/cluster/membership/stored.js';
import { HttpClient } from '../../src/cluster/rpc/http-client.js';
import { CLUSTER_KEY_HEADER } from '../../src/cluster/rpc/message.js';
import { Peers } from '../../src/cluster/rpc/peers.js';
import { wakeReaders } from '../../src/cluster/task-servers.js';
import type { Database } from '../../src/metadata/database.js';
import { writeConfigOnce } from '../../src/metadata/settings.js';
import { SimulatedHistorical } from './simulated-historical.js';

/** Servers that are announced as Historicals are, and the peers that they call. */
export interface SimulatedCluster {
  readonly historicals: readonly SimulatedHistorical[];
  readonly peers: Peers;
  wake(): void;
  /** Takes the last of the servers away. */
  loseOne(): Promise<void>;
  /** Announces them: what they serve is known from then on. */
  announce(): Promise<void>;
  close(): Promise<void>;
}

const KEY = 'a'.repeat(64);
const LIMIT_MS = 600_000;

export async function simulateCluster(database: Database, servers: number): Promise<SimulatedCluster> {
  await writeConfigOnce(database, 'clusterKey', KEY);
  const coordination = new StoredCoordination({
    store: membershipOver(database, Date.now),
    session: 'catalogue',
    heartbeatMs: 1000,
    expiryMs: 120_000,
    onError: (error) => console.error(`heartbeat: ${(error as Error).message}`),
  });
  const client = new HttpClient({ processHeaders: { [CLUSTER_KEY_HEADER]: KEY } });
  const peers = new Peers({ client, coordination });
  let waking: NodeJS.Timeout | undefined;
  // Historicals tell every 50 ms while they load.
  const wake = (): void => {
    waking ??= setTimeout(() => {
      waking = undefined;
      wakeReaders(peers, coordination);
    }, 50);
  };
  const historicals: SimulatedHistorical[] = [];
  for (let server = 0; server < servers; server++) historicals.push(await SimulatedHistorical.listen(wake));
  return {
    historicals,
    peers,
    wake: () => wakeReaders(peers, coordination),
    async announce() {
      for (const { host } of historicals) await coordination.announce('historical', host, {});
    },
    async loseOne() {
      const lost = historicals.pop();
      if (lost === undefined) throw new Error('no server is left');
      await coordination.withdraw('historical', lost.host);
      lost.close();
      wakeReaders(peers, coordination);
    },
    async close() {
      clearTimeout(waking);
      await coordination.close();
      await client.close();
      for (const historical of historicals) historical.close();
    },
  };
}

/** Resident bytes of a process (Linux). */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1024;
}

/** Waits for something that is asked again and again, each time after a pause. */
export async function until<Answer>(ask: () => Promise<Answer | undefined> | Answer | undefined, pauseMs = 25): Promise<Answer> {
  for (const endMs = Date.now() + LIMIT_MS; ; await wait(pauseMs)) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() > endMs) throw new Error('it never came');
  }
}
