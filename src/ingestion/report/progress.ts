// Reports the progress of a task.

import type { StageProgress, TaskContext, TaskProgress } from '../contract.js';
import { paceOf, paceText } from './pace.js';
import type { RowStatistics } from './row-statistics.js';

const INTERVAL_MS = 200;
const LOG_INTERVAL_MS = 10_000;

/** Tells the context where the task is: at every phase, and in between at most five times a second; the log, every ten seconds of reading. */
export class ProgressReporter {
  bytesTotal: number | null = null;
  readonly #context: TaskContext;
  readonly #statistics: RowStatistics;
  readonly #stage: (() => StageProgress) | null;
  #current: TaskProgress['phase'] = 'determining_partitions';
  #lastMs = 0;
  #startedMs: number;
  #loggedMs: number;
  /** Sends what was counted too soon after the last time, so that the counts of a source that waits are told. */
  #late: NodeJS.Timeout | null = null;

  /** @param stage  counts of a stage of a statement; null: the task is none */
  constructor(context: TaskContext, statistics: RowStatistics, stage: (() => StageProgress) | null = null) {
    this.#context = context;
    this.#stage = stage;
    this.#statistics = statistics;
    this.#startedMs = context.now();
    this.#loggedMs = this.#startedMs;
  }

  /** Phase name of the public report. */
  get indexPhase(): 'DETERMINE_PARTITIONS' | 'BUILD_SEGMENTS' | 'COMPLETED' {
    if (this.#current === 'completed') return 'COMPLETED';
    return this.#current === 'determining_partitions' ? 'DETERMINE_PARTITIONS' : 'BUILD_SEGMENTS';
  }

  phase(phase: TaskProgress['phase']): void {
    this.#current = phase;
    if (phase === 'reading') this.#startedMs = this.#context.now();
    this.#send();
  }

  tick(): void {
    const restMs = INTERVAL_MS - (this.#context.now() - this.#lastMs);
    if (restMs <= 0) this.#send();
    else this.#late ??= setTimeout(() => this.#send(), restMs).unref();
  }

  #send(): void {
    clearTimeout(this.#late ?? undefined);
    this.#late = null;
    const atMs = this.#context.now();
    this.#lastMs = atMs;
    const progress: TaskProgress = {
      phase: this.#current,
      startedMs: this.#startedMs,
      atMs,
      bytesTotal: this.bytesTotal,
      ...this.#statistics.soFar(),
      ...(this.#stage === null ? {} : { stage: this.#stage() }),
    };
    this.#context.progress(progress);
    if (this.#current !== 'reading' || atMs - this.#loggedMs < LOG_INTERVAL_MS) return;
    this.#loggedMs = atMs;
    this.#context.log(paceText(paceOf(progress), atMs));
  }
}
