// Streams the rows of a scan from a thread, or leaves them in kernel memory.

import { ServiceError } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import type { ScanPlan } from '../../model/plan.js';
import type { RunContext } from '../block/context.js';
import { ownNow } from '../block/own-time.js';
import type { RowCounts } from '../block/row-counts.js';
import type { SegmentData } from '../block/segment-data.js';
import type { BuildSide } from '../join/build-side.js';
import { type ScannedRows, uploadScan } from '../join/upload-scan.js';
import { type Builds, hasStages, scanPieces, stagedPieces } from '../join/with-stages.js';
import { NO_EMPTY_VALUES } from '../post/leaf-result.js';
import { StreamedSteps } from '../post/stream.js';
import { scanRows } from '../scan/operator.js';
import { inSegmentOrder } from '../scan/order.js';
import { answered, counted, resultFrames, type Stream, timed } from './stream-items.js';
import type { RunControl } from './thread-context.js';

export interface ScanRequest {
  readonly control: RunControl;
  readonly plan: ScanPlan;
  readonly data: SegmentData;
  readonly builds: Builds;
  readonly ending: 'final' | 'partial';
}

export function* scanStream({ control, plan, data, builds, ending }: ScanRequest, context: RunContext, counts: RowCounts): Stream {
  const { views } = data;
  const upload = ending === 'final' ? plan.upload : undefined;
  if (upload !== undefined) {
    const startMs = ownNow();
    const pieces = hasStages(plan) ? stagedPieces(context, plan, views, builds) : inSegmentOrder(views);
    const built = uploadedScan(plan, { views, dictionaries: data.dictionaries, builds, pieces }, context, counts);
    counts.readMs += ownNow() - startMs;
    if (built !== undefined || upload.orNothing === true) {
      yield { frame: null, isLast: true, counts, ...(built === undefined ? {} : { built }) };
      return;
    }
  }
  const steps = new StreamedSteps(
    ending === 'final' ? plan.post : [],
    { intervals: plan.intervals, emptyValues: NO_EMPTY_VALUES, check: context.check, context },
    {
      heldRowsMax: control.heldRowsMax,
      spill: context.spill,
    },
  );
  const rows = hasStages(plan)
    ? scanPieces(plan, stagedPieces(context, plan, views, builds), context, ending, counts)
    : scanRows(plan, data, context, ending, counts, steps.holdsRows);
  // With the last row that is wanted the reader is told that nothing follows, and need not ask once more.
  const rowsMax = plan.limit === null ? Infinity : plan.limit + (ending === 'partial' ? plan.offset : 0);
  const last: Frame[] = [];
  try {
    for (const piece of timed(rows, counts, 'readMs')) {
      counts.rowsToFinish += piece.rowCount;
      for (const each of timed(steps.push(piece), counts, 'finishMs')) {
        counts.rowsFinished += each.rowCount;
        if (counts.rowsToFinish >= rowsMax || upload !== undefined) last.push(each);
        else yield { frame: each, isLast: false, counts };
      }
    }
    const ended = steps.endAs((table) => resultFrames({ plan, ending }, table, context.check));
    yield* answered(counted(last, timed(ended, counts, 'finishMs'), counts), { plan, ending }, context, counts);
  } finally {
    steps.close();
  }
}

/** The rows in kernel memory; undefined: they cannot lie there, and come as frames. */
export function uploadedScan(plan: ScanPlan, rows: ScannedRows, context: RunContext, counts: RowCounts): BuildSide | undefined {
  const { upload } = plan;
  if (upload === undefined) return undefined;
  try {
    return uploadScan(plan, upload, rows, context, counts);
  } catch (error) {
    if (upload.orFrames && error instanceof ServiceError && error.code === 'resource_limit') return undefined;
    throw error;
  }
}
