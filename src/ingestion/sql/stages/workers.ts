// The workers of a statement: other tasks, or the controller itself where there are no free slots.

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../../base/errors.js';
import type { EpochMs } from '../../../base/instant.js';
import { taskFileName } from '../../../model/task-file-name.js';
import type { ChildPayload, ChildTask, TaskContext, TaskProgress } from '../../contract.js';
import type { StageCounts } from '../../report/stage-report.js';
import { QueryFault } from '../query-fault.js';
import type { QueryTask } from '../query-task.js';
import type { WorkOrder, WorkResult } from './contract.js';
import { runOrder } from './work.js';
import { orderOfPayload, readWorkerReport, workerPayload } from './worker-task.js';

/** Time between two looks at the workers. */
const LOOK_MS = 150;
/** Time that no worker of a stage has found a slot, after which the controller does orders itself, until one finds a slot. */
const SLOTLESS_MS = 3000;
/** The same in a statement that had to do an order itself: slots that were taken are likely to be taken still. */
const SLOTLESS_AGAIN_MS = 500;
/** Characters of an id that those of workers begin with. */
const ID_LENGTH_MAX = 150;
/** Times that the work of a worker whose process has died is done again. */
const RELAUNCHES_PER_WORKER = 2;
const RELAUNCHES_PER_JOB = 100;

/** An order while it is worked on. */
interface Job {
  readonly order: WorkOrder;
  readonly task: QueryTask;
  relaunches: number;
  result: WorkResult | null;
  /** The controller does it itself. */
  isHere: boolean;
  /** Progress while the controller does it. */
  progress: TaskProgress | null;
  /** When its task was submitted, and when it was first seen to run. */
  submittedMs: number;
  startedMs: number | null;
  /** Its last task has failed. */
  hasFailed: boolean;
}

/** Tells of what a worker task does or did, as reports show it. */
export interface WorkerRun {
  readonly worker: number;
  readonly workerId: string;
  readonly state: 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED';
  /** From when it was asked for until its end; -1 before. */
  readonly durationMs: number;
  /** From when it was asked for until it ran. */
  readonly pendingMs: number;
}

export interface EarlierOrders {
  readonly nowMs: EpochMs;
  readonly orders: readonly WorkOrder[];
}

/** Has orders done by other tasks, and begins them again; a single one is done here. */
export class Workers {
  readonly #context: TaskContext;
  /** Runs that have ended. */
  readonly #ended: WorkerRun[] = [];
  /** Jobs of the stage that is worked on. */
  #jobs: readonly Job[] = [];
  #relaunches = 0;
  #patienceMs = SLOTLESS_MS;

  constructor(context: TaskContext) {
    this.#context = context;
  }

  /** Runs of all stages so far, those that go on among them. */
  get runs(): readonly WorkerRun[] {
    const nowMs = this.#context.now();
    const going = this.#jobs
      .filter(({ result, hasFailed }) => result === null && !hasFailed)
      .map((job) => this.#runOf(job, job.startedMs === null ? 'PENDING' : 'RUNNING', nowMs));
    return [...this.#ended, ...going];
  }

  /** Counts of each worker of the stage that is worked on, so far. */
  async soFar(): Promise<readonly StageCounts[]> {
    const jobs = this.#jobs;
    const apart = jobs.filter(({ result, isHere, startedMs }) => result === null && !isHere && startedMs !== null);
    const looks = apart.length === 0 ? [] : await this.#context.children.look(apart.map((job) => this.#idOf(job.order, job.relaunches)));
    const seen = new Map(apart.map((job, at) => [job, looks[at]?.progress ?? null]));
    return jobs.map((job) => job.result?.counts ?? countsSoFar(job.isHere ? job.progress : (seen.get(job) ?? null)));
  }

  /**
   * Orders that an earlier run of this task has given for a stage, which may be done by now, and the instant that its statement was
   * planned at; null: there was no such run, or it did not come that far. They stand: the input may have changed since.
   */
  async earlierOrders(stage: number): Promise<EarlierOrders | null> {
    const { attempt, children } = this.#context;
    if (attempt === 1) return null;
    const prefix = this.#prefix(stage);
    const first = (await children.list()).filter(({ id }) => id.startsWith(prefix) && id.endsWith('_0'));
    const specs = await Promise.all(first.map(async ({ id }) => orderOfPayload((await children.documents(id)).payload)));
    const [one] = specs;
    if (one === undefined) return null;
    return { nowMs: one.nowMs, orders: specs.map(({ order }) => order).toSorted((a, b) => a.worker - b.worker) };
  }

  /** Does all orders of a stage; gives their results in their order. */
  async run(orders: readonly WorkOrder[], task: QueryTask): Promise<readonly WorkResult[]> {
    const submittedMs = this.#context.now();
    const jobs = orders.map((order): Job => {
      return { order, task, relaunches: 0, result: null, isHere: false, progress: null, submittedMs, startedMs: null, hasFailed: false };
    });
    this.#jobs = jobs;
    const [only] = jobs;
    if (only !== undefined && jobs.length === 1) await this.#runHere(only);
    else await this.#runByTasks(jobs);
    this.#jobs = [];
    return jobs.flatMap(({ result }) => result ?? []);
  }

  async #runByTasks(jobs: readonly Job[]): Promise<void> {
    const { children, signal, now } = this.#context;
    await children.submit(jobs.map((job) => this.#payloadOf(job)));
    let slotlessSince = now();
    for (;;) {
      if (signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      const known = new Map((await children.list()).map((child) => [child.id, child]));
      const nowMs = now();
      let isSlotless = true;
      let pending: Job | undefined;
      for (const job of jobs) {
        if (job.result !== null) continue;
        const child = await this.#latest(job, known);
        if (child !== undefined && child.state !== 'PENDING') job.startedMs ??= nowMs;
        if (child?.state === 'SUCCESS') await this.#finished(job, child, nowMs);
        else if (child?.state === 'FAILED') await this.#failed(job, child, nowMs);
        else if (child?.state === 'PENDING') pending ??= job;
        if (child?.state !== 'PENDING' && !job.isHere) isSlotless = false;
      }
      if (jobs.every(({ result }) => result !== null)) return;
      if (!isSlotless) {
        slotlessSince = nowMs;
        this.#patienceMs = SLOTLESS_MS;
      } else if (pending !== undefined && nowMs - slotlessSince >= this.#patienceMs) {
        // It would else wait for ever where controllers hold all slots.
        this.#patienceMs = SLOTLESS_AGAIN_MS;
        await this.#runInside(pending, nowMs);
        continue;
      }
      await sleep(LOOK_MS);
    }
  }

  /** The last task of a job; an earlier run of the controller may have begun some of them. */
  async #latest(job: Job, known: ReadonlyMap<string, ChildTask>): Promise<ChildTask | undefined> {
    for (let next = known.get(this.#idOf(job.order, job.relaunches + 1)); next !== undefined; ) {
      job.relaunches++;
      next = known.get(this.#idOf(job.order, job.relaunches + 1));
    }
    return known.get(this.#idOf(job.order, job.relaunches));
  }

  async #finished(job: Job, { id }: ChildTask, nowMs: number): Promise<void> {
    const report = readWorkerReport((await this.#context.children.documents(id)).report, id);
    if (report === null || report instanceof QueryFault) throw new ServiceError('internal', `task ${id} succeeded without a result`);
    this.#done(job, report, nowMs);
  }

  /** A fault that a worker tells fails the statement; one whose process died is begun again, if the statement asks for it. */
  async #failed(job: Job, { id, error }: ChildTask, nowMs: number): Promise<void> {
    const { log, children } = this.#context;
    const report = readWorkerReport((await children.documents(id)).report, id);
    this.#ended.push(this.#runOf(job, 'FAILED', nowMs));
    job.hasFailed = true;
    if (report instanceof QueryFault) throw report;
    const errorMsg = error ?? 'it ended without a result';
    if (!job.task.settings.faultTolerance)
      throw new QueryFault('internal', `worker task ${id} failed: ${errorMsg}; with context.faultTolerance its work would be done again`, {
        errorCode: 'WorkerFailed',
        errorMsg,
        workerTaskId: id,
      });
    if (job.relaunches >= RELAUNCHES_PER_WORKER)
      throw new QueryFault('internal', `worker ${job.order.worker} failed ${job.relaunches + 1} times, the last time: ${errorMsg}`, {
        errorCode: 'TooManyAttemptsForWorker',
        maxPerWorkerRelaunchCount: RELAUNCHES_PER_WORKER,
        workerNumber: job.order.worker,
        taskId: id,
        rootErrorMessage: errorMsg,
      });
    if (this.#relaunches >= RELAUNCHES_PER_JOB)
      throw new QueryFault('internal', `workers failed ${this.#relaunches + 1} times, the last time: ${errorMsg}`, {
        errorCode: 'TooManyAttemptsForJob',
        maxRelaunchCount: RELAUNCHES_PER_JOB,
        currentRelaunchCount: this.#relaunches,
        taskId: id,
        rootErrorMessage: errorMsg,
      });
    log(`worker task ${id} failed and is begun again: ${errorMsg}`);
    job.relaunches++;
    Object.assign(job, { submittedMs: nowMs, startedMs: null, hasFailed: false });
    this.#relaunches++;
    await children.submit([this.#payloadOf(job)]);
  }

  /** Does the only order of a stage, which needs no task of its own. */
  async #runHere(job: Job): Promise<void> {
    const { taskId, now } = this.#context;
    Object.assign(job, { isHere: true, startedMs: now() });
    const progress = (update: TaskProgress): void => {
      job.progress = update;
      this.#context.progress(update);
    };
    const result = await runOrder(job.order, job.task, { ...this.#context, progress });
    this.#done(job, result, now(), taskId);
  }

  /** Runs the task of an order that finds no slot in this process. */
  async #runInside(job: Job, nowMs: number): Promise<void> {
    Object.assign(job, { isHere: true, startedMs: nowMs });
    const isRun = await this.#context.children.runHere(this.#payloadOf(job), (update) => {
      job.progress = update;
    });
    job.isHere = isRun;
  }

  #done(job: Job, result: WorkResult, nowMs: number, workerId?: string): void {
    this.#ended.push(this.#runOf(job, 'SUCCESS', nowMs, workerId));
    job.result = result;
  }

  #runOf(job: Job, state: WorkerRun['state'], nowMs: number, workerId = this.#idOf(job.order, job.relaunches)): WorkerRun {
    const { order, submittedMs, startedMs } = job;
    const durationMs = state === 'SUCCESS' || state === 'FAILED' ? nowMs - submittedMs : -1;
    return { worker: order.worker, workerId, state, durationMs, pendingMs: (startedMs ?? nowMs) - submittedMs };
  }

  #payloadOf({ order, task, relaunches }: Job): ChildPayload {
    return workerPayload(this.#idOf(order, relaunches), task, order);
  }

  #idOf({ stage, worker }: WorkOrder, relaunches: number): string {
    return `${this.#prefix(stage)}${worker}_${relaunches}`;
  }

  #prefix(stage: number): string {
    const { taskId } = this.#context;
    return `${taskId.length <= ID_LENGTH_MAX ? taskId : taskFileName(taskId)}-stage${stage}-worker`;
  }
}

function countsSoFar(progress: TaskProgress | null): StageCounts {
  if (progress?.stage === undefined) return { rowsIn: 0, rowsOut: 0 };
  const { processed, processedWithError, thrownAway, unparseable, bytesRead, stage } = progress;
  return { processed, processedWithError, thrownAway, unparseable, bytesRead, ...stage };
}
