// Tells the Overlord how a task ended.

import { ServiceError } from '../../base/errors.js';
import { unsentReport } from '../../ingestion/report/unsent-report.js';
import type { OverlordService, TaskEndReport } from '../rpc/services.js';

/**
 * Tells the Overlord how a task ended. In place of a report that is too large for a request, which it stays however often it is sent, goes
 * one that says so, and the task fails: who asked for it would miss what it was to tell. One that has published succeeded all the
 * same (`endRun`).
 */
export async function tellEnd(overlord: Pick<OverlordService, 'taskEnded'>, end: TaskEndReport): Promise<void> {
  try {
    await overlord.taskEnded(end);
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'body_too_large')) throw error;
    const unsent = `the report of the task is too large to be sent: ${error.message}`;
    const errorMessage = end.errorMessage === null ? unsent : `${end.errorMessage}; ${unsent}`;
    await overlord.taskEnded({ ...end, succeeded: false, errorMessage, report: unsentReport(end.taskId, end.report ?? {}, errorMessage) });
  }
}
