// Announces the processes of tasks that answer queries, and tells readers of changes.

import type { Coordination } from './membership/coordination.js';
import type { TaskServers } from './middlemanager/middle-manager.js';
import { toServiceError } from './rpc/message.js';
import { type Peers, TASK_ROLE } from './rpc/peers.js';

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
