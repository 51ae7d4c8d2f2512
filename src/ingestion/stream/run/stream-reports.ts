// Answers requests for the live report of a streaming task.

import { ServiceError } from '../../../base/errors.js';
import type { ChatHandler } from '../../contract.js';
import { indexReport } from '../../report/index-report.js';
import type { StreamRun } from './stream-run.js';

/** The paths beside those of its control. */
export function streamReports({ statistics, progress }: Pick<StreamRun, 'statistics' | 'progress'>, taskId: string): ChatHandler {
  return async ({ method, path }) => {
    const name = path.join('/');
    if (method !== 'GET') throw new ServiceError('method_not_allowed', `${name} of a streaming task answers GET only`);
    if (name !== 'liveReports') throw new ServiceError('not_found', `a streaming task has no path ${name}`);
    return indexReport(taskId, statistics, progress.indexPhase, null, 0);
  };
}
