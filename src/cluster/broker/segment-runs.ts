// Runs a plan on the servers of its segments, tries again elsewhere, and merges partial results.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import type { Engine, RunOptions } from '../../execution/run/engine.js';
import type { VisibleChunk } from '../../metadata/timeline.js';
import type { Frame } from '../../model/frame.js';
import type { Plan, SegmentMetadataPlan } from '../../model/plan.js';
import { addProfile, addStage } from '../../model/profile.js';
import type { RowsPlan } from '../../model/row-source.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../../model/segment.js';
import { FrameSize } from '../frame-cache.js';
import type { RunPlanRequest, RunReport, SegmentServer, TaskService } from '../rpc/services.js';
import type { QueryOptions } from './contract.js';
import { pruneByPartition } from './partition-pruning.js';
import type { QueryPins } from './query-pins.js';
import { type ResultCache, throughCache } from './result-cache.js';
import { type PlannedReads, type Read, readsElsewhere, type Serving } from './scatter.js';
import { servingUnloaded } from './unloaded.js';

export interface Cluster {
  readonly engine: Pick<Engine, 'merge'>;
  historical(host: string): Pick<TaskService, 'runPlan' | 'analyzeSegments'>;
  /** Rows of streams: how far answers have come, and tasks that are lost. */
  readonly streams: Pick<QueryPins, 'answered' | 'lost'>;
  serving(): Serving;
  /** The Historicals that are there. */
  servers(): readonly SegmentServer[];
  /** Asks all servers what they serve now. */
  look(): Promise<void>;
  readonly reads: PlannedReads;
  /** Number of times segments are requested again from other servers when theirs fails (`svc.broker.retryPolicy.numTries`). */
  readonly retries: number;
  readonly results: ResultCache | null;
  /** Bytes of frames that one plan may gather; null: any. */
  readonly gatherBytesMax: number | null;
  /** Heap that partial results of one query may take before they are merged (`svc.query.maxHeldBytes`). */
  readonly heldBytesMax: number;
}

/**
 * Runs a plan over pinned chunks: `final` on the one server that has all of them, else partial results of each server
 * are merged here. A server that is gone, or has lost a segment, is replaced by others that serve its segments, as long
 * as none of its rows have been handed on.
 * @param noteKey  told under which key the result is cached, if at all
 * @throws ServiceError `segments_unavailable` when a segment is served nowhere, or what the last server failed with
 */
export function runOverSegments(
  cluster: Cluster,
  plan: RowsPlan,
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  options: QueryOptions,
  signal: CancelSignal,
  noteKey?: (key: string) => void,
): AsyncIterable<Frame> {
  const make = async function* () {
    const startMs = performance.now();
    const pruned = pruneByPartition(chunks, plan);
    if (options.profile !== undefined) options.profile.segmentsPrunedByPartition += pruned.leftOut;
    const whole = withServers(cluster, options);
    const reads = await whole.reads.of(pruned.chunks, plan.intervals, whole.serving());
    addStage(options.profile, 'pin', performance.now() - startMs);
    yield* new SegmentRun(whole, plan, options, signal).over(reads, options.ending ?? 'final', cluster.retries, new Set());
  };
  // Kept results are whole ones.
  if (options.ending !== undefined) return make();
  return throughCache(cluster.results, plan, chunks, options, make, noteKey);
}

/** With servers of the segments that are loaded nowhere, where the query reads such. */
function withServers(cluster: Cluster, { unloaded }: QueryOptions): Cluster {
  if (unloaded === undefined) return cluster;
  return { ...cluster, serving: () => servingUnloaded(cluster.serving(), unloaded, cluster.servers()) };
}

/** Frames of the runs of one query; what they report goes into its profile. */
class SegmentRun {
  readonly #cluster: Cluster;
  readonly #plan: RowsPlan;
  readonly #options: QueryOptions;
  readonly #signal: CancelSignal;
  readonly #limit: ReturnType<typeof gatherLimit>;
  readonly #gathered = new FrameSize();
  readonly #held = new FrameSize();

  constructor(cluster: Cluster, plan: RowsPlan, options: QueryOptions, signal: CancelSignal) {
    this.#cluster = cluster;
    this.#plan = plan;
    this.#options = options;
    this.#signal = signal;
    this.#limit = gatherLimit(options.limits?.maxScatterGatherBytes, cluster.gatherBytesMax);
  }

  over(reads: readonly Read[], ending: 'final' | 'partial', retries: number, gone: ReadonlySet<string>): AsyncIterable<Frame> {
    const [only, second] = reads;
    // A partial result of narrowed intervals is as good as any; a final one must be of the query's own.
    if (only !== undefined && second === undefined && (ending === 'partial' || only.intervals === this.#plan.intervals))
      return this.#read(only, ending, retries, gone, ending === 'partial' && this.#options.ending === undefined);
    const partials = reads.map((read) => this.#read(read, 'partial', retries, gone, true));
    return this.#cluster.engine.merge(this.#plan, partials, runOptions(this.#options, ending), this.#signal);
  }

  /** @param isMerged  what is read is merged here */
  async *#read(
    read: Read,
    ending: 'final' | 'partial',
    retries: number,
    gone: ReadonlySet<string>,
    isMerged: boolean,
  ): AsyncGenerator<Frame> {
    // The merge of groups begins when it has every row, so they can wait here until it is sure that all have come.
    const held: Frame[] | undefined = isMerged && this.#plan.operator !== 'scan' ? [] : undefined;
    let handedOn = false;
    try {
      for await (const frame of this.#itemsOf(read, ending)) {
        if ('reach' in frame) {
          this.#cluster.streams.answered(read.host, frame);
          continue;
        }
        if (isReport(frame)) {
          if (this.#options.profile !== undefined) addProfile(this.#options.profile, frame.profile);
          continue;
        }
        this.#gather(frame);
        if (held !== undefined) {
          this.#hold(frame);
          held.push(frame);
        } else {
          handedOn = true;
          yield frame;
        }
      }
    } catch (error) {
      if (handedOn || retries === 0 || this.#signal.aborted || !isServerGone(error)) throw error;
      const goneNow = new Set([...gone, read.host]);
      if (error.code === 'unavailable') await this.#cluster.streams.lost(read.host, read.segmentIds, this.#signal);
      const others = await findElsewhere(this.#cluster, read, goneNow, this.#signal);
      if (others === undefined) throw error;
      if (this.#options.profile !== undefined) this.#options.profile.segmentsRetried += read.segmentIds.length;
      yield* this.over(others, ending, retries - 1, goneNow);
      return;
    }
    yield* held ?? [];
  }

  #itemsOf(read: Read, ending: 'final' | 'partial'): ReturnType<TaskService['runPlan']> {
    const plan = read.intervals === this.#plan.intervals ? this.#plan : { ...this.#plan, intervals: read.intervals };
    const request = requestFor(plan, read, ending, this.#options);
    return this.#cluster.historical(read.host).runPlan(request, this.#signal);
  }

  #hold(frame: Frame): void {
    if (this.#held.add(frame) <= this.#cluster.heldBytesMax) return;
    throw new ServiceError(
      'resource_limit',
      `the partial results of the query take more than ${this.#cluster.heldBytesMax} bytes; the limit is svc.query.maxHeldBytes`,
    );
  }

  #gather(frame: Frame): void {
    if (this.#limit === undefined || this.#gathered.add(frame) <= this.#limit.bytes) return;
    throw new ServiceError('resource_limit', `the query gathers more than ${this.#limit.bytes} bytes; the limit is ${this.#limit.name}`);
  }
}

/** A limit that is set by the context or, for everyone, by a property: the lower of the two. */
function gatherLimit(
  asked: number | null | undefined,
  allowed: number | null,
): { readonly bytes: number; readonly name: string } | undefined {
  if (allowed !== null && (asked ?? Infinity) > allowed) return { bytes: allowed, name: 'svc.server.http.maxScatterGatherBytes' };
  return asked === null || asked === undefined ? undefined : { bytes: asked, name: 'the context key maxScatterGatherBytes' };
}

/**
 * The same read divided among other servers. A task ends once others serve what it did: who that is may be news here.
 * @returns undefined when a segment has no other server, or nobody waits for it any more
 */
async function findElsewhere(
  cluster: Cluster,
  read: Read,
  gone: ReadonlySet<string>,
  signal: CancelSignal,
): Promise<readonly Read[] | undefined> {
  const known = readsElsewhere(read, cluster.serving().of, gone);
  if (known !== undefined) return known;
  await untilAborted(cluster.look(), signal);
  return signal.aborted ? undefined : readsElsewhere(read, cluster.serving().of, gone);
}

/** Resolves when the work is done or nobody waits for it. */
async function untilAborted(work: Promise<void>, signal: CancelSignal): Promise<void> {
  if (signal.aborted) return;
  let stop = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener('abort', stop, { once: true });
  });
  await Promise.race([work, aborted]);
  signal.removeEventListener('abort', stop);
}

/** Analyses of the segments of reads; a server that is gone is replaced as for other queries. */
export async function analyzeSegments(
  cluster: Cluster,
  plan: SegmentMetadataPlan,
  reads: readonly Read[],
  options: QueryOptions,
  signal: CancelSignal,
): Promise<readonly SegmentAnalysis[]> {
  const analyze = async (read: Read, retries: number, gone: ReadonlySet<string>): Promise<readonly SegmentAnalysis[]> => {
    try {
      return await cluster.historical(read.host).analyzeSegments(requestFor(plan, read, 'partial', options), signal);
    } catch (error) {
      if (retries === 0 || signal.aborted || !isServerGone(error)) throw error;
      const goneNow = new Set([...gone, read.host]);
      if (error.code === 'unavailable') await cluster.streams.lost(read.host, read.segmentIds, signal);
      const others = await findElsewhere(cluster, read, goneNow, signal);
      if (others === undefined) throw error;
      const answers = await Promise.all(others.map((other) => analyze(other, retries - 1, goneNow)));
      return answers.flat();
    }
  };
  const answers = await Promise.all(reads.map((read) => analyze(read, cluster.retries, new Set())));
  return answers.flat();
}

function isReport(item: Frame | RunReport): item is RunReport {
  return 'profile' in item;
}

function isServerGone(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'segments_unavailable');
}

export function requestFor(plan: Plan, read: Read, ending: 'final' | 'partial', options: QueryOptions): RunPlanRequest {
  const { queryId, deadlineMs, limits = {}, priority, kernels, caching, unloaded } = options;
  const { useCache = true, populateCache = true } = caching ?? {};
  const fetched = unloaded === undefined ? [] : read.segmentIds.flatMap((id) => unloaded.byId.get(id) ?? []);
  return {
    ...(fetched.length === 0 ? {} : { fetched }),
    queryId,
    plan,
    segmentIds: read.segmentIds,
    ending,
    deadlineMs,
    limits,
    priority,
    kernels,
    useCache,
    populateCache,
  };
}

export function runOptions(options: QueryOptions, ending: 'final' | 'partial' = 'final'): RunOptions {
  const { deadlineMs, limits, priority, kernels, profile } = options;
  return { ending, deadlineMs, limits, priority, kernels, batchRows: null, profile };
}
