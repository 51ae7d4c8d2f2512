// Looks at a task: its record, its documents, and its report while it runs.

import { ServiceError } from '../../base/errors.js';
import { isRecord } from '../../base/json.js';
import { LIVE_REPORTS } from '../../ingestion/sql/controller.js';
import type { Database } from '../../metadata/database.js';
import { findTask, selectTasks, type TaskRecord, taskDocuments } from '../../metadata/tasks.js';
import type { MiddleManagerService, TaskWithDocuments } from '../rpc/services.js';

export const ACTIVE_STATES = ['WAITING', 'PENDING', 'RUNNING'] as const;
export const FINISHED_STATES = ['SUCCESS', 'FAILED'] as const;
/** Finished tasks that are listed where nobody says how many. */
export const FINISHED_LISTED_MAX = 10_000;

/** The active tasks, then the newest of the finished ones; of those, with `dataSources`, only these; null: all. */
export async function newestTasks(database: Database, dataSources: readonly string[] | null): Promise<readonly TaskRecord[]> {
  const active = await selectTasks(database, { states: ACTIVE_STATES });
  if (dataSources?.length === 0) return active;
  const of = dataSources === null ? {} : { dataSources };
  return [...active, ...(await selectTasks(database, { states: FINISHED_STATES, newest: FINISHED_LISTED_MAX, ...of }))];
}

/** Task types that answer requests for their report. */
const TELLING = 'query_controller';

export async function taskWithDocuments(database: Database, taskId: string): Promise<TaskWithDocuments | null> {
  const task = await findTask(database, taskId);
  const documents = await taskDocuments(database, taskId);
  return task === undefined || documents === undefined ? null : { task, ...documents };
}

/**
 * The report so far of a statement that runs; null while there is none, and for other tasks.
 * @param workerOf  the worker process that runs a task, while it is there
 */
export async function liveReport(
  database: Database,
  taskId: string,
  workerOf: (task: TaskRecord) => Pick<MiddleManagerService, 'chat'> | undefined,
): Promise<Readonly<Record<string, unknown>> | null> {
  const task = await findTask(database, taskId);
  if (task?.type !== TELLING || task.state !== 'RUNNING') return null;
  try {
    const report = await workerOf(task)?.chat(taskId, { method: 'GET', path: [LIVE_REPORTS], query: new Map(), body: '' });
    return isRecord(report) ? report : null;
  } catch (error) {
    // It has not begun yet, has just ended, or its worker is gone.
    if (error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'not_found')) return null;
    throw error;
  }
}
