// The MiddleManager: runs tasks in child processes, as many as it has slots.

import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { ChatRequest, TableQuery, TaskOutcome, TaskProgress } from '../../ingestion/contract.js';
import type { Frame } from '../../model/frame.js';
import type { PublishRequest } from '../../model/publication.js';
import { taskFileName } from '../../model/task-file-name.js';
import type { DeepStorage } from '../../storage/contract.js';
import type { OldTasksSettings } from '../role-options.js';
import { toServiceError } from '../rpc/message.js';
import type { Peers } from '../rpc/peers.js';
import type { MiddleManagerService, TaskAssignment, TaskEndReport, TaskRun, WorkerStatus } from '../rpc/services.js';
import { untilLed } from '../rpc/until-led.js';
import { untilServed } from './load-wait.js';
import { OldLogs } from './old-logs.js';
import { taskCalls } from './task-calls.js';
import { type RunCounts, TaskCounts } from './task-counts.js';
import { tellEnd } from './task-end.js';
import { logInFolder, taskLogFile, taskLogName } from './task-log.js';
import type { TaskSettings } from './task-messages.js';
import { TaskProcess } from './task-process.js';
import { queryForTask } from './task-query.js';

export interface MiddleManagerOptions {
  readonly host: string;
  readonly session: string;
  readonly category: string;
  readonly capacity: number;
  readonly peers: Pick<Peers, 'leading' | 'all' | 'hosts'>;
  /** Each task has a directory of its own below it; all of it is removed at the start. */
  readonly workDirectory: string;
  readonly logDirectory: string;
  /** Storage that the logs of ended tasks are moved to; null: they stay. */
  readonly logStorage: DeepStorage | null;
  /** Logs, which are removed after a time; null: they are kept. */
  readonly oldTasks: OldTasksSettings | null;
  /** Time a task waits for the Overlord that publishes it, and for a Broker that reads datasources for it. */
  readonly publishTimeoutMs: number;
  readonly settings: Omit<TaskSettings, 'workDirectory' | 'peers'>;
  /** The compiled `task-main`, which only the outermost layer may know. */
  readonly taskEntry: URL;
  readonly taskServers: TaskServers;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** Announces the processes of tasks that answer queries. */
export interface TaskServers {
  /** @param host  `host:port` */
  open(host: string, taskId: string): void;
  close(host: string): void;
  /** One of them has other segments now. */
  changed(): void;
  /** Resolves when the Brokers have seen all of the above, or after some moments. */
  seen(): Promise<void>;
}

/** Time in which a process that ends finds an overlord to give its tasks back to. */
const GIVE_BACK_MS = 2000;
/** Time between two attempts to report the end of a task to the overlord. */
const REPORT_RETRY_MS = 500;
/** Longest time a task may read datasources. */
const QUERY_MS_MAX = 24 * 3600_000;
/** Longest time a task waits for its segments to be served. */
const LOAD_WAIT_MS = 15 * 60_000;

/** Runs tasks in child processes, no more than it has slots. */
export class MiddleManager implements MiddleManagerService {
  readonly counts = new TaskCounts();
  readonly #options: MiddleManagerOptions;
  /** A promise while the task is being started. */
  readonly #running = new Map<string, TaskProcess | Promise<TaskProcess>>();
  /** Numbers of the runs of these tasks. */
  readonly #attempts = new Map<string, number>();
  readonly #oldLogs: OldLogs;
  /** Tasks whose end the Overlord has not heard of. */
  readonly #ending = new Set<string>();
  /** Logs on their way to storage. */
  readonly #storing = new Set<Promise<void>>();
  #enabled = true;
  #stopping = false;
  /** Ends of tasks that were stopped with this process, until the overlord has heard of them. */
  readonly #returning: Promise<void>[] = [];
  #lastCompletedMs = 0;

  constructor(options: MiddleManagerOptions) {
    this.#options = options;
    this.#oldLogs = new OldLogs({ ...options, inUse: () => new Set(this.runningTasks().map(taskLogName)) });
  }

  /** Starts with an empty work directory: no file in it can belong to a live task, since children end with their parent. */
  async start(): Promise<void> {
    await rm(this.#options.workDirectory, { recursive: true, force: true });
    await mkdir(this.#options.workDirectory, { recursive: true });
    await mkdir(this.#options.logDirectory, { recursive: true });
    this.#oldLogs.start();
    failpoint('worker.started');
  }

  /** Stops taking tasks; resolves when all task processes are gone, including those that were being started, and their tasks given back. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#enabled = false;
    await Promise.all(this.runningTasks().map((taskId) => this.shutdownTask(taskId)));
    await Promise.all(this.#returning);
    await Promise.all(this.#storing);
    await this.#oldLogs.stop();
  }

  get enabled(): boolean {
    return this.#enabled;
  }

  /** Enables or disables the worker. While it is disabled it takes no new tasks; running ones go on. */
  setEnabled(enabled: boolean): void {
    this.#enabled = enabled;
  }

  runningTasks(): readonly string[] {
    return [...this.#running.keys()];
  }

  async status(): Promise<WorkerStatus> {
    const { host, session, category, capacity } = this.#options;
    return {
      host,
      session,
      category,
      capacity,
      enabled: this.#enabled,
      runningTasks: this.runningTasks(),
      endingTasks: [...this.#ending],
      lastCompletedMs: this.#lastCompletedMs,
    };
  }

  async assign(assignment: TaskAssignment): Promise<void> {
    const { taskId, attempt } = assignment;
    const earlier = this.#attempts.get(taskId);
    if (earlier === attempt) return;
    if (earlier !== undefined) {
      void this.shutdownTask(taskId);
      throw new ServiceError('capacity_exceeded', `${this.#options.host}: an earlier run of the task is being stopped`);
    }
    if (!this.#enabled || this.#stopping) throw new ServiceError('capacity_exceeded', `${this.#options.host} is disabled`);
    if (this.#running.size >= this.#options.capacity)
      throw new ServiceError(
        'capacity_exceeded',
        `${this.#options.host}: all ${this.#options.capacity} slots (svc.worker.capacity) are taken`,
      );
    const { dataSource = '', type: taskType = '', parentId = null } = assignment;
    const counts = this.counts.begin({ dataSource, taskType, isChild: parentId !== null });
    const starting = this.#start(assignment, counts);
    this.#running.set(taskId, starting);
    this.#attempts.set(taskId, attempt);
    try {
      const process = await starting;
      failpoint('assign.started');
      this.#running.set(taskId, process);
      void process.outcome.then((outcome) => {
        counts.ended(outcome.succeeded);
        const ended = this.#ended(taskId, attempt, outcome);
        if (this.#stopping) this.#returning.push(ended);
      });
    } catch (error) {
      this.#running.delete(taskId);
      this.#attempts.delete(taskId);
      throw error;
    }
  }

  async #start({ taskId, attempt, payload, parentId = null }: TaskAssignment, counts: RunCounts): Promise<TaskProcess> {
    const { peers, publishTimeoutMs, session, taskServers } = this.#options;
    // The locks of a child are its parent's.
    const lockedId = parentId ?? taskId;
    const keepsTrying = (): boolean => !this.#stopping && this.#running.has(taskId);
    const workDirectory = this.#workDirectory(taskId);
    await rm(workDirectory, { recursive: true, force: true });
    await mkdir(workDirectory, { recursive: true });
    await mkdir(this.#options.logDirectory, { recursive: true });
    if (attempt > 1) await this.#fetchLog(taskId);
    return TaskProcess.start({
      program: 'task',
      taskId,
      attempt,
      parentId,
      payload,
      settings: { ...this.#options.settings, workDirectory, peers: this.#options.peers.hosts() },
      logFile: this.#logFile(taskId),
      entry: this.#options.taskEntry,
      progressed: (progress) => counts.progress(progress),
      publish: async (request) => {
        const ids = await this.#publish(request, attempt);
        counts.published(request);
        return ids;
      },
      ...this.#announcing(taskId),
      visibleSegments: (dataSource, intervals) =>
        untilLed(async () => peers.leading('overlord').visibleSegments(lockedId, dataSource, intervals), {
          limitMs: publishTimeoutMs,
          keepsTrying,
        }),
      calls: taskCalls({
        parent: { taskId, run: { session, attempt } },
        peers,
        waitMs: publishTimeoutMs,
        keepsTrying,
        seen: () => taskServers.seen(),
      }),
      query: (query, signal) => this.#query({ taskId, lockedId }, query, signal),
    });
  }

  /** Announces the process of a task for as long as it answers queries. */
  #announcing(taskId: string): { serving(port: number | null): void; liveChanged(): void } {
    const { taskServers, settings } = this.#options;
    let host: string | undefined;
    return {
      serving(port) {
        if (host !== undefined) taskServers.close(host);
        host = port === null ? undefined : `${settings.serving.address}:${port}`;
        if (host === undefined) return;
        taskServers.open(host, taskId);
        failpoint('worker.announced');
      },
      liveChanged: () => taskServers.changed(),
    };
  }

  async *#query(
    { taskId, lockedId }: { readonly taskId: string; readonly lockedId: string },
    query: TableQuery,
    signal: AbortSignal,
  ): AsyncGenerator<Frame, void, undefined> {
    const { peers, publishTimeoutMs: waitMs, now } = this.#options;
    const pinned = await untilLed(async () => peers.leading('overlord').pinnedSegments(lockedId), {
      limitMs: waitMs,
      keepsTrying: () => !signal.aborted,
    });
    yield* queryForTask(query, { taskId, peers, pinned, waitMs, deadlineMs: now() + QUERY_MS_MAX, signal });
  }

  async #publish(request: PublishRequest, attempt: number): Promise<readonly string[]> {
    const { peers, session, publishTimeoutMs } = this.#options;
    failpoint('publish.asked');
    // All the work of the task is done: it waits for a leader rather than be lost. A repeated publish changes nothing.
    const ids = await untilLed(async () => peers.leading('overlord').publish(request, { session, attempt }), {
      limitMs: publishTimeoutMs,
      keepsTrying: () => !this.#stopping && this.#running.has(request.taskId),
    });
    if (request.waitsUntilLoaded === true)
      await untilServed(ids, {
        peers,
        limitMs: Math.min(LOAD_WAIT_MS, request.loadWaitMs ?? LOAD_WAIT_MS),
        keepsWaiting: () => !this.#stopping && this.#running.has(request.taskId),
      });
    return ids;
  }

  async shutdownTask(taskId: string): Promise<void> {
    const task = this.#running.get(taskId);
    // One that could not be started has nothing to stop; who assigned it is told why.
    const process = task instanceof Promise ? await task.catch(() => undefined) : task;
    await process?.stop();
  }

  async progress(taskId: string): Promise<TaskProgress | null> {
    const task = this.#running.get(taskId);
    return task instanceof TaskProcess ? task.progress : null;
  }

  /** Passes a request of a client on to a task that runs here. Throws `not_found` for another, and what the task throws. */
  async chat(taskId: string, request: ChatRequest): Promise<unknown> {
    const task = await this.#running.get(taskId);
    if (task === undefined) throw new ServiceError('not_found', `task ${taskId} does not run here`);
    return task.chat(request);
  }

  readLog(taskId: string, offset: number): AsyncIterable<Uint8Array> {
    return logInFolder(this.#options.logDirectory, taskId, offset);
  }

  /** The slot is free before the overlord hears of it: it may give it to the next task at once. */
  async #ended(taskId: string, attempt: number, { succeeded, errorMessage, report }: TaskOutcome): Promise<void> {
    const { log, now, session } = this.#options;
    await rm(this.#workDirectory(taskId), { recursive: true, force: true }).catch((error: unknown) =>
      log(`work directory of ${taskId}: ${toServiceError(error).message}`),
    );
    const stored = this.#storeLog(taskId).finally(() => this.#storing.delete(stored));
    this.#storing.add(stored);
    this.#lastCompletedMs = now();
    this.#ending.add(taskId);
    this.#running.delete(taskId);
    this.#attempts.delete(taskId);
    const run = { session, attempt };
    if (this.#stopping && !succeeded) await this.#giveBack(taskId, run);
    else await this.#report({ taskId, run, succeeded, errorMessage, report });
    this.#ending.delete(taskId);
  }

  /** The log of an ended task goes to where other processes find it; where that fails it stays, and this worker answers with it. */
  async #storeLog(taskId: string): Promise<void> {
    const { logStorage, log } = this.#options;
    await logStorage
      ?.push([{ localFile: this.#logFile(taskId), key: taskLogName(taskId) }])
      .catch((error: unknown) => log(`log of ${taskId} stays here: ${toServiceError(error).message}`));
  }

  /** A further run of a task writes behind what the runs before it have written. */
  async #fetchLog(taskId: string): Promise<void> {
    const { logStorage } = this.#options;
    if (logStorage === null || existsSync(this.#logFile(taskId))) return;
    await logStorage.pull({ type: logStorage.type, path: taskLogName(taskId) }, this.#logFile(taskId)).catch(() => undefined);
  }

  /** Lets another worker run a task that was stopped because this process ends. Without an overlord, the next one finds this worker gone. */
  async #giveBack(taskId: string, run: TaskRun): Promise<void> {
    const { peers, log } = this.#options;
    const tell = async () => peers.leading('overlord').taskReturned(taskId, run);
    await untilLed(tell, { limitMs: GIVE_BACK_MS }).catch((error: unknown) =>
      log(`task ${taskId} was not given back: ${toServiceError(error).message}`),
    );
  }

  async #report(end: TaskEndReport): Promise<void> {
    for (;;) {
      try {
        return await tellEnd(this.#options.peers.leading('overlord'), end);
      } catch (error) {
        // During shutdown the overlord may be gone already; the next one finds this worker gone.
        if (this.#stopping) return;
        this.#options.log(`end of task ${end.taskId} not reported yet: ${toServiceError(error).message}`);
        await new Promise((resolve) => setTimeout(resolve, REPORT_RETRY_MS));
      }
    }
  }

  #workDirectory(taskId: string): string {
    return join(this.#options.workDirectory, taskFileName(taskId));
  }

  #logFile(taskId: string): string {
    return taskLogFile(this.#options.logDirectory, taskId);
  }
}
