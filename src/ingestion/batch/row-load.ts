// Reads the rows of a batch task into a store, and builds segments of them.

import { bucketsOf } from '../../model/granularity.js';
import type { PushedSegment } from '../../model/publication.js';
import type { ColumnType } from '../../model/schema.js';
import type { SegmentInput } from '../../storage/contract.js';
import { buildSegments } from '../builder/build-segments.js';
import { TimeRange } from '../builder/row-collector.js';
import { RowStore } from '../builder/row-store.js';
import type { TaskContext } from '../contract.js';
import { readBlocks } from '../format/read-input.js';
import { ProgressReporter } from '../report/progress.js';
import { RowStatistics } from '../report/row-statistics.js';
import { LazyEngine } from '../task-engine.js';
import type { DataSchema } from '../task-spec/data-schema.js';
import type { IndexSpec } from '../task-spec/index-spec.js';
import { checkChunkCount } from '../task-spec/tuning-config.js';
import { type Division, readDivided, usualDivision } from './divided/divided-load.js';
import { openStages } from './row-stages.js';
import { refuseStatesAsValues, withStoredStates } from './state-columns.js';

/** Rows of an input on their way into segments. Whoever made it closes it. */
export class RowLoad {
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  #store: RowStore;
  #spec: IndexSpec;
  readonly #context: TaskContext;
  readonly #engine: LazyEngine;
  readonly #division: Division;

  constructor(spec: IndexSpec, context: TaskContext, division: Division = usualDivision()) {
    this.#division = division;
    this.#spec = spec;
    this.#context = context;
    this.statistics = new RowStatistics(spec.tuning, context.log, context.now);
    this.progress = new ProgressReporter(context, this.statistics);
    this.#engine = new LazyEngine(context);
    this.#store = openStore(spec, context, this.#engine);
  }

  get store(): RowStore {
    return this.#store;
  }

  /** Reads all of the input; every row is counted. */
  async read(): Promise<void> {
    const { statistics, progress } = this;
    const context = this.#context;
    progress.phase('reading');
    await this.#findStates();
    const store = this.#store;
    const load = { spec: this.#spec, context, statistics, progress, store };
    if (!(await readDivided(load, this.#division))) await this.#readHere(store);
    const { processed, processedWithError, thrownAway, unparseable } = statistics;
    context.log(
      `read ${statistics.rows} rows: ${processed} kept, ${processedWithError} kept with an error, ${thrownAway} thrown away, ${unparseable} unparseable`,
    );
  }

  async #readHere(store: RowStore): Promise<void> {
    const { statistics, progress } = this;
    const context = this.#context;
    const { dataSchema, inputSource: source, inputFormat: format } = this.#spec;
    const range = new TimeRange(dataSchema.granularity.intervals, dataSchema.granularity.queryGranularity);
    const { maxColumns } = context.inputLimits;
    const stages = openStages({ dataSchema, range, maxColumns, statistics, engine: this.#engine, store });
    const checkTypes = (types: ReadonlyMap<string, ColumnType>): void => refuseStatesAsValues(dataSchema, types);
    for await (const block of readBlocks({ source, format, columns: stages.columnsRead, context, statistics, progress, checkTypes })) {
      stages.collector.add(block);
      await stages.relieve();
    }
    await stages.finish();
  }

  /** Builds and pushes the segments of all that was read. */
  async build(): Promise<readonly PushedSegment[]> {
    const { dataSchema, tuning } = this.#spec;
    this.progress.phase('building');
    return buildSegments({
      store: this.#store,
      partitions: tuning.partitions,
      checkChunks: (count) => checkChunkCount(tuning, count),
      description: segmentDescription(dataSchema),
      context: this.#context,
      pushed: () => this.progress.tick(),
    });
  }

  async close(): Promise<void> {
    this.#store.close();
    await this.#engine.close();
  }

  /** Has metrics merge the states of datasources; types of rows are known once their segments are. */
  async #findStates(): Promise<void> {
    const spec = await withStoredStates(this.#spec, this.#context);
    if (spec === this.#spec) return;
    this.#spec = spec;
    this.#store.close();
    this.#store = openStore(spec, this.#context, this.#engine);
  }
}

/** Description that every segment of a task has. */
export function segmentDescription({ source, metrics, granularity }: DataSchema): Omit<SegmentInput, 'frame' | 'dimensions'> {
  const { aggregators, timestampSpec, queryGranularity } = source;
  return { metrics: metrics.map(({ name }) => name), aggregators, timestampSpec, queryGranularity, rollup: granularity.rollup };
}

/** Whether rows of one time and dimensions become one. */
export function rollsUp({ granularity, metrics, dimensions }: DataSchema): boolean {
  return granularity.rollup && metrics.length + dimensions.declared.length > 0;
}

function openStore({ dataSchema, tuning }: IndexSpec, context: TaskContext, engine: LazyEngine): RowStore {
  const { granularity, dimensions, metrics, dataSource } = dataSchema;
  return new RowStore({
    dataSource,
    dimensions: dimensions.declared,
    metrics,
    rollup: rollsUp(dataSchema),
    buckets: bucketsOf(granularity.segmentGranularity),
    maxRowsInMemory: tuning.maxRowsInMemory,
    maxBytesInMemory: Math.min(tuning.maxBytesInMemory ?? Number.MAX_SAFE_INTEGER, context.maxBytesInMemory),
    workDirectory: context.workDirectory,
    engine: () => engine.get(),
    kernels: context.kernels,
  });
}
