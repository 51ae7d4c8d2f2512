// Work of one worker of a stage: rows in, a file of rows by partition or segments out.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { ServiceError } from '../../../base/errors.js';
import { ETERNITY } from '../../../base/instant.js';
import type { Frame } from '../../../model/frame.js';
import { bucketsOf } from '../../../model/granularity.js';
import type { PostStep } from '../../../model/plan.js';
import type { PushedSegment } from '../../../model/publication.js';
import type { TableColumns } from '../../../planner/plan.js';
import { rowSourceColumns } from '../../../planner/row-source-columns.js';
import { schemaOfTask } from '../../../planner/sql/catalog/statement-schema.js';
import type { TaskContext } from '../../contract.js';
import { ProgressReporter } from '../../report/progress.js';
import { RowStatistics } from '../../report/row-statistics.js';
import { LazyEngine } from '../../task-engine.js';
import { checkedTimes, checkRowSizes, named } from '../output-rows.js';
import { QueryFault } from '../query-fault.js';
import { plannedQuery, type QueryTask } from '../query-task.js';
import { writeSegments } from '../write-segments.js';
import type { PartitionSlice, Shuffle, StageOutput, WorkOrder, WorkResult } from './contract.js';
import { bytesOf, stageFrames, wholePartition } from './durable-output.js';
import { chunkStarts, hashBuckets } from './partition-keys.js';
import { earlySteps, planParts } from './plan-parts.js';
import { partsOf, shareRows } from './read-rows.js';
import type { Reading } from './reading.js';
import { type FileRange, PartitionWriter } from './stage-output.js';
import { wholeGroups } from './whole-groups.js';

type RowsOrder = Exclude<WorkOrder, { readonly kind: 'write' }>;

interface Written {
  readonly index: FileRange;
  readonly rowsIn: number;
  readonly rowsOut: number;
  readonly bytesOut: number;
}

/** Does the work of an order. Nothing but its result refers to what it leaves in durable storage. */
export async function runOrder(order: WorkOrder, task: QueryTask, context: TaskContext): Promise<WorkResult> {
  const startMs = context.now();
  const reading = openReading(task, context);
  const name = `stage${order.stage}-worker${order.worker}`;
  const file = path.join(context.workDirectory, name);
  try {
    reading.progress.phase('reading');
    const { index, ...written } =
      order.kind === 'write' ? await segmentsOf(order, task, reading, file) : await rowsOf(order, task, reading, file);
    const [loadSpec] = await context.storage.push([{ localFile: file, key: name }]);
    if (loadSpec === undefined) throw new ServiceError('internal', 'durable storage names no place');
    reading.progress.phase('completed');
    return { output: { loadSpec, index }, counts: { ...countsOf(reading), ...written }, startMs, endMs: context.now() };
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

export function openReading(task: QueryTask, context: TaskContext): Reading {
  const { maxParseExceptions } = task.settings;
  const statistics = new RowStatistics(
    { logParseExceptions: true, maxParseExceptions, maxSavedParseExceptions: 0 },
    context.log,
    context.now,
  );
  const progress = new ProgressReporter(context, statistics);
  const schema = schemaOfTask(task.schema, 'spec.schema');
  const table = (name: string): TableColumns | undefined => {
    const found = schema.table(name);
    return found && { columns: found.columns, interval: ETERNITY };
  };
  return {
    query: plannedQuery(task),
    context,
    engine: new LazyEngine(context),
    statistics,
    progress,
    columnsOf: (source) => rowSourceColumns(source, { table }),
    joinAlgorithm: task.settings.joinAlgorithm,
    removeNullBytes: task.settings.removeNullBytes,
    filesRead: 0,
  };
}

export function countsOf({ statistics, filesRead }: Reading): Omit<WorkResult['counts'], 'rowsIn' | 'rowsOut' | 'bytesOut'> {
  return { ...statistics.counts(), bytesRead: statistics.bytesRead, filesRead };
}

/** The segments that a `write` order has left. */
export async function readSegments({ output }: WorkResult, { storage }: TaskContext): Promise<readonly PushedSegment[]> {
  return deserialize(await bytesOf(storage, output.loadSpec, output.index)) as readonly PushedSegment[];
}

async function rowsOf(order: RowsOrder, task: QueryTask, reading: Reading, file: string): Promise<Written> {
  const { context, query, statistics } = reading;
  const partitions = await PartitionWriter.open(file, context.maxBytesInMemory / 4, task.settings.maxFrameSize ?? Infinity);
  let rowsMerged = 0;
  try {
    const counted = async function* (of: readonly PartitionSlice[], inputs: readonly StageOutput[]): AsyncGenerator<Frame> {
      for await (const frame of stageFrames(inputs, of, context.storage)) {
        rowsMerged += frame.rowCount;
        if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
        yield frame;
      }
    };
    const { rows, isResult } = orderedRows(order, reading, counted);
    for await (const frame of rows) {
      // Parts of groups, and rows that are not the last ones, have names of their own.
      const output = isResult ? named(frame, query.columns) : frame;
      checkRowSizes(output, task.settings.maxFrameSize);
      await partitions.add(output, partitionKeys(output, order.shuffle, task));
    }
    const index = await partitions.finish();
    const rowsIn = order.kind === 'read' ? statistics.rows : rowsMerged;
    return { index, rowsIn, rowsOut: partitions.rowCount, bytesOut: partitions.sizeBytes };
  } finally {
    await partitions.close();
  }
}

/** The rows that an order is to leave, and whether they are those of the result. */
function orderedRows(
  order: RowsOrder,
  reading: Reading,
  read: (of: readonly PartitionSlice[], inputs: readonly StageOutput[]) => AsyncGenerator<Frame>,
): { readonly rows: AsyncIterable<Frame>; readonly isResult: boolean } {
  const { query, engine } = reading;
  const parts = order.kind === 'read' ? partsOf(order.share, query) : planParts(query);
  switch (order.kind) {
    case 'read': {
      const rows = shareRows(order.share, reading);
      if (parts.merge !== null) return { rows, isResult: false };
      return { rows: finished(rows, earlySteps(parts), engine), isResult: parts.last.length === 0 };
    }
    case 'merge': {
      const rows = mergedRows(order.partitions, (partition) => read([wholePartition(partition)], order.inputs), reading);
      return { rows: finished(rows, earlySteps(parts), engine), isResult: parts.last.length === 0 };
    }
    case 'post':
      return { rows: finished(read([wholePartition(0)], order.inputs), parts.last, engine), isResult: true };
  }
}

/** Rows after post-processing steps that look at all of them. */
export function finished(rows: AsyncIterable<Frame>, steps: readonly PostStep[], engine: LazyEngine): AsyncIterable<Frame> {
  return steps.length === 0 ? rows : engine.get().finish(steps, rows);
}

export function partitionKeys(frame: Frame, shuffle: Shuffle, { statement }: QueryTask): Float64Array {
  switch (shuffle.kind) {
    case 'none':
      return new Float64Array(frame.rowCount);
    case 'hash':
      return hashBuckets(frame, planParts(statement.kind === 'select' ? statement : statement.query).keyCount, shuffle.buckets);
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
  { context, engine, progress }: Reading,
  file: string,
): Promise<Written> {
  if (statement.kind !== 'insert' && statement.kind !== 'replace') throw new ServiceError('internal', 'only tables have segments');
  let rowsIn = 0;
  const counted = async function* (): AsyncGenerator<Frame> {
    for await (const frame of stageFrames(order.inputs, order.partitions, context.storage)) {
      rowsIn += frame.rowCount;
      if (context.signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      yield frame;
    }
  };
  let rowsOut = 0;
  const segments = await writeSegments(counted(), {
    statement,
    settings,
    context,
    engine,
    building: () => progress.phase('building'),
    pushed(rowCount) {
      rowsOut = rowCount;
      progress.tick();
    },
  });
  const bytes = serialize(segments);
  await writeFile(file, bytes);
  return { index: { at: 0, bytes: bytes.length }, rowsIn, rowsOut, bytesOut: segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) };
}
