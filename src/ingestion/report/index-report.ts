// Report of a batch task.

import { formatInstant } from '../../base/time.js';
import { type Availability, NOT_AWAITED } from './publication.js';
import type { RowStatistics } from './row-statistics.js';

/** The public `ingestionStatsAndErrors` report of a batch task. */
export function indexReport(
  taskId: string,
  statistics: RowStatistics,
  ingestionState: 'DETERMINE_PARTITIONS' | 'BUILD_SEGMENTS' | 'COMPLETED',
  errorMsg: string | null,
  segmentsPublished: number,
  { segmentsRead = null, availability = NOT_AWAITED }: { readonly segmentsRead?: number | null; readonly availability?: Availability } = {},
): Readonly<Record<string, unknown>> {
  return {
    ingestionStatsAndErrors: {
      type: 'ingestionStatsAndErrors',
      taskId,
      payload: {
        ingestionState,
        unparseableEvents: { determinePartitions: [], buildSegments: savedEvents(statistics) },
        rowStats: { determinePartitions: emptyCounts(), buildSegments: { ...statistics.counts(), processedBytes: statistics.bytesRead } },
        rows: statistics.balance(),
        errorMsg,
        segmentAvailabilityConfirmed: availability.isConfirmed,
        segmentAvailabilityWaitTimeMs: availability.waitMs,
        recordsProcessed: null,
        segmentsRead,
        segmentsPublished,
      },
    },
  };
}

/** Parse exceptions as reports show them. */
export function savedEvents({ saved }: RowStatistics): readonly unknown[] {
  return saved.map(({ type, input, details, place, timeOfExceptionMs }) => ({
    type,
    input,
    details,
    ...(place ?? {}),
    timeOfException: formatInstant(timeOfExceptionMs),
  }));
}

function emptyCounts(): Readonly<Record<string, number>> {
  return { processed: 0, processedBytes: 0, processedWithError: 0, thrownAway: 0, unparseable: 0 };
}
