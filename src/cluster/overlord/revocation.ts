// Takes locks from tasks for one of higher priority.

import type { EpochMs } from '../../base/instant.js';
import type { Queries } from '../../metadata/database.js';
import { type LockRequest, locksInTheWay } from '../../metadata/locks.js';
import { findPublication } from '../../metadata/publish.js';
import { findTask, type TaskRecord } from '../../metadata/tasks.js';
import { KILL_TASK } from './kill-task.js';
import { endWithin } from './recovery.js';

/**
 * Ends the tasks that stand in the way of a lock, in the caller's transaction: all of them, if each has a lower priority and has
 * published nothing, else none. Kill tasks are waited for: their files may be half gone.
 * @returns the tasks that were ended; none: the request has to wait
 */
export async function revokeLocks(
  queries: Queries,
  request: LockRequest,
  priority: number,
  nowMs: EpochMs,
): Promise<readonly TaskRecord[]> {
  const inTheWay = await locksInTheWay(queries, request);
  const tasks: TaskRecord[] = [];
  for (const taskId of new Set(inTheWay.map((lock) => lock.taskId))) {
    const task = await findTask(queries, taskId);
    const isRevocable = task !== undefined && task.priority < priority && task.type !== KILL_TASK;
    if (!isRevocable || (await findPublication(queries, taskId)) !== undefined) return [];
    tasks.push(task);
  }
  for (const task of tasks) {
    const error = `its lock was taken for the task ${request.taskId}, whose priority is ${priority}, above ${task.priority}; nothing of it was published`;
    await endWithin(queries, task.id, { succeeded: false, error, report: null }, nowMs);
  }
  return tasks;
}
