// Runs a plan on the servers of its segments, tries again elsewhere, and merges partial results.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import type { Engine, RunOptions } from '../../execution/run/engine.js';
import type { VisibleChunk } from '../../metadata/timeline.js';
import type { Frame } from '../../model/frame.js';
import type { Plan } from '../../model/plan.js';
import { addProfile, addStage, newProfile } from '../../model/profile.js';
import type { RowsPlan } from '../../model/row-source.js';
import type { SegmentDescriptor } from '../../model/segment.js';
import { FrameSize } from '../frame-cache.js';
import type { ReachReport, RunPlanRequest, RunReport, SegmentServer, TaskService } from '../rpc/services.js';
import type { QueryOptions } from './contract.js';
import { pruneByPartition } from './partition-pruning.js';
import type { QueryPins } from './query-pins.js';
import { type ResultCache, throughCache } from './result-cache.js';
import { type First, firstAnswer } from './retries/first-answer.js';
import { secondTry, type Watched } from './retries/second-try.js';
import { type PlannedReads, type Read, readsElsewhere, refuseMissing } from './scatter.js';
import { servingUnloaded } from './unloaded.js';

export interface Cluster extends Watched {
  readonly engine: Pick<Engine, 'merge'>;
  historical(host: string): Pick<TaskService, 'runPlan' | 'analyzeSegments'>;
  /** Rows of streams: how far answers have come, and tasks that are lost. */
  readonly streams: Pick<QueryPins, 'answered' | 'leads' | 'lost'>;
  /** Whether another server is asked for what this one is late with: not within one process. */
  mayMove(host: string): boolean;
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
 * as none of its rows have been handed on. So is one that is silent or late, unless it answers before them after all.
 * @param noteKey  told under which key the result is cached, if at all
 * @throws ServiceError `segments_unavailable` naming the intervals of what is served nowhere, or what the last server failed with
 */
export function runOverSegments(
  cluster: Cluster,
  plan: RowsPlan,
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  options: QueryOptions,
  signal: CancelSignal,
  noteKey?: (key: string) => void,
): AsyncIterable<Frame> {
  const make = (): AsyncIterable<Frame> => runPruned(cluster, plan, chunks, options, signal);
  // Kept results are whole ones.
  if (options.ending !== undefined) return make();
  return throughCache(cluster.results, plan, chunks, options, make, noteKey);
}

async function* runPruned(
  cluster: Cluster,
  plan: RowsPlan,
  chunks: readonly VisibleChunk<SegmentDescriptor>[],
  options: QueryOptions,
  signal: CancelSignal,
): AsyncGenerator<Frame> {
  const startMs = performance.now();
  const pruned = pruneByPartition(chunks, plan);
  if (options.profile !== undefined) options.profile.segmentsPrunedByPartition += pruned.leftOut;
  const whole = withServers(cluster, options);
  const reads = await whole.reads.of(pruned.chunks, plan.intervals, whole.serving());
  addStage(options.profile, 'pin', performance.now() - startMs);
  yield* new SegmentRun(whole, plan, options, signal).over(reads, options.ending ?? 'final', cluster.retries, new Set());
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
  #gatheredBytes = new FrameSize().bytes;
  #heldBytes = new FrameSize().bytes;

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
    const isHeld = isMerged && this.#plan.operator !== 'scan';
    const goneNow = new Set([...gone, read.host]);
    let handedOn = false;
    let isSecond = false;
    let opened: First<Opened> | undefined;
    const server = { host: read.host, led: this.#cluster.streams.leads(read.host) };
    try {
      const ask = (signal: CancelSignal): Promise<Opened> => this.#open(this.#itemsOf(read, ending, signal), isHeld);
      if (retries === 0 || !this.#cluster.mayMove(read.host))
        opened = { answer: await ask(this.#signal), isSecond, release: () => undefined };
      else {
        const elsewhere = (others: readonly Read[]) => async (signal: CancelSignal) => {
          isSecond = true;
          await this.#cluster.streams.lost(read.host, read.segmentIds, signal);
          if (this.#options.profile !== undefined) this.#options.profile.segmentsRetried += read.segmentIds.length;
          return this.#open(this.#itemsElsewhere(others, ending, { retries: retries - 1, gone: goneNow, signal }), isHeld);
        };
        const kind = `${this.#plan.dataSource} ${this.#plan.operator} ${ending}`;
        const tries = secondTry(this.#cluster, { read, gone: goneNow, kind, elsewhere, discard: (late) => void this.#discard(late) });
        const startMs = this.#cluster.clock.monotonicMs();
        opened = await firstAnswer(ask, tries, this.#signal);
        if (!opened.isSecond) this.#cluster.times.note(kind, this.#cluster.clock.monotonicMs() - startMs);
      }
      const { reports, rest } = opened.answer;
      for (const report of reports) this.#note(server, report);
      if (rest !== undefined) {
        handedOn = true;
        yield* this.#rest(server, opened.answer, rest);
        return;
      }
    } catch (error) {
      if (handedOn || isSecond || retries === 0 || this.#signal.aborted || !isServerGone(error)) throw error;
      if (error.code === 'unavailable') await this.#cluster.streams.lost(read.host, read.segmentIds, this.#signal);
      const others = await findElsewhere(this.#cluster, read, goneNow, this.#signal);
      if (others === undefined) {
        if (!this.#signal.aborted) refuseMissing(read, this.#cluster.serving(), goneNow, error);
        throw error;
      }
      if (this.#options.profile !== undefined) this.#options.profile.segmentsRetried += read.segmentIds.length;
      yield* this.over(others, ending, retries - 1, goneNow);
      return;
    } finally {
      opened?.release();
    }
    yield* opened.answer.frames;
  }

  /** Reads up to the first frame, or all that is to be held. */
  async #open(items: AsyncIterable<Item>, isHeld: boolean): Promise<Opened> {
    const rest = items[Symbol.asyncIterator]();
    const size = new FrameSize();
    const opened = { frames: [] as Frame[], reports: [] as Report[], size, isHeld, rest: undefined };
    try {
      for (;;) {
        const { value, done = false } = await rest.next();
        if (done) return opened;
        if (isReport(value)) {
          opened.reports.push(value);
          continue;
        }
        opened.frames.push(value);
        this.#gather(value, opened);
        if (!isHeld) return { ...opened, rest };
      }
    } catch (error) {
      this.#forget(opened);
      await rest.return?.();
      throw error;
    }
  }

  async *#rest(server: Asked, { frames, size }: Opened, rest: AsyncIterator<Item>): AsyncGenerator<Frame> {
    try {
      yield* frames;
      for (;;) {
        const { value, done = false } = await rest.next();
        if (done) return;
        if (isReport(value)) this.#note(server, value);
        else {
          this.#gather(value, { size, isHeld: false });
          yield value;
        }
      }
    } finally {
      // Nothing happens when it has ended.
      await rest.return?.();
    }
  }

  #note({ host, led }: Asked, report: Report): void {
    if ('reach' in report) this.#cluster.streams.answered(host, report, led);
    else if (this.#options.profile !== undefined) addProfile(this.#options.profile, report.profile);
  }

  #itemsOf(read: Read, ending: 'final' | 'partial', signal: CancelSignal): AsyncIterable<Item> {
    const plan = read.intervals === this.#plan.intervals ? this.#plan : { ...this.#plan, intervals: read.intervals };
    const request = requestFor(plan, read, ending, this.#options);
    return this.#cluster.historical(read.host).runPlan(request, signal);
  }

  /** A run of its own: what it reports and gathers counts when its answer is the one that is taken. */
  async *#itemsElsewhere(
    others: readonly Read[],
    ending: 'final' | 'partial',
    { retries, gone, signal }: { readonly retries: number; readonly gone: ReadonlySet<string>; readonly signal: CancelSignal },
  ): AsyncGenerator<Item> {
    const profile = newProfile();
    const run = new SegmentRun(this.#cluster, this.#plan, { ...this.#options, profile }, signal);
    yield* run.over(others, ending, retries, gone);
    yield { profile };
  }

  #gather(frame: Frame, { size, isHeld }: Pick<Opened, 'size' | 'isHeld'>): void {
    const before = size.bytes;
    const bytes = size.add(frame) - before;
    this.#gatheredBytes += bytes;
    if (isHeld) this.#heldBytes += bytes;
    if (isHeld && this.#heldBytes > this.#cluster.heldBytesMax)
      throw new ServiceError(
        'resource_limit',
        `the partial results of the query take more than ${this.#cluster.heldBytesMax} bytes; the limit is svc.query.maxHeldBytes`,
      );
    if (this.#limit !== undefined && this.#gatheredBytes > this.#limit.bytes)
      throw new ServiceError('resource_limit', `the query gathers more than ${this.#limit.bytes} bytes; the limit is ${this.#limit.name}`);
  }

  /** Takes back what was counted of an answer that is not taken. */
  #forget({ size, isHeld }: Pick<Opened, 'size' | 'isHeld'>): void {
    const bytes = size.bytes - new FrameSize().bytes;
    this.#gatheredBytes -= bytes;
    if (isHeld) this.#heldBytes -= bytes;
  }

  async #discard(opened: Opened): Promise<void> {
    this.#forget(opened);
    await opened.rest?.return?.().catch(() => undefined);
  }
}

type Report = RunReport | ReachReport;
type Item = Frame | Report;

/** A server, and whether it led a stream when it was asked. */
interface Asked {
  readonly host: string;
  readonly led: boolean;
}

/** Answer of a server that has begun. */
interface Opened {
  readonly frames: readonly Frame[];
  readonly reports: readonly Report[];
  /** Frames still to come; undefined when `frames` are all. */
  readonly rest: AsyncIterator<Item> | undefined;
  readonly size: FrameSize;
  readonly isHeld: boolean;
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
export async function findElsewhere(
  cluster: Cluster,
  read: Read,
  gone: ReadonlySet<string>,
  signal: CancelSignal,
): Promise<readonly Read[] | undefined> {
  const known = readsElsewhere(read, cluster.serving(), gone);
  if (known !== undefined) return known;
  await untilAborted(cluster.look(), signal);
  return signal.aborted ? undefined : readsElsewhere(read, cluster.serving(), gone);
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

function isReport(item: Item): item is Report {
  return 'profile' in item || 'reach' in item;
}

export function isServerGone(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.code === 'unavailable' || error.code === 'segments_unavailable');
}

export function requestFor(plan: Plan, read: Read, ending: 'final' | 'partial', options: QueryOptions): RunPlanRequest {
  const { queryId, traceparent, deadlineMs, limits = {}, priority, kernels, caching, unloaded } = options;
  const { useCache = true, populateCache = true } = caching ?? {};
  const fetched = unloaded === undefined ? [] : read.segmentIds.flatMap((id) => unloaded.byId.get(id) ?? []);
  return {
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
    ...(fetched.length === 0 ? {} : { fetched }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

export function runOptions(options: QueryOptions, ending: 'final' | 'partial' = 'final'): RunOptions {
  const { deadlineMs, limits, priority, kernels, profile } = options;
  return { ending, deadlineMs, limits, priority, kernels, batchRows: null, profile };
}
