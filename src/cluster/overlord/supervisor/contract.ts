// Everything that a supervisor uses of the Overlord.

import type { EpochMs } from '../../../base/instant.js';
import type { StreamReader } from '../../../ingestion/stream/stream-reader.js';
import type { StreamSource } from '../../../ingestion/stream/stream-source.js';
import type { Database } from '../../../metadata/database.js';
import type { Fence } from '../../../metadata/leadership.js';
import type { TaskRecord } from '../../../metadata/tasks.js';
import type { MiddleManagerService } from '../../rpc/services.js';

export interface SupervisorHost {
  readonly database: Database;
  /** @throws ServiceError `not_leader` */
  fence(): Fence;
  /** Queues a task, JSON. */
  submit(document: string): Promise<{ readonly taskId: string }>;
  shutdownTask(taskId: string, reason: string): Promise<void>;
  /** The worker process that runs the task, while it is there. */
  workerOf(task: TaskRecord): Pick<MiddleManagerService, 'chat'> | undefined;
  openReader(source: StreamSource): Promise<StreamReader>;
  now(): EpochMs;
  log(line: string): void;
}
