// Runs an `index_parallel` or `index` task.

import { ServiceError } from '../../base/errors.js';
import { condenseIntervals } from '../../base/interval.js';
import { columnsOfExpression, columnsOfFilter } from '../../model/columns-read.js';
import type { PublishRequest, PushedSegment } from '../../model/publication.js';
import { buildSegments } from '../builder/build-segments.js';
import { RowCollector, TimeRange } from '../builder/row-collector.js';
import { RowStore } from '../builder/row-store.js';
import { RowTransformer } from '../builder/row-transformer.js';
import type { TaskContext, TaskOutcome } from '../contract.js';
import { readBlocks } from '../format/read-input.js';
import { indexReport } from '../report/index-report.js';
import { ProgressReporter } from '../report/progress.js';
import { RowStatistics } from '../report/row-statistics.js';
import { LazyEngine } from '../task-engine.js';
import { alignedIntervals, type IndexSpec } from '../task-spec/index-spec.js';

/** Reads, rolls up, builds, publishes: one `index_parallel` or `index` task. Never throws. */
export async function runIndexTask(spec: IndexSpec, context: TaskContext): Promise<TaskOutcome> {
  const { tuning } = spec;
  const statistics = new RowStatistics(tuning, context.log, context.now);
  const progress = new ProgressReporter(context, statistics);
  const engine = new LazyEngine(context);
  const store = openStore(spec, context, engine);
  try {
    await readInput({ spec, context, statistics, progress, engine, store });
    const segments = await buildAll(spec, context, store, progress);
    const ids = await publish(spec, context, segments, progress);
    progress.phase('completed');
    return { succeeded: true, errorMessage: null, report: indexReport(context.taskId, statistics, 'COMPLETED', null, ids.length) };
  } catch (error) {
    const failure = context.signal.aborted ? new ServiceError('cancelled', 'the task was cancelled', error) : error;
    const errorMessage = failure instanceof Error ? failure.message : String(failure);
    context.log(`failed: ${errorMessage}`);
    if (!(failure instanceof ServiceError) && failure instanceof Error) context.log(failure.stack ?? '');
    return { succeeded: false, errorMessage, report: indexReport(context.taskId, statistics, progress.indexPhase, errorMessage, 0) };
  } finally {
    store.close();
    await engine.close();
  }
}

interface Reading {
  readonly spec: IndexSpec;
  readonly context: TaskContext;
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  readonly engine: LazyEngine;
  readonly store: RowStore;
}

function openStore({ dataSchema, tuning }: IndexSpec, context: TaskContext, engine: LazyEngine): RowStore {
  const { granularity, dimensions, metrics, dataSource } = dataSchema;
  return new RowStore({
    dataSource,
    dimensions: dimensions.declared,
    metrics,
    rollup: granularity.rollup && metrics.length + dimensions.declared.length > 0,
    segmentGranularity: granularity.segmentGranularity,
    maxRowsInMemory: tuning.maxRowsInMemory,
    maxBytesInMemory: Math.min(tuning.maxBytesInMemory ?? Number.MAX_SAFE_INTEGER, context.maxBytesInMemory),
    workDirectory: context.workDirectory,
    engine: () => engine.get(),
  });
}

async function readInput({ spec, context, statistics, progress, engine, store }: Reading): Promise<void> {
  progress.phase('reading');
  const stages = openStages({ spec, context, statistics, engine, store });
  const { inputSource: source, inputFormat: format } = spec;
  for await (const block of readBlocks({ source, format, columns: stages.columnsRead, context, statistics, progress })) {
    stages.collector.add(block);
    await stages.relieve();
  }
  await stages.finish();
  const { processed, processedWithError, thrownAway, unparseable } = statistics;
  context.log(
    `read ${statistics.rows} rows: ${processed} kept, ${processedWithError} kept with an error, ${thrownAway} thrown away, ${unparseable} unparseable`,
  );
}

interface Stages {
  readonly collector: RowCollector;
  /** null: any. */
  readonly columnsRead: ReadonlySet<string> | null;
  relieve(): Promise<void>;
  finish(): Promise<void>;
}

/** Collector → store; with transforms or a filter, collector → transformer → store. */
function openStages({ spec: { dataSchema }, context, statistics, engine, store }: Omit<Reading, 'progress'>): Stages {
  const { maxColumns } = context.inputLimits;
  const { timestamp, dimensions, metrics, granularity, transforms, filter } = dataSchema;
  const { discovery } = dimensions;
  const leavesOutNested = discovery === 'STRING';
  const range = new TimeRange(granularity.intervals, granularity.queryGranularity);
  const sources = new Map(metrics.flatMap(({ inputs }) => inputs.map(({ field, column }) => [column.name, field] as const)));
  const fields = [timestamp.column, ...dimensions.declared.map(({ name }) => name), ...sources.values()];
  if (transforms.length === 0 && filter === null) {
    const collector = new RowCollector(
      { timestamp, range, sources, discovery, leavesOutNested, exclusions: dimensions.exclusions, countsRows: true, maxColumns },
      store.input,
      statistics,
    );
    return {
      collector,
      columnsRead: discovery === 'none' ? new Set(fields) : null,
      relieve: () => store.relieve(),
      finish: async () => undefined,
    };
  }
  const exclusions = new Set(dimensions.exclusions);
  const transformer = new RowTransformer({
    spec: { transforms, filter },
    sources,
    store,
    range,
    engine: engine.get(),
    statistics,
    discovery: { type: discovery, exclusions },
  });
  const collector = new RowCollector(
    {
      timestamp,
      range: null,
      sources: transformer.filterSources,
      discovery: discovery === 'none' ? 'none' : 'AUTO',
      leavesOutNested,
      exclusions: dimensions.exclusions,
      countsRows: false,
      maxColumns,
    },
    transformer.input,
    statistics,
  );
  const read = new Set([
    ...fields,
    ...transforms.flatMap(({ expression }) => [...columnsOfExpression(expression)]),
    ...(filter === null ? [] : columnsOfFilter(filter)),
  ]);
  return {
    collector,
    columnsRead: discovery === 'none' ? read : null,
    relieve: () => transformer.relieve(),
    finish: () => transformer.finish(),
  };
}

async function buildAll(
  { dataSchema, tuning }: IndexSpec,
  context: TaskContext,
  store: RowStore,
  progress: ProgressReporter,
): Promise<readonly PushedSegment[]> {
  progress.phase('building');
  const { aggregators, timestampSpec, queryGranularity } = dataSchema.source;
  const metrics = dataSchema.metrics.map(({ name }) => name);
  return buildSegments({
    store,
    partitions: tuning.partitions,
    maxChunks: tuning.maxAllowedLockCount,
    description: { metrics, aggregators, timestampSpec, queryGranularity, rollup: dataSchema.granularity.rollup },
    context,
    pushed: () => progress.tick(),
  });
}

async function publish(
  spec: IndexSpec,
  context: TaskContext,
  segments: readonly PushedSegment[],
  progress: ProgressReporter,
): Promise<readonly string[]> {
  progress.phase('publishing');
  const mode = publishMode(spec, segments);
  if (segments.length === 0 && (mode.kind === 'append' || mode.intervals.length === 0)) {
    context.log('no rows were kept, nothing to publish');
    return [];
  }
  const ids = await context.publish({ taskId: context.taskId, dataSource: spec.dataSchema.dataSource, segments, mode });
  context.log(`published ${ids.length} segments`);
  return ids;
}

/** Replaces the chunks that rows were found for, or with `dropExisting` all the intervals of the spec. */
function publishMode(
  { appendToExisting, dropExisting, dataSchema }: IndexSpec,
  segments: readonly PushedSegment[],
): PublishRequest['mode'] {
  if (appendToExisting) return { kind: 'append' };
  return {
    kind: 'replace',
    intervals: dropExisting ? alignedIntervals(dataSchema.granularity) : condenseIntervals(segments.map(({ interval }) => interval)),
  };
}
