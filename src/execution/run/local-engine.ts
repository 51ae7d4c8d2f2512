import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import { BLOCK_ROWS } from '../../base/layout.js';
import type { KernelMemory, MakeRoom } from '../../kernels/memory.js';
import { peakBytes } from '../../kernels/memory.js';
import { KERNEL_SETS, KernelSets } from '../../kernels/registry.js';
import type { Frame } from '../../model/frame.js';
import type { Plan, RowPlan } from '../../model/plan.js';
import type { Profile } from '../../model/profile.js';
import { addStage } from '../../model/profile.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { SegmentPin, SegmentStore } from '../../storage/contract.js';
import type { StorageJobName, StorageJobs } from '../../storage/jobs.js';
import type { GlobalDictionaryView, SegmentView } from '../../storage/view.js';
import { cancelledError } from '../block/context.js';
import { framesOf } from '../block/result-table.js';
import type { RowCounts } from '../block/row-counts.js';
import { addCounts } from '../block/row-counts.js';
import { meets } from '../block/row-ranges.js';
import { columnsOfPlan, readsNoTime } from '../expression/columns-of-plan.js';
import { findByIndex } from '../filter/find-by-index.js';
import { morselsOf } from '../group/run.js';
import type { GroupTableParts } from '../group/table/group-table.js';
import type { BuildRequest } from '../join/build-side.js';
import { NO_EMPTY_VALUES, runSteps } from '../post/steps.js';
import { StreamedSteps } from '../post/stream.js';
import { mayBeBrief } from '../scan/brief.js';
import { mergeScans } from '../scan/merge-scans.js';
import { boundaryRows } from '../scan/time-boundary.js';
import type { SpillPlace } from '../spill/spill-space.js';
import type { Executor, OpenStream } from '../threads/executor.js';
import { InlineAttempt } from '../threads/inline-attempt.js';
import { inlineExecutor } from '../threads/inline-executor.js';
import type { GroupRequest, RunControl } from '../threads/jobs.js';
import { ACCOUNT_OFFSET, FLAG_BYTES } from '../threads/jobs.js';
import { ThreadPool } from '../threads/pool.js';
import { BuildStore, ROWS_AHEAD } from './build-store.js';
import type { Engine, GivenRows, RunCounters, RunOptions, UploadedRows } from './engine.js';
import { feed, peek } from './row-feed.js';
import { rowsToRead, rowsWithPairs, uploadCost } from './work-size.js';

export interface EngineOptions {
  readonly memory: KernelMemory;
  /** Name of the kernel set for queries that name none. */
  readonly kernels: string;
  /** Processing threads; 0: everything runs where it is asked for. Or threads over this memory that someone else has, who ends them. */
  readonly threads: number | ThreadPool;
  /** What one query may hold of the memory, over all threads (`svc.query.maxMemoryBytes`). */
  readonly queryBytesMax?: number;
  /** Whether resident columns could give way to an allocation of so many bytes. */
  readonly makeRoom?: MakeRoom;
  /** What one query may hold in group tables, over all threads (`svc.query.groupBy.maxMemoryBytes`). */
  readonly groupBytesMax?: number;
  /** Where group tables that outgrow this go, a directory of this process alone; undefined: nowhere. */
  readonly spillDirectory?: string;
  /** What one query may have there (`svc.query.groupBy.maxOnDiskStorage`); 0: nothing. */
  readonly spillBytesMax?: number;
  /** Rows of a scan that one query may hold to sort them (`svc.query.scan.maxRowsQueuedForOrdering`). */
  readonly heldRowsMax?: number;
  /** Plans over fewer rows run on the calling thread: a hand-over would cost more. */
  readonly rowsRunInline?: number;
  /** Rows of a morsel, where segments are cut. */
  readonly morselRows?: number;
  /** How long a scan that may be over at once is tried on the calling thread; 0: never. */
  readonly briefMs?: number;
}

export interface ProcessingEngine extends Engine {
  /** Storage's jobs run on the same threads as queries. */
  runJob<Name extends StorageJobName>(name: Name, request: StorageJobs[Name]['request']): Promise<StorageJobs[Name]['response']>;
}

const ROWS_RUN_INLINE = 100_000;
/** An event loop that stands still for a millisecond is noticed, and the first block of a try is not known to be quick. */
const BRIEF_MS = 0.5;
const MORSEL_ROWS = 1 << 18;
const DEFAULT_GROUP_BYTES = 1 << 30;
const DEFAULT_HELD_ROWS = 20_000_000;

export function createEngine(options: EngineOptions): ProcessingEngine {
  return new LocalEngine(options);
}

class LocalEngine implements ProcessingEngine {
  readonly counters: RunCounters = { rowsScanned: 0, rowsMatched: 0, segments: 0 };
  readonly #options: EngineOptions;
  readonly #inline: Executor;
  readonly #pool: ThreadPool | undefined;
  readonly #brief: InlineAttempt | undefined;
  readonly #builds: BuildStore;
  #runs = 0;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { memory, makeRoom = () => false } = options;
    memory.whenFull(makeRoom);
    const kernels = new KernelSets(memory, options.kernels);
    this.#inline = inlineExecutor(memory, kernels);
    this.#builds = new BuildStore(memory, (side, rowCount, control) =>
      this.#executorFor(uploadCost(rowCount), control).open('build', { control, side }),
    );
    this.#pool = poolOf(options, makeRoom);
    const { briefMs = BRIEF_MS } = options;
    this.#brief = this.#pool === undefined || briefMs === 0 ? undefined : new InlineAttempt(memory, kernels, briefMs);
  }

  runJob<Name extends StorageJobName>(name: Name, request: StorageJobs[Name]['request']): Promise<StorageJobs[Name]['response']> {
    return this.#pool === undefined ? this.#inline.call(name, request) : this.#pool.runJob(name, request);
  }

  async *run(
    plan: RowPlan,
    store: SegmentStore,
    segmentIds: readonly string[],
    options: RunOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    const { columns, comparable } = columnsOfPlan(plan);
    const timeCutBy = readsNoTime(plan) ? plan.intervals : undefined;
    const { profile } = options;
    const startMs = performance.now();
    const found = await findByIndex(plan, store, segmentIds);
    const { leftOut } = found;
    let pin: SegmentPin;
    try {
      pin = await store.pin({
        segmentIds: found.segmentIds,
        columns: timeCutBy === undefined ? columns : columns.filter((name) => name !== TIME_COLUMN),
        globalDictionaries: comparable,
        ...(timeCutBy === undefined ? {} : { timeCutBy }),
        ...(leftOut === undefined ? {} : { leftOut }),
      });
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'resource_limit' && canBeHalved(plan, segmentIds))) throw error;
      yield* this.#runHalves(plan, store, segmentIds, options, signal);
      return;
    }
    addStage(profile, 'lease', performance.now() - startMs);
    if (profile !== undefined) {
      profile.bytesRead += pin.bytesRead;
      profile.segments += segmentIds.length - found.segmentIds.length;
      profile.segmentsPrunedByValue += found.prunedByValue;
      profile.segmentsPrunedByBitmap += found.prunedByBitmap;
      profile.rowsByIndex += found.rows;
    }
    try {
      yield* this.#runOver(plan, found.select(pin.segments), pin.dictionaries, options, signal);
    } finally {
      pin.release();
    }
  }

  /** Over segments whose columns do not fit into memory together: one half after the other. */
  async *#runHalves(
    plan: RowPlan,
    store: SegmentStore,
    segmentIds: readonly string[],
    options: RunOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    const middle = Math.ceil(segmentIds.length / 2);
    const halves = [segmentIds.slice(0, middle), segmentIds.slice(middle)];
    const run = (half: readonly string[]): AsyncIterable<Frame> => this.run(plan, store, half, { ...options, ending: 'partial' }, signal);
    if (plan.operator === 'scan') {
      const { offset, limit } = plan;
      // Of a part, the rows to be passed over are still needed: they are counted when all have met.
      const part = { ...plan, offset: 0, limit: limit === null ? null : offset + limit };
      // The second begins when the first was read to its end, and is not begun when that is enough.
      yield* this.merge(options.ending === 'final' ? plan : part, halves.map(run), options, signal);
      return;
    }
    const partials: (readonly Frame[])[] = [];
    for (const half of halves) partials.push(await collect(run(half)));
    yield* this.merge(plan, partials.map(framesAgain), options, signal);
  }

  runViews(plan: RowPlan, views: readonly SegmentView[], options: RunOptions, signal: AbortSignal): AsyncIterable<Frame> {
    return this.#runOver(plan, views, {}, options, signal);
  }

  async *merge(merged: Plan, partials: readonly AsyncIterable<Frame>[], options: RunOptions, signal: AbortSignal): AsyncGenerator<Frame> {
    // Partial results went through the stages.
    const plan: Plan = { ...merged, stages: [] };
    switch (plan.operator) {
      case 'segmentMetadata':
        throw new ServiceError('internal', 'segment metadata is merged by the broker, not by execution');
      case 'group': {
        const frames = (await Promise.all(partials.map(collect))).flat();
        yield* this.#controlled(options, signal, async function* (control, engine) {
          const rows = frames.reduce((sum, frame) => sum + frame.rowCount, 0);
          const stream = engine.#executorFor(rows, control).open('mergeGroups', { control, plan, frames, ending: options.ending });
          yield* engine.#read(stream, 'merge', options.profile);
        });
        return;
      }
      case 'scan': {
        const final = options.ending === 'final';
        const leaf = { intervals: plan.intervals, emptyValues: NO_EMPTY_VALUES, check: checkOf(signal) };
        const steps = new StreamedSteps(final ? plan.post : [], leaf, {
          heldRowsMax: this.#heldRowsMax(options),
          spill: undefined,
        });
        for await (const frame of mergeScans(plan, partials, !final)) {
          if (signal.aborted) throw endedBy(signal);
          addStage(options.profile, 'merge', 0, frame.rowCount, frame.rowCount);
          yield* steps.push(frame);
        }
        yield* steps.end();
        return;
      }
      case 'timeBoundary': {
        let [min, max] = [Infinity, -Infinity];
        for (const frame of (await Promise.all(partials.map(collect))).flat()) {
          const [first, last] = frame.columns;
          if (frame.rowCount === 0 || first?.kind !== 'long' || last?.kind !== 'long') continue;
          min = Math.min(min, Number(first.values[0]));
          max = Math.max(max, Number(last.values[0]));
        }
        const rows = boundaryRows(min, max);
        const leaf = { intervals: plan.intervals, emptyValues: NO_EMPTY_VALUES, check: checkOf(signal) };
        yield* framesOf(options.ending === 'final' ? runSteps(rows, plan.post, leaf) : rows, leaf.check);
      }
    }
  }

  async close(): Promise<void> {
    if (typeof this.#options.threads === 'number') await this.#pool?.close();
    if (this.#options.spillDirectory !== undefined) await rm(this.#options.spillDirectory, { recursive: true, force: true });
  }

  async *#runOver(
    plan: RowPlan,
    views: readonly SegmentView[],
    dictionaries: Readonly<Record<string, GlobalDictionaryView>>,
    options: RunOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    this.counters.segments += views.length;
    const { profile } = options;
    if (profile !== undefined) {
      profile.segments += views.length;
      profile.segmentsPrunedByTime += views.filter((view) => !meets(view, plan.intervals)).length;
    }
    const data = { views, dictionaries };
    yield* this.#controlled(options, signal, (control, engine) =>
      engine.#builds.with(plan, control, async function* (sent, builds) {
        const { ending } = options;
        const rows = rowsWithPairs(rowsToRead(plan, views), builds);
        switch (sent.operator) {
          case 'group':
            yield* engine.#runGroup({ control, plan: sent, data, builds }, options, rows);
            return;
          case 'scan': {
            const request = { control, plan: sent, data, builds, ending };
            const brief = !engine.#runsInline(rows) && mayBeBrief(sent, views) ? engine.#brief?.scan(request) : undefined;
            yield* engine.#read(brief ?? engine.#executorFor(rows, control).open('scan', request), 'scan', profile);
            return;
          }
          case 'timeBoundary':
            yield* engine.#read(
              engine.#executorFor(rows, control).open('timeBoundary', { control, plan: sent, data, builds, ending }),
              'scan',
              profile,
            );
        }
      }),
    );
  }

  async *runRows(
    plan: RowPlan,
    rows: AsyncIterable<Frame>,
    given: GivenRows,
    options: RunOptions,
    signal: AbortSignal,
  ): AsyncGenerator<Frame> {
    const { columns, chunkRows } = given;
    yield* this.#controlled(options, signal, (control, engine) =>
      engine.#builds.with(plan, control, async function* (sent, builds) {
        const source = await peek(rows, ROWS_AHEAD);
        const place = engine.#executorFor(rowsWithPairs(uploadCost(source.rowCount), builds), control);
        const open = () => place.open('rows', { control, plan: sent, builds, columns, chunkRows: chunkRows ?? null });
        let last: RowCounts | undefined;
        try {
          for await (const { frame, counts } of feed(open, source.rows)) {
            last = counts;
            if (frame !== null) yield frame;
          }
        } finally {
          if (last !== undefined) engine.#count(last, sent.operator === 'group' ? 'group' : 'scan', options.profile);
        }
      }),
    );
  }

  async build(rows: AsyncIterable<Frame>, side: BuildRequest, options: RunOptions, signal: AbortSignal): Promise<UploadedRows> {
    let placed: UploadedRows | undefined;
    for await (const each of this.#controlled(options, signal, (control, engine) => engine.#builds.place(rows, side, control)))
      placed = each;
    if (placed === undefined) throw new ServiceError('internal', 'the right side of a join was not placed');
    return placed;
  }

  async *#runGroup(run: Omit<GroupRequest, 'cut'>, { ending, profile }: RunOptions, rows: number): AsyncGenerator<Frame> {
    const { control, plan, data } = run;
    const threads = this.#runsInline(rows) ? 1 : (this.#pool?.size ?? 0);
    const cut = { threads, morselRows: this.#options.morselRows ?? MORSEL_ROWS };
    const morselCount = threads === 1 ? 1 : morselsOf(data.views, plan, cut).length;
    const request = { ...run, cut };
    if (morselCount < 2) {
      yield* this.#read(this.#executorFor(rows, control).open('group', { ...request, ending, awaitsParts: false }), 'group', profile);
      return;
    }
    const [last = this.#inline, ...others] = this.#pool?.choose(Math.min(threads, morselCount), control.priority) ?? [];
    const stream = last.open('group', { ...request, ending, awaitsParts: true });
    const parts: GroupTableParts[] = [];
    let failure: unknown;
    // A thread that fails stops the others; all have ended before memory is given back.
    const work = [
      // What this thread counts comes with its frames.
      stream.next(),
      ...others.map(async (thread) => {
        const result = await thread.call('groupPart', request);
        parts.push(result.parts);
        this.#count(result.counts, 'group', profile);
      }),
    ];
    await Promise.all(
      work.map((each: Promise<unknown>) =>
        each.catch((error: unknown) => {
          failure ??= error;
          this.#raiseFlag(control);
        }),
      ),
    );
    if (failure !== undefined) {
      await stream.close();
      for (const { owned } of parts) for (const address of owned) this.#options.memory.free(address);
      throw failure;
    }
    yield* this.#read(stream, 'group', profile, parts);
  }

  /** The frames of a stream; closes it when the reader stops early. */
  async *#read(
    stream: OpenStream,
    reads: 'group' | 'scan' | 'merge',
    profile: Profile | undefined,
    parts?: readonly GroupTableParts[],
  ): AsyncGenerator<Frame> {
    let last: RowCounts | undefined;
    try {
      for (
        let item = await stream.next(parts && { kind: 'parts', parts });
        item !== null;
        item = item.isLast ? null : await stream.next()
      ) {
        last = item.counts;
        if (item.frame !== null) yield item.frame;
      }
    } finally {
      if (last !== undefined) this.#count(last, reads, profile);
      await stream.close();
    }
  }

  /** Runs `work` with shared flags that the signal raises; they live until all threads are through with them. */
  async *#controlled<Item>(
    options: RunOptions,
    signal: AbortSignal,
    work: (control: RunControl, engine: LocalEngine) => AsyncGenerator<Item>,
  ): AsyncGenerator<Item> {
    if (signal.aborted) throw endedBy(signal);
    refuseUnknownKernels(options.kernels, this.#options.kernels);
    const { memory, kernels, groupBytesMax = DEFAULT_GROUP_BYTES, queryBytesMax = Infinity } = this.#options;
    const flags = memory.allocate(FLAG_BYTES);
    memory.i32(flags, FLAG_BYTES / 4).fill(0);
    const spill = this.#spillPlace(options, flags);
    const control: RunControl = {
      flags,
      deadlineMs: options.deadlineMs,
      kernels: options.kernels ?? kernels,
      batchRows: options.batchRows ?? BLOCK_ROWS,
      groupBytesMax: Math.floor(groupBytesMax / (this.#pool?.size ?? 1)),
      spill,
      heldRowsMax: this.#heldRowsMax(options),
      priority: options.priority ?? 0,
      limits: options.limits ?? {},
      account: { at: flags + ACCOUNT_OFFSET, bytesMax: queryBytesMax, limit: 'svc.query.maxMemoryBytes' },
    };
    const abort = (): void => this.#raiseFlag(control);
    signal.addEventListener('abort', abort, { once: true });
    try {
      yield* work(control, this);
    } catch (error) {
      // A thread only sees that the flag was raised, not why.
      throw signal.aborted && isCancelled(error) ? endedBy(signal) : error;
    } finally {
      signal.removeEventListener('abort', abort);
      if (options.profile !== undefined)
        options.profile.peakMemoryBytes = Math.max(options.profile.peakMemoryBytes, peakBytes(memory, control.account));
      memory.free(flags);
      // What threads that failed have left there.
      if (spill !== null && existsSync(spill.folder)) await rm(spill.folder, { recursive: true, force: true });
    }
  }

  #heldRowsMax({ limits }: RunOptions): number {
    return Math.min(this.#options.heldRowsMax ?? DEFAULT_HELD_ROWS, limits?.maxRowsQueuedForOrdering ?? Infinity);
  }

  #spillPlace({ limits }: RunOptions, flags: Address): SpillPlace | null {
    const { spillDirectory, spillBytesMax = Infinity } = this.#options;
    const bytesMax = Math.min(spillBytesMax, limits?.maxOnDiskStorage ?? Infinity);
    if (spillDirectory === undefined || bytesMax === 0) return null;
    return { folder: path.join(spillDirectory, String(++this.#runs)), bytesMax, used: flags + 8 };
  }

  #raiseFlag({ flags }: RunControl): void {
    Atomics.store(this.#options.memory.i32(flags, 1), 0, 1);
  }

  #executorFor(rows: number, control: RunControl): Executor {
    return this.#runsInline(rows) ? this.#inline : (this.#pool?.choose(1, control.priority)[0] ?? this.#inline);
  }

  #runsInline(rows: number): boolean {
    return this.#pool === undefined || rows < (this.#options.rowsRunInline ?? ROWS_RUN_INLINE);
  }

  #count(counts: RowCounts, reads: 'group' | 'scan' | 'merge', profile: Profile | undefined): void {
    if (reads !== 'merge') {
      this.counters.rowsScanned += counts.rowsScanned;
      this.counters.rowsMatched += counts.rowsMatched;
    }
    if (profile !== undefined) addCounts(profile, counts, reads);
  }
}

/** Rows in an order of time come from all segments side by side. */
function canBeHalved(plan: RowPlan, segmentIds: readonly string[]): boolean {
  return segmentIds.length > 1 && (plan.operator !== 'scan' || plan.timeOrder === null);
}

function poolOf({ threads, memory, kernels }: EngineOptions, makeRoom: MakeRoom): ThreadPool | undefined {
  if (typeof threads !== 'number') return threads;
  return threads > 0 ? new ThreadPool({ memory, kernels, threads, makeRoom }) : undefined;
}

function checkOf(signal: AbortSignal): () => void {
  return () => {
    if (signal.aborted) throw endedBy(signal);
  };
}

/** What the signal was fired with: a deadline that passed is no cancellation. */
function endedBy({ reason }: AbortSignal): ServiceError {
  return reason instanceof ServiceError ? reason : cancelledError();
}

function isCancelled(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'cancelled';
}

async function* framesAgain(frames: readonly Frame[]): AsyncGenerator<Frame> {
  yield* frames;
}

async function collect(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const collected: Frame[] = [];
  for await (const frame of frames) collected.push(frame);
  return collected;
}

/** A query chooses among the sets of this program and the configured one; it does not name files to be run. */
function refuseUnknownKernels(asked: string | null, configured: string): void {
  if (asked === null || asked === configured || Object.hasOwn(KERNEL_SETS, asked)) return;
  const names = [...new Set([...Object.keys(KERNEL_SETS), configured])].join(', ');
  throw new ServiceError('query_invalid', `context.kernels: found "${asked}", expected one of ${names}`);
}
