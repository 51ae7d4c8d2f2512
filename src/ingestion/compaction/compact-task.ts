// Runs a `compact` task.

import { createHash } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { condenseIntervals, formatInterval } from '../../base/interval.js';
import { stringifyJson } from '../../base/json.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { Frame } from '../../model/frame.js';
import { type Buckets, bucketsOf } from '../../model/granularity.js';
import type { PublishRequest, PushedSegment } from '../../model/publication.js';
import type { VisibleSegment } from '../../model/segment.js';
import { idTextOf } from '../../model/segment-id.js';
import { serveLoadChat } from '../batch/load-chat.js';
import { buildSegments } from '../builder/build-segments.js';
import { RowStore } from '../builder/row-store.js';
import { timesOf } from '../builder/run-buffer.js';
import { allRows } from '../column/run-column.js';
import type { TaskContext, TaskOutcome } from '../contract.js';
import { indexReport } from '../report/index-report.js';
import { ProgressReporter } from '../report/progress.js';
import { publishSegments } from '../report/publication.js';
import { RowStatistics } from '../report/row-statistics.js';
import { failureOf } from '../report/task-failure.js';
import { LazyEngine } from '../task-engine.js';
import { checkChunkCount } from '../task-spec/tuning-config.js';
import { type CompactSchema, compactSchema } from './compact-schema.js';
import { type CompactUnit, unitsOf } from './compact-units.js';
import type { CompactSpec } from './contract.js';
import { InputRows, servedRows } from './input-rows.js';

interface Run {
  readonly spec: CompactSpec;
  readonly context: TaskContext;
  readonly statistics: RowStatistics;
  readonly progress: ProgressReporter;
  readonly engine: LazyEngine;
}

/** Reads the segments of an interval, writes others in their place, and swaps them in one publish. Never throws. */
export async function runCompactTask(spec: CompactSpec, context: TaskContext): Promise<TaskOutcome> {
  const statistics = new RowStatistics(spec.tuning, context.log, context.now);
  const progress = new ProgressReporter(context, statistics);
  const run: Run = { spec, context, statistics, progress, engine: new LazyEngine(context) };
  serveLoadChat(context, { statistics, progress, runs: null });
  try {
    const inputs = await findInputs(run);
    const units = unitsOf(inputs, spec.segmentGranularity, spec.input.intervals);
    const segments: PushedSegment[] = [];
    for (const [position, unit] of units.entries()) {
      progress.phase('reading');
      for (const segment of await compactUnit(run, unit)) segments.push(segment);
      if (position === 0) failpoint('compact.unitBuilt');
    }
    statistics.store(segments);
    const { ids, availability } = await publish(run, inputs, units, segments);
    progress.phase('completed');
    const report = indexReport(context.taskId, statistics, 'COMPLETED', null, ids.length, { segmentsRead: inputs.length, availability });
    return { succeeded: true, errorMessage: null, report };
  } catch (error) {
    const { errorMessage } = failureOf(error, context);
    return { succeeded: false, errorMessage, report: indexReport(context.taskId, statistics, progress.indexPhase, errorMessage, 0) };
  } finally {
    await run.engine.close();
  }
}

async function findInputs({ spec: { dataSource, input }, context }: Run): Promise<readonly VisibleSegment[]> {
  const found = await context.visibleSegments(dataSource, input.intervals);
  const ids = found.map(({ segment }) => idTextOf(segment)).sort();
  const where = input.intervals.map(formatInterval).join(', ');
  if (ids.length === 0) throw new ServiceError('input_invalid', `ioConfig: ${dataSource} has no segments in ${where}`);
  if (input.segments !== null && input.segments.toSorted().join('\n') !== ids.join('\n'))
    throw new ServiceError('conflict', `ioConfig.inputSpec.segments: they are not, or no longer, all the segments of ${where}`);
  const digest = createHash('sha256').update(ids.join('')).digest('hex');
  if (input.digest !== null && input.digest.toLowerCase() !== digest)
    throw new ServiceError(
      'conflict',
      `ioConfig.inputSpec.sha256OfSortedSegmentIds: the segments of ${where} have changed since; their digest is ${digest}`,
    );
  context.log(`compacts ${ids.length} segments of ${where}`);
  return found;
}

async function compactUnit(run: Run, unit: CompactUnit): Promise<readonly PushedSegment[]> {
  const { spec, context, statistics, progress, engine } = run;
  const input = new InputRows(context, engine, unit);
  try {
    const analyses = await input.open();
    const schema = compactSchema(
      spec,
      unit.segments.map(({ segment }) => segment),
      analyses,
    );
    const frames =
      spec.engine === 'native' ? input.frames(schema, spec.filter) : servedRows(context, spec.dataSource, unit, schema, spec.filter);
    const store = openStore(run, unit, schema);
    try {
      const before = statistics.processed;
      await readRows(run, unit, frames, store, schema);
      // The visible rows of a segment that a newer one covers in part are not known before they are read.
      const rows = unit.segments.every(({ segment, visible }) => isWhole(segment.id.interval, visible))
        ? unit.segments.reduce((sum, { segment }) => sum + segment.rowCount, 0)
        : null;
      if (rows !== null) checkCount(spec, statistics.processed - before, rows, statistics);
      progress.phase('building');
      const built = await buildSegments({
        store,
        partitions: spec.tuning.partitions,
        checkChunks: (count) => checkChunkCount(spec.tuning, count),
        description: {
          metrics: schema.metricNames,
          aggregators: schema.aggregators,
          timestampSpec: schema.timestampSpec,
          queryGranularity: schema.queryGranularity,
          rollup: schema.rollup,
        },
        context,
        pushed: () => progress.tick(),
      });
      return spec.storesState ? built.map((segment) => ({ ...segment, lastCompactionState: stringifyJson(schema.state) })) : built;
    } finally {
      store.close();
    }
  } finally {
    await input.close();
  }
}

const isWhole = (interval: Interval, [first, second]: readonly Interval[]): boolean =>
  second === undefined && first?.start === interval.start && first.end === interval.end;

/** Rows that are in segments and were not read would be lost when the segments are replaced. */
function checkCount({ filter, dataSource }: CompactSpec, read: number, rows: number, statistics: RowStatistics): void {
  if (filter === null && read !== rows)
    throw new ServiceError('internal', `${read} rows were read of segments of ${dataSource} that hold ${rows}; nothing is replaced`);
  statistics.thrownAway += rows - read;
}

function openStore({ spec, context, engine }: Run, unit: CompactUnit, schema: CompactSchema): RowStore {
  return new RowStore({
    dataSource: spec.dataSource,
    dimensions: schema.stored,
    metrics: schema.metrics,
    rollup: schema.rollup && schema.metrics.length + schema.stored.length > 0,
    buckets: unit.chunks,
    maxRowsInMemory: spec.tuning.maxRowsInMemory,
    maxBytesInMemory: Math.min(spec.tuning.maxBytesInMemory ?? Number.MAX_SAFE_INTEGER, context.maxBytesInMemory),
    workDirectory: context.workDirectory,
    engine: () => engine.get(),
    kernels: context.kernels,
  });
}

async function readRows(
  { spec, context, statistics, progress }: Run,
  unit: CompactUnit,
  frames: AsyncIterable<Frame>,
  store: RowStore,
  schema: CompactSchema,
): Promise<void> {
  const floor = spec.queryGranularity === null || spec.queryGranularity.kind === 'none' ? null : bucketsOf(spec.queryGranularity);
  if (floor !== null) checkBuckets(unit, floor);
  const sources = new Map(schema.metrics.flatMap(({ inputs }) => inputs.map(({ field, column }) => [column.name, field] as const)));
  for await (const frame of frames) {
    if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
    const times = timesOf(frame);
    if (times === undefined) throw new ServiceError('internal', 'a segment has no __time');
    if (floor !== null) for (let row = 0; row < times.length; row++) times[row] = floor.floor(times[row] ?? 0);
    const faults = new Uint8Array(frame.rowCount);
    store.input.appendFrame(withInputs(frame, sources), times, allRows(frame.rowCount), faults);
    if (faults.includes(1))
      throw new ServiceError(
        'input_invalid',
        'dimensionsSpec: a value does not fit the type of its column; give a type that holds all values',
      );
    statistics.processed += frame.rowCount;
    progress.tick();
    await store.relieve();
  }
}

/** A bucket that begins before its time chunk would take rows out of it. */
function checkBuckets({ interval, chunks }: CompactUnit, { floor }: Buckets): void {
  const start = chunks.floor(interval.start);
  if (floor(start) !== start)
    throw new ServiceError(
      'input_invalid',
      `granularitySpec.queryGranularity: its buckets do not fit into the time chunk ${formatInterval({ start, end: chunks.next(start) })}; give a segmentGranularity that is no finer`,
    );
}

/** Columns under the names that metrics read them by, beside those of dimensions. */
function withInputs(frame: Frame, sources: ReadonlyMap<string, string>): Frame {
  const byName = new Map(frame.columns.map((column) => [column.name, column]));
  const inputs = [...sources].flatMap(([name, field]) => {
    const column = byName.get(field);
    return column === undefined || name === field ? [] : [{ ...column, name }];
  });
  return inputs.length === 0 ? frame : { rowCount: frame.rowCount, columns: [...frame.columns, ...inputs] };
}

async function publish(
  { spec, context, progress }: Run,
  inputs: readonly VisibleSegment[],
  units: readonly CompactUnit[],
  segments: readonly PushedSegment[],
): ReturnType<typeof publishSegments> {
  progress.phase('publishing');
  failpoint('compact.beforePublish');
  const request: PublishRequest = {
    taskId: context.taskId,
    dataSource: spec.dataSource,
    segments,
    mode: { kind: 'replace', intervals: condenseIntervals(units.map(({ interval }) => interval)) },
    inputs: inputs.map(({ segment }) => idTextOf(segment)),
  };
  const published = await publishSegments(context, request, spec.tuning.loadWaitMs);
  failpoint('compact.published');
  context.log(`published ${published.ids.length} segments in place of ${inputs.length}`);
  return published;
}
