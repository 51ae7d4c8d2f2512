// Interfaces between a task and its surroundings: what it may use and what it returns.

import type { EpochMs, Interval } from '../base/instant.js';
import type { Engine } from '../execution/run/engine.js';
import type { ResourceAction } from '../model/access/resource.js';
import type { Frame } from '../model/frame.js';
import type { PublishRequest } from '../model/publication.js';
import type { ExternalSource, RowSource, RowsPlan } from '../model/row-source.js';
import type { ColumnSchema } from '../model/schema.js';
import type { SegmentId, VisibleSegment } from '../model/segment.js';
import type { StreamSupervision } from '../model/stream/control.js';
import type { LiveParts } from '../model/stream/live.js';
import type { StreamReach } from '../model/stream/reach.js';
import type { DeepStorage, SegmentStore } from '../storage/contract.js';
import type { SubTaskType } from './batch/sub-task-types.js';
import type { InputLimits } from './format/format-kind.js';
import type { HttpRules } from './source/url-policy.js';
import type { KinesisCredentials } from './stream/kinesis/kinesis-client.js';

export type { PublishRequest } from '../model/publication.js';

/** A plan whose rows are not the task's own to read. */
export interface TableQuery {
  readonly plan: RowsPlan;
  readonly source: RowSource;
  /** The columns of the plan, a scan of one table, are all that the table has. */
  readonly allColumns?: true;
  /** Parts of the groups of a plan over one table, for whoever merges them; left out: the whole answer. */
  readonly ending?: 'partial';
}

/** Means by which a task reads sources itself. */
export interface SourceReading {
  readonly engine: Pick<Engine, 'runRows' | 'runUploaded' | 'build' | 'reserveUpload' | 'releaseUpload'>;
  readonly external: (source: ExternalSource) => AsyncIterable<Frame>;
  /** Known columns of a source. */
  readonly columnsOf: (source: RowSource) => readonly ColumnSchema[];
}

/** Places and limits that a task keeps to; plain data. */
export interface TaskRules {
  /** Empty at start, deleted after the task ends, whatever way. */
  readonly workDirectory: string;
  /** Directories that `local` input sources may read; resolved, no links out of them are followed. */
  readonly allowedDirectories: readonly string[];
  /** Directory below which INSERT INTO EXTERN writes. */
  readonly exportDirectory: string;
  readonly maxBytesInMemory: number;
  /** Kernel memory that it may use. */
  readonly maxKernelBytes: number;
  readonly http: HttpRules;
  /** Key that requests to Kinesis are signed with; absent: where the SDK of AWS looks for one. */
  readonly kinesisCredentials?: KinesisCredentials;
  /** `host:port` of the processes of the cluster, which no input source may read. */
  readonly peers: readonly string[];
  /** Hosts of databases that the `sql` input source may connect to; absent or empty: every host. */
  readonly databaseHosts?: readonly string[];
  readonly inputLimits: InputLimits;
  /** Whether rows of a datasource keep their `__time`, whatever the timestampSpec says. */
  readonly keepsStoredTimes: boolean;
  /** Name of the kernel set. */
  readonly kernels: string;
}

/** Everything outside that a task may use. The middle manager's child process makes it; tests make their own. */
export interface TaskContext extends TaskRules {
  readonly taskId: string;
  /** Number of this run of the task, from 1. */
  readonly attempt: number;
  readonly storage: Pick<DeepStorage, 'push' | 'pull' | 'read'>;
  readonly signal: AbortSignal;
  now(): EpochMs;
  log(line: string): void;
  progress(update: TaskProgress): void;
  /** The rows of a plan over datasources, read by a broker; leaving the iterator early ends the query. */
  readTables(query: TableQuery): AsyncIterable<Frame>;
  /** The rows of a plan over sources among which are files, computed in the process of the task. */
  runSource(query: TableQuery, reading: SourceReading): AsyncIterable<Frame>;
  /** The visible segments that meet one of the intervals, as the metadata store has them now. */
  visibleSegments(dataSource: string, intervals: readonly Interval[]): Promise<readonly VisibleSegment[]>;
  /** Moves a page of the task's results from a local file to durable storage; null: there is none. */
  readonly pushResults: ((page: number, localFile: string) => Promise<void>) | null;
  readonly children: TaskChildren;
  /** Has requests to this task, while it runs, answered by a handler; the last one counts. */
  serveChat(handler: ChatHandler): void;
  /** Has queries over the live segments of this task answered, from when this resolves; tell `liveChanged` of each further change of them. */
  serveLive(live: LiveSource): Promise<LiveAnnouncement>;
  readonly segments: SegmentCalls;
  /** The supervisor of a streaming task. */
  readonly stream: StreamSupervision;
  /** One metadata transaction; returns the printed ids. */
  publish(request: PublishRequest): Promise<readonly string[]>;
}

/** A request to a running task, below `/svc/worker/v1/chat/{taskId}`; plain data. */
export interface ChatRequest {
  readonly method: 'GET' | 'POST';
  /** Segments of the path behind the id of the task, decoded. */
  readonly path: readonly string[];
  readonly query: ReadonlyMap<string, string>;
  /** Text of the body. */
  readonly body: string;
}

/** Gives the body of an answer, plain data. Throws ServiceError: `not_found` for a path that it does not know, `unavailable` before the task is that far. */
export type ChatHandler = (request: ChatRequest) => Promise<unknown>;
/** Live segments, and what runs plans over them. */
export interface LiveSource {
  readonly rows: LiveParts;
  readonly engine: Engine;
  readonly store: SegmentStore;
  /** Rows of the stream that its parts have at this moment. */
  readonly reach: () => StreamReach;
}

/** Announcement of the live segments of a task. */
export interface LiveAnnouncement {
  /** Segments have come or gone, are sealed, or have further columns. */
  changed(): void;
  /** Queries are not answered any more. */
  close(): Promise<void>;
}

/** A segment that rows are put into before it is published. */
export interface AllocationRequest {
  readonly dataSource: string;
  /** Name of the sequence of rows: it gets one segment in each time chunk, whoever asks and however often. */
  readonly sequence: string;
  /** Time chunk of the rows. */
  readonly interval: Interval;
}

/** Calls of a task about its segments. */
export interface SegmentCalls {
  /** Throws `conflict` where the rows would have to be added across chunks that are there. */
  allocate(request: AllocationRequest): Promise<SegmentId>;
  /** Waits until Historicals serve each of them, and no longer than this; false: some are not served. */
  served(ids: readonly string[], limitMs: number): Promise<boolean>;
  /** Waits until the Brokers have seen who serves what now, for some moments at most. */
  seen(): Promise<void>;
}

/** Everything that a task asks of the cluster by numbered calls. */
export interface TaskCalls extends ChildTasks, StreamSupervision, SegmentCalls {}

/** A task that another one has submitted. */
export interface ChildTask {
  readonly id: string;
  readonly state: 'PENDING' | 'RUNNING' | 'SUCCESS' | 'FAILED';
  readonly error: string | null;
}

/** State of a child, from the Overlord and its worker. */
export interface ChildLook {
  /** The entry that lists of tasks have of it. */
  readonly status: Readonly<Record<string, unknown>>;
  /** null: it does not run as a task of its own, or has told nothing. */
  readonly progress: TaskProgress | null;
}

/** Documents of a child: JSON text. */
export interface ChildDocuments {
  readonly payload: string;
  /** null: it has told nothing. */
  readonly report: string | null;
}

/** Tasks that a task has done by other workers. They run beside it, under its locks, and end with it at the latest. */
export interface ChildTasks {
  /** Submits payloads with their ids, all or none; ids that are known already, from an earlier run of the task, stay as they are. */
  submit(payloads: readonly unknown[]): Promise<void>;
  /** The children of all runs of the task. */
  list(): Promise<readonly ChildTask[]>;
  documents(id: string): Promise<ChildDocuments>;
  /** Looks at children by their ids, which are known; in their order. */
  look(ids: readonly string[]): Promise<readonly ChildLook[]>;
  /** Ends one that is not finished. Throws `not_found` for another. */
  stop(id: string, reason: string): Promise<void>;
  /** Takes a child back that waits for a worker; returns the number of the run that the task is to do itself, null where it does not wait. */
  claim(id: string): Promise<number | null>;
  /** Tells how a run that the task did itself has ended. */
  ended(id: string, attempt: number, outcome: TaskOutcome): Promise<void>;
}

export interface TaskChildren extends ChildTasks {
  /**
   * Runs a child that waits for a worker in this process, under its own name and with its own files: tasks that hold all slots
   * would wait for their children for ever. False: it does not wait any more.
   * @param progress  takes what the child tells of its progress
   */
  runHere(payload: ChildPayload, progress?: (update: TaskProgress) => void): Promise<boolean>;
}

export interface ChildPayload {
  readonly type: string;
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Progress of a task. Its counts add up: processed + processedWithError + thrownAway + unparseable = rows of the input. */
export interface TaskProgress {
  readonly phase: 'determining_partitions' | 'reading' | 'building' | 'publishing' | 'completed';
  /** When it began to read, and when this was so, by the clock of its process. */
  readonly startedMs: number;
  readonly atMs: number;
  readonly bytesRead: number;
  readonly bytesTotal: number | null;
  readonly processed: number;
  /** Rows kept although some field could not be parsed. */
  readonly processedWithError: number;
  readonly thrownAway: number;
  readonly unparseable: number;
  /** Counts of the stage of a statement that the task works on; left out by other tasks. */
  readonly stage?: StageProgress;
}

/** Counts of one worker of a stage of a statement so far. */
export interface StageProgress {
  readonly rowsIn: number;
  readonly rowsOut: number;
  readonly bytesOut: number;
  /** Files or segments. */
  readonly filesRead: number;
  /** Nanoseconds of processor time, and by the clock. */
  readonly cpuNs: number;
  readonly wallNs: number;
}

export interface TaskOutcome {
  readonly succeeded: boolean;
  readonly errorMessage: string | null;
  /** The body of GET .../task/{id}/reports. */
  readonly report: Readonly<Record<string, unknown>>;
}

/** Description of a payload for the overlord, before it is queued. */
export interface TaskDescription {
  readonly type:
    | 'index_parallel'
    | 'index'
    | 'query_controller'
    | 'query_worker'
    | 'compact'
    | 'kill'
    | SubTaskType
    | 'index_kafka'
    | 'index_kinesis';
  readonly dataSource: string;
  readonly id: string | null;
  readonly groupId: string | null;
  readonly context: Readonly<Record<string, unknown>>;
  /**
   * The widest publish it may ask for: the overlord locks these intervals, exclusively for `replace`. Eternity while
   * the intervals are known only once the input was read.
   */
  readonly mode: PublishRequest['mode'];
  /** The `spec` with its defaults written out, as the payload endpoint shows it; of a task without one, its other fields. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** Parts of the state of its segments that the payload of a `compact` task decides. */
  readonly compactionState?: Readonly<Record<string, unknown>>;
  /** It changes no datasource, and so waits for no lock. */
  readonly isReadOnly?: true;
  /** Resources that it uses beside its datasource, which it writes. */
  readonly resources?: readonly ResourceAction[];
  /** Only another task may submit it. */
  readonly isChild?: true;
}
