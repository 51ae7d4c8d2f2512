// Counts of what the tasks of a worker have read, written and published, and how they ended.

import type { TaskProgress } from '../../ingestion/contract.js';
import type { PublishRequest } from '../../model/publication.js';

/** Counts over all tasks of one type and datasource since the process began. */
export interface TaskCount {
  readonly dataSource: string;
  readonly taskType: string;
  readonly processed: number;
  readonly processedWithError: number;
  readonly thrownAway: number;
  readonly unparseable: number;
  readonly bytesRead: number;
  /** Segments that were published, and their rows; those of them that are of streams. */
  readonly segments: number;
  readonly rows: number;
  readonly handoffs: number;
  readonly succeeded: number;
  readonly failed: number;
}

type Count = { -readonly [Field in keyof TaskCount]: TaskCount[Field] };
const READ = ['processed', 'processedWithError', 'thrownAway', 'unparseable', 'bytesRead'] as const;

/** Datasources and types that are told apart; what comes later counts under `OTHER`. */
const COUNTS_MAX = 1000;
const OTHER = '(other)';

/** Task that is counted: a run of it, from its assignment to its end. */
export interface CountedTask {
  readonly dataSource: string;
  readonly taskType: string;
  /** Its parent counts what it reads. */
  readonly isChild: boolean;
}

/** Counts of the tasks of a worker. */
export class TaskCounts {
  readonly #counts = new Map<string, Count>();

  all(): Iterable<TaskCount> {
    return this.#counts.values();
  }

  /** The counts of one run of a task. */
  begin({ dataSource, taskType, isChild }: CountedTask): RunCounts {
    return new RunCounts(this.#at(dataSource, taskType), isChild);
  }

  #at(dataSource: string, taskType: string): Count {
    const key = JSON.stringify([dataSource, taskType]);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    if (this.#counts.size >= COUNTS_MAX && dataSource !== OTHER) return this.#at(OTHER, OTHER);
    const read = { processed: 0, processedWithError: 0, thrownAway: 0, unparseable: 0, bytesRead: 0 };
    const count: Count = { dataSource, taskType, ...read, segments: 0, rows: 0, handoffs: 0, succeeded: 0, failed: 0 };
    this.#counts.set(key, count);
    return count;
  }
}

/** Adds what one run of a task tells to the counts of its datasource. */
export class RunCounts {
  readonly #count: Count;
  readonly #isChild: boolean;
  /** The most that the run has told: work of a sub-task that is tried again is told again from its beginning. */
  readonly #told = new Map<(typeof READ)[number], number>();

  constructor(count: Count, isChild: boolean) {
    this.#count = count;
    this.#isChild = isChild;
  }

  progress(progress: TaskProgress): void {
    if (this.#isChild) return;
    for (const field of READ) {
      const before = this.#told.get(field) ?? 0;
      if (progress[field] <= before) continue;
      this.#count[field] += progress[field] - before;
      this.#told.set(field, progress[field]);
    }
  }

  published({ segments, stream }: Pick<PublishRequest, 'segments' | 'stream'>): void {
    this.#count.segments += segments.length;
    this.#count.rows += segments.reduce((sum, { rowCount }) => sum + rowCount, 0);
    if (stream !== undefined) this.#count.handoffs += segments.length;
  }

  ended(succeeded: boolean): void {
    if (succeeded) this.#count.succeeded++;
    else this.#count.failed++;
  }
}
