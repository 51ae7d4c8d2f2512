// Runs kill tasks, which the Overlord does itself.

import { ServiceError } from '../../base/errors.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { deleteUnused } from '../../metadata/segments.js';
import { findTask, noteReport, startTask, type TaskRecord, taskDocuments } from '../../metadata/tasks.js';
import type { DeepStorage } from '../../storage/contract.js';
import type { RoleOptions } from '../role-options.js';
import { toServiceError } from '../rpc/message.js';
import { isKillPayload, parseKillPayload } from './kill-task.js';
import { endTask } from './recovery.js';

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
    // An earlier leader may have removed some.
    const done = readProgress(documents?.report ?? null);
    const reportOf = (): string => stringifyJson({ killed: { taskId: task.id, type: 'killed', payload: done } });
    const end = async (error: string | null): Promise<void> => {
      await endTask(database, fence, task.id, { succeeded: error === null, error, report: reportOf() }, now());
      wake();
    };
    try {
      const payload = parseJson(documents?.payload ?? 'null');
      if (!isKillPayload(payload)) throw new ServiceError('internal', 'its payload is not that of a kill task');
      const spec = parseKillPayload(payload);
      while ((await findTask(database, task.id))?.state === 'RUNNING') {
        const count = Math.min(spec.batchSize, (spec.limit ?? Number.MAX_SAFE_INTEGER) - done.numSegmentsKilled);
        if (count <= 0) break;
        const removed = await fencedTransaction(database, fence, async (queries) => {
          const deleted = await deleteUnused(queries, spec, count);
          done.numSegmentsKilled += deleted.count;
          done.numBatchesProcessed++;
          await noteReport(queries, task.id, reportOf());
          failpoint('kill.beforeCommit');
          return deleted;
        });
        failpoint('kill.rowsRemoved');
        // Rows first: a file without a row is an orphan that the cleanup finds, a row without a file would be a lie.
        for (const loadSpec of removed.files) {
          await storage.remove(loadSpec);
          failpoint('kill.fileRemoved');
        }
        if (removed.count < count) break;
      }
    } catch (error) {
      const { code, message } = toServiceError(error);
      if (code === 'not_leader') throw error;
      return end(message);
    }
    await end(null);
  }
}

interface KillProgress {
  numSegmentsKilled: number;
  numBatchesProcessed: number;
}

/** Counts that the report of a task has, as far as it came. */
function readProgress(report: string | null): KillProgress {
  const { killed } = (report === null ? {} : parseJson(report)) as { readonly killed?: { readonly payload?: Partial<KillProgress> } };
  const { numSegmentsKilled = 0, numBatchesProcessed = 0 } = killed?.payload ?? {};
  return { numSegmentsKilled, numBatchesProcessed };
}
