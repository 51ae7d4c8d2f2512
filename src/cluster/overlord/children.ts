// Tasks that tasks submit: they run under the locks of their parent and end with it.

import { ServiceError } from '../../base/errors.js';
import type { ChildDocuments, ChildLook, ChildTask } from '../../ingestion/contract.js';
import type { Database, Queries } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import {
  childrenOf,
  findTask,
  insertChild,
  staleClaims,
  startTask,
  type TaskRecord,
  taskDocuments,
  tasksLeftBehind,
} from '../../metadata/tasks.js';
import type { MiddleManagerService, ParentRun } from '../rpc/services.js';
import { endTask, isRunOf } from './recovery.js';
import { newTask, type ReadTask } from './submission.js';
import { taskBody } from './task-body.js';

interface ChildrenOptions {
  readonly database: Database;
  readonly readTask: ReadTask;
  readonly now: () => number;
  readonly log: (line: string) => void;
  /** @throws ServiceError `not_leader` */
  fence(): Fence;
  /** Ends the run of a task at its worker, if there is one; waits for nothing. */
  stopRun(task: TaskRecord): void;
  /** The worker process that runs the task, while it is there. */
  workerOf(task: TaskRecord): Pick<MiddleManagerService, 'progress'> | undefined;
}

/** Children of tasks, as the Overlord keeps them. */
export class Children {
  readonly #options: ChildrenOptions;

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  async submit(parent: ParentRun, documents: readonly string[]): Promise<void> {
    const { database, readTask, now } = this.#options;
    const reads = await Promise.all(documents.map((document) => readTask(document)));
    await fencedTransaction(database, this.#options.fence(), async (queries) => {
      const { groupId, priority } = await runningParent(queries, parent);
      for (const read of reads) {
        const task = newTask(read, now());
        await insertChild(queries, { ...task, groupId, priority }, parent.taskId, now());
        if ((await findTask(queries, task.id))?.parentId !== parent.taskId)
          throw new ServiceError('conflict', `id: a task ${task.id} exists already, and ${parent.taskId} has not submitted it`);
      }
    });
  }

  async list(parent: ParentRun): Promise<readonly ChildTask[]> {
    const { database } = this.#options;
    await runningParent(database, parent);
    const children = await childrenOf(database, parent.taskId);
    return children.map(({ id, state, error }) => ({ id, state: state === 'WAITING' ? 'PENDING' : state, error }));
  }

  async documents(parent: ParentRun, childId: string): Promise<ChildDocuments> {
    const { database } = this.#options;
    await runningParent(database, parent);
    await childOf(database, parent, childId);
    const documents = await taskDocuments(database, childId);
    if (documents === undefined) throw new ServiceError('not_found', `no task ${childId}`);
    return documents;
  }

  async look(parent: ParentRun, ids: readonly string[]): Promise<readonly ChildLook[]> {
    const { database, workerOf } = this.#options;
    await runningParent(database, parent);
    return Promise.all(
      ids.map(async (id) => {
        const child = await childOf(database, parent, id);
        const worker = child.state === 'RUNNING' ? workerOf(child) : undefined;
        // A worker that does not answer has its children looked after elsewhere.
        return { status: taskBody(child), progress: (await worker?.progress(id).catch(() => null)) ?? null };
      }),
    );
  }

  async stop(parent: ParentRun, childId: string, reason: string): Promise<void> {
    await runningParent(this.#options.database, parent);
    const child = await childOf(this.#options.database, parent, childId);
    if (!(await this.#end(child, reason))) throw new ServiceError('not_found', `no unfinished task ${childId}`);
  }

  async claim(parent: ParentRun, childId: string): Promise<number | null> {
    const { database, now } = this.#options;
    return fencedTransaction(database, this.#options.fence(), async (queries) => {
      const { workerHost } = await runningParent(queries, parent);
      const { session, attempt } = parent.run;
      const child = await childOf(queries, parent, childId);
      // The answer was lost on its way: the parent does not know that it has the child.
      if (child.state === 'RUNNING' && child.claimedBy === attempt && child.workerSession === session) return child.attempts;
      return (await startTask(queries, childId, { host: workerHost ?? '', session }, now(), attempt)) ?? null;
    });
  }

  /** Running children at the worker of a run: those that it does itself end with it. */
  async runBy({ taskId, run }: ParentRun): Promise<readonly TaskRecord[]> {
    const children = await childrenOf(this.#options.database, taskId);
    return children.filter(({ state, workerSession }) => state === 'RUNNING' && workerSession === run.session);
  }

  /** Running children whose run is that of a parent which counts no more. */
  abandoned(): Promise<readonly TaskRecord[]> {
    return staleClaims(this.#options.database);
  }

  /** Ends the children of tasks that have ended, whatever way. */
  async endLeftBehind(): Promise<void> {
    for (const task of await tasksLeftBehind(this.#options.database)) {
      this.#options.log(`task ${task.id} ends: its parent ${task.parentId ?? ''} has ended`);
      await this.#end(task, `the task ${task.parentId ?? ''}, which it worked for, has ended`);
    }
  }

  async #end(task: TaskRecord, error: string): Promise<boolean> {
    const { database, now, stopRun } = this.#options;
    const ended = await endTask(database, this.#options.fence(), task.id, { succeeded: false, error, report: null }, now());
    if (ended) stopRun(task);
    return ended;
  }
}

async function childOf(queries: Queries, { taskId }: ParentRun, childId: string): Promise<TaskRecord> {
  const child = await findTask(queries, childId);
  if (child?.parentId !== taskId) throw new ServiceError('not_found', `task ${taskId} has no child ${childId}`);
  return child;
}

async function runningParent(queries: Queries, { taskId, run }: ParentRun): Promise<TaskRecord> {
  const task = await findTask(queries, taskId);
  if (task === undefined || !isRunOf(task, run))
    throw new ServiceError('conflict', `task ${taskId} is ${task?.state ?? 'unknown'}, and this run of it is not the one that counts`);
  return task;
}
