import type { Filter } from '../model/filter.js';
import type { EpochMs, Interval } from '../model/interval.js';
import type { ColumnSchema } from '../model/schema.js';
import type { PlannedStatement } from '../model/statement.js';
import type { DeepStorage } from '../storage/contract.js';

/** A built and pushed segment file that has no identity yet: version and partition number are given at publish. */
export interface PushedSegment {
  readonly interval: Interval;
  readonly loadSpec: { readonly type: string; readonly path: string };
  readonly sizeBytes: number;
  readonly rowCount: number;
  readonly dimensions: readonly string[];
  readonly metrics: readonly string[];
  readonly columns: readonly ColumnSchema[];
}

export interface PublishRequest {
  readonly taskId: string;
  readonly dataSource: string;
  readonly segments: readonly PushedSegment[];
  /**
   * `append`: joins the version of the chunk, with the next partition numbers. `replace`: in the same transaction
   * every used segment inside `intervals` becomes unused; one that crosses their bounds is a `conflict`.
   */
  readonly mode: { readonly kind: 'append' } | { readonly kind: 'replace'; readonly intervals: readonly Interval[] };
}

/** What ingestion borrows from the planner, which lies above it. */
export interface Planning {
  /** `planSql` without tables of its own: external sources only. */
  planSql(request: { readonly query: string; readonly context: Readonly<Record<string, unknown>>; readonly parameters: readonly unknown[] }): PlannedStatement;
  /** A native filter (JSON); errors name `path`. */
  parseFilter(value: unknown, path: string): Filter;
}

/** What a task may touch of the world. The middle manager's child process makes it; tests make their own. */
export interface TaskContext {
  readonly taskId: string;
  /** Empty at start, deleted after the task ends, whatever way. */
  readonly workDirectory: string;
  /** Directories that `local` input sources may read; resolved, no links out of them are followed. */
  readonly allowedDirectories: readonly string[];
  readonly maxBytesInMemory: number;
  /** Largest body that an `http` input source may send, in bytes. */
  readonly maxHttpBytes: number;
  /** Name of the kernel set. */
  readonly kernels: string;
  readonly planning: Planning;
  readonly storage: DeepStorage;
  readonly signal: AbortSignal;
  now(): EpochMs;
  log(line: string): void;
  progress(update: TaskProgress): void;
  /** One metadata transaction; returns the printed ids. */
  publish(request: PublishRequest): Promise<readonly string[]>;
}

/** Read counts add up: processed + processedWithError + thrownAway = rows of the input. */
export interface TaskProgress {
  readonly phase: 'determining_partitions' | 'reading' | 'building' | 'publishing' | 'completed';
  readonly bytesRead: number;
  readonly bytesTotal: number | null;
  readonly processed: number;
  /** Rows kept although some field could not be parsed. */
  readonly processedWithError: number;
  readonly thrownAway: number;
  readonly unparseable: number;
}

export interface TaskOutcome {
  readonly succeeded: boolean;
  readonly errorMessage: string | null;
  /** The body of GET .../task/{id}/reports. */
  readonly report: Readonly<Record<string, unknown>>;
}

/** What the overlord learns of a payload before it queues it. */
export interface TaskDescription {
  readonly type: 'index_parallel' | 'index' | 'query_controller';
  readonly dataSource: string;
  readonly id: string | null;
  readonly groupId: string | null;
  readonly context: Readonly<Record<string, unknown>>;
  /** The `spec` with its defaults written out, as the payload endpoint shows it. */
  readonly spec: Readonly<Record<string, unknown>>;
}
