// The engine of this process.

import { rm } from 'node:fs/promises';
import type { CancelSignal } from '../../base/cancel-signal.js';
import { ServiceError } from '../../base/errors.js';
import type { Frame } from '../../model/frame.js';
import type { Plan, RowPlan } from '../../model/plan.js';
import type { BuildRequest } from '../../model/upload.js';
import type { SegmentStore } from '../../storage/contract.js';
import type { StorageJobName, StorageJobs } from '../../storage/jobs.js';
import type { GlobalDictionaryView, SegmentView } from '../../storage/view.js';
import type { RowCounts } from '../block/row-counts.js';
import { meets } from '../block/row-ranges.js';
import type { Builds } from '../join/with-stages.js';
import { mayBeBrief } from '../scan/brief.js';
import type { PartialRows } from '../scan/merge-scans.js';
import type { RunControl } from '../threads/thread-context.js';
import { BuildStore, ROWS_AHEAD } from './build-store.js';
import type { Engine, GivenRows, RunCounters, RunOptions, UploadedRows } from './engine.js';
import type { EngineOptions } from './engine-options.js';
import { Executors } from './executors.js';
import { runGrouped } from './grouped.js';
import { mergePartials } from './merged.js';
import { CELLS_AT_ONCE } from './parts-by-time.js';
import { runPinned } from './pinned.js';
import { type KeepBuilt, StreamReader } from './read-streams.js';
import { feed, peek } from './row-feed.js';
import { RunControls } from './run-controls.js';
import { bucketsToFill, rowsToRead, rowsWithPairs, uploadCost } from './work-size.js';

export interface ProcessingEngine extends Engine {
  /** Storage's jobs run on the same threads as queries. */
  runJob<Name extends StorageJobName>(name: Name, request: StorageJobs[Name]['request']): Promise<StorageJobs[Name]['response']>;
}

const MORSEL_ROWS = 1 << 18;

export function createEngine(options: EngineOptions): ProcessingEngine {
  return new LocalEngine(options);
}

/** Runs plans on the threads of this process: each way to run one is a file beside this one. */
class LocalEngine implements ProcessingEngine {
  readonly #options: EngineOptions;
  readonly #executors: Executors;
  readonly #controls: RunControls;
  readonly #reader = new StreamReader();
  readonly #builds: BuildStore;

  constructor(options: EngineOptions) {
    this.#options = options;
    const { memory, makeRoom = () => false } = options;
    memory.whenFull(makeRoom);
    this.#executors = new Executors(options);
    this.#controls = new RunControls(options, this.#executors.threads);
    this.#builds = new BuildStore(memory, (side, rowCount, unsized) => {
      const control = { ...unsized, rows: uploadCost(rowCount) };
      return this.#executors.forRows(control).open('build', { control, side });
    });
  }

  get counters(): RunCounters {
    return this.#reader.counters;
  }

  get #parts(): { readonly executors: Executors; readonly controls: RunControls; readonly reader: StreamReader } {
    return { executors: this.#executors, controls: this.#controls, reader: this.#reader };
  }

  runJob<Name extends StorageJobName>(name: Name, request: StorageJobs[Name]['request']): Promise<StorageJobs[Name]['response']> {
    return this.#executors.runJob(name, request);
  }

  run(plan: RowPlan, store: SegmentStore, segmentIds: readonly string[], options: RunOptions, signal: CancelSignal): AsyncGenerator<Frame> {
    const engine = {
      runOver: this.#runOver.bind(this),
      merge: this.merge.bind(this),
      cellsAtOnce: this.#options.cellsAtOnce ?? CELLS_AT_ONCE,
      hold: (id: string, letGo: () => void) => this.#builds.hold(id, letGo),
    };
    return runPinned(engine, { plan, store, segmentIds, options, signal });
  }

  runViews(plan: RowPlan, views: readonly SegmentView[], options: RunOptions, signal: CancelSignal): AsyncIterable<Frame> {
    return this.#runOver(plan, views, {}, options, signal);
  }

  merge(plan: Plan, partials: readonly PartialRows[], options: RunOptions, signal: CancelSignal): AsyncGenerator<Frame> {
    return mergePartials(this.#parts, plan, partials, options, signal);
  }

  async close(): Promise<void> {
    await this.#executors.close();
    if (this.#options.spillDirectory !== undefined) await rm(this.#options.spillDirectory, { recursive: true, force: true });
  }

  #runOver(
    plan: RowPlan,
    views: readonly SegmentView[],
    dictionaries: Readonly<Record<string, GlobalDictionaryView>>,
    options: RunOptions,
    signal: CancelSignal,
  ): AsyncIterable<Frame> {
    const { executors, controls, reader } = this.#parts;
    const store = this.#builds;
    const { memory, morselRows = MORSEL_ROWS } = this.#options;
    const { profile, ending } = options;
    const data = { views, dictionaries };
    return this.#controls.during(options, signal, (unsized) => {
      this.counters.segments += views.length;
      if (profile !== undefined) {
        profile.segments += views.length;
        profile.segmentsPrunedByTime += views.filter((view) => !meets(view, plan.intervals)).length;
      }
      return this.#builds.with(plan, unsized, (sent, builds) => {
        const keep = keeperOf(store, sent, builds);
        const control = { ...unsized, rows: rowsWithPairs(rowsToRead(plan, views), builds) };
        const place = executors.forSegments(control);
        switch (sent.operator) {
          case 'group':
            return runGrouped(
              { executors, place, controls, reader, keep, memory, morselRows },
              { control, plan: sent, data, builds },
              options,
            );
          case 'scan': {
            const request = { control, plan: sent, data, builds, ending };
            const brief = !executors.runsInline(control.rows) && mayBeBrief(sent, views) ? executors.attemptScan(request) : undefined;
            return reader.read(brief ?? place.open('scan', request), 'scan', profile, { keep });
          }
          case 'timeBoundary': {
            const request = { control, plan: sent, data, builds, ending };
            return reader.read(place.open('timeBoundary', request), 'scan', profile, { keep });
          }
        }
      });
    });
  }

  runRows(plan: RowPlan, rows: AsyncIterable<Frame>, given: GivenRows, options: RunOptions, signal: CancelSignal): AsyncGenerator<Frame> {
    return this.#controls.during(options, signal, (unsized) =>
      this.#builds.with(plan, unsized, (sent, builds) => this.#feedRows({ plan, sent, builds, unsized }, rows, given, options)),
    );
  }

  async *#feedRows(
    {
      plan,
      sent,
      builds,
      unsized,
    }: { readonly plan: RowPlan; readonly sent: RowPlan; readonly builds: Builds; readonly unsized: RunControl },
    rows: AsyncIterable<Frame>,
    { columns, chunkRows }: GivenRows,
    { profile }: RunOptions,
  ): AsyncGenerator<Frame> {
    const { executors, reader } = this.#parts;
    const keep = keeperOf(this.#builds, sent, builds);
    const source = await peek(rows, ROWS_AHEAD);
    const control = { ...unsized, rows: rowsWithPairs(uploadCost(source.rowCount), builds) + bucketsToFill(plan) };
    const place = executors.forRows(control);
    const open = () => place.open('rows', { control, plan: sent, builds, columns, chunkRows: chunkRows ?? null });
    let last: RowCounts | undefined;
    try {
      for await (const { frame, counts, built } of feed(open, source.rows)) {
        last = counts;
        if (built !== undefined && keep !== undefined) yield keep(built);
        if (frame !== null) yield frame;
      }
    } finally {
      if (last !== undefined) reader.count(last, sent.operator === 'group' ? 'group' : 'scan', profile);
    }
  }

  async build(rows: AsyncIterable<Frame>, side: BuildRequest, options: RunOptions, signal: CancelSignal): Promise<UploadedRows> {
    let placed: UploadedRows | undefined;
    for await (const each of this.#controls.during(options, signal, (control) => this.#builds.place(rows, side, control))) placed = each;
    if (placed === undefined) throw new ServiceError('internal', 'the right side of a join was not placed');
    return placed;
  }

  async *runUploaded(plan: RowPlan, ids: readonly string[], options: RunOptions, signal: CancelSignal): AsyncGenerator<Frame> {
    const views = ids.map((id, at): SegmentView => {
      const side = this.#builds.find(id);
      if (side === undefined) throw new ServiceError('internal', `nothing was left in memory under ${id}`);
      return ids.length === 1 ? side.view : { ...side.view, id: String(at) };
    });
    for await (const frame of this.#runOver(plan, views, {}, options, signal)) {
      if (frame.uploaded !== undefined) for (const id of ids) this.#builds.share(id, frame.uploaded.id);
      yield frame;
    }
  }

  reserveUpload(): string {
    return this.#builds.reserve();
  }

  releaseUpload(id: string): void {
    this.#builds.release(id);
  }
}

/** Keeps what a plan leaves in memory; its columns may be those of the build sides that it was joined with. */
function keeperOf(store: BuildStore, { upload }: RowPlan, builds: Builds): KeepBuilt | undefined {
  return upload && ((built) => store.add(upload.id, built, Object.keys(builds)));
}
