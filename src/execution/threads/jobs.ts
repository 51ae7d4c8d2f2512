// Jobs that processing threads run: grouping, scanning, merging, uploading.

import { threadId } from 'node:worker_threads';
import { ServiceError } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import type { KernelSet } from '../../kernels/contract.js';
import { ACCOUNT_BYTES, type KernelMemory, type MemoryAccount } from '../../kernels/memory.js';
import type { KernelSets } from '../../kernels/registry.js';
import type { Frame } from '../../model/frame.js';
import type { GroupPlan, RowPlan, ScanPlan, TimeBoundaryPlan } from '../../model/plan.js';
import type { RunLimits } from '../../model/run-limits.js';
import type { BuildRequest } from '../../model/upload.js';
import type { SegmentFrame } from '../../storage/columns/packed-column.js';
import { lookUp } from '../../storage/jobs/look-up.js';
import { STORAGE_JOBS, type StorageJobs } from '../../storage/jobs.js';
import { type UploadedFrame, uploadFrame } from '../../storage/uploaded-frame.js';
import { concatFrames } from '../block/concat-frames.js';
import { cancelledError, type RunContext } from '../block/context.js';
import { KernelTimes } from '../block/kernel-times.js';
import { giveAway, ownNow } from '../block/own-time.js';
import { framesOf, type ResultTable } from '../block/result-table.js';
import { type ComputedValues, noCounts, type RowCounts } from '../block/row-counts.js';
import type { SegmentData } from '../block/segment-data.js';
import type { GroupLayout } from '../group/key/layout.js';
import { bestOfTables, endGroups, endReduced, endsInBest, isReduced, layoutOf } from '../group/operator.js';
import { type Morsel, type MorselCut, runMorsels } from '../group/run.js';
import { divideAtEnd, divideOrFree } from '../group/table/divided.js';
import type { GroupTableParts } from '../group/table/group-parts.js';
import type { GroupTable } from '../group/table/group-table.js';
import { mergePlan } from '../group/table/partial.js';
import { uploadBuildSide } from '../join/build-side.js';
import { type PipelineOptions, RowPipeline } from '../join/row-pipeline.js';
import { uploadScan } from '../join/upload-scan.js';
import { type Builds, boundaryOfPieces, hasStages, runStagedMorsels, scanPieces, stagedLayout, stagedPieces } from '../join/with-stages.js';
import { type LeafResult, NO_EMPTY_VALUES } from '../post/leaf-result.js';
import type { BestRows } from '../post/parts.js';
import { runSteps } from '../post/steps.js';
import { StreamedSteps } from '../post/stream.js';
import { scanRows } from '../scan/operator.js';
import { inSegmentOrder } from '../scan/order.js';
import { timeBoundary } from '../scan/time-boundary.js';
import { type SpillPlace, SpillSpace } from '../spill/spill-space.js';
import { morselTaker, partTaker } from './dealing.js';
import { answered, counted, items, nextFrame, resultFrames, type Stream, type StreamItem, timed } from './stream-items.js';

/** Settings of a query's run on a thread; plain data. */
export interface RunControl {
  /** i32 words in kernel memory: 1 once cancelled; number of the next morsel to take; KiB spilled to disk. */
  readonly flags: Address;
  readonly deadlineMs: number;
  readonly kernels: string;
  readonly batchRows: number;
  readonly groupBytesMax: number;
  /** Disk space for spilled group tables; null for none. */
  readonly spill: SpillPlace | null;
  /** Rows that a sort of scanned rows may hold. */
  readonly heldRowsMax: number;
  /** Work of a higher one goes first, between any two blocks. */
  readonly priority: number;
  /** About how many rows the run reads: small work goes before large work that has not waited much longer. */
  readonly rows: number;
  readonly limits: RunLimits;
  /** Account of everything that the query allocates. */
  readonly account: MemoryAccount;
}

/** Size of the flags and the account's words after them. */
export const FLAG_BYTES = 16 + ACCOUNT_BYTES;
export const ACCOUNT_OFFSET = 16;

/** Requests to a thread that are answered once. */
export interface Calls extends StorageJobs {
  readonly groupPart: {
    readonly request: GroupRequest;
    readonly response: { readonly parts: GroupTableParts; readonly counts: RowCounts };
  };
  /** Merges parts of the divided tables of all threads, as they deal them out to each other. */
  readonly groupBest: {
    readonly request: GroupRequest & { readonly tables: readonly GroupTableParts[] };
    readonly response: { readonly best: BestRows; readonly counts: RowCounts };
  };
}

/** Requests to a thread that are answered frame by frame. */
export interface Streams {
  readonly group: GroupRequest & { readonly awaitsParts: boolean };
  readonly scan: {
    readonly control: RunControl;
    readonly plan: ScanPlan;
    readonly data: SegmentData;
    readonly builds: Builds;
    readonly ending: 'final' | 'partial';
  };
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

export interface GroupRequest {
  readonly control: RunControl;
  readonly plan: GroupPlan;
  readonly data: SegmentData;
  /** Build sides of the joins among the plan's stages. */
  readonly builds: Builds;
  readonly cut: MorselCut;
  readonly ending: 'final' | 'partial';
}

/** One segment in so many is read by kernels that are looked at. */
const SEGMENTS_PER_SAMPLE = 8;
/** Looking at kernels takes as long as reading some blocks. */
const SAMPLED_ROWS_MIN = 50_000;

/** A thread's own things. */
export class ThreadContext {
  readonly memory: KernelMemory;
  readonly #kernels: KernelSets;
  readonly #yieldToUrgent: () => number;
  readonly #sampledRowsMin: number;

  /**
   * @param yieldToUrgent   called between blocks: does what is more urgent, and tells how many milliseconds that took
   * @param sampledRowsMin  of a segment whose kernels may be looked at
   */
  constructor(memory: KernelMemory, kernels: KernelSets, yieldToUrgent: () => number, sampledRowsMin = SAMPLED_ROWS_MIN) {
    this.memory = memory;
    this.#kernels = kernels;
    this.#yieldToUrgent = yieldToUrgent;
    this.#sampledRowsMin = sampledRowsMin;
  }

  kernels(name?: string): KernelSet {
    return this.#kernels.get(name);
  }

  /** @param computed  counts that the run adds to */
  context(
    { flags, deadlineMs, limits, kernels, batchRows, groupBytesMax, spill, account }: RunControl,
    computed: ComputedValues,
  ): RunContext {
    const words = this.memory.i32(flags, 1);
    const yieldToUrgent = this.#yieldToUrgent;
    const sampledRowsMin = this.#sampledRowsMin;
    const { perSegmentTimeout = null } = limits;
    let segmentDeadlineMs = Infinity;
    let segments = 0;
    let looked: RunContext | undefined;
    const context: RunContext = {
      memory: this.memory.charging(account),
      kernels: this.kernels(kernels),
      batchRows,
      groupBytesMax,
      spill: spill === null ? undefined : new SpillSpace(spill, this.memory, threadId),
      check: () => {
        if (Atomics.load(words, 0) !== 0) throw cancelledError();
        const now = Date.now();
        if (now > segmentDeadlineMs)
          throw new ServiceError('timeout', 'the query worked on one segment for longer than the context key perSegmentTimeout allows');
        if (now > deadlineMs)
          throw new ServiceError('timeout', 'the query did not end before its deadline; the limit is the context key timeout');
        segmentDeadlineMs += giveAway(yieldToUrgent);
      },
      beginSegment: () => {
        if (perSegmentTimeout !== null) segmentDeadlineMs = Date.now() + perSegmentTimeout;
      },
      computed,
      times: undefined,
      sampled: (rows) => {
        if (rows < sampledRowsMin || segments++ % SEGMENTS_PER_SAMPLE !== 0) return context;
        if (looked === undefined) {
          const times = new KernelTimes();
          looked = { ...context, times, kernels: times.over(context.kernels) };
        }
        return looked;
      },
    };
    return context;
  }
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
  groupPart: (request, thread) => {
    const counts = noCounts();
    const table = groupMorsels(request, thread, counts);
    if (isReduced(table, request.ending)) divideOrFree(table);
    return { parts: table.detach(), counts };
  },
  groupBest: ({ tables, ...request }, thread) => {
    const counts = noCounts();
    const context = thread.context(request.control, counts);
    return { best: bestOfTables(layoutOfRequest(request), context, tables, partTaker(request, thread.memory), counts), counts };
  },
};

export const STREAMS: { readonly [Name in keyof Streams]: (request: Streams[Name], thread: ThreadContext) => Stream } = {
  *group(request, thread) {
    const counts = noCounts();
    const table = groupMorsels(request, thread, counts);
    let parts: readonly GroupTableParts[] = [];
    if (request.awaitsParts) {
      let isAnswered = false;
      try {
        const isShared = isReduced(table, request.ending);
        if (isShared) divideAtEnd(table);
        const waiting: StreamItem = { frame: null, isLast: false, counts };
        // Other threads may still read the groups when this one fails: they are the caller's to free.
        const input = yield !isShared || table.division === undefined ? waiting : { ...waiting, divided: table.moveOut() };
        if (input?.kind === 'divided') {
          const own = bestOfTables(table.layout, table.context, input.parts, partTaker(request, thread.memory), counts);
          const others = yield waiting;
          const best = others?.kind === 'best' ? others.best : [];
          yield* answered(endReduced(table, [own, ...best], counts), request, table.context, counts);
          return;
        }
        if (input?.kind === 'parts') parts = input.parts;
        isAnswered = true;
      } finally {
        if (!isAnswered) table.free();
      }
    }
    const toFrames = (rows: ResultTable): Iterable<SegmentFrame> => resultFrames(request, rows, table.context.check);
    const frames = endGroups(table, parts, request.ending, request.control.heldRowsMax, counts, toFrames);
    yield* answered(frames, request, thread.context(request.control, counts), counts);
  },
  *scan({ control, plan, data, builds, ending }, thread) {
    const { views } = data;
    const counts = noCounts();
    const context = thread.context(control, counts);
    const upload = ending === 'final' ? plan.upload : undefined;
    if (upload !== undefined) {
      const startMs = ownNow();
      const pieces = hasStages(plan) ? stagedPieces(context, plan, views, builds) : inSegmentOrder(views);
      const built = uploadScan(plan, upload, { views, builds, pieces }, context, counts);
      counts.readMs += ownNow() - startMs;
      if (built !== undefined || upload.orNothing === true) {
        yield { frame: null, isLast: true, counts, ...(built === undefined ? {} : { built }) };
        return;
      }
    }
    const steps = new StreamedSteps(ending === 'final' ? plan.post : [], leafOf(plan, context), {
      heldRowsMax: control.heldRowsMax,
      spill: context.spill,
    });
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
      const layout = layoutOf({ plan: mergePlan(plan), views, dictionaries: {} }, control.groupBytesMax);
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
    const pipeline = new RowPipeline({ ...options, heldRowsMax: control.heldRowsMax }, context, counts);
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

function leafOf({ intervals }: RowPlan, { check }: RunContext): LeafResult {
  return { intervals, emptyValues: NO_EMPTY_VALUES, check };
}

function groupMorsels(request: GroupRequest, thread: ThreadContext, counts: RowCounts): GroupTable {
  const { control, plan, data, builds } = request;
  const [context, next] = [thread.context(control, counts), morselTaker(request, thread.memory)];
  const layout = layoutOfRequest(request);
  if (!hasStages(plan)) return runMorsels(layout, context, next, counts);
  return runStagedMorsels(layout, context, { plan, views: data.views, builds }, next, counts);
}

function layoutOfRequest({ control: { groupBytesMax }, plan, data, builds, ending }: GroupRequest): GroupLayout {
  const layout = hasStages(plan) ? stagedLayout(plan, data, builds, groupBytesMax) : layoutOf({ plan, ...data }, groupBytesMax);
  return { ...layout, keepsBest: endsInBest(layout, ending) };
}

/** Rows of partial results are uploaded so many blocks at a time, with a look at the query between. */
const BLOCKS_PER_CHUNK = 4;
