// Times the stages of planning, and ends planning at its deadline.

import { ServiceError } from '../../base/errors.js';

/** A stage of planning, or a rule, and what it took. */
export interface PlanStage {
  readonly stage: string;
  readonly milliseconds: number;
}

/** Times the planning of one statement, and ends it when its time is over. */
export class PlanWatch {
  readonly #milliseconds = new Map<string, number>();
  readonly #endMs: number;

  /** @param endMs  of `performance.now()` */
  constructor(endMs = Number.POSITIVE_INFINITY) {
    this.#endMs = endMs;
  }

  /** Time left for planning. */
  get remainingMs(): number {
    return this.#endMs - performance.now();
  }

  /** Stages in the order in which they began, one entry for each name. */
  get stages(): readonly PlanStage[] {
    return [...this.#milliseconds].map(([stage, milliseconds]) => ({ stage, milliseconds }));
  }

  /** @throws ServiceError `timeout` when the time is over before it begins */
  stage<Result>(stage: string, work: () => Result): Result {
    const startMs = performance.now();
    if (startMs > this.#endMs) throw planningTimeout();
    try {
      return work();
    } finally {
      this.add({ stage, milliseconds: performance.now() - startMs });
    }
  }

  /** Counts what was timed elsewhere. */
  add({ stage, milliseconds }: PlanStage): void {
    this.#milliseconds.set(stage, (this.#milliseconds.get(stage) ?? 0) + milliseconds);
  }
}

export function planningTimeout(): ServiceError {
  return new ServiceError('timeout', 'the deadline has passed while the statement was planned; raise the timeout of the query context');
}
