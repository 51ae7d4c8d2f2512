// Ends tasks: releases their locks, and decides what became of those whose worker is gone.

import type { EpochMs } from '../../base/instant.js';
import type { Database } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { releaseLocks } from '../../metadata/locks.js';
import { findPublication } from '../../metadata/publish.js';
import { finishTask, type TaskEnd, type TaskRecord } from '../../metadata/tasks.js';

/** Ends a task and gives its locks back, in one transaction; false when it had ended before. */
export async function endTask(database: Database, fence: Fence, taskId: string, end: TaskEnd, nowMs: EpochMs): Promise<boolean> {
  return fencedTransaction(database, fence, async (queries) => {
    await releaseLocks(queries, taskId);
    return finishTask(queries, taskId, end, nowMs);
  });
}

/**
 * Ends a running task whose worker is gone. What it published is published, so a task that got that far succeeded even
 * though nobody could say so any more: a client that tried it again would store its rows twice.
 */
export async function endLostTask(database: Database, fence: Fence, task: TaskRecord, nowMs: EpochMs): Promise<void> {
  const published = await findPublication(database, task.id);
  const lost = `the worker ${task.workerHost ?? '(none)'} that ran the task is gone`;
  const end: TaskEnd =
    published === undefined
      ? { succeeded: false, error: `${lost}; nothing of it was published`, report: null }
      : {
          succeeded: true,
          error: null,
          report: JSON.stringify({
            ingestionStatsAndErrors: {
              taskId: task.id,
              type: 'ingestionStatsAndErrors',
              payload: { ingestionState: 'COMPLETED', errorMsg: `${lost} after publishing ${published.ids.length} segments` },
            },
          }),
        };
  await endTask(database, fence, task.id, end, nowMs);
}
