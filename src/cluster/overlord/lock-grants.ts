// Gives waiting tasks the locks that they need before they run.

import { failpoint } from '../../configuration/failpoint.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { acquireLocks, conflicts, type LockRequest } from '../../metadata/locks.js';
import { moveTask, type TaskRecord, taskDocuments } from '../../metadata/tasks.js';
import { toServiceError } from '../rpc/message.js';
import { type EachPending, isMomentary } from './assignments.js';
import { endTask } from './recovery.js';
import { revokeLocks } from './revocation.js';
import { lockRequestOf, type ReadTask } from './submission.js';

interface LockGrantOptions {
  readonly database: Database;
  readonly readTask: ReadTask;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** @throws ServiceError `not_leader` */
  fence(): Fence;
  /** Ends the run of a task that has ended at its worker, and has its files cleaned up; waits for nothing. */
  stopRun(task: TaskRecord): void;
}

/** Grants locks to waiting tasks. */
export class LockGrants {
  readonly #options: LockGrantOptions;

  constructor(options: LockGrantOptions) {
    this.#options = options;
  }

  /** Grants locks in order: a task that must wait also holds back later ones that would get in its way for ever. */
  async grant(forEach: EachPending): Promise<void> {
    const held: LockRequest[] = [];
    await forEach(async (task) => {
      const request = await this.#lockRequestOf(task);
      if (request === undefined) return;
      const heldBack = held.some(
        (earlier) =>
          earlier.dataSource === request.dataSource &&
          earlier.intervals.some((interval) => conflicts({ interval, kind: earlier.kind }, request)),
      );
      if (heldBack || !(await this.#grant(task, request))) held.push(request);
    });
  }

  /** Grants a lock, taking it from tasks of lower priority if need be; false: the task has to wait. */
  async #grant(task: TaskRecord, request: LockRequest): Promise<boolean> {
    const { database, now, log, fence, stopRun } = this.#options;
    let revoked: readonly TaskRecord[] = [];
    const granted = await fencedTransaction(database, fence(), async (queries) => {
      revoked = [];
      let locks = await acquireLocks(queries, request, now());
      if (locks === undefined) {
        revoked = await revokeLocks(queries, request, task.priority, now());
        if (revoked.length > 0) locks = await acquireLocks(queries, request, now());
      }
      return locks !== undefined && (await moveTask(queries, task.id, 'WAITING', 'PENDING'));
    });
    if (granted) failpoint('lock.granted');
    for (const other of revoked) {
      log(`task ${other.id} ends: its lock was taken for ${task.id}`);
      stopRun(other);
    }
    return granted;
  }

  /** A payload that was accepted by another version of this program may not be acceptable here: then the task fails. */
  async #lockRequestOf(task: TaskRecord): Promise<LockRequest | undefined> {
    const { database, readTask, now, fence } = this.#options;
    const documents = await taskDocuments(database, task.id);
    if (documents === undefined) return undefined;
    try {
      return lockRequestOf(task.id, (await readTask(documents.payload)).description);
    } catch (error) {
      // A failed read does not mean that the task is wrong, so it is tried again later.
      if (isMomentary(toServiceError(error).code)) throw error;
      const reason = `its payload cannot be used: ${toServiceError(error).message}`;
      await endTask(database, fence(), task.id, { succeeded: false, error: reason, report: null }, now());
      return undefined;
    }
  }
}
