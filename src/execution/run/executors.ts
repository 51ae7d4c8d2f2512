// Decides whether work runs on the calling thread or on processing threads.

import { isTurnShared } from '../../base/loop-turns.js';
import { KernelSets } from '../../kernels/registry.js';
import type { StorageJobName, StorageJobs } from '../../storage/jobs.js';
import type { Executor, OpenStream } from '../threads/executor.js';
import { InlineAttempt } from '../threads/inline-attempt.js';
import { inlineExecutor } from '../threads/inline-executor.js';
import type { Streams } from '../threads/jobs.js';
import { ThreadPool } from '../threads/pool.js';
import type { RunControl } from '../threads/thread-context.js';
import type { EngineOptions } from './engine-options.js';

const ROWS_RUN_INLINE = 100_000;
/** Rows whose reading takes longer than a hand-over and the way back do. */
const ROWS_HANDED_OVER = 5000;
/** An event loop that stands still for a millisecond is noticed, and the first block of a try is not known to be quick. */
const BRIEF_MS = 0.5;

/** Decides where work runs: on the calling thread when there is little of it, else on the processing threads. */
export class Executors {
  readonly inline: Executor;
  readonly #pool: ThreadPool | undefined;
  readonly #ownsPool: boolean;
  readonly #attempt: InlineAttempt | undefined;
  readonly #rowsRunInline: number;

  constructor(options: EngineOptions) {
    const { memory, threads, briefMs = BRIEF_MS, rowsRunInline = ROWS_RUN_INLINE } = options;
    const kernels = new KernelSets(memory, options.kernels);
    this.inline = inlineExecutor(memory, kernels);
    this.#pool = poolOf(options);
    this.#ownsPool = typeof threads === 'number';
    this.#attempt = this.#pool === undefined || briefMs === 0 ? undefined : new InlineAttempt(memory, kernels, briefMs);
    this.#rowsRunInline = rowsRunInline;
  }

  /** Processing threads; 0: everything runs inline. */
  get threads(): number {
    return this.#pool?.size ?? 0;
  }

  /** Whether reading so many rows costs less than handing the work to another thread. */
  runsInline(rows: number): boolean {
    return this.#pool === undefined || rows < this.#rowsRunInline;
  }

  /** The executor for work on as many rows as the run reads. */
  forRows({ priority, rows }: RunControl): Executor {
    return this.runsInline(rows) ? this.inline : (this.#pool?.choose(1, priority)[0] ?? this.inline);
  }

  /**
   * The executor for work on segments: a little of it, too, is handed over to a thread with time where other requests wait for the
   * calling one.
   */
  forSegments(control: RunControl): Executor {
    const { rows } = control;
    if (this.#pool === undefined || !this.runsInline(rows) || rows < ROWS_HANDED_OVER) return this.forRows(control);
    return (isTurnShared() ? this.#pool.free() : undefined) ?? this.inline;
  }

  /** The `count` least busy threads; none without processing threads. */
  threadsFor(count: number, { priority }: RunControl): readonly Executor[] {
    return this.#pool?.choose(count, priority) ?? [];
  }

  /** Tries a scan inline for a moment; undefined: it took too long, and is to run on a thread. */
  attemptScan(request: Streams['scan']): OpenStream | undefined {
    return this.#attempt?.scan(request);
  }

  runJob<Name extends StorageJobName>(name: Name, request: StorageJobs[Name]['request']): Promise<StorageJobs[Name]['response']> {
    return this.#pool === undefined ? this.inline.call(name, request) : this.#pool.runJob(name, request);
  }

  async close(): Promise<void> {
    if (this.#ownsPool) await this.#pool?.close();
  }
}

function poolOf({ threads, memory, kernels, makeRoom = () => false }: EngineOptions): ThreadPool | undefined {
  if (typeof threads !== 'number') return threads;
  return threads > 0 ? new ThreadPool({ memory, kernels, threads, makeRoom }) : undefined;
}
