// Removes finished tasks that are too old from the metadata store.

import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { removeOldTasks } from '../../metadata/old-records.js';
import type { OldTasksSettings, RoleOptions } from '../role-options.js';

interface OldTasksOptions extends RoleOptions {
  readonly database: Database;
  /** @throws ServiceError `not_leader` */
  readonly fence: () => Fence;
  /** null: all are kept. */
  readonly oldTasks: OldTasksSettings | null;
}

/** Tasks that one transaction removes. */
const TASKS_TOGETHER = 200;

/** Finished tasks that age out. */
export class OldTasks {
  readonly #options: OldTasksOptions;
  #nextMs: number;

  constructor(options: OldTasksOptions) {
    this.#options = options;
    this.#nextMs = options.now() + (options.oldTasks?.initialDelayMs ?? 0);
  }

  /** Removes some when it is time; others go in the next turn, so that tasks that run never wait for those that ran. */
  async advance(): Promise<void> {
    const { database, fence, oldTasks, now, log } = this.#options;
    if (oldTasks === null || now() < this.#nextMs) return;
    const beforeMs = now() - oldTasks.retainMs;
    const removed = await fencedTransaction(database, fence(), (queries) => removeOldTasks(queries, beforeMs, TASKS_TOGETHER));
    if (removed > 0) log(`removed ${removed} finished tasks that are too old`);
    if (removed < TASKS_TOGETHER) this.#nextMs = now() + oldTasks.delayMs;
  }
}
