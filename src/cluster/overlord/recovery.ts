// Ends tasks: releases their locks, and decides what becomes of those whose worker is gone.

import type { EpochMs } from '../../base/instant.js';
import { stringifyJson } from '../../base/json.js';
import { failpoint } from '../../configuration/failpoint.js';
import { isStreamTaskType } from '../../ingestion/stream/stream-task.js';
import type { Database, Queries } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { releaseLocks } from '../../metadata/locks.js';
import { findPublication } from '../../metadata/publish.js';
import { countLoss, findTask, finishTask, moveTask, type TaskEnd, type TaskRecord } from '../../metadata/tasks.js';

/** Ends a task and gives its locks back, in one transaction; false when it had ended before. */
export async function endTask(database: Database, fence: Fence, taskId: string, end: TaskEnd, nowMs: EpochMs): Promise<boolean> {
  return fencedTransaction(database, fence, (queries) => endWithin(queries, taskId, end, nowMs));
}

/** Ends a task and gives its locks back, in the caller's transaction; false when it had ended before. */
export async function endWithin(queries: Queries, taskId: string, end: TaskEnd, nowMs: EpochMs): Promise<boolean> {
  await releaseLocks(queries, taskId);
  return finishTask(queries, taskId, end, nowMs);
}

/** Ends a task as its worker tells. One that has published succeeded, also where it could not say so: its rows are there. */
export async function endRun(
  database: Database,
  fence: Fence,
  taskId: string,
  end: TaskEnd,
  nowMs: EpochMs,
): Promise<'succeeded' | 'failed' | 'unchanged'> {
  const ended = await fencedTransaction(database, fence, async (queries) => {
    const isPublished = !end.succeeded && (await endPublished(queries, taskId, end.error ?? 'it failed', nowMs));
    const isEnded = isPublished || (await endWithin(queries, taskId, end, nowMs));
    failpoint('end.beforeCommit');
    if (!isEnded) return 'unchanged';
    return isPublished || end.succeeded ? 'succeeded' : 'failed';
  });
  failpoint('end.committed');
  return ended;
}

/** Fate of a task that its worker does not run any more. */
export type Recovery = 'succeeded' | 'queued' | 'failed' | 'unchanged';

export interface RecoveryRule {
  /** The worker was lost, rather than that it gave the task back. */
  readonly isLoss: boolean;
  /** Runs of a task that may be lost before it fails. */
  readonly lossesMax: number;
}

/**
 * Decides what becomes of a running task that its worker does not run any more. A streaming task ends, for its supervisor has others read
 * on. What it published is published, so a
 * task that got that far succeeded even though nobody could say so: to run it again would store its rows twice. Any
 * other is queued again with its locks, and runs from its beginning, unless it has lost too many workers: it may be
 * what ends them.
 */
export async function recoverTask(
  database: Database,
  fence: Fence,
  task: TaskRecord,
  { isLoss, lossesMax }: RecoveryRule,
  nowMs: EpochMs,
): Promise<Recovery> {
  return fencedTransaction(database, fence, async (queries) => {
    if (!isRunOf(await findTask(queries, task.id), { session: task.workerSession, attempt: task.attempts })) return 'unchanged';
    const lost = `the worker ${task.workerHost ?? '(none)'} that ran the task is gone`;
    if (await endPublished(queries, task.id, lost, nowMs)) return 'succeeded';
    if (isStreamTaskType(task.type)) {
      const error = `${lost}; its supervisor reads on from what is published`;
      await endWithin(queries, task.id, { succeeded: false, error, report: null }, nowMs);
      return 'failed';
    }
    const losses = isLoss ? await countLoss(queries, task.id) : 0;
    if (losses >= lossesMax) {
      const error = `${lost}, and so were ${losses - 1} before it; nothing of it was published (svc.indexer.runner.taskLossesMax)`;
      await endWithin(queries, task.id, { succeeded: false, error, report: null }, nowMs);
      return 'failed';
    }
    await moveTask(queries, task.id, 'RUNNING', 'PENDING');
    return 'queued';
  });
}

/** Whether a task runs, and this is the run that counts: others may be left of workers that were taken for gone. */
export function isRunOf(
  task: TaskRecord | undefined,
  { session, attempt }: { readonly session: string | null; readonly attempt: number },
): boolean {
  return task?.state === 'RUNNING' && task.workerSession === session && task.attempts === attempt;
}

/** Ends a task that has published as one that succeeded, in the caller's transaction; false when it has not. */
export async function endPublished(queries: Queries, taskId: string, lost: string, nowMs: EpochMs): Promise<boolean> {
  const published = await findPublication(queries, taskId);
  if (published === undefined) return false;
  const report = stringifyJson(reportOfLost(taskId, `${lost} after publishing ${published.ids.length} segments`));
  await endWithin(queries, taskId, { succeeded: true, error: null, report }, nowMs);
  return true;
}

function reportOfLost(taskId: string, errorMsg: string): Readonly<Record<string, unknown>> {
  const payload = { ingestionState: 'COMPLETED', errorMsg };
  return { ingestionStatsAndErrors: { taskId, type: 'ingestionStatsAndErrors', payload } };
}
