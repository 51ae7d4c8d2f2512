import type { Interval } from '../model/interval.js';
import type { ColumnSchema } from '../model/schema.js';
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

/** What a task may touch of the world. The middle manager's child process makes it; tests make their own. */
export interface TaskContext {
  readonly taskId: string;
  /** Empty at start, deleted after the task ends, whatever way. */
  readonly workDirectory: string;
  /** Directories that `local` input sources may read; resolved, no links out of them are followed. */
  readonly allowedDirectories: readonly string[];
  readonly maxBytesInMemory: number;
  readonly storage: DeepStorage;
  readonly signal: AbortSignal;
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
