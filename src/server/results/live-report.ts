// Report of a running task.

import { formatInstant } from '../../base/time.js';
import type { TaskProgress } from '../../ingestion/contract.js';
import { paceOf } from '../../ingestion/report/pace.js';

/**
 * The report of a batch task that is still running: the counts so far in the places of the final report,
 * and beside them how far it is, which the final report no longer has.
 */
export function liveReport(taskId: string, progress: TaskProgress): Readonly<Record<string, unknown>> {
  const { phase, bytesRead, bytesTotal, processed, processedWithError, thrownAway, unparseable } = progress;
  const { rowsRead, rowsPerSecond, percent, expectedEndMs } = paceOf(progress);
  return {
    ingestionStatsAndErrors: {
      type: 'ingestionStatsAndErrors',
      taskId,
      payload: {
        ingestionState: phase === 'determining_partitions' ? 'DETERMINE_PARTITIONS' : 'BUILD_SEGMENTS',
        unparseableEvents: {},
        rowStats: { buildSegments: { processed, processedWithError, thrownAway, unparseable, processedBytes: bytesRead } },
        errorMsg: null,
        progress: {
          phase,
          bytesRead,
          bytesTotal,
          rowsRead,
          rowsPerSecond,
          percent,
          expectedEnd: expectedEndMs === null ? null : formatInstant(expectedEndMs),
        },
      },
    },
  };
}
