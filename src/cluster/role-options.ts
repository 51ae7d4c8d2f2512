// Options that roles have in common.

import type { Clock } from '../base/clock/clock.js';

/** Options that every role takes in addition to its own. */
export interface RoleOptions {
  readonly now: () => number;
  /** Clock of its timers; default: that of the machine. */
  readonly clock?: Clock;
  readonly log: (line: string) => void;
}

/** Age up to which finished tasks and their logs are kept, and the times of removals. */
export interface OldTasksSettings {
  readonly retainMs: number;
  readonly initialDelayMs: number;
  readonly delayMs: number;
}
