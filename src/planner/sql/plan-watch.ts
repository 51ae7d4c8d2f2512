// Times the stages of planning, and ends planning at its deadline.

import { ServiceError } from '../../base/errors.js';

/** A stage of planning, or a rule, and what it took. */
export interface PlanStage {
  readonly stage: string;
  readonly milliseconds: number;
}

/** Times the planning of one statement, and ends it when its time is over. */
export class PlanWatch {
  /** A statement has few: a list is searched sooner than a map is made. */
  readonly #stages: { readonly stage: string; milliseconds: number }[] = [];
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
    return this.#stages;
  }

  /** @throws ServiceError `timeout` when the time is over before it begins */
  stage<Result>(stage: string, work: () => Result): Result {
    const startMs = performance.now();
    if (startMs > this.#endMs) throw planningTimeout();
    try {
      return work();
    } finally {
      this.#count(stage, performance.now() - startMs);
    }
  }

  /** Counts what was timed elsewhere. */
  add({ stage, milliseconds }: PlanStage): void {
    this.#count(stage, milliseconds);
  }

  #count(stage: string, milliseconds: number): void {
    const known = this.#stages.find((each) => each.stage === stage);
    if (known === undefined) this.#stages.push({ stage, milliseconds });
    else known.milliseconds += milliseconds;
  }
}

export function planningTimeout(): ServiceError {
  return new ServiceError('timeout', 'the deadline has passed while the statement was planned; raise the timeout of the query context');
}
