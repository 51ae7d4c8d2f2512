// Work of one worker of a stage: rows in, a file of rows by partition or segments out.

import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { ServiceError } from '../../../base/errors.js';
import { ETERNITY } from '../../../base/instant.js';
import type { Frame } from '../../../model/frame.js';
import { bucketsOf } from '../../../model/granularity.js';
import type { PostStep } from '../../../model/plan.js';
import type { PushedSegment } from '../../../model/publication.js';
import type { PartitionKey } from '../../../model/segment.js';
import type { PlannedQuery } from '../../../model/statement.js';
import type { TableColumns } from '../../../planner/plan.js';
import { rowSourceColumns } from '../../../planner/row-source-columns.js';
import { schemaOfTask } from '../../../planner/sql/catalog/statement-schema.js';
import { sqlTimeZone } from '../../../planner/sql/context.js';
import { partsByRow } from '../../builder/partitions.js';
import type { StageProgress, TaskContext } from '../../contract.js';
import { ProgressReporter } from '../../report/progress.js';
import { RowStatistics } from '../../report/row-statistics.js';
import { LazyEngine } from '../../task-engine.js';
import { writeRowFiles } from '../export/row-files.js';
import { checkedTimes, checkRowSizes, named } from '../output-rows.js';
import { QueryFault } from '../query-fault.js';
import { plannedQuery, type QueryTask } from '../query-task.js';
import { partitionsOf, writeSegments } from '../write-segments.js';
import { KeySampler, type SampledRows } from './chunk-samples.js';
import type { ExportedPart, PartitionSlice, Shuffle, StageOutput, WorkCounts, WorkOrder, WorkResult } from './contract.js';
import { bytesOf, sliceFrames, wholePartition } from './durable-output.js';
import { chunkStarts, hashBuckets } from './partition-keys.js';
import { pickRows } from './pick-rows.js';
import { earlySteps, planParts, queryAt } from './plan-parts.js';
import { partsOf, shareRows, stageRows } from './read-rows.js';
import { type Reading, stageClock } from './reading.js';
import { type FileRange, PartitionWriter } from './stage-output.js';
import { wholeGroups } from './whole-groups.js';

type RowsOrder = Exclude<WorkOrder, { readonly kind: 'write' }>;
type Written = { readonly index: FileRange } & Pick<WorkResult, 'samples'>;

/** Does the work of an order. Nothing but its result refers to what it leaves in durable storage. */
export async function runOrder(order: WorkOrder, task: QueryTask, context: TaskContext): Promise<WorkResult> {
  const startMs = context.now();
  const reading = openReading(task, context, order.level);
  const name = `stage${order.stage}-worker${order.worker}`;
  const file = path.join(context.workDirectory, name);
  try {
    reading.progress.phase('reading');
    const { index, ...samples } =
      order.kind === 'write' ? await segmentsOf(order, task, reading, file) : await rowsOf(order, task, reading, file);
    const [loadSpec] = await context.storage.push([{ localFile: file, key: name }]);
    if (loadSpec === undefined) throw new ServiceError('internal', 'durable storage names no place');
    reading.progress.phase('completed');
    return { output: { loadSpec, index }, ...samples, counts: countsOf(reading), startMs, endMs: context.now() };
  } catch (error) {
    throw tooManyWarnings(task, reading) ?? error;
  } finally {
    await reading.engine.close();
  }
}

/** The fault of more rows that cannot be parsed than the statement allows, of one worker or of all; null: there are not. */
export function tooManyWarnings({ settings: { maxParseExceptions } }: QueryTask, { statistics }: Reading): QueryFault | null {
  const warnings = statistics.unparseable + statistics.processedWithError;
  // The first one is the fault itself if none is allowed.
  if (maxParseExceptions === 0 || warnings <= maxParseExceptions) return null;
  return new QueryFault(
    'input_unreadable',
    `${warnings} rows could not be parsed, more than context.maxParseExceptions (${maxParseExceptions}) allows`,
    { errorCode: 'TooManyWarnings', maxWarnings: maxParseExceptions, rootErrorCode: 'CannotParseExternalData' },
  );
}

/** @param level  subquery whose rows are read */
export function openReading(task: QueryTask, context: TaskContext, level = 0): Reading {
  const { maxParseExceptions } = task.settings;
  const statistics = new RowStatistics(
    { logParseExceptions: true, maxParseExceptions, maxSavedParseExceptions: 0 },
    context.log,
    context.now,
  );
  const counts = { rowsIn: 0, rowsOut: 0, bytesOut: 0, filesRead: 0 };
  const spent = stageClock(context.now);
  const stage = (): StageProgress => ({ ...counts, rowsIn: counts.rowsIn + statistics.rows, ...spent() });
  const schema = schemaOfTask(task.schema, 'spec.schema');
  const table = (name: string): TableColumns | undefined => {
    const found = schema.table(name);
    return found && { columns: found.columns, interval: ETERNITY };
  };
  return {
    query: queryAt(plannedQuery(task), level),
    context,
    engine: new LazyEngine(context),
    statistics,
    progress: new ProgressReporter(context, statistics, stage),
    columnsOf: (source) => rowSourceColumns(source, { table }),
    joinAlgorithm: task.settings.joinAlgorithm,
    removeNullBytes: task.settings.removeNullBytes,
    counts,
    stage,
  };
}

export function countsOf({ statistics, stage }: Reading): WorkCounts {
  return { ...statistics.counts(), bytesRead: statistics.bytesRead, ...stage() };
}

/** The segments that a `write` order has left. */
export async function readSegments({ output }: WorkResult, { storage }: TaskContext): Promise<readonly PushedSegment[]> {
  return deserialize(await bytesOf(storage, output.loadSpec, output.index)) as readonly PushedSegment[];
}

/** The files of an export that an order has left. */
export async function readExported({ output }: WorkResult, { storage }: TaskContext): Promise<readonly ExportedPart[]> {
  return deserialize(await bytesOf(storage, output.loadSpec, output.index)) as readonly ExportedPart[];
}

async function rowsOf(order: RowsOrder, task: QueryTask, reading: Reading, file: string): Promise<Written> {
  const { context, counts } = reading;
  const rows = outputRows(order, task, reading);
  if (order.shuffle.kind === 'files') return exportedOf(rows, task, reading, file);
  const sampler = keySampler(order, task);
  const partitions = await PartitionWriter.open(file, context.maxBytesInMemory / 4, task.settings.maxFrameSize ?? Infinity);
  try {
    for await (const frame of rows) {
      const keys = partitionKeys(frame, order.shuffle, task, reading.query);
      sampler?.add(frame, keys);
      await partitions.add(frame, keys);
      counts.bytesOut = partitions.sizeBytes;
    }
    const samples = sampler === null ? {} : { samples: await partitions.attach(sampler.finish()) };
    const index = await partitions.finish();
    counts.bytesOut = partitions.sizeBytes;
    return { index, ...samples };
  } finally {
    await partitions.close();
  }
}

/** Samples the rows of chunks that are divided by ranges; null: these are not. */
function keySampler({ shuffle, worker }: RowsOrder, { statement, settings }: QueryTask): KeySampler | null {
  if (shuffle.kind !== 'time' || (statement.kind !== 'insert' && statement.kind !== 'replace')) return null;
  const partitions = partitionsOf(statement, settings);
  return partitions.kind === 'range' ? new KeySampler(partitions.dimensions, worker, settings.workers) : null;
}

/** Samples that workers have of the rows that they have left. */
export function readSamples(results: readonly WorkResult[], { storage }: TaskContext): Promise<readonly SampledRows[]> {
  return Promise.all(
    results.map(async ({ output, samples }): Promise<SampledRows> => {
      // One of an earlier version has none.
      if (samples === undefined) return { isDividable: false, chunks: [] };
      return deserialize(await bytesOf(storage, output.loadSpec, samples)) as SampledRows;
    }),
  );
}

/** The rows that an order leaves, counted. */
async function* outputRows(order: RowsOrder, { settings }: QueryTask, reading: Reading): AsyncGenerator<Frame> {
  const { query, counts } = reading;
  const { rows, isResult } = orderedRows(order, reading, (of, inputs) => stageRows(of, inputs, reading));
  for await (const frame of rows) {
    // Parts of groups, and rows that are not the last ones, have names of their own.
    const output = isResult ? named(frame, query.columns) : frame;
    checkRowSizes(output, settings.maxFrameSize);
    counts.rowsOut += output.rowCount;
    yield output;
  }
}

/** Files of an export in durable storage, and a file that lists them. */
async function exportedOf(
  rows: AsyncIterable<Frame>,
  { statement, settings, context: queryContext }: QueryTask,
  { context, counts }: Reading,
  file: string,
): Promise<Written> {
  if (statement.kind !== 'export') throw new ServiceError('internal', 'only exports leave files');
  let number = 0;
  const files = await writeRowFiles(rows, {
    columns: statement.query.columns,
    format: statement.format,
    timeZone: sqlTimeZone(queryContext),
    rowsPerFile: settings.rowsPerPage,
    signal: context.signal,
    next: () => `${file}-export${number++}`,
  });
  // Storage may take the files away.
  for (const each of files) counts.bytesOut += (await stat(each.file)).size;
  const loadSpecs = await context.storage.push(files.map((each) => ({ localFile: each.file, key: path.basename(each.file) })));
  const parts = files.flatMap(({ rowCount }, at): ExportedPart[] => {
    const loadSpec = loadSpecs[at];
    return loadSpec === undefined ? [] : [{ loadSpec, rowCount }];
  });
  const bytes = serialize(parts);
  await writeFile(file, bytes);
  return { index: { at: 0, bytes: bytes.length } };
}

/** The rows that an order is to leave, and whether they are those of the result. */
function orderedRows(
  order: RowsOrder,
  reading: Reading,
  read: (of: readonly PartitionSlice[], inputs: readonly StageOutput[]) => AsyncGenerator<Frame>,
): { readonly rows: AsyncIterable<Frame>; readonly isResult: boolean } {
  const { query, engine } = reading;
  const isOutermost = (order.level ?? 0) === 0;
  const parts = order.kind === 'read' ? partsOf(order.share, query) : planParts(query);
  switch (order.kind) {
    case 'read': {
      const rows = shareRows(order.share, reading);
      if (parts.merge !== null) return { rows, isResult: false };
      return { rows: finished(rows, earlySteps(parts), engine), isResult: isOutermost && parts.last.length === 0 };
    }
    case 'merge': {
      const rows = mergedRows(order.partitions, (partition) => read([wholePartition(partition)], order.inputs), reading);
      return { rows: finished(rows, earlySteps(parts), engine), isResult: isOutermost && parts.last.length === 0 };
    }
    case 'post':
      return { rows: finished(read([wholePartition(0)], order.inputs), parts.last, engine), isResult: isOutermost };
  }
}

/** Rows after post-processing steps that look at all of them. */
export function finished(rows: AsyncIterable<Frame>, steps: readonly PostStep[], engine: LazyEngine): AsyncIterable<Frame> {
  return steps.length === 0 ? rows : engine.get().finish(steps, rows);
}

export function partitionKeys(frame: Frame, shuffle: Shuffle, { statement }: QueryTask, query: PlannedQuery): Float64Array {
  switch (shuffle.kind) {
    case 'none':
    case 'files':
      return new Float64Array(frame.rowCount);
    case 'hash':
      return hashBuckets(frame, planParts(query).keyCount, shuffle.buckets);
    case 'time':
      if (statement.kind !== 'insert' && statement.kind !== 'replace') throw new ServiceError('internal', 'only tables have time chunks');
      return chunkStarts(checkedTimes(frame, statement), bucketsOf(statement.partitionedBy));
  }
}

/** Whole groups from their parts, a partition of them at a time. */
async function* mergedRows(
  partitions: readonly number[],
  framesOf: (partition: number) => AsyncIterable<Frame>,
  reading: Reading,
): AsyncGenerator<Frame> {
  for (const partition of partitions) yield* wholeGroups(framesOf(partition), planParts(reading.query), reading);
}

async function segmentsOf(
  order: Extract<WorkOrder, { readonly kind: 'write' }>,
  { statement, settings }: QueryTask,
  { context, engine, progress, counts }: Reading,
  file: string,
): Promise<Written> {
  if (statement.kind !== 'insert' && statement.kind !== 'replace') throw new ServiceError('internal', 'only tables have segments');
  const partitions = partitionsOf(statement, settings);
  const dimensions = partitions.kind === 'range' ? partitions.dimensions : [];
  const counted = async function* (): AsyncGenerator<Frame> {
    for await (const { frame, of } of sliceFrames(order.inputs, order.partitions, context.storage)) {
      progress.tick();
      if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      const own = of.ranges === undefined ? frame : rowsWithin(frame, dimensions, of.ranges);
      counts.rowsIn += own.rowCount;
      if (own.rowCount > 0) yield own;
    }
  };
  const bounds = new Map<number, readonly PartitionKey[]>();
  for (const { partition, ranges } of order.partitions) if (ranges !== undefined) bounds.set(partition, ranges.bounds);
  const segments = await writeSegments(counted(), {
    statement,
    settings,
    context,
    engine,
    bounds,
    building: () => progress.phase('building'),
    pushed(rowCount) {
      counts.rowsOut = rowCount;
      progress.tick();
    },
  });
  counts.bytesOut = segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const bytes = serialize(segments);
  await writeFile(file, bytes);
  return { index: { at: 0, bytes: bytes.length } };
}

/** Rows of some ranges. */
function rowsWithin(frame: Frame, dimensions: readonly string[], { bounds, from, to }: NonNullable<PartitionSlice['ranges']>): Frame {
  const partAt = partsByRow(frame, dimensions, bounds);
  const rows = new Uint32Array(frame.rowCount);
  let count = 0;
  for (let row = 0; row < frame.rowCount; row++) {
    const part = partAt(row);
    if (part >= from && part < to) rows[count++] = row;
  }
  return count === frame.rowCount ? frame : pickRows(frame, rows.subarray(0, count));
}
