// Gives tasks their locks: before they run, and with segments for rows of streams.

import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { failpoint } from '../../configuration/failpoint.js';
import { allocateSegment, type SegmentWanted } from '../../metadata/allocation.js';
import type { Database, Queries } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { acquireLocks, conflicts, type Lock, type LockRequest } from '../../metadata/locks.js';
import { APPENDING, lockOver } from '../../metadata/publish.js';
import { findTask, moveTask, type TaskRecord, taskDocuments } from '../../metadata/tasks.js';
import type { SegmentId } from '../../model/segment.js';
import { toServiceError } from '../rpc/message.js';
import type { ParentRun } from '../rpc/services.js';
import { type EachPending, isMomentary } from './assignments.js';
import { endTask, isRunOf } from './recovery.js';
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

type TakeLocks = (request: LockRequest, priority: number) => Promise<readonly Lock[] | undefined>;

/** Grants locks to tasks. */
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

  /**
   * The segment for rows of a sequence in a time chunk, with the lock of the task over the chunk.
   * @throws ServiceError `conflict`: see `allocateSegment`; `unavailable` while another task holds the chunk
   */
  async allocate(wanted: SegmentWanted, { taskId, run }: ParentRun): Promise<SegmentId> {
    const { database, now } = this.#options;
    const task = await findTask(database, taskId);
    const request = task === undefined ? undefined : await this.#lockRequestOf(task);
    return this.#taking(taskId, (take) => async (queries) => {
      const running = await findTask(queries, taskId);
      if (request === undefined || running === undefined || !isRunOf(running, run))
        throw new ServiceError('conflict', `this run of task ${taskId} does not count`);
      const over = async (chunk: Interval): Promise<Lock> => {
        const locks = await take({ ...request, intervals: [chunk] }, running.priority);
        if (locks === undefined)
          throw new ServiceError('unavailable', `task ${taskId} waits for its lock over ${formatInterval(chunk)} of ${wanted.dataSource}`);
        return lockOver(locks, chunk, APPENDING, taskId);
      };
      return allocateSegment(queries, wanted, over, now());
    });
  }

  /** Grants a lock, taking it from tasks of lower priority if need be; false: the task has to wait. */
  async #grant(task: TaskRecord, request: LockRequest): Promise<boolean> {
    const granted = await this.#taking(task.id, (take) => async (queries) => {
      const locks = await take(request, task.priority);
      return locks !== undefined && (await moveTask(queries, task.id, 'WAITING', 'PENDING'));
    });
    if (granted) failpoint('lock.granted');
    return granted;
  }

  /** Runs a transaction that takes locks, from tasks of lower priority if need be: those end. */
  async #taking<Result>(taskId: string, work: (take: TakeLocks) => (queries: Queries) => Promise<Result>): Promise<Result> {
    const { database, now, log, fence, stopRun } = this.#options;
    let revoked: TaskRecord[] = [];
    const result = await fencedTransaction(database, fence(), (queries) => {
      revoked = [];
      return work(async (request, priority) => {
        const locks = await acquireLocks(queries, request, now());
        if (locks !== undefined) return locks;
        const ended = await revokeLocks(queries, request, priority, now());
        revoked = [...revoked, ...ended];
        return ended.length > 0 ? acquireLocks(queries, request, now()) : undefined;
      })(queries);
    });
    for (const other of revoked) {
      log(`task ${other.id} ends: its lock was taken for ${taskId}`);
      stopRun(other);
    }
    return result;
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
