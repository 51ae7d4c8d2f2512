// Builds the segments of INSERT and REPLACE.

import { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { Frame } from '../../model/frame.js';
import { bucketsOf } from '../../model/granularity.js';
import type { PushedSegment } from '../../model/publication.js';
import { type ColumnType, isArrayType, TIME_COLUMN } from '../../model/schema.js';
import type { PartitionKey } from '../../model/segment.js';
import type { OutputColumn } from '../../model/statement.js';
import { buildSegments } from '../builder/build-segments.js';
import { RowStore } from '../builder/row-store.js';
import { columnPlan } from '../builder/run-buffer.js';
import { allRows } from '../column/run-column.js';
import type { TaskContext } from '../contract.js';
import type { LazyEngine } from '../task-engine.js';
import { combiningMetric, type Metric, parseMetric } from '../task-spec/metric.js';
import type { PartitionsSpec } from '../task-spec/partitions-spec.js';
import { checkedTimes, type WriteStatement } from './output-rows.js';
import { QueryFault } from './query-fault.js';
import type { QuerySettings } from './query-settings.js';

export interface SegmentWriting {
  readonly statement: WriteStatement;
  readonly settings: QuerySettings;
  readonly context: TaskContext;
  readonly engine: LazyEngine;
  /** Keys at which segments begin, by the start of their chunk; left out: made of the rows. */
  readonly bounds?: ReadonlyMap<EpochMs, readonly PartitionKey[]>;
  /** Called once all rows are there. */
  readonly building: () => void;
  /** Called as rows reach deep storage. */
  readonly pushed: (rowCount: number) => void;
}

/** Segments in deep storage of all rows, which have the names of the statement. */
export async function writeSegments(
  frames: AsyncIterable<Frame>,
  { statement, settings, context, engine, bounds, building, pushed }: SegmentWriting,
): Promise<readonly PushedSegment[]> {
  const metrics = metricsOf(statement);
  const store = new RowStore({
    dataSource: statement.dataSource,
    dimensions: dimensionsOf(statement, settings).map((column) => columnPlan(column.name, storedType(column, settings), 'ARRAY')),
    metrics,
    rollup: statement.rollup !== undefined,
    buckets: bucketsOf(statement.partitionedBy),
    maxRowsInMemory: settings.maxRowsInMemory,
    maxBytesInMemory: context.maxBytesInMemory,
    workDirectory: context.workDirectory,
    engine: () => engine.get(),
    kernels: context.kernels,
  });
  try {
    for await (const frame of frames) {
      store.input.appendFrame(frame, checkedTimes(frame, statement), allRows(frame.rowCount), new Uint8Array(frame.rowCount));
      await store.relieve();
    }
    building();
    return await buildSegments({
      store,
      partitions: partitionsOf(statement, settings),
      ...(bounds === undefined ? {} : { bounds }),
      checkChunks: checkBucketCount,
      description: {
        metrics: metrics.map(({ name }) => name),
        aggregators: statement.rollup ?? null,
        timestampSpec: null,
        queryGranularity: null,
        rollup: statement.rollup !== undefined,
      },
      context,
      pushed,
    });
  } finally {
    store.close();
  }
}

/** Time chunks that one statement writes at most, as documented of the original. */
const MAX_BUCKETS = 5000;

/** @throws QueryFault when the rows of a statement fall into too many time chunks */
export function checkBucketCount(count: number): void {
  if (count > MAX_BUCKETS)
    throw new QueryFault(
      'resource_limit',
      `the rows fall into ${count} time chunks, and a statement writes at most ${MAX_BUCKETS}: PARTITIONED BY longer ones, or write a shorter interval at a time`,
      { errorCode: 'TooManyBuckets', maxBuckets: MAX_BUCKETS },
    );
}

/** Columns that rows of the same time and dimensions add up in: groups of keys that are not all stored may have such rows. */
function metricsOf({ rollup = [] }: WriteStatement): readonly Metric[] {
  const document = readContextOf('internal', 'the statement');
  return rollup.map((aggregator) => combiningMetric(parseMetric(new ObjectReader(aggregator, `the column ${aggregator.name}`, document))));
}

/** @throws ServiceError `sql_plan_invalid` for an array that `arrayIngestMode` does not store */
export function storedType({ name, nativeType }: OutputColumn, { arrayIngestMode }: QuerySettings): ColumnType {
  if (arrayIngestMode === 'array' || !isArrayType(nativeType)) return nativeType;
  if (nativeType === 'ARRAY<STRING>') return 'STRING';
  throw new ServiceError('sql_plan_invalid', `context.arrayIngestMode: "mvd" stores no ${nativeType}, which the column "${name}" is`);
}

/** REPLACE divides its chunks by CLUSTERED BY, as far as its columns are strings; INSERT adds to chunks that are divided already, or not. */
export function partitionsOf(
  { query: { columns }, overwrite, clusteredBy }: WriteStatement,
  { rowsPerSegment }: QuerySettings,
): PartitionsSpec {
  const isString = (name: string): boolean => columns.some((column) => column.name === name && column.nativeType === 'STRING');
  const others = clusteredBy.findIndex((name) => !isString(name));
  const dimensions = others < 0 ? clusteredBy : clusteredBy.slice(0, others);
  if (overwrite === null || dimensions.length === 0) return { kind: 'dynamic', maxRowsPerSegment: rowsPerSegment };
  return { kind: 'range', dimensions, isSingle: false, rowsPerSegment, isLimit: false, refusesMultiValues: false };
}

/** CLUSTERED BY comes first: rows are sorted by it within a time. */
function dimensionsOf({ query, clusteredBy, rollup = [] }: WriteStatement, { segmentSortOrder }: QuerySettings): readonly OutputColumn[] {
  const columns = query.columns.filter(({ name }) => !rollup.some((metric) => metric.name === name));
  const first = (segmentSortOrder ?? clusteredBy).flatMap((name) => columns.filter((column) => column.name === name));
  return [...first, ...columns.filter((column) => !first.includes(column))].filter(({ name }) => name !== TIME_COLUMN);
}
