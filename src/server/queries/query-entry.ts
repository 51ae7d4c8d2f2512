// Options of query requests.

import type { EpochMs } from '../../base/instant.js';
import type { QueryScheduler } from '../../cluster/broker/query-scheduler.js';
import type { QueryRights } from '../access/query-rights.js';
import type { PlanThread } from '../planning/plan-thread.js';
import type { QueryLog } from './query-log.js';

/** Options shared by native and SQL query requests. */
export interface QueryEntryOptions {
  now(): EpochMs;
  /** Id for a query that names none. */
  newQueryId(): string;
  /** Timeout of a query whose context names none. */
  readonly defaultTimeoutMs: number;
  /** The longest a context may ask for, and what `timeout: 0` gets. */
  readonly maxTimeoutMs: number;
  readonly log: QueryLog;
  readonly scheduler: QueryScheduler;
  /** Rights that queries take beside those to what they read; left out: none. */
  readonly rights?: QueryRights;
  /** Reads and plans what is long. */
  readonly planThread: PlanThread;
}
