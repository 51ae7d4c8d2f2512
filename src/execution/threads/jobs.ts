// Jobs that processing threads run: grouping, scanning, merging, uploading.

import { extended } from '../../base/names.js';
import type { Frame } from '../../model/frame.js';
import type { GroupPlan, RowPlan, ScanPlan, TimeBoundaryPlan } from '../../model/plan.js';
import type { BuildRequest } from '../../model/upload.js';
import { lookUp } from '../../storage/jobs/look-up.js';
import { STORAGE_JOBS, type StorageJobs } from '../../storage/jobs.js';
import { type UploadedFrame, uploadFrame } from '../../storage/uploaded-frame.js';
import { concatFrames } from '../block/concat-frames.js';
import type { RunContext } from '../block/context.js';
import { ownNow } from '../block/own-time.js';
import { framesOf } from '../block/result-table.js';
import { noCounts } from '../block/row-counts.js';
import type { SegmentData } from '../block/segment-data.js';
import { endGroups, layoutOf } from '../group/operator.js';
import { type Morsel, runMorsels } from '../group/run.js';
import { mergePlan } from '../group/table/partial.js';
import { uploadBuildSide } from '../join/build-side.js';
import { type PipelineOptions, RowPipeline } from '../join/row-pipeline.js';
import { type Builds, boundaryOfPieces, hasStages, stagedPieces } from '../join/with-stages.js';
import { type LeafResult, NO_EMPTY_VALUES } from '../post/leaf-result.js';
import { runSteps } from '../post/steps.js';
import { StreamedSteps } from '../post/stream.js';
import { timeBoundary } from '../scan/time-boundary.js';
import { type GroupCalls, groupBest, groupColumns, groupPart, groupStream, type LastRequest } from './group-stream.js';
import { type ScanRequest, scanStream } from './scan-stream.js';
import { answered, counted, items, nextFrame, type Stream, timed } from './stream-items.js';
import type { RunControl, ThreadContext } from './thread-context.js';

/** Requests to a thread that are answered once. */
export interface Calls extends StorageJobs, GroupCalls {}

/** Requests to a thread that are answered frame by frame. */
export interface Streams {
  readonly group: LastRequest;
  readonly scan: ScanRequest;
  readonly timeBoundary: {
    readonly control: RunControl;
    readonly plan: TimeBoundaryPlan;
    readonly data: SegmentData;
    readonly builds: Builds;
    readonly ending: 'final' | 'partial';
  };
  /** Partial results come as input. */
  readonly mergeGroups: {
    readonly control: RunControl;
    readonly plan: GroupPlan;
    readonly ending: 'final' | 'partial';
  };
  /** Post-processing steps over rows that come as input. */
  readonly finishScan: { readonly control: RunControl; readonly plan: ScanPlan };
  readonly rows: RowsRequest;
  /** Rows of a build side come as input. */
  readonly build: { readonly control: RunControl; readonly side: BuildRequest };
}

/** Rows come as input, and the result as soon as it is known. */
interface RowsRequest extends Omit<PipelineOptions, 'heldRowsMax'> {
  readonly control: RunControl;
}

type CallHandlers = { readonly [Name in keyof Calls]: (request: Calls[Name]['request'], thread: ThreadContext) => Calls[Name]['response'] };

/** Every call by name: storage's jobs and our own. */
export const CALLS: CallHandlers = {
  verifySegment: (request, thread) => STORAGE_JOBS.verifySegment(request, thread.memory, thread.kernels()),
  loadColumn: (request, thread) => STORAGE_JOBS.loadColumn(request, thread.memory, thread.kernels()),
  internDictionary: (request, thread) => STORAGE_JOBS.internDictionary(request, thread.memory, thread.kernels()),
  combineColumn: (request, thread) => STORAGE_JOBS.combineColumn(request, thread.memory, thread.kernels()),
  lookUp: (request, thread) => lookUp(request, thread.memory, thread.kernels()),
  findRows: (request, thread) => STORAGE_JOBS.findRows(request, thread.memory, thread.kernels()),
  findStrings: (request, thread) => STORAGE_JOBS.findStrings(request, thread.memory, thread.kernels()),
  groupPart,
  groupBest,
  groupColumns,
};

export const STREAMS: { readonly [Name in keyof Streams]: (request: Streams[Name], thread: ThreadContext) => Stream } = {
  group: (request, thread) => groupStream(request, thread),
  scan: (request, thread) => {
    const counts = noCounts();
    return scanStream(request, thread.context(request.control, counts), counts);
  },
  *timeBoundary({ control, plan, data: { views }, builds, ending }, thread) {
    const counts = noCounts();
    const startMs = ownNow();
    const context = thread.context(control, counts);
    const rows = hasStages(plan)
      ? boundaryOfPieces(plan, stagedPieces(context, plan, views, builds), context, counts)
      : timeBoundary(plan, views, context, counts);
    counts.readMs += ownNow() - startMs;
    const finished = ending === 'final' ? runSteps(rows, plan.post, leafOf(plan, context)) : rows;
    yield* answered([...framesOf(finished, context.check)], { plan, ending }, context, counts);
  },
  *mergeGroups({ control, plan, ending }, thread) {
    const counts = noCounts();
    const context = thread.context(control, counts);
    const placed: UploadedFrame[] = [];
    let chunk: Frame[] = [];
    let rows = 0;
    const place = (): void => {
      context.check();
      placed.push(uploadFrame(concatFrames(chunk, context.check), context.memory, context.kernels));
      [chunk, rows] = [[], 0];
    };
    try {
      for (let frame = yield* nextFrame(counts); frame !== null; frame = yield* nextFrame(counts)) {
        chunk.push(frame);
        rows += frame.rowCount;
        if (rows >= control.batchRows * BLOCKS_PER_CHUNK) place();
      }
      if (rows > 0 || placed.length === 0) place();
      const views = placed.map(({ view }) => view);
      const layout = layoutOf({ plan: mergePlan(plan), views, dictionaries: {} }, context, control.groupBytesMax);
      const morsels = views.map((view, index): Morsel => ({ view: index, start: 0, end: view.rowCount })).reverse();
      const table = runMorsels(layout, context, () => morsels.pop(), counts);
      yield* items(endGroups(table, [], ending, control.heldRowsMax, counts, framesOf), counts);
    } finally {
      for (const each of placed) each.release();
    }
  },
  *finishScan({ control, plan }, thread) {
    const counts = noCounts();
    const context = thread.context(control, counts);
    const steps = new StreamedSteps(plan.post, leafOf(plan, context), { heldRowsMax: control.heldRowsMax, spill: context.spill });
    try {
      while (!steps.isFull) {
        const frame = yield* nextFrame(counts);
        if (frame === null) break;
        context.check();
        counts.rowsScanned += frame.rowCount;
        counts.rowsToFinish += frame.rowCount;
        for (const each of timed(steps.push(frame), counts, 'finishMs')) {
          counts.rowsFinished += each.rowCount;
          yield { frame: each, isLast: false, counts };
        }
      }
      yield* items(counted([], timed(steps.end(), counts, 'finishMs'), counts), counts);
    } finally {
      steps.close();
    }
  },
  *rows({ control, ...options }, thread) {
    const counts = noCounts();
    const early: Frame[] = [];
    const context = thread.context(control, counts);
    const pipeline = new RowPipeline(extended(options, { heldRowsMax: control.heldRowsMax }), context, counts);
    try {
      while (!pipeline.isDone) {
        const given = yield* nextFrame(counts);
        if (given === null) break;
        for (const frame of timed(pipeline.add(given), counts, 'readMs')) {
          if (options.plan.upload === undefined) yield { frame, isLast: false, counts };
          else early.push(frame);
        }
      }
      yield* answered(counted(early, pipeline.end(), noCounts()), { plan: options.plan, ending: 'final' }, context, counts);
    } finally {
      pipeline.close();
    }
  },
  *build({ control, side }, thread) {
    const counts = noCounts();
    const context = thread.context(control, counts);
    const frames: Frame[] = [];
    for (let frame = yield* nextFrame(counts); frame !== null; frame = yield* nextFrame(counts)) frames.push(frame);
    yield { frame: null, isLast: true, counts, built: uploadBuildSide(context, concatFrames(frames, context.check), side) };
  },
};

function leafOf({ intervals }: RowPlan, context: RunContext): LeafResult {
  return { intervals, emptyValues: NO_EMPTY_VALUES, check: context.check, context };
}

/** Rows of partial results are uploaded so many blocks at a time, with a look at the query between. */
const BLOCKS_PER_CHUNK = 4;
