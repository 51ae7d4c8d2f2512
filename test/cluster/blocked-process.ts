import { parentPort, workerData } from 'node:worker_threads';
import { membershipOver } from '../../src/cluster/membership/membership-store.js';
import { StoredCoordination } from '../../src/cluster/membership/stored.js';
import { openSqlite } from '../../src/metadata/database.js';

/** A process of `pulse.test.ts`: leads, sees the other one, and then blocks its event loop for `blockMs`. */
const { file, stallMs, heartbeatMs, expiryMs, blockMs } = workerData as Record<
  'stallMs' | 'heartbeatMs' | 'expiryMs' | 'blockMs',
  number
> & {
  file: string;
};
const seen: string[] = [];
const database = await openSqlite(file);
const member = new StoredCoordination({
  store: membershipOver(database, Date.now),
  session: 'blocked',
  heartbeatMs,
  expiryMs,
  pulse: { settings: { type: 'sqlite', file }, stallMs },
  onError: (error) => seen.push(String(error)),
});
await member.announce('middleManager', 'w:1', {});
await member.campaign('overlord', 'o:1', {
  gained: async () => void seen.push('gained'),
  lost: async () => void seen.push('lost'),
});
parentPort?.postMessage('leads');
while (member.members('middleManager').length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
// The thread begins with the heartbeat that sees another process.
await new Promise((resolve) => setTimeout(resolve, 3 * expiryMs));
parentPort?.postMessage('blocks');
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs);
await member.refresh();
parentPort?.postMessage(seen.join());
await member.close();
await database.close();
