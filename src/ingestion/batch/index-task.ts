// Runs an `index_parallel` or `index` task.

import { condenseIntervals } from '../../base/interval.js';
import { bucketsOf } from '../../model/granularity.js';
import type { PublishRequest, PushedSegment } from '../../model/publication.js';
import type { ColumnType } from '../../model/schema.js';
import { buildSegments } from '../builder/build-segments.js';
import { TimeRange } from '../builder/row-collector.js';
import { RowStore } from '../builder/row-store.js';
import type { TaskContext, TaskOutcome } from '../contract.js';
import { readBlocks } from '../format/read-input.js';
import { indexReport } from '../report/index-report.js';
import { ProgressReporter } from '../report/progress.js';
import { RowStatistics } from '../report/row-statistics.js';
import { failureOf } from '../report/task-failure.js';
import { LazyEngine } from '../task-engine.js';
import { alignedIntervals, type IndexSpec } from '../task-spec/index-spec.js';
import { openStages } from './row-stages.js';
import { refuseStatesAsValues } from './state-columns.js';

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
    const { errorMessage } = failureOf(error, context);
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
    buckets: bucketsOf(granularity.segmentGranularity),
    maxRowsInMemory: tuning.maxRowsInMemory,
    maxBytesInMemory: Math.min(tuning.maxBytesInMemory ?? Number.MAX_SAFE_INTEGER, context.maxBytesInMemory),
    workDirectory: context.workDirectory,
    engine: () => engine.get(),
  });
}

async function readInput({ spec, context, statistics, progress, engine, store }: Reading): Promise<void> {
  progress.phase('reading');
  const { dataSchema, inputSource: source, inputFormat: format } = spec;
  const range = new TimeRange(dataSchema.granularity.intervals, dataSchema.granularity.queryGranularity);
  const stages = openStages({ dataSchema, range, maxColumns: context.inputLimits.maxColumns, statistics, engine, store });
  const checkTypes = (types: ReadonlyMap<string, ColumnType>): void => refuseStatesAsValues(dataSchema, types);
  for await (const block of readBlocks({ source, format, columns: stages.columnsRead, context, statistics, progress, checkTypes })) {
    stages.collector.add(block);
    await stages.relieve();
  }
  await stages.finish();
  const { processed, processedWithError, thrownAway, unparseable } = statistics;
  context.log(
    `read ${statistics.rows} rows: ${processed} kept, ${processedWithError} kept with an error, ${thrownAway} thrown away, ${unparseable} unparseable`,
  );
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
