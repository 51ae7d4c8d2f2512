// Announces the processes of tasks that answer queries, and tells readers of changes.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Coordination } from './membership/coordination.js';
import type { TaskServers } from './middlemanager/middle-manager.js';
import { toServiceError } from './rpc/message.js';
import { type Peers, TASK_ROLE } from './rpc/peers.js';

/** Longest time that a task waits for Brokers, one of which may be lost. */
const SEEN_MS_MAX = 3000;

/** Announces the processes of tasks one after the other, and has readers look. */
export function taskServers(
  peers: Peers,
  coordination: Coordination,
  process: { readonly startedMs: number; readonly version: string },
  log: (line: string) => void,
): TaskServers {
  let turn = Promise.resolve();
  const inTurn = (work: () => Promise<void>): void => {
    turn = turn
      .then(work)
      .then(() => wakeReaders(peers, coordination))
      .catch((error: unknown) => log(`announcement of a task: ${toServiceError(error).message}`));
  };
  return {
    open: (host, taskId) => inTurn(() => coordination.announce(TASK_ROLE, host, { ...process, taskId })),
    close: (host) => inTurn(() => coordination.withdraw(TASK_ROLE, host)),
    changed: () => inTurn(async () => undefined),
    async seen() {
      await turn;
      const looks = peers
        .all('broker')
        .map(async ({ host, service }) =>
          service.look().catch((error: unknown) => log(`broker ${host} did not look: ${toServiceError(error).message}`)),
        );
      await Promise.race([Promise.all(looks), sleep(SEEN_MS_MAX, undefined, { ref: false })]);
    },
  };
}

/** Hints that the served segments changed. Readers also look by themselves. */
export function wakeReaders(peers: Peers, coordination: Coordination): void {
  const hint = (wake: () => Promise<void>): void =>
    void Promise.resolve()
      .then(wake)
      .catch(() => undefined);
  for (const { service } of peers.all('broker')) hint(() => service.wake());
  if (coordination.leader('coordinator') !== undefined) hint(() => peers.leading('coordinator').wake());
}
