// The Overlord: queues tasks, gives them locks and workers, and publishes their segments.

import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { stringifyJson } from '../../base/json.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { AllocationRequest, ChildDocuments, ChildLook, ChildTask } from '../../ingestion/contract.js';
import { carriedBy } from '../../metadata/carried.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { pinnedSegments, publishSegments, segmentsToRead } from '../../metadata/publish.js';
import { countTasks, findTask, insertTask, selectTasks, type TaskRecord, taskDataSources } from '../../metadata/tasks.js';
import type { PinnedSegments, PublishRequest } from '../../model/publication.js';
import type { SegmentId, VisibleSegment } from '../../model/segment.js';
import type { CheckpointRequest, OffsetsLost } from '../../model/stream/control.js';
import type { DeepStorage } from '../../storage/contract.js';
import { CompactionConfigs } from '../compaction/compaction-configs.js';
import type { Candidate, Coordination } from '../membership/coordination.js';
import type { OldTasksSettings, RoleOptions } from '../role-options.js';
import { toServiceError } from '../rpc/message.js';
import type { Peers } from '../rpc/peers.js';
import type {
  CoordinatorService,
  MiddleManagerService,
  OverlordService,
  ParentRun,
  SupervisorSummary,
  TaskEndReport,
  TaskRun,
  TaskWithDocuments,
  WorkerStatus,
} from '../rpc/services.js';
import { SegmentMarking } from '../segment-marking.js';
import type { StorageOwner } from '../storage-owner.js';
import { Ticker } from '../ticker.js';
import { Assignments } from './assignments.js';
import { Children } from './children.js';
import { KillRuns } from './kill-runs.js';
import { KILL_TASK } from './kill-task.js';
import { LockGrants } from './lock-grants.js';
import { OldResults, type OldResultsOptions } from './old-results.js';
import { OldTasks } from './old-tasks.js';
import { endRun, endTask, isRunOf, recoverTask } from './recovery.js';
import { auditSubmission, authorOf, newTask, type ReadTask, type Sender, THIS_CLUSTER } from './submission.js';
import type { SupervisorHost } from './supervisor/contract.js';
import { Supervisors } from './supervisor/supervisors.js';
import { ACTIVE_STATES, FINISHED_STATES, liveReport, newestTasks, taskWithDocuments } from './task-look.js';
import { UnheardRuns } from './unheard-runs.js';
import { WorkerConfigs } from './worker-configs.js';

export interface OverlordOptions extends RoleOptions, Omit<OldResultsOptions, 'now'> {
  readonly database: Database;
  readonly storage: DeepStorage;
  readonly owner: StorageOwner;
  readonly coordination: Pick<Coordination, 'members'>;
  readonly peers: Pick<Peers, 'all' | 'at' | 'leading'>;
  readonly readTask: ReadTask;
  readonly openReader: SupervisorHost['openReader'];
  /** Finished tasks, which are removed after a time; null: they are kept. */
  readonly oldTasks: OldTasksSettings | null;
  readonly periodMs: number;
  /** Unfinished tasks that it holds. */
  readonly queueMax: number;
  /** Number of attempts, and time while workers do not answer, after which a task that no worker takes fails. */
  readonly assignmentTries: number;
  readonly assignmentTimeoutMs: number;
  /** Runs of a task that may be lost with their worker before it fails. */
  readonly lossesMax: number;
}

/**
 * Takes tasks, gives them locks and workers, publishes what they made. The metadata store is the queue: nothing is
 * kept here that a successor would miss.
 */
export class Overlord implements OverlordService, Candidate {
  readonly marking: SegmentMarking;
  readonly compactionConfigs: CompactionConfigs;
  readonly supervisors: Supervisors;
  readonly workerConfigs: WorkerConfigs;
  readonly #options: OverlordOptions;
  readonly #ticker: Ticker;
  readonly #assignments: Assignments;
  readonly #unheard = new UnheardRuns();
  readonly #kills: KillRuns;
  readonly #children: Children;
  readonly #locks: LockGrants;
  readonly #oldTasks: OldTasks;
  readonly #oldResults: OldResults;
  #fence: Fence | null = null;

  constructor(options: OverlordOptions) {
    this.#options = options;
    const { database, now } = options;
    this.#assignments = new Assignments({ ...options, workers: () => this.workers(), heard: (...run) => this.#unheard.heard(...run) });
    this.#kills = new KillRuns({ ...options, fence: () => this.fence(), wake: () => this.wake() });
    const stopRun = (task: TaskRecord): void => this.#stopRun(task);
    this.#children = new Children({ ...options, fence: () => this.fence(), stopRun, workerOf: (task) => this.workerOf(task) });
    this.#oldResults = new OldResults(options);
    this.#oldTasks = new OldTasks({ ...options, fence: () => this.fence() });
    this.#locks = new LockGrants({ ...options, fence: () => this.fence(), stopRun });
    this.marking = new SegmentMarking({ database, fence: () => this.fence(), wake: () => this.wakeCoordinator(), now });
    const changed = (): void => this.#hint((coordinator) => coordinator.wakeCompaction());
    this.compactionConfigs = new CompactionConfigs({ ...options, fence: () => this.fence(), changed });
    this.workerConfigs = new WorkerConfigs({ database, now, fence: () => this.fence() });
    this.supervisors = new Supervisors({
      database,
      now,
      fence: () => this.fence(),
      log: options.log,
      openReader: options.openReader,
      submit: (document) => this.submit(document),
      shutdownTask: (taskId, reason) => this.shutdownTask(taskId, reason),
      workerOf: (task) => this.workerOf(task),
    });
    this.#ticker = new Ticker(
      () => this.#advance(),
      options.periodMs,
      (error) => options.log(`overlord: ${toServiceError(error).message}`),
      options.clock,
    );
  }

  get leading(): boolean {
    return this.#fence !== null;
  }

  async gained(fence: Fence): Promise<void> {
    this.#fence = fence;
    const { owner, database, log } = this.#options;
    // A new metadata store takes its deep storage before the first task writes there.
    await owner.check(database, fence).catch((error: unknown) => log(`deep storage: ${toServiceError(error).message}`));
    void this.#ticker.start();
    await this.supervisors.gained().catch((error: unknown) => log(`supervisors: ${toServiceError(error).message}`));
  }

  async lost(): Promise<void> {
    this.#fence = null;
    await this.supervisors.lost();
    await this.#ticker.stop();
    await this.#kills.ended();
  }

  wake(): void {
    this.#ticker.wake();
  }

  submit = (document: string): Promise<{ readonly taskId: string }> => this.submitAs(document, THIS_CLUSTER);

  async submitAs(document: string, sender: Sender): Promise<{ readonly taskId: string }> {
    const { database, readTask, queueMax, now } = this.#options;
    const read = await readTask(document);
    if (read.description.isChild === true)
      throw new ServiceError('input_invalid', `type: tasks of type ${read.description.type} are submitted by the task that they work for`);
    sender.authorize(read.description);
    const task = newTask(read, now());
    const fresh = await fencedTransaction(database, this.fence(), async (queries) => {
      if ((await countTasks(queries, ACTIVE_STATES)) >= queueMax)
        throw new ServiceError(
          'capacity_exceeded',
          `the queue holds ${queueMax} unfinished tasks (svc.indexer.queue.maxSize); try again later`,
        );
      const isNew = await insertTask(queries, task, now());
      if (isNew) await auditSubmission(queries, task, authorOf(sender, read.description), now());
      failpoint('submit.beforeCommit');
      return isNew;
    });
    failpoint('submit.committed');
    if (!fresh) throw new ServiceError('conflict', `id: a task ${task.id} exists already`);
    this.wake();
    return { taskId: task.id };
  }

  tasks = (dataSources: readonly string[] | null): Promise<readonly TaskRecord[]> => newestTasks(this.#options.database, dataSources);

  finishedDataSources = (): Promise<readonly string[]> => taskDataSources(this.#options.database, FINISHED_STATES);

  task = (taskId: string): Promise<TaskWithDocuments | null> => taskWithDocuments(this.#options.database, taskId);

  liveReport: OverlordService['liveReport'] = (taskId) => liveReport(this.#options.database, taskId, (task) => this.workerOf(task));

  async visibleSegments(taskId: string, dataSource: string, intervals: readonly Interval[]): Promise<readonly VisibleSegment[]> {
    const { database } = this.#options;
    return segmentsToRead(database, dataSource, intervals, () => carriedBy(database, taskId));
  }

  pinnedSegments(taskId: string): Promise<PinnedSegments | null> {
    return pinnedSegments(this.#options.database, taskId);
  }

  async publish(request: PublishRequest, run: TaskRun): Promise<readonly string[]> {
    const { database, owner, now, log } = this.#options;
    const fence = this.fence();
    const ids = await owner.publish(database, request.taskId, (record) =>
      fencedTransaction(database, fence, async (queries) => {
        const task = await findTask(queries, request.taskId);
        if (task !== undefined && !isRunOf(task, run))
          throw new ServiceError('conflict', `task ${request.taskId} is ${task.state}, and this run of it is not the one that counts`);
        const published = await publishSegments(queries, request, now());
        await record(queries);
        failpoint('publish.beforeCommit');
        return published;
      }),
    );
    failpoint('publish.committed');
    log(`task ${request.taskId} published ${ids.length} segments of ${request.dataSource}`);
    this.wakeCoordinator();
    return ids;
  }

  async submitChildren(parent: ParentRun, documents: readonly string[]): Promise<void> {
    await this.#children.submit(parent, documents);
    this.wake();
  }

  children(parent: ParentRun): Promise<readonly ChildTask[]> {
    return this.#children.list(parent);
  }

  childDocuments(parent: ParentRun, childId: string): Promise<ChildDocuments> {
    return this.#children.documents(parent, childId);
  }

  lookAtChildren(parent: ParentRun, ids: readonly string[]): Promise<readonly ChildLook[]> {
    return this.#children.look(parent, ids);
  }

  stopChild(parent: ParentRun, childId: string, reason: string): Promise<void> {
    return this.#children.stop(parent, childId, reason);
  }

  claimChild(parent: ParentRun, childId: string): Promise<number | null> {
    return this.#children.claim(parent, childId);
  }

  async taskEnded({ taskId, run, succeeded, errorMessage, report }: TaskEndReport): Promise<void> {
    const { database, now, log } = this.#options;
    const task = await findTask(database, taskId);
    // The end of an assignment that was taken back says nothing about the one that followed.
    if (task === undefined || !isRunOf(task, run)) return;
    const end = { succeeded, error: errorMessage, report: report === null ? null : stringifyJson(report) };
    const ended = await endRun(database, this.fence(), taskId, end, now());
    if (ended !== 'unchanged') log(`task ${taskId} ${ended}${succeeded ? '' : `: ${errorMessage ?? ''}`}`);
    if (!succeeded) this.#hint((coordinator) => coordinator.cleanUp());
    this.supervisors.taskChanged(task.dataSource);
    if (task.type === 'compact') this.#hint((coordinator) => coordinator.wakeCompaction());
    this.wake();
  }

  async taskReturned(taskId: string, run: TaskRun): Promise<void> {
    const task = await findTask(this.#options.database, taskId);
    if (task !== undefined && isRunOf(task, run)) await this.#recover(task, { isLoss: false });
    for (const child of await this.#children.runBy({ taskId, run })) await this.#recover(child, { isLoss: false });
    this.wake();
  }

  async shutdownTask(taskId: string, reason: string): Promise<void> {
    const { database, now } = this.#options;
    const task = await findTask(database, taskId);
    const ended =
      task !== undefined && (await endTask(database, this.fence(), taskId, { succeeded: false, error: reason, report: null }, now()));
    if (!ended) throw new ServiceError('not_found', `no unfinished task ${taskId}`);
    await this.workerOf(task)?.shutdownTask(taskId);
    this.#hint((coordinator) => coordinator.cleanUp());
    this.wake();
  }

  allocateSegment(request: AllocationRequest, run: ParentRun): Promise<SegmentId> {
    return this.#locks.allocate(request, run);
  }

  async checkpointStream(request: CheckpointRequest): Promise<void> {
    this.fence();
    this.supervisors.checkpoint(request);
  }

  async streamOffsetsLost(lost: OffsetsLost): Promise<void> {
    this.fence();
    this.supervisors.offsetsLost(lost);
  }

  async supervisorList(): Promise<readonly SupervisorSummary[]> {
    return [...this.supervisors.list(), ...(await this.compactionConfigs.supervisors.summaries())];
  }

  async kill(dataSource: string, interval: Interval): Promise<string> {
    return (await this.submit(stringifyJson({ type: KILL_TASK, dataSource, interval: formatInterval(interval) }))).taskId;
  }

  /** Every announced worker that answers. */
  async workers(): Promise<readonly WorkerStatus[]> {
    const answers = await Promise.all(this.#options.peers.all('middleManager').map(({ service }) => service.status().catch(() => null)));
    return answers.flatMap((status) => status ?? []);
  }

  /** The worker process that runs the task, while it is there. */
  workerOf(task: TaskRecord): MiddleManagerService | undefined {
    const { coordination, peers } = this.#options;
    const member = coordination
      .members('middleManager')
      .find(({ host, session }) => host === task.workerHost && session === task.workerSession);
    return member === undefined ? undefined : peers.at('middleManager', member.host);
  }

  /** Wakes the coordinator when segments have changed, so that it does not wait for its next look. */
  wakeCoordinator(): void {
    this.#hint((coordinator) => coordinator.wake());
  }

  fence(): Fence {
    if (this.#fence === null) throw new ServiceError('not_leader', 'this Overlord does not lead');
    return this.#fence;
  }

  async #advance(): Promise<void> {
    await this.#children.endLeftBehind();
    await this.#recoverLostTasks();
    await this.#grantLocks();
    await this.#assign();
    await this.#oldResults.advance();
    await this.#oldTasks.advance();
  }

  async #recoverLostTasks(): Promise<void> {
    const { database } = this.#options;
    const running = await selectTasks(database, { states: ['RUNNING'] });
    this.#kills.start(running.filter(({ type }) => type === KILL_TASK));
    const onWorkers = running.filter(({ type }) => type !== KILL_TASK);
    const lost = onWorkers.filter((task) => this.workerOf(task) === undefined);
    await this.#forEach(lost, (task) => this.#recover(task, { isLoss: true }));
    const there = onWorkers.filter((task) => task.claimedBy === null && !lost.includes(task));
    const unheard = await this.#unheard.find(there, () => this.workers());
    await this.#forEach(unheard, (task) => this.#recover(task, { isLoss: false }));
    await this.#forEach(await this.#children.abandoned(), (task) => this.#recover(task, { isLoss: false }));
  }

  async #recover(task: TaskRecord, { isLoss }: { readonly isLoss: boolean }): Promise<void> {
    const { database, lossesMax, now, log } = this.#options;
    const recovery = await recoverTask(database, this.fence(), task, { isLoss, lossesMax }, now());
    if (recovery === 'unchanged') return;
    log(`task ${task.id}: worker ${task.workerHost ?? '(none)'} ${isLoss ? 'is gone' : 'does not run it any more'}: ${recovery}`);
    if (recovery !== 'queued') {
      this.supervisors.taskChanged(task.dataSource);
      this.#hint((coordinator) => coordinator.cleanUp());
    }
  }

  /** Stops the run of a task that has ended, beside everything else: a worker may take its time. */
  #stopRun(task: TaskRecord): void {
    const worker = this.workerOf(task);
    if (worker === undefined) return;
    worker
      .shutdownTask(task.id)
      .then(() => this.#hint((coordinator) => coordinator.cleanUp()))
      .catch((error: unknown) => this.#options.log(`task ${task.id}: ${toServiceError(error).message}`));
  }

  /** One task that cannot be handled does not hold up the others. */
  async #forEach(tasks: readonly TaskRecord[], handle: (task: TaskRecord) => Promise<void>): Promise<void> {
    for (const task of tasks) {
      try {
        await handle(task);
      } catch (error) {
        const { code, message } = toServiceError(error);
        if (code === 'not_leader') throw error;
        this.#options.log(`task ${task.id}: ${code}: ${message}`);
      }
    }
  }

  async #grantLocks(): Promise<void> {
    const waiting = await selectTasks(this.#options.database, { states: ['WAITING'] });
    await this.#locks.grant((handle) => this.#forEach(waiting, handle));
  }

  async #assign(): Promise<void> {
    const { database } = this.#options;
    const granted = await selectTasks(database, { states: ['PENDING'] });
    this.#kills.start(granted.filter(({ type }) => type === KILL_TASK));
    const pending = granted.filter(({ type }) => type !== KILL_TASK);
    await this.#assignments.assign(pending, this.fence(), (handle) => this.#forEach(pending, handle));
  }

  /** Lets the coordinator look now; without it, it looks a little later by itself. */
  #hint(tell: (coordinator: CoordinatorService) => Promise<void>): void {
    const { peers, log } = this.#options;
    Promise.resolve()
      .then(() => tell(peers.leading('coordinator')))
      .catch((error: unknown) => log(`overlord: the coordinator was not told: ${toServiceError(error).message}`));
  }
}
