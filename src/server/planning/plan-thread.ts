import { Worker } from 'node:worker_threads';
import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import type { PlannedStatement } from '../../model/statement.js';
import type { SqlSchema } from '../../planner/sql/catalog/schema.js';
import type { SqlRequest } from '../../planner/sql/plan-sql.js';
import { type PlanWatch, planningTimeout } from '../../planner/sql/plan-watch.js';
import type { PlanAssignment, PlanOutcome } from './plan-worker.js';
import { takeSnapshot } from './schema-snapshot.js';

/** Less than the main thread's: what is nested too deeply there is so here, too. */
const STACK_MEGABYTES = 0.9;
/** Without work for so long it ends. */
const IDLE_MS = 60_000;
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Plans long statements on a thread of its own, one at a time, so that other requests go on meanwhile. It begins with
 * the first of them. What takes too long, or is cancelled, ends with the thread; the next statement has another one.
 */
export class PlanThread {
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Settled when nobody plans. */
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * As `planSql`, over the schema as it is now.
   * @throws ServiceError also `cancelled` by the signal, `timeout` in the middle of a stage, `resource_limit` when the thread runs out of memory
   */
  plan(request: SqlRequest, schema: SqlSchema, now: EpochMs, limits: { watch: PlanWatch; signal: AbortSignal }): Promise<PlannedStatement> {
    const { watch: _, ...rest } = request;
    const assignment = { request: rest, schema: takeSnapshot(request.query, schema), now };
    const planned = this.#turn.then(() => this.#plan(assignment, limits));
    this.#turn = planned.catch(() => undefined);
    return planned;
  }

  async stop(): Promise<void> {
    clearTimeout(this.#idle);
    await this.#worker?.terminate();
    this.#worker = undefined;
  }

  async #plan(
    assignment: Omit<PlanAssignment, 'remainingMs'>,
    { watch, signal }: { readonly watch: PlanWatch; readonly signal: AbortSignal },
  ): Promise<PlannedStatement> {
    if (signal.aborted) throw signal.reason;
    const { remainingMs } = watch;
    if (remainingMs <= 0) throw planningTimeout();
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const outcome = await this.#answer(this.#worker, { ...assignment, remainingMs }, signal);
    this.#idle = setTimeout(() => void this.stop(), IDLE_MS).unref();
    for (const stage of outcome.stages) watch.add(stage);
    if ('statement' in outcome) return outcome.statement;
    throw new ServiceError(outcome.code, outcome.message);
  }

  #start(): Worker {
    const worker = new Worker(new URL('./plan-worker.js', import.meta.url), { resourceLimits: { stackSizeMb: STACK_MEGABYTES } });
    // A process that is about to end does not wait for it.
    worker.unref();
    return worker;
  }

  #answer(worker: Worker, assignment: PlanAssignment, signal: AbortSignal): Promise<PlanOutcome> {
    return new Promise((resolve, reject) => {
      const giveUp = (error: unknown) => {
        this.#worker = undefined;
        void worker.terminate();
        end();
        reject(error);
      };
      const cancel = () => giveUp(signal.reason);
      const answered = (outcome: PlanOutcome) => {
        end();
        resolve(outcome);
      };
      const failed = (error: Error) => giveUp(failureOf(error));
      const timer = setTimeout(() => giveUp(planningTimeout()), Math.min(assignment.remainingMs, TIMER_MS_MAX));
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', cancel);
        worker.off('message', answered).off('error', failed);
      };
      signal.addEventListener('abort', cancel, { once: true });
      worker.once('message', answered).once('error', failed);
      worker.postMessage(assignment);
    });
  }
}

function failureOf(error: Error): ServiceError {
  const isMemory = 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isMemory
    ? new ServiceError('resource_limit', 'planning the statement takes more memory than its thread may have', error)
    : new ServiceError('internal', `the planning thread failed: ${error.message}`, error);
}
