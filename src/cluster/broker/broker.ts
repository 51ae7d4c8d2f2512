// The Broker: knows which segments exist and who serves them, and runs plans over all of them.

import type { CancelSignal } from '../../base/cancel-signal.js';
import { SYSTEM_CLOCK } from '../../base/clock/clock.js';
import { intersect } from '../../base/interval.js';
import { LoopTurns } from '../../base/loop-turns.js';
import type { Engine } from '../../execution/run/engine.js';
import type { Frame } from '../../model/frame.js';
import type { Plan, SegmentMetadataPlan } from '../../model/plan.js';
import type { RowSource, RowsPlan } from '../../model/row-source.js';
import type { SegmentAnalysis, SegmentDescriptor } from '../../model/segment.js';
import { segmentIdText } from '../../model/segment-id.js';
import { rowSourceColumns } from '../../planner/row-source-columns.js';
import { withExactSums } from '../../planner/rules/exact-sums.js';
import type { ConfiguredLookups } from '../lookups/configured-lookups.js';
import type { LookupStore } from '../lookups/lookup-store.js';
import { NamedLookups } from '../lookups/named-lookups.js';
import { resolveLookups } from '../lookups/resolve-lookups.js';
import type { RoleOptions } from '../role-options.js';
import { toServiceError } from '../rpc/message.js';
import type { Peers } from '../rpc/peers.js';
import type { BrokerService, LookupReport, TaskQueryRequest, TaskService } from '../rpc/services.js';
import { type KeepRoom, KeptUploads } from '../sources/kept-uploads.js';
import { SourceRunner } from '../sources/source-runner.js';
import { maySplit } from '../sources/split-windows.js';
import { Ticker } from '../ticker.js';
import type { DataSourceView } from './block-view.js';
import { CATCH_UP_MS_MAX, catchUp, tablesIn } from './catch-up.js';
import { ConstantResults, framesOfAll } from './constant-results.js';
import type { BrokerQueries, QueryOptions, ResultUse, SegmentToRun, ServerLocation, TableSchema, UnloadedSegments } from './contract.js';
import { BrokerLooks } from './looks/broker-looks.js';
import { Silence } from './looks/silence.js';
import { chunksOf, QueryPins } from './query-pins.js';
import { type ResultCache, ResultKeys } from './result-cache.js';
import { analyzeSegments } from './retries/analyses.js';
import { ReadTimes } from './retries/read-times.js';
import { RunningQueries } from './running-queries.js';
import { type Asked, chunksWithin, namedSegments, PlannedReads, planReads, withinData } from './scatter.js';
import { type LiveCounts, SegmentTable } from './segment-rows.js';
import { type Cluster, runOptions, runOverSegments } from './segment-runs.js';
import { withMixedTypes } from './table-schema.js';
import { findUnloaded, withUnloaded } from './unloaded.js';
import { ClusterView } from './view.js';

export interface BrokerOptions extends RoleOptions {
  readonly engine: Engine;
  readonly peers: Pick<Peers, 'at' | 'all' | 'leading' | 'isHere'>;
  /** Number of times segments are requested again from other servers when theirs fails. */
  readonly retries: number;
  /** Whole results. */
  readonly results: ResultCache | null;
  /** Bytes of frames that a query may gather; null: any. */
  readonly gatherBytesMax: number | null;
  /** Whether sums of doubles are exact unless a query says otherwise. */
  readonly exactSums: boolean;
  /** Heap that partial results of one query may take before they are merged. */
  readonly heldBytesMax: number;
  readonly lookups: Pick<ConfiguredLookups, 'store' | 'report' | 'known'>;
  /** Room for the rows of lookups between queries; left out: none is kept. */
  readonly keep?: KeepRoom;
  /** Time between two looks at the coordinator and the historicals. */
  readonly pollMs: number;
}

/** Knows which segments exist and who serves them; runs plans over all of them. */
export class Broker implements BrokerQueries, BrokerService {
  readonly lookups: LookupStore;
  readonly #options: BrokerOptions;
  readonly #view: ClusterView;
  readonly #pins: QueryPins;
  readonly #segmentTable: SegmentTable;
  readonly #running = new RunningQueries();
  readonly #constants = new ConstantResults();
  readonly #resultKeys = new ResultKeys();
  readonly #ticker: Ticker;
  readonly #cluster: Cluster;
  /** Settled when nobody looks, nor reads what looks change. */
  #looking: Promise<unknown> = Promise.resolve();
  readonly #looks: BrokerLooks;
  readonly #silence = new Silence();
  readonly #kept: KeptUploads | undefined;
  readonly #named: NamedLookups;

  constructor(options: BrokerOptions) {
    this.#options = options;
    this.#view = new ClusterView(options.now);
    this.#segmentTable = new SegmentTable(this.#view);
    const wake = (): void => this.#ticker.wake();
    this.#pins = new QueryPins({
      view: this.#view,
      silent: () => this.#silence.hosts,
      running: this.#running,
      wake,
      now: options.now,
      clock: options.clock,
    });
    this.lookups = options.lookups.store;
    this.#named = new NamedLookups(options.clock);
    this.#kept = options.keep && new KeptUploads(options.keep);
    this.#cluster = {
      engine: options.engine,
      retries: options.retries,
      results: options.results,
      gatherBytesMax: options.gatherBytesMax,
      heldBytesMax: options.heldBytesMax,
      historical: (host) => this.#historical(host),
      mayMove: (host) => !options.peers.isHere('historical', host),
      isTask: (host) => this.#view.isTask(host),
      clock: options.clock ?? SYSTEM_CLOCK,
      silence: this.#silence,
      times: new ReadTimes(),
      serving: () => this.#silence.over(this.#view.serving),
      servers: () => this.#view.servers,
      look: () => this.#ticker.wakeAndWait(),
      streams: this.#pins,
      reads: new PlannedReads(),
    };
    const isCovering = (): boolean => this.#pins.isWaiting;
    this.#looks = new BrokerLooks({ ...options, view: this.#view, silence: this.#silence, wake, isCovering });
    this.#ticker = new Ticker(
      () => this.#inTurn(() => this.#look()),
      options.pollMs,
      (error) => options.log(`broker: ${toServiceError(error).message}`),
      options.clock,
    );
  }

  /** The first picture of the cluster is complete. */
  get ready(): boolean {
    return this.#view.revision !== null;
  }

  start(): Promise<void> {
    return this.#ticker.start();
  }

  stop(): Promise<void> {
    return this.#ticker.stop();
  }

  async wake(): Promise<void> {
    this.#ticker.wake();
  }

  look(): Promise<void> {
    return this.#ticker.wakeAndWait();
  }

  /**
   * All segments as the servers and the Coordinator tell of them now.
   * @throws ServiceError what one of them that does not answer fails with: no list is a part of itself
   */
  segmentsTable(live: LiveCounts): Promise<Frame> {
    return this.#inTurn(async () => {
      await this.#look();
      const fault = this.#looks.faultOfHistoricals();
      if (fault !== undefined) throw fault;
      return this.#segmentTable.frame(live);
    });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#looking.then(work);
    this.#looking = done.catch(() => undefined);
    return done;
  }

  async revisionsInUse(): Promise<Readonly<Record<string, number>>> {
    return this.#view.revisionsInUse();
  }

  async *runForTask(
    { taskId, plan, source, allColumns, ending, pinned, deadlineMs }: TaskQueryRequest,
    signal: CancelSignal,
  ): AsyncGenerator<Frame> {
    const { peers, now } = this.#options;
    const newest = async (): Promise<number> => {
      const known = this.#view.revision;
      // `null` means that the coordinator has no newer snapshot than the one known here.
      return (await peers.leading('coordinator').snapshotAfter(known, this.#view.term))?.revision ?? known ?? 0;
    };
    const look = (): void => this.#ticker.wake();
    const tables = tablesIn(source);
    await catchUp({ tables, view: this.#view, newest, look, deadlineMs, now, signal });
    // Rules may say that a segment is in use and loaded nowhere. Queries of people do not see it, as documented.
    const unloaded = await findUnloaded(tables, { peers, limitMs: Math.min(CATCH_UP_MS_MAX, deadlineMs - now()), signal });
    const columns = allColumns === true ? this.#viewOf(plan.dataSource, unloaded)?.schema.columns.map(({ name }) => name) : undefined;
    // No segment, no rows.
    if (allColumns === true && columns === undefined) return;
    const asked = columns === undefined || plan.operator !== 'scan' ? plan : { ...plan, columns };
    const options = { queryId: taskId, deadlineMs, priority: 0, kernels: null, pinned, unloaded, publishedOnly: true, signal };
    // Whoever merges parts has the plan as it was sent.
    yield* this.runOver(asked, source, ending === undefined ? options : { ...options, ending, exactSums: false });
  }

  #viewOf(table: string, unloaded: UnloadedSegments | undefined): DataSourceView | undefined {
    const view = this.#view.find(table);
    return unloaded === undefined ? view : withUnloaded(table, view, unloaded);
  }

  async lookupReport(): Promise<LookupReport> {
    return this.#options.lookups.report();
  }

  tables(): readonly string[] {
    return this.#view.dataSources();
  }

  table(name: string): TableSchema | undefined {
    return this.#view.find(name)?.schema;
  }

  run(plan: RowsPlan, options: QueryOptions): AsyncIterable<Frame> {
    return this.runOver(plan, { kind: 'table', name: plan.dataSource }, options);
  }

  runOver(wanted: RowsPlan, wantedSource: RowSource, options: QueryOptions): AsyncIterable<Frame> {
    const turns = new LoopTurns();
    const [asked, askedSource] = this.#summed([wanted, wantedSource] as const, options);
    const known = askedSource.kind === 'inline' ? this.#constants.find(asked, options) : undefined;
    if (known !== undefined && options.profile !== undefined) options.profile.resultCacheHits++;
    if (known !== undefined) return framesOfAll(known);
    const lookup = (name: string) => this.lookups.table(name);
    const [plan, source] = [resolveLookups(asked, lookup), resolveLookups(askedSource, lookup)];
    const { results } = this.#options;
    // Whole results are kept of plans that are run over segments as they are.
    const isSplit = maySplit(plan) && options.ending === undefined && results?.reads !== true && results?.writes !== true;
    if (source.kind === 'table' && !isSplit) return this.#runTables(plan, [source.name], options, { isOwn: plan === asked, turns });
    const frames = this.#runSource(plan, source, options);
    const isConstant = source.kind === 'inline' && source === askedSource && plan === asked;
    return isConstant ? this.#constants.keep(plan, options, frames) : frames;
  }

  knownResult(wanted: RowsPlan, source: RowSource, use: ResultUse): readonly Frame[] | undefined {
    const plan = this.#summed(wanted, use);
    if (source.kind === 'inline') return this.#constants.find(plan, use);
    if (source.kind !== 'table' || use.realtimeSegmentsOnly === true || use.publishedOnly === true) return undefined;
    // The answer tells of segments, which are not looked at for a known one.
    if ((use.limits?.uncoveredIntervalsLimit ?? 0) > 0) return undefined;
    const view = this.#view.find(source.name);
    if (this.#view.streams.missing(source.name) !== undefined) return undefined;
    return view === undefined ? undefined : this.#resultKeys.find(this.#options.results, plan, view, use);
  }

  #summed<Data>(data: Data, { exactSums }: ResultUse): Data {
    return (exactSums ?? this.#options.exactSums) ? withExactSums(data) : data;
  }

  async *#runSource(plan: RowsPlan, source: RowSource, options: QueryOptions): AsyncIterable<Frame> {
    const query = this.#pins.begin([], options);
    const { signal } = query.deadline;
    const table = (name: string): TableSchema | undefined => this.#viewOf(name, options.unloaded)?.schema;
    const runner = new SourceRunner({
      engine: this.#options.engine,
      runTables: (leaf, tables) =>
        this.#runTables(leaf, tables, { ...options, ...(leaf.upload === undefined ? {} : { caching: UNCACHED }), signal }),
      isServedHere: () => this.#looks.hosts.every((host) => this.#options.peers.isHere('historical', host)),
      rowsOfTable: (name) => table(name)?.rowCount ?? null,
      lookup: (name) => this.lookups.rows(name),
      ...(this.#kept === undefined ? {} : { kept: this.#kept }),
      columnsOf: (each) => rowSourceColumns(each, { table }),
      runOptions: runOptions(options),
      signal,
    });
    let isWhole = false;
    try {
      yield* runner.run(plan, source);
      isWhole = true;
    } finally {
      this.#pins.end(query, isWhole);
    }
  }

  /**
   * Runs a plan over the segments of all tables together.
   * @param isOwn  the plan is the one that was asked for, and its result hangs on the segments alone
   * @param turns  of who went through the plan, which may be large, just before
   */
  async *#runTables(
    asked: RowsPlan,
    tables: readonly string[],
    options: QueryOptions,
    { isOwn = false, turns = new LoopTurns() } = {},
  ): AsyncIterable<Frame> {
    if (turns.isDue) await turns.give();
    const query = this.#pins.begin(tables, options);
    const { pinned = null } = options;
    let isWhole = false;
    try {
      if (!this.#pins.pin(query)) await this.#pins.pinLater(query);
      const isPinned = pinned !== null && tables.includes(pinned.dataSource);
      const chunks = chunksOf(query, asked, isPinned ? pinned : null);
      const typed = withMixedTypes(everySegment(asked), () => query.pinned.map(({ view }) => view.schema));
      const plan = withinData(typed, chunks);
      const [only] = query.pinned;
      const { kernels } = options;
      const noteKey =
        isOwn && only !== undefined && !isPinned
          ? (key: string) => this.#resultKeys.note(asked, { view: only.view, kernels, key })
          : undefined;
      if (plan !== undefined) yield* runOverSegments(this.#cluster, plan, chunks, options, query.deadline.signal, noteKey);
      isWhole = true;
    } finally {
      this.#pins.end(query, isWhole);
    }
  }

  async *bySegment(dataSource: string, asked: Asked, options: QueryOptions): AsyncGenerator<readonly SegmentToRun[]> {
    const query = this.#pins.begin([dataSource], options);
    const { signal } = query.deadline;
    const cluster = { ...this.#cluster, results: null };
    try {
      if (!this.#pins.pin(query)) await this.#pins.pinLater(query);
      const { intervals } = asked;
      const segments: SegmentToRun[] = [];
      const turns = new LoopTurns();
      for (const chunk of chunksWithin(chunksOf(query, asked), intervals)) {
        if (turns.isDue) await turns.give();
        const parts = chunk.visible.flatMap((piece) => intervals.flatMap((interval) => intersect(piece, interval) ?? []));
        const [first, last] = [parts[0], parts.at(-1)];
        if (first === undefined || last === undefined) continue;
        for (const segment of chunk.segments) {
          const run = (wanted: RowsPlan): AsyncIterable<Frame> => {
            const plan = everySegment(wanted);
            const only = [{ ...chunk, segments: [segment] }];
            const resolved = withinData(
              resolveLookups(this.#summed(plan, options), (name) => this.lookups.table(name)),
              only,
            );
            return resolved === undefined ? framesOfAll([]) : runOverSegments(cluster, resolved, only, options, signal);
          };
          segments.push({ id: segmentIdText(segment.id), interval: { start: first.start, end: last.end }, run });
        }
      }
      yield segments;
    } finally {
      this.#pins.end(query);
    }
  }

  async analyze(plan: SegmentMetadataPlan, options: QueryOptions): Promise<readonly SegmentAnalysis[]> {
    const query = this.#pins.begin([plan.dataSource], options);
    try {
      if (!this.#pins.pin(query)) await this.#pins.pinLater(query);
      const reads = await planReads(chunksOf(query, plan), plan.intervals, this.#cluster.serving());
      return await analyzeSegments(this.#cluster, everySegment(plan), reads, options, query.deadline.signal);
    } finally {
      this.#pins.end(query);
    }
  }

  candidates(
    dataSource: string,
    asked: Asked,
  ): readonly { readonly segment: SegmentDescriptor; readonly hosts: readonly ServerLocation[] }[] {
    const view = this.#view.find(dataSource);
    const found = chunksWithin(namedSegments(view?.chunks ?? [], asked), asked.intervals).flatMap(({ segments }) => segments);
    const tombstones = asked.segments === undefined ? (view?.tombstones ?? []) : [];
    const hiding = tombstones.filter(({ id }) => asked.intervals.some((interval) => intersect(id.interval, interval) !== undefined));
    return [...found, ...hiding].map((segment) => ({ segment, hosts: this.#view.serversOf(segmentIdText(segment.id)) }));
  }

  cancel(queryId: string): boolean {
    return this.#running.cancel(queryId);
  }

  /** Who serves segments: a Historical, or a task its own. */
  #historical(host: string): Pick<TaskService, 'runPlan' | 'analyzeSegments'> {
    const { peers } = this.#options;
    if (this.#view.isTask(host)) return peers.at('task', host);
    const historical = peers.at('historical', host);
    if (peers.isHere('historical', host)) return historical;
    return {
      runPlan: (request, signal) => this.#named.run(host, historical, request, signal),
      analyzeSegments: (request, signal) => historical.analyzeSegments(request, signal),
    };
  }

  async #look(): Promise<void> {
    if (this.#view.revision === null) await this.#options.lookups.known();
    await this.#looks.look();
  }
}

/** No result is left in memory twice under one name. */
const UNCACHED = { useCache: false, populateCache: false, useResultLevelCache: false, populateResultLevelCache: false } as const;

/** The plan for servers, which are told which segments to read. */
function everySegment<AnyPlan extends Plan>(plan: AnyPlan): AnyPlan {
  if (plan.segments === undefined) return plan;
  const { segments: _, ...rest } = plan;
  return rest as AnyPlan;
}
