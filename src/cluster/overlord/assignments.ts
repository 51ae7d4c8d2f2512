// Gives pending tasks to workers.

import type { ErrorCode, ServiceError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { findTask, moveTask, selectTasks, startTask, type TaskRecord, taskDocuments } from '../../metadata/tasks.js';
import { toServiceError } from '../rpc/message.js';
import type { Peers } from '../rpc/peers.js';
import type { WorkerStatus } from '../rpc/services.js';
import { endPublished, endWithin } from './recovery.js';
import { chooseWorker, type FreeWorker } from './worker-choice.js';
import { readWorkerConfig } from './worker-config.js';

export interface AssignmentOptions {
  readonly database: Database;
  readonly peers: Pick<Peers, 'at'>;
  /** Workers that answer. */
  readonly workers: () => Promise<readonly WorkerStatus[]>;
  /** Number of attempts, and time while workers do not answer, after which a task that no worker takes fails. */
  /** A worker has said that it runs this attempt of a task. */
  readonly heard: (taskId: string, attempt: number) => void;
  readonly assignmentTries: number;
  readonly assignmentTimeoutMs: number;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** Runs a step for each of the pending, or waiting, tasks, none of which holds up the others. */
export type EachPending = (handle: (task: TaskRecord) => Promise<void>) => Promise<void>;

/** Gives pending tasks to workers that have a free slot, by the configured strategy. */
export class Assignments {
  readonly #options: AssignmentOptions;
  /** Failed assignments of pending tasks that workers could not start. */
  readonly #refusals = new Map<string, { tries: number; readonly sinceMs: number }>();
  /** Runs that are being stopped: session and task. */
  readonly #stopping = new Set<string>();

  constructor(options: AssignmentOptions) {
    this.#options = options;
  }

  async assign(pending: readonly TaskRecord[], fence: Fence, forEach: EachPending): Promise<void> {
    const { database } = this.#options;
    const waiting = new Set(pending.map(({ id }) => id));
    for (const id of this.#refusals.keys()) if (!waiting.has(id)) this.#refusals.delete(id);
    if (pending.length === 0) return;
    const { selectStrategy } = await readWorkerConfig(database);
    const workers = await this.#options.workers();
    await this.#stopStrays(workers);
    const enabled = workers.filter((worker) => worker.enabled);
    const free: readonly FreeWorker[] = enabled.map((worker) => ({ ...worker, slots: worker.capacity - worker.runningTasks.length }));
    const byType = new Map<string, number>();
    const count = (type: string) => byType.set(type, (byType.get(type) ?? 0) + 1);
    // Only limits by type ask what runs.
    if (selectStrategy.taskLimits !== undefined) for (const { type } of await selectTasks(database, { states: ['RUNNING'] })) count(type);
    const use = { total: enabled.reduce((sum, { capacity }) => sum + capacity, 0), byType };
    await forEach(async (task) => {
      const worker = chooseWorker(task, free, use, selectStrategy);
      if (worker === undefined) return;
      try {
        await this.#assignTo(task, worker, fence);
        worker.slots--;
        count(task.type);
      } catch (error) {
        const refused = toServiceError(error);
        await this.#refused(task, worker.host, refused, fence);
        // One that does not answer, or is full after all, is not asked again in this round.
        if (isMomentary(refused.code)) worker.slots = 0;
      }
    });
  }

  /** Assigns a task. It is recorded before the worker hears of it, so that no worker runs a task unknown to metadata. */
  async #assignTo(task: TaskRecord, worker: FreeWorker, fence: Fence): Promise<void> {
    const { database, peers, now } = this.#options;
    const documents = await taskDocuments(database, task.id);
    const attempt = await fencedTransaction(database, fence, (queries) => startTask(queries, task.id, worker, now()));
    if (attempt === undefined || documents === undefined) return;
    failpoint('assign.recorded');
    const { id: taskId, parentId, dataSource, type } = task;
    const payload = parseJson(documents.payload);
    await peers.at('middleManager', worker.host).assign({ taskId, attempt, payload, parentId, dataSource, type });
    this.#options.heard(task.id, attempt);
  }

  /** Back into the queue, or failed with its lock given back when it was refused too often or for too long. */
  async #refused(task: TaskRecord, host: string, { code, message }: ServiceError, fence: Fence): Promise<void> {
    const { database, now, log, assignmentTries, assignmentTimeoutMs } = this.#options;
    log(`task ${task.id} could not be given to ${host}: ${code}: ${message}`);
    const refusal = this.#refusals.get(task.id) ?? { tries: 0, sinceMs: now() };
    if (!isMomentary(code)) refusal.tries++;
    this.#refusals.set(task.id, refusal);
    const isLate = code !== 'capacity_exceeded' && now() - refusal.sinceMs >= assignmentTimeoutMs;
    const error = `no worker could start the task; ${host} said last: ${message}`;
    await fencedTransaction(database, fence, async (queries) => {
      // A worker whose answer was lost may have run it all the same.
      if (await endPublished(queries, task.id, `the worker ${host} did not answer, and was done`, now())) return;
      if (refusal.tries < assignmentTries && !isLate) await moveTask(queries, task.id, 'RUNNING', 'PENDING');
      else await endWithin(queries, task.id, { succeeded: false, error, report: null }, now());
    });
  }

  /** Stops runs that count no more: their worker was taken for gone, or its answer was lost. */
  async #stopStrays(workers: readonly WorkerStatus[]): Promise<void> {
    const { database, peers, log } = this.#options;
    for (const { host, session, runningTasks } of workers)
      for (const taskId of runningTasks) {
        const task = await findTask(database, taskId);
        if (task?.state === 'RUNNING' && task.workerSession === session) continue;
        const run = `${session}/${taskId}`;
        if (this.#stopping.has(run)) continue;
        log(`task ${taskId}: ${host} runs it although it is ${task?.state ?? 'unknown'}, and is told to stop`);
        this.#stopping.add(run);
        // Nothing waits for it: a worker may take its time.
        peers
          .at('middleManager', host)
          .shutdownTask(taskId)
          .catch((error: unknown) => log(`task ${taskId}: ${toServiceError(error).message}`))
          .finally(() => this.#stopping.delete(run));
      }
  }
}

/** A moment later the worker may take the task, and its payload may be read. */
const MOMENTARY_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['unavailable', 'timeout', 'capacity_exceeded']);

export function isMomentary(code: ErrorCode): boolean {
  return MOMENTARY_CODES.has(code);
}
