// Reports the progress of a task.

import type { TaskContext, TaskProgress } from '../contract.js';
import type { RowStatistics } from './row-statistics.js';

const INTERVAL_MS = 200;

/** Tells the context where the task is: at every phase, and in between at most five times a second. */
export class ProgressReporter {
  bytesTotal: number | null = null;
  readonly #context: TaskContext;
  readonly #statistics: RowStatistics;
  #current: TaskProgress['phase'] = 'determining_partitions';
  #lastMs = 0;

  constructor(context: TaskContext, statistics: RowStatistics) {
    this.#context = context;
    this.#statistics = statistics;
  }

  /** Phase name of the public report. */
  get indexPhase(): 'DETERMINE_PARTITIONS' | 'BUILD_SEGMENTS' | 'COMPLETED' {
    if (this.#current === 'completed') return 'COMPLETED';
    return this.#current === 'determining_partitions' ? 'DETERMINE_PARTITIONS' : 'BUILD_SEGMENTS';
  }

  phase(phase: TaskProgress['phase']): void {
    this.#current = phase;
    this.#send();
  }

  tick(): void {
    if (this.#context.now() - this.#lastMs >= INTERVAL_MS) this.#send();
  }

  #send(): void {
    this.#lastMs = this.#context.now();
    this.#context.progress({
      phase: this.#current,
      bytesRead: this.#statistics.bytesRead,
      bytesTotal: this.bytesTotal,
      ...this.#statistics.counts(),
    });
  }
}
