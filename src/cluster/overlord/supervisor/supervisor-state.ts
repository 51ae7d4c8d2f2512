// State of a supervisor: what it does, and whether it is well.

import type { EpochMs } from '../../../base/instant.js';
import { toServiceError } from '../../rpc/message.js';

export type BasicState = 'PENDING' | 'RUNNING' | 'IDLE' | 'SUSPENDED' | 'STOPPING' | 'UNHEALTHY_SUPERVISOR' | 'UNHEALTHY_TASKS';
export type DetailedState =
  | BasicState
  | 'CONNECTING_TO_STREAM'
  | 'DISCOVERING_INITIAL_TASKS'
  | 'CREATING_TASKS'
  | 'UNABLE_TO_CONNECT_TO_STREAM'
  | 'LOST_CONTACT_WITH_STREAM';

interface Traits {
  readonly basic: BasicState;
  readonly isHealthy: boolean;
  /** It holds until the first run has succeeded, and never again. */
  readonly isOfFirstRun: boolean;
}

const TRAITS: Readonly<Record<DetailedState, Traits>> = {
  PENDING: { basic: 'PENDING', isHealthy: true, isOfFirstRun: true },
  RUNNING: { basic: 'RUNNING', isHealthy: true, isOfFirstRun: false },
  IDLE: { basic: 'IDLE', isHealthy: true, isOfFirstRun: false },
  SUSPENDED: { basic: 'SUSPENDED', isHealthy: true, isOfFirstRun: false },
  STOPPING: { basic: 'STOPPING', isHealthy: true, isOfFirstRun: false },
  UNHEALTHY_SUPERVISOR: { basic: 'UNHEALTHY_SUPERVISOR', isHealthy: false, isOfFirstRun: false },
  UNHEALTHY_TASKS: { basic: 'UNHEALTHY_TASKS', isHealthy: false, isOfFirstRun: false },
  CONNECTING_TO_STREAM: { basic: 'RUNNING', isHealthy: true, isOfFirstRun: true },
  DISCOVERING_INITIAL_TASKS: { basic: 'RUNNING', isHealthy: true, isOfFirstRun: true },
  CREATING_TASKS: { basic: 'RUNNING', isHealthy: true, isOfFirstRun: true },
  UNABLE_TO_CONNECT_TO_STREAM: { basic: 'UNHEALTHY_SUPERVISOR', isHealthy: false, isOfFirstRun: true },
  LOST_CONTACT_WITH_STREAM: { basic: 'UNHEALTHY_SUPERVISOR', isHealthy: false, isOfFirstRun: false },
};

/** Runs or tasks in a row that lead to an unhealthy state, and out of it. */
const THRESHOLD = 3;
const ERRORS_KEPT = 30;

export interface RecentError {
  readonly timeMs: EpochMs;
  readonly code: string;
  readonly message: string;
  readonly isOfStream: boolean;
}

export class SupervisorState {
  readonly #now: () => EpochMs;
  /** State of a supervisor with nothing wrong. */
  readonly #steady: 'RUNNING' | 'SUSPENDED';
  #state: DetailedState = 'PENDING';
  #hasRun = false;
  #errors: RecentError[] = [];
  /** Errors of the run under way. */
  #runErrors = 0;
  #runStreamErrors = 0;
  readonly #runs = { failed: 0, succeeded: 0, wereBad: false, ofStream: 0 };
  readonly #tasks = { failed: 0, succeeded: 0, wereBad: false };

  constructor(suspended: boolean, now: () => EpochMs) {
    this.#steady = suspended ? 'SUSPENDED' : 'RUNNING';
    this.#now = now;
  }

  get detailed(): DetailedState {
    return this.#state;
  }

  get basic(): BasicState {
    return TRAITS[this.#state].basic;
  }

  get isHealthy(): boolean {
    return TRAITS[this.#state].isHealthy;
  }

  get isIdle(): boolean {
    return this.#state === 'IDLE';
  }

  /** Whether a run has succeeded. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /** Newest last. */
  get errors(): readonly RecentError[] {
    return this.#errors;
  }

  /** Moves to a state, unless a state that matters more holds. */
  propose(state: DetailedState): void {
    if (this.#state === 'STOPPING' || state === 'STOPPING') {
      this.#state = 'STOPPING';
      return;
    }
    if (this.#runs.failed >= THRESHOLD) {
      this.#runs.wereBad = true;
      const ofStream = this.#runs.ofStream >= THRESHOLD;
      this.#state = !ofStream ? 'UNHEALTHY_SUPERVISOR' : this.#hasRun ? 'LOST_CONTACT_WITH_STREAM' : 'UNABLE_TO_CONNECT_TO_STREAM';
      return;
    }
    if (this.#tasks.failed >= THRESHOLD) {
      this.#tasks.wereBad = true;
      this.#state = 'UNHEALTHY_TASKS';
      return;
    }
    const isRecovering =
      (this.#runs.wereBad && this.#runs.succeeded < THRESHOLD) || (this.#tasks.wereBad && this.#tasks.succeeded < THRESHOLD);
    if (!this.isHealthy && isRecovering) return;
    if (state === this.#steady && !this.#hasRun) return;
    if (!TRAITS[state].isOfFirstRun || !this.#hasRun) this.#state = state;
  }

  /** Counts an error against the run under way. */
  note(error: unknown, isOfStream = false): void {
    const { code, message } = toServiceError(error);
    this.#errors = [...this.#errors, { timeMs: this.#now(), code, message, isOfStream }].slice(-ERRORS_KEPT);
    this.#runErrors++;
    if (isOfStream) this.#runStreamErrors++;
  }

  /** Counts a task that has ended. */
  taskEnded(succeeded: boolean): void {
    this.#tasks.failed = succeeded ? 0 : this.#tasks.failed + 1;
    this.#tasks.succeeded = succeeded ? this.#tasks.succeeded + 1 : 0;
  }

  runEnded(): void {
    const succeeded = this.#runErrors === 0;
    this.#hasRun ||= succeeded;
    this.#runs.failed = succeeded ? 0 : this.#runs.failed + 1;
    this.#runs.succeeded = succeeded ? this.#runs.succeeded + 1 : 0;
    this.#runs.ofStream = !succeeded && this.#runStreamErrors === this.#runErrors ? this.#runs.ofStream + 1 : 0;
    this.#runErrors = 0;
    this.#runStreamErrors = 0;
    if (!this.isIdle) this.propose(this.#steady);
  }
}
