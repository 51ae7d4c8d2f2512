// The Historical: keeps assigned segments on disk and open, and runs plans over them.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { type Clock, SYSTEM_CLOCK, type Timer } from '../../base/clock/clock.js';
import { ServiceError } from '../../base/errors.js';
import { LoopTurns } from '../../base/loop-turns.js';
import type { Engine } from '../../execution/run/engine.js';
import { isTombstone } from '../../metadata/tombstones.js';
import type { Frame } from '../../model/frame.js';
import { newProfile } from '../../model/profile.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';
import type { SegmentStore } from '../../storage/contract.js';
import { ChangeLog } from '../change-log.js';
import type { ConfiguredLookups } from '../lookups/configured-lookups.js';
import type { LookupStore } from '../lookups/lookup-store.js';
import { withOwnLookups } from '../lookups/named-lookups.js';
import { toServiceError } from '../rpc/message.js';
import type {
  HistoricalService,
  InventoryUpdate,
  LackReport,
  LookupReport,
  RunPlanRequest,
  RunReport,
  SegmentServer,
  ServerInventory,
} from '../rpc/services.js';
import { withReport } from '../run-report.js';
import { FetchedSegments } from './fetched-segments.js';
import type { LocalSegments } from './local-segments.js';
import type { RunGate } from './run-gate.js';
import type { SegmentResults } from './segment-results.js';
import { TurnsByName } from './turns-by-name.js';
import { type RunWatchers, watched } from './watched-run.js';

export interface HistoricalOptions extends SegmentServer, RunWatchers {
  readonly segments: Pick<LocalSegments, 'recovered' | 'fetch' | 'remove' | 'stop'>;
  readonly store: SegmentStore;
  readonly engine: Engine;
  readonly results: SegmentResults;
  readonly gate: RunGate;
  readonly lookups: Pick<ConfiguredLookups, 'store' | 'report'>;
  /** A dropped segment stays readable so long for queries that were already on their way. */
  readonly dropDelayMs: number;
  /** Segments fetched at a time. */
  readonly loadsAtATime: number;
  /** Start of the process: tells its generations from those of an earlier one. */
  readonly session: string;
  /** The inventory changed. */
  readonly onChange: () => void;
  readonly log: (line: string) => void;
  /** Clock of its timers; default: that of the machine. */
  readonly clock?: Clock;
}

/** While loads are under way, those that are done are told of together. */
const TOLD_EVERY_MS = 50;

/** Time after which a pinned segment that is to be closed is looked at again. */
const PINNED_LOOK_MS = 100;
/** Attempts to list segments that change meanwhile; the last one gives no turns. */
const INVENTORY_ATTEMPTS = 3;

/** Runs over fewer rows do not queue. */
const ROWS_THAT_WAIT = 1_000_000;

/** Keeps assigned segments on disk and open, and runs plans over them. */
export class Historical implements HistoricalService {
  readonly #options: HistoricalOptions;
  readonly #clock: Clock;
  readonly #served = new Map<string, SegmentDescriptor>();
  readonly #queue: SegmentDescriptor[] = [];
  readonly #loading = new Map<string, SegmentDescriptor>();
  readonly #failed = new Map<string, string>();
  readonly #dropTimers = new Map<string, Timer>();
  /** Opening and closing of each segment. */
  readonly #turns = new TurnsByName();
  readonly #fetched: FetchedSegments;
  #loaders = 0;
  #changes = 0;
  readonly #changed = new ChangeLog(0);
  #servedBytes = 0;
  /** Segments that were closed, or are being. */
  #closings = 0;
  #telling: Timer | undefined;
  readonly #looked = new WeakMap<readonly string[], { readonly closings: number; readonly rows: number }>();
  #ready = false;

  constructor(options: HistoricalOptions) {
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#fetched = new FetchedSegments({
      open: (id, descriptor) => this.#turns.run(id, () => this.#open(id, descriptor)),
      close: (id, descriptor) => this.#closeUnused(id, descriptor),
      spareBytes: () => options.maxSizeBytes - this.#servedBytes,
      fetchesAtATime: options.loadsAtATime,
    });
  }

  /** Whether all segments that were on disk at the start are open. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Resolves when what an earlier process left on disk is verified and open. */
  async start(): Promise<void> {
    const { served, failed } = await this.#options.segments.recovered;
    for (const descriptor of served) this.#serve(segmentIdText(descriptor.id), descriptor);
    for (const { descriptor, error } of failed) this.#fail(segmentIdText(descriptor.id), error);
    this.#ready = true;
    this.#options.store.onDamage((id, error) => this.#damaged(id, error));
    this.#tell();
    // Deep storage has them whole.
    await this.loadSegments(failed.filter(({ error }) => isFileFault(error)).map(({ descriptor }) => descriptor));
  }

  stop(): void {
    this.#options.segments.stop();
    this.#clock.clearTimer(this.#telling);
    for (const timer of this.#dropTimers.values()) this.#clock.clearTimer(timer);
    this.#queue.length = 0;
  }

  async *runNamed(named: RunPlanRequest, signal: CancelSignal): AsyncGenerator<Frame | RunReport | LackReport> {
    const request = withOwnLookups(named, (digest) => this.lookups.tableWith(digest));
    if ('lacks' in request) yield request;
    else yield* this.runPlan(request, signal);
  }

  runPlan(request: RunPlanRequest, signal: CancelSignal): AsyncIterable<Frame | RunReport> {
    const items = request.fetched === undefined ? this.#run(request, signal) : this.#runFetched(request.fetched, request, signal);
    return watched(this.#options, request, items);
  }

  async *#runFetched(
    fetched: readonly SegmentDescriptor[],
    request: RunPlanRequest,
    signal: CancelSignal,
  ): AsyncGenerator<Frame | RunReport> {
    await this.#options.segments.recovered.catch(() => undefined);
    const letGo = await this.#fetched.take(fetched, signal);
    try {
      yield* this.#run(request, signal);
    } finally {
      await letGo();
    }
  }

  #run(request: RunPlanRequest, signal: CancelSignal): AsyncIterable<Frame | RunReport> {
    const rows = this.#checkServed(request.segmentIds);
    const { plan, segmentIds, ending, deadlineMs, limits, priority, kernels } = request;
    if (plan.operator === 'segmentMetadata') throw new ServiceError('internal', 'a segmentMetadata plan has no frames');
    const { engine, store, results, gate } = this.#options;
    const profile = newProfile();
    const options = { ending, deadlineMs, limits, priority, kernels, batchRows: null, profile };
    const frames =
      plan.operator === 'group' && results.serves(plan, request)
        ? results.run(plan, { ...request, engine, store }, options, signal)
        : engine.run(plan, store, segmentIds, options, signal);
    // A small read finishes sooner than it would get a place in the queue.
    const waits = rows >= ROWS_THAT_WAIT;
    return withReport(waits ? gate.through(frames, { priority, rows, signal, profile }) : frames, profile, plan);
  }

  async analyzeSegments(request: RunPlanRequest, signal: CancelSignal): Promise<readonly SegmentAnalysis[]> {
    this.#checkServed(request.segmentIds);
    const { plan } = request;
    if (plan.operator !== 'segmentMetadata') throw new ServiceError('internal', `a ${plan.operator} plan has no analysis`);
    const columns = plan.columns.kind === 'list' ? plan.columns.names : plan.columns.kind === 'all' ? 'all' : [];
    const analyses: SegmentAnalysis[] = [];
    for (const id of request.segmentIds) {
      signal.throwIfAborted();
      analyses.push(await this.#options.store.analyze(id, columns, plan.analyses));
    }
    return analyses;
  }

  /** Segments that are served here; the list is read as it changes. */
  holding(): Omit<SegmentServer, 'host'> & { readonly segments: Iterable<SegmentDescriptor> } {
    const { tier, priority, maxSizeBytes } = this.#options;
    return { tier, priority, maxSizeBytes, segments: this.#served.values() };
  }

  /** Runs over segments. */
  get runs(): Pick<RunGate, 'waiting' | 'inside'> {
    return this.#options.gate;
  }

  /** Lookups of this process. */
  get lookups(): LookupStore {
    return this.#options.lookups.store;
  }

  async lookupReport(): Promise<LookupReport> {
    return this.#options.lookups.report();
  }

  async inventory(): Promise<ServerInventory> {
    const turns = new LoopTurns();
    for (let attempt = 1; ; attempt++) {
      const facts = this.#facts();
      const segmentIds: string[] = [];
      for (const id of this.#served.keys()) {
        segmentIds.push(id);
        if (attempt < INVENTORY_ATTEMPTS && turns.isDue) await turns.give();
      }
      if (facts.generation !== this.#generation()) continue;
      return { ...facts, segmentIds, loading: [...this.#loading.keys()], failed: Object.fromEntries(this.#failed) };
    }
  }

  async inventoryAfter(generation: string | null): Promise<InventoryUpdate | null> {
    if (generation === this.#generation()) return null;
    const session = `${this.#options.session}-`;
    const changed = generation?.startsWith(session) === true ? this.#changed.since(Number(generation.slice(session.length))) : undefined;
    if (changed === undefined) return this.inventory();
    const [segmentIds, loading, failed, gone]: [string[], string[], [string, string][], string[]] = [[], [], [], []];
    for (const id of changed) {
      const reason = this.#failed.get(id);
      const [isServed, isLoading] = [this.#served.has(id), this.#loading.has(id)];
      if (isServed) segmentIds.push(id);
      if (isLoading) loading.push(id);
      if (reason !== undefined) failed.push([id, reason]);
      if (!isServed && !isLoading && reason === undefined) gone.push(id);
    }
    return { ...this.#facts(), segmentIds, loading, failed: Object.fromEntries(failed), since: { gone } };
  }

  async loadSegments(descriptors: readonly SegmentDescriptor[]): Promise<void> {
    for (const descriptor of descriptors) {
      const id = segmentIdText(descriptor.id);
      if (this.#served.has(id) || this.#loading.has(id)) continue;
      this.#failed.delete(id);
      this.#loading.set(id, descriptor);
      this.#queue.push(descriptor);
      this.#note(id);
    }
    while (this.#loaders < this.#options.loadsAtATime && this.#loaders < this.#queue.length) void this.#loadQueued();
  }

  /** Takes segments out of the inventory at once; closes and removes them a little later. */
  async dropSegments(segmentIds: readonly string[]): Promise<void> {
    for (const id of segmentIds) {
      const descriptor = this.#served.get(id);
      this.#failed.delete(id);
      this.#note(id);
      if (descriptor === undefined) continue;
      this.#unserve(id, descriptor);
      this.#closeLater(id, descriptor, this.#options.dropDelayMs);
    }
    this.#tell();
  }

  async #loadQueued(): Promise<void> {
    this.#loaders++;
    // Segments that are being verified are on disk already.
    await this.#options.segments.recovered.catch(() => undefined);
    for (let descriptor = this.#queue.shift(); descriptor !== undefined; descriptor = this.#queue.shift()) await this.#load(descriptor);
    this.#loaders--;
  }

  async #load(descriptor: SegmentDescriptor): Promise<void> {
    const id = segmentIdText(descriptor.id);
    try {
      this.#clock.clearTimer(this.#dropTimers.get(id));
      this.#dropTimers.delete(id);
      await this.#turns.run(id, async () => {
        await this.#open(id, descriptor);
        this.#serve(id, descriptor);
      });
    } catch (error) {
      this.#fail(id, error);
    } finally {
      this.#loading.delete(id);
      if (this.#loading.size === 0) this.#tell();
      else this.#telling ??= this.#clock.setTimer(() => this.#tell(), TOLD_EVERY_MS, undefined);
    }
  }

  async #open(id: string, descriptor: SegmentDescriptor): Promise<void> {
    if (!isTombstone(descriptor) && !this.#options.store.has(id)) await this.#options.segments.fetch(descriptor);
  }

  #fail(id: string, error: unknown): void {
    const { code, message } = toServiceError(error);
    this.#failed.set(id, `${code}: ${message}`);
    this.#note(id);
    this.#options.log(`segment ${id} cannot be served: ${code}: ${message}`);
  }

  /** Takes a damaged segment out of the inventory at once and fetches it again from deep storage. */
  #damaged(id: string, error: ServiceError): void {
    const descriptor = this.#served.get(id);
    if (descriptor === undefined) return;
    this.#options.log(`segment ${id} is fetched again: ${error.message}`);
    this.#unserve(id, descriptor);
    void this.#closeUnused(id, descriptor, 'waits');
    void this.loadSegments([descriptor]);
    this.#tell();
  }

  /**
   * Closes and removes a segment once it is its turn, unless it is served by then, still to be dropped, or read by a run that had it fetched.
   * @param pinned  what becomes of one that is pinned. A query may pin it, and go on by having it fetched again: who waits for the pin holds that up.
   */
  #closeUnused(id: string, descriptor: SegmentDescriptor, pinned: 'waits' | 'later' = 'later'): Promise<void> {
    return this.#turns.run(id, async () => {
      const { store, segments, log } = this.#options;
      if (this.#served.has(id) || this.#dropTimers.has(id) || this.#fetched.holds(id) || !store.has(id)) return;
      if (pinned === 'later' && store.isPinned(id)) {
        this.#closeLater(id, descriptor, PINNED_LOOK_MS);
        return;
      }
      this.#closings++;
      try {
        await store.close(id);
        await segments.remove(descriptor);
      } catch (error) {
        log(`segment ${id} was not dropped cleanly: ${toServiceError(error).message}`);
      }
    });
  }

  #closeLater(id: string, descriptor: SegmentDescriptor, delayMs: number): void {
    const drop = (): void => {
      this.#dropTimers.delete(id);
      void this.#closeUnused(id, descriptor);
    };
    const timer = this.#clock.setTimer(drop, delayMs, undefined);
    timer.unref();
    this.#dropTimers.set(id, timer);
  }

  /** Rows of the segments, all of which are open. A list that was looked at before is known until a segment is closed. */
  #checkServed(segmentIds: readonly string[]): number {
    const known = this.#looked.get(segmentIds);
    if (known !== undefined && known.closings === this.#closings) return known.rows;
    let rows = 0;
    for (const id of segmentIds) {
      const rowCount = this.#served.get(id)?.rowCount;
      // One that was dropped a moment ago is still open.
      if (rowCount === undefined && !this.#options.store.has(id))
        throw new ServiceError('segments_unavailable', `segment ${id} is not served by ${this.#options.host} any more`);
      rows += rowCount ?? 0;
    }
    this.#looked.set(segmentIds, { closings: this.#closings, rows });
    return rows;
  }

  #generation(): string {
    return `${this.#options.session}-${this.#changes}`;
  }

  #facts(): Omit<ServerInventory, 'segmentIds' | 'loading' | 'failed'> {
    const { host, tier, priority, maxSizeBytes } = this.#options;
    return { host, tier, priority, maxSizeBytes, currentSizeBytes: this.#servedBytes, generation: this.#generation() };
  }

  #serve(id: string, descriptor: SegmentDescriptor): void {
    this.#servedBytes += descriptor.sizeBytes - (this.#served.get(id)?.sizeBytes ?? 0);
    this.#served.set(id, descriptor);
    this.#note(id);
  }

  #unserve(id: string, { sizeBytes }: SegmentDescriptor): void {
    if (this.#served.delete(id)) this.#servedBytes -= sizeBytes;
    this.#note(id);
  }

  #note(id: string): void {
    this.#changed.note(id, ++this.#changes);
  }

  #tell(): void {
    this.#clock.clearTimer(this.#telling);
    this.#telling = undefined;
    this.#options.onChange();
  }
}

/** The file is at fault, not the one who reads it. */
function isFileFault(error: unknown): boolean {
  return error instanceof ServiceError && (error.code === 'segment_corrupt' || error.code === 'not_found');
}
