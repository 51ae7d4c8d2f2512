// The report in the place of one that cannot be sent.

import { structuredFault } from '../sql/query-fault.js';

/** A report of the same kind that tells only why the other one is not there. */
export function unsentReport(
  taskId: string,
  report: Readonly<Record<string, unknown>>,
  errorMessage: string,
): Readonly<Record<string, unknown>> {
  if ('multiStageQuery' in report) {
    const error = { ...structuredFault('body_too_large'), errorMessage };
    const status = { status: 'FAILED', errorReport: { taskId, host: null, stageNumber: null, error } };
    return { multiStageQuery: { type: 'multiStageQuery', taskId, payload: { status, stages: [], counters: {} } } };
  }
  const type = 'ingestionStatsAndErrors';
  return { [type]: { taskId, type, payload: { ingestionState: 'COMPLETED', errorMsg: errorMessage } } };
}
