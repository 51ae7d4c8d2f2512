// Runs kill tasks, which the Overlord does itself.

import { ServiceError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { deleteUnused } from '../../metadata/segments.js';
import { findTask, startTask, type TaskRecord, taskDocuments } from '../../metadata/tasks.js';
import type { DeepStorage } from '../../storage/contract.js';
import type { RoleOptions } from '../role-options.js';
import { toServiceError } from '../rpc/message.js';
import { isKillPayload, parseKillPayload } from './kill-task.js';
import { endTask } from './recovery.js';

/** Segments that a kill task removes in one transaction. */
const KILLED_AT_A_TIME = 500;
/** Host name under which kill tasks run. */
const KILL_HOST = 'overlord';

interface KillOptions extends RoleOptions {
  readonly database: Database;
  readonly storage: Pick<DeepStorage, 'remove'>;
  /** @throws ServiceError `not_leader` */
  fence(): Fence;
  wake(): void;
}

/** The kill tasks that run here. */
export class KillRuns {
  readonly #options: KillOptions;
  readonly #runs = new Map<string, Promise<void>>();

  constructor(options: KillOptions) {
    this.#options = options;
  }

  /** @param tasks  those that wait for a worker to have them, and those that an earlier leader began */
  start(tasks: readonly TaskRecord[]): void {
    for (const task of tasks) {
      if (this.#runs.has(task.id)) continue;
      const run = this.#run(task)
        .catch((error: unknown) => this.#options.log(`task ${task.id}: ${toServiceError(error).message}`))
        .finally(() => this.#runs.delete(task.id));
      this.#runs.set(task.id, run);
    }
  }

  /** Resolves once all that run now have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#runs.values());
  }

  /** Repeating it does no harm: what was removed is not found again. */
  async #run(task: TaskRecord): Promise<void> {
    const { database, storage, now, wake } = this.#options;
    const fence = this.#options.fence();
    const documents = await taskDocuments(database, task.id);
    await fencedTransaction(database, fence, (queries) => startTask(queries, task.id, { host: KILL_HOST, session: KILL_HOST }, now()));
    const end = async (error: string | null, killed: number): Promise<void> => {
      const report = JSON.stringify({ killed: { taskId: task.id, type: 'killed', payload: { numSegmentsKilled: killed } } });
      await endTask(database, fence, task.id, { succeeded: error === null, error, report }, now());
      wake();
    };
    let killed = 0;
    try {
      const payload = parseJson(documents?.payload ?? 'null');
      if (!isKillPayload(payload)) throw new ServiceError('internal', 'its payload is not that of a kill task');
      const { dataSource, interval } = parseKillPayload(payload);
      while ((await findTask(database, task.id))?.state === 'RUNNING') {
        const removed = await fencedTransaction(database, fence, (queries) =>
          deleteUnused(queries, dataSource, interval, KILLED_AT_A_TIME),
        );
        // Rows first: a file without a row is an orphan that the cleanup finds, a row without a file would be a lie.
        for (const loadSpec of removed) await storage.remove(loadSpec);
        killed += removed.length;
        if (removed.length < KILLED_AT_A_TIME) break;
      }
    } catch (error) {
      const { code, message } = toServiceError(error);
      if (code === 'not_leader') throw error;
      return end(message, killed);
    }
    await end(null, killed);
  }
}
