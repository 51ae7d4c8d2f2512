// Interfaces that roles offer to each other.

import type { CancelSignal } from '../../base/cancel-signal.js';
import type { EpochMs, Interval } from '../../base/instant.js';
import type { AllocationRequest, ChatRequest, ChildDocuments, ChildLook, ChildTask, TaskProgress } from '../../ingestion/contract.js';
import type { TaskRecord } from '../../metadata/tasks.js';
import type { Frame } from '../../model/frame.js';
import type { Plan } from '../../model/plan.js';
import type { Profile } from '../../model/profile.js';
import type { PinnedSegments, PublishRequest } from '../../model/publication.js';
import type { RowSource, RowsPlan } from '../../model/row-source.js';
import type { RunLimits } from '../../model/run-limits.js';
import type { SegmentAnalysis, SegmentDescriptor, SegmentId, UnreadableSegment, VisibleSegment } from '../../model/segment.js';
import type { CheckpointRequest, OffsetsLost } from '../../model/stream/control.js';
import type { LiveDescriptor } from '../../model/stream/live.js';
import type { PublishedStream, StreamReach } from '../../model/stream/reach.js';
import type { ClusterCompactionConfig } from '../compaction/cluster-config.js';
import type { CompactionReport, IntervalStatus } from '../compaction/snapshot.js';
import type { Lookup } from '../coordinator/lookups.js';

/**
 * Interfaces between roles. A role holds these interfaces only; `cluster/rpc` gives it the local object when
 * the peer lives in this process and an HTTP client (`/internal/v1/...`, bodies by v8.serialize) when it does not.
 * Errors cross as `ServiceError` with their code.
 */
export interface RunPlanRequest {
  readonly queryId: string;
  readonly plan: Plan;
  /** Printed segment ids, all of which this server announced, but for those that it is to fetch. */
  readonly segmentIds: readonly string[];
  /** Segments among them that are loaded nowhere: fetched from deep storage for the time of the run. */
  readonly fetched?: readonly SegmentDescriptor[];
  /** `final`: every segment of the query is here, so run the post-processing steps too. Else give partial states. */
  readonly ending: 'final' | 'partial';
  /** Absolute; work past it ends with `timeout`. */
  readonly deadlineMs: number;
  readonly priority: number;
  /** Name of a kernel set, or null for the configured one. */
  readonly kernels: string | null;
  readonly limits: RunLimits;
  /** Whether answers for single segments may be taken from the cache, and put there. */
  readonly useCache: boolean;
  readonly populateCache: boolean;
  /** Place of the query in a trace, as the header of that name; left out: it is in none. */
  readonly traceparent?: string;
}

/** Report of a run; sent once, after its frames. */
export interface RunReport {
  readonly profile: Profile;
}

/** Digests of lookups whose entries a server lacks; sent in place of an answer. */
export interface LackReport {
  readonly lacks: readonly string[];
}

/** Rows of a stream that the segments of a run have; sent once, before its frames. */
export interface ReachReport {
  /** Generation of the inventory at that moment. */
  readonly generation: string;
  readonly reach: StreamReach;
}

export interface HistoricalService {
  /** Ends when the last frame was taken; closing the iterator early cancels the work. */
  runPlan(request: RunPlanRequest, signal: CancelSignal): AsyncIterable<Frame | RunReport>;
  /** The same of a plan whose lookups may have no bytes: those of their digests, as the process holds them, take their place. */
  runNamed(request: RunPlanRequest, signal: CancelSignal): AsyncIterable<Frame | RunReport | LackReport>;
  analyzeSegments(request: RunPlanRequest, signal: CancelSignal): Promise<readonly SegmentAnalysis[]>;
  /** Segments that are verified and can be queried now. `generation` changes whenever the list does. */
  inventory(): Promise<ServerInventory>;
  /** The same, or what has changed since the caller's generation, or null when that is still the one. */
  inventoryAfter(generation: string | null): Promise<InventoryUpdate | null>;
  loadSegments(descriptors: readonly SegmentDescriptor[]): Promise<void>;
  dropSegments(segmentIds: readonly string[]): Promise<void>;
  lookupReport(): Promise<LookupReport>;
}

/** The process of a task that reads a stream: its live segments are queried like any others. */
export interface TaskService extends Pick<HistoricalService, 'analyzeSegments'> {
  /** The same as a Historical; its reach comes first. */
  runPlan(request: RunPlanRequest, signal: CancelSignal): AsyncIterable<Frame | RunReport | ReachReport>;
  /** Its segments, or null when the caller's generation is still the one. Further rows of known columns change none. */
  liveAfter(generation: string | null): Promise<LiveInventory | null>;
}

/** The live segments of a task, each with its columns. */
export interface LiveInventory {
  readonly host: string;
  readonly generation: string;
  readonly segments: readonly LiveDescriptor[];
  /** Rows that these segments have; left out: it tells none. */
  readonly reach?: StreamReach;
}

/** A server that takes segments. */
export interface SegmentServer {
  readonly host: string;
  readonly tier: string;
  readonly priority: number;
  readonly maxSizeBytes: number;
}

export interface ServerInventory extends SegmentServer {
  readonly currentSizeBytes: number;
  readonly generation: string;
  readonly segmentIds: readonly string[];
  /** Loads asked for and not yet done, and those that failed with their reason. */
  readonly loading: readonly string[];
  readonly failed: Readonly<Record<string, string>>;
}

/** An inventory, or with `since` the segments of it that have changed since an earlier one. */
export interface InventoryUpdate extends ServerInventory {
  readonly since?: {
    /** Segments that are neither served nor loaded any more. */
    readonly gone: readonly string[];
  };
}

export interface CoordinatorService {
  /** All visible (used, not overshadowed) segments of one metadata revision. */
  snapshot(): Promise<SegmentsSnapshot>;
  /**
   * The same, or null when the caller's revision is still the one. Who names the term of his revision, and it is still
   * that, may be told what has changed since.
   */
  snapshotAfter(revision: number | null, term: number | null): Promise<SnapshotUpdate | null>;
  /** All used segments of some datasources, the overshadowed ones too. */
  usedSegments(dataSources: readonly string[]): Promise<readonly UsedSegment[]>;
  /** The lookups configured for a tier, or null when the caller's generation is still the one. */
  lookupsAfter(tier: string, generation: string | null): Promise<LookupSnapshot | null>;
  /** A publish happened: look at metadata now rather than at the next tick. */
  wake(): Promise<void>;
  /** Status of automatic compaction, as of its last run, and of the intervals of one datasource. */
  compactionReport(dataSource: string | null): Promise<CompactionReport>;
  /** The intervals as they would be under another configuration of the cluster. */
  simulateCompaction(cluster: ClusterCompactionConfig): Promise<readonly IntervalStatus[]>;
  /** A compaction task ended, or its configuration has changed: look for intervals to compact. */
  wakeCompaction(): Promise<void>;
  /** A task ended without publishing: look for files that nobody refers to. */
  cleanUp(): Promise<void>;
}

/** Copies by tier; `Number.MAX_SAFE_INTEGER`: one on every server. */
export type Copies = Readonly<Record<string, number>>;

export interface SegmentsSnapshot {
  /** Grows with every metadata transaction that changes used segments. */
  readonly revision: number;
  /** Leadership of the Coordinator that tells it: by the clock, another one may have planned otherwise. */
  readonly term?: number;
  readonly segments: readonly SegmentDescriptor[];
  /** Copies of each of `segments` that the rules ask for. Left out: not told. */
  readonly copies?: readonly Copies[];
  /** Used segments that are overshadowed, or that the rules load nowhere. Left out: none. */
  readonly others?: readonly SegmentDescriptor[];
  /** Whether each of `others` is overshadowed. */
  readonly overshadowed?: readonly boolean[];
  /** Segments that belong to the visible ones but whose metadata cannot be read in full. Left out: none. */
  readonly unreadable?: readonly UnreadableSegment[];
  /** Rows of streams that are published by then. Left out: none. */
  readonly streams?: readonly PublishedStream[];
}

/** A snapshot, or with `since` the segments that have come or changed since an earlier one. */
export interface SnapshotUpdate extends SegmentsSnapshot {
  readonly since?: {
    readonly revision: number;
    /** Segments, by printed id, that are not visible any more. */
    readonly gone: readonly string[];
  };
}

export interface UsedSegment {
  readonly segment: SegmentDescriptor;
  readonly overshadowed: boolean;
  /** Copies that the rules ask for, over all tiers. */
  readonly replicationFactor: number;
}

export interface LookupSnapshot {
  readonly generation: string;
  /** Lookups by name. */
  readonly lookups: Readonly<Record<string, Lookup>>;
}

/** Lookups of its tier that a Broker or a Historical has loaded. */
export interface LookupReport {
  readonly tier: string;
  readonly current: Readonly<Record<string, Lookup>>;
  /** Why a configured version is not the current one. */
  readonly failed: Readonly<Record<string, string>>;
}

export interface BrokerService {
  lookupReport(): Promise<LookupReport>;
  /** Oldest revision by datasource that the view or a running query may still read from. */
  revisionsInUse(): Promise<Readonly<Record<string, number>>>;
  /** Tells that something was published or loaded, so that the role looks now rather than at the next tick. */
  wake(): Promise<void>;
  /** Resolves after a look that began at the call or later. */
  look(): Promise<void>;
  /** The rows of a plan over datasources, for a task; closing the iterator early cancels the work. */
  runForTask(request: TaskQueryRequest, signal: CancelSignal): AsyncIterable<Frame>;
}

export interface TaskQueryRequest {
  readonly taskId: string;
  readonly plan: RowsPlan;
  readonly source: RowSource;
  /** The columns of the plan, a scan of one table, are all that the table has. */
  readonly allColumns?: true;
  /** Parts of groups; left out: the whole answer. */
  readonly ending?: 'partial';
  /** null: it reads what is visible. */
  readonly pinned: PinnedSegments | null;
  /** Absolute; work past it ends with `timeout`. */
  readonly deadlineMs: number;
}

/** A supervisor in a few words. */
export interface SupervisorSummary {
  readonly id: string;
  readonly dataSource: string;
  readonly state: string;
  readonly detailedState: string;
  readonly healthy: boolean;
  readonly type: string;
  /** The topic or stream. */
  readonly source: string;
  readonly suspended: boolean;
  /** The spec as it is shown: without passwords. */
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface OverlordService {
  /** Accepts a task, JSON: what it returns is stored. Throws `input_invalid`, or `conflict` when the id is taken. */
  submit(document: string): Promise<{ readonly taskId: string }>;
  /** The active ones, then the newest of the finished ones; of those, with `dataSources`, only these. */
  tasks(dataSources: readonly string[] | null): Promise<readonly TaskRecord[]>;
  /** Datasources of finished tasks. */
  finishedDataSources(): Promise<readonly string[]>;
  /** A task with its documents, or null when there is none of this id. */
  task(taskId: string): Promise<TaskWithDocuments | null>;
  /** The report so far of a task that runs, or null while there is none. */
  liveReport(taskId: string): Promise<Readonly<Record<string, unknown>> | null>;
  /**
   * The visible segments that meet one of the intervals, as metadata has them; without those that the task carries along,
   * which it may not read.
   */
  visibleSegments(taskId: string, dataSource: string, intervals: readonly Interval[]): Promise<readonly VisibleSegment[]>;
  /** Segments that a task reads of the datasource that it replaces beside appends; null: all that it finds. */
  pinnedSegments(taskId: string): Promise<PinnedSegments | null>;
  /**
   * One metadata transaction; returns the printed segment ids. Throws `conflict` where this is not the run of the task that
   * counts any more.
   */
  publish(request: PublishRequest, run: TaskRun): Promise<readonly string[]>;
  /**
   * Accepts tasks that a running task needs done, all or none of them: they wait for no lock, run beside it and end with it at the
   * latest. Ids that it has submitted before, in an earlier run maybe, stay as they are. Throws `conflict` where this is not its
   * run that counts.
   */
  submitChildren(parent: ParentRun, documents: readonly string[]): Promise<void>;
  /** The children of a task, of all of its runs. */
  children(parent: ParentRun): Promise<readonly ChildTask[]>;
  /** The documents of a child. Throws `not_found`. */
  childDocuments(parent: ParentRun, childId: string): Promise<ChildDocuments>;
  /** Status and progress of children, in the order of their ids. */
  lookAtChildren(parent: ParentRun, ids: readonly string[]): Promise<readonly ChildLook[]>;
  /** Ends a child that is not finished. Throws `not_found` when there is no such. */
  stopChild(parent: ParentRun, childId: string, reason: string): Promise<void>;
  /**
   * Gives a child that waits for a worker to the process of its parent; returns the number of that run, null when it does not wait
   * any more. Throws `not_found`.
   */
  claimChild(parent: ParentRun, childId: string): Promise<number | null>;
  /** A worker tells how a task ended. Repeating it does no harm. */
  taskEnded(end: TaskEndReport): Promise<void>;
  /** A worker that ends has stopped the task; another one, or its successor, is to run it from its beginning. */
  taskReturned(taskId: string, run: TaskRun): Promise<void>;
  /** The segment of a sequence of rows in a time chunk; see `SegmentCalls`. */
  allocateSegment(request: AllocationRequest, run: ParentRun): Promise<SegmentId>;
  /** Ends a task that is not finished; throws `not_found` when there is no such. */
  shutdownTask(taskId: string, reason: string): Promise<void>;
  supervisorList(): Promise<readonly SupervisorSummary[]>;
  /** A streaming task has read enough rows for a sequence. Returns at once: the supervisor sets the end later. */
  checkpointStream(request: CheckpointRequest): Promise<void>;
  /** A streaming task finds that offsets it is to read are gone; the supervisor forgets them and replaces the task. */
  streamOffsetsLost(lost: OffsetsLost): Promise<void>;
  /** Starts a task that removes the unused segments inside the interval for good, rows and files; returns its id. */
  kill(dataSource: string, interval: Interval): Promise<string>;
}

export interface TaskWithDocuments {
  readonly task: TaskRecord;
  /** JSON text. */
  readonly payload: string;
  /** JSON text; null until the task is through. */
  readonly report: string | null;
}

/** A run of a task: the worker process that was given it, and the number of the run. */
export interface TaskRun {
  readonly session: string;
  /** From 1. */
  readonly attempt: number;
}

/** A task that has children, in one of its runs. */
export interface ParentRun {
  readonly taskId: string;
  readonly run: TaskRun;
}

export interface TaskEndReport {
  readonly taskId: string;
  readonly run: TaskRun;
  readonly succeeded: boolean;
  readonly errorMessage: string | null;
  readonly report: Readonly<Record<string, unknown>> | null;
}

export interface MiddleManagerService {
  status(): Promise<WorkerStatus>;
  /** Starts the task in a child process; throws `capacity_exceeded` without a free slot. Repeating it does no harm. */
  assign(assignment: TaskAssignment): Promise<void>;
  /** Ends the child process; nothing happens when it runs no such task. */
  shutdownTask(taskId: string): Promise<void>;
  /** Progress of a running task, null before the first and for tasks it does not run. */
  progress(taskId: string): Promise<TaskProgress | null>;
  /**
   * The lines of a log but the first ones, or with a negative offset as many of the last ones, in pieces; closing the iterator early
   * closes the file. Throws `not_found` when it has none.
   */
  readLog(taskId: string, offset: number, signal?: CancelSignal): AsyncIterable<Uint8Array>;
  /** Body of a task's answer to a request. Throws `not_found` for a task that it does not run, and what the task throws. */
  chat(taskId: string, request: ChatRequest): Promise<unknown>;
}

export interface TaskAssignment {
  readonly taskId: string;
  /** Number of this run of the task, from 1. */
  readonly attempt: number;
  readonly payload: unknown;
  /** The task that publishes what this one makes, among whose files its own lie; null and absent: itself. */
  readonly parentId?: string | null;
  /** Names that it is counted under; left out by an Overlord of an earlier version. */
  readonly dataSource?: string;
  readonly type?: string;
}

export interface WorkerStatus {
  readonly host: string;
  readonly session: string;
  /** Its `svc.worker.category`, which the strategy of the Overlord may choose by. */
  readonly category: string;
  readonly capacity: number;
  readonly enabled: boolean;
  readonly runningTasks: readonly string[];
  /** Tasks that have ended here, and whose end no Overlord has heard of yet; left out by processes of earlier versions. */
  readonly endingTasks?: readonly string[];
  readonly lastCompletedMs: EpochMs;
}
