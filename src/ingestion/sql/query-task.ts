// Runs a `query_controller` task: INSERT, REPLACE or SELECT.

import { join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import { type EpochMs, ETERNITY, type Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { stringifyJson } from '../../base/json.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { Frame } from '../../model/frame.js';
import { bucketsOf } from '../../model/granularity.js';
import type { PublishRequest } from '../../model/publication.js';
import { type ColumnType, isArrayType, TIME_COLUMN } from '../../model/schema.js';
import type { OutputColumn, PlannedQuery, PlannedStatement } from '../../model/statement.js';
import { schemaOfTask } from '../../planner/sql/catalog/statement-schema.js';
import { sqlTimeZone } from '../../planner/sql/context.js';
import { planSql } from '../../planner/sql/plan-sql.js';
import { ResultPage } from '../../storage/result-storage.js';
import { buildSegments } from '../builder/build-segments.js';
import { RowStore } from '../builder/row-store.js';
import { allRows, columnPlan, timesOf } from '../builder/run-buffer.js';
import type { TaskContext, TaskDescription, TaskOutcome } from '../contract.js';
import { ProgressReporter } from '../report/progress.js';
import { QueryReport } from '../report/query-report.js';
import { RowStatistics } from '../report/row-statistics.js';
import { failureOf } from '../report/task-failure.js';
import { LazyEngine } from '../task-engine.js';
import type { PartitionsSpec } from '../task-spec/partitions-spec.js';
import { exportRows } from './export-files.js';
import { externalFrames, inlineFrames, queryFrames } from './external-rows.js';
import { NO_RESULT_STORAGE, parseQuerySettings, type QuerySettings } from './query-settings.js';

type WriteStatement = Extract<PlannedStatement, { readonly kind: 'insert' | 'replace' }>;
type ExportStatement = Extract<PlannedStatement, { readonly kind: 'export' }>;
type SelectStatement = Extract<PlannedStatement, { readonly kind: 'select' }>;

export interface QueryTask {
  readonly query: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly parameters: readonly unknown[];
  /** Schema that the statement is planned over, as the payload has it. */
  readonly schema: unknown;
  /** Format of the results of a statement that is asked for them later; null: its report has them. */
  readonly resultFormat: string | null;
  readonly statement: WriteStatement | ExportStatement | SelectStatement;
  readonly settings: QuerySettings;
}

/** Datasource that public clients see for a plain SELECT. */
const SELECT_DATA_SOURCE = '__query_select';

/**
 * @param now  the instant of CURRENT_TIMESTAMP
 * @throws ServiceError for SQL that does not plan, or that a task cannot run
 */
export function parseQueryTask(fields: ObjectReader, now: EpochMs): QueryTask {
  const spec = fields.object('spec');
  spec.accept(['query', 'context', 'parameters', 'schema', 'resultFormat', 'columns']);
  const contextFields = spec.reader(spec.raw('context') ?? {}, spec.at('context'));
  const context = contextFields.members;
  const settings = parseQuerySettings(contextFields);
  const query = spec.string('query');
  const parameters = spec.array('parameters');
  const schema = spec.raw('schema') ?? null;
  const resultFormat = spec.has('resultFormat') ? spec.string('resultFormat') : null;
  const statement = planSql({ query, context, parameters }, schemaOfTask(schema, 'spec.schema'), now);
  if (statement.kind === 'explain')
    throw new ServiceError('unsupported', 'EXPLAIN PLAN FOR is not run by a task; send it to the SQL endpoint');
  if (statement.kind === 'insert' || statement.kind === 'replace') checkOutput(statement, settings);
  else if (statement.kind === 'select' && spec.has('columns') && stringifyJson(spec.raw('columns')) !== stringifyJson(statement.columns))
    throw spec.mismatch('columns', `those of the SELECT, ${stringifyJson(statement.columns)}`);
  return { query, context, parameters, schema, resultFormat, statement, settings };
}

/** Checks the task's settings against the columns of the SELECT, which the planner does not do. */
function checkOutput({ query: { columns } }: WriteStatement, settings: QuerySettings): void {
  for (const column of columns) storedType(column, settings);
  const names = columns.map(({ name }) => name);
  const unknown = settings.segmentSortOrder?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new ServiceError('sql_plan_invalid', `context.segmentSortOrder: the SELECT has no column "${unknown}"`);
  if (names.every((name) => name === TIME_COLUMN))
    throw new ServiceError('sql_plan_invalid', `the SELECT has no column besides ${TIME_COLUMN}`);
}

export function describeQueryTask({
  statement,
  query,
  context,
  parameters,
  schema,
  resultFormat,
}: QueryTask): Pick<TaskDescription, 'dataSource' | 'mode' | 'spec'> {
  const format = resultFormat === null ? {} : { resultFormat };
  const spec = { query, context, parameters, ...(schema === null || schema === undefined ? {} : { schema }), ...format };
  if (statement.kind === 'select')
    return { dataSource: SELECT_DATA_SOURCE, mode: { kind: 'append' }, spec: { ...spec, columns: statement.columns } };
  if (statement.kind === 'export') return { dataSource: SELECT_DATA_SOURCE, mode: { kind: 'append' }, spec };
  return { dataSource: statement.dataSource, mode: publishMode(statement), spec };
}

function publishMode({ overwrite }: WriteStatement): PublishRequest['mode'] {
  if (overwrite === null) return { kind: 'append' };
  return { kind: 'replace', intervals: overwrite === 'all' ? [ETERNITY] : overwrite };
}

/** Runs a `query_controller` task: INSERT, REPLACE or SELECT over external rows or datasources. Never throws. */
export async function runQueryTask(task: QueryTask, context: TaskContext): Promise<TaskOutcome> {
  const { statement, settings } = task;
  const statistics = new RowStatistics(
    { logParseExceptions: true, maxParseExceptions: settings.maxParseExceptions, maxSavedParseExceptions: 0 },
    context.log,
    context.now,
  );
  const progress = new ProgressReporter(context, statistics);
  const engine = new LazyEngine(context);
  const query = statement.kind === 'select' ? statement : statement.query;
  const report = new QueryReport(context, query, statement.kind === 'select' ? null : statement);
  try {
    progress.phase('reading');
    const frames = resultFrames(query, context, statistics, progress, engine);
    if (statement.kind === 'select') await collectResults(query, frames, report, task.settings, context);
    else if (statement.kind === 'export') await exportFiles(task, statement, frames, context, report);
    else await writeTable(task, statement, frames, { context, progress, report, engine });
    progress.phase('completed');
    return { succeeded: true, errorMessage: null, report: report.finish('SUCCESS', statistics, null) };
  } catch (error) {
    const { failure, errorMessage } = failureOf(error, context);
    return { succeeded: false, errorMessage, report: report.finish('FAILED', statistics, failure) };
  } finally {
    await engine.close();
  }
}

function resultFrames(
  query: PlannedQuery,
  context: TaskContext,
  statistics: RowStatistics,
  progress: ProgressReporter,
  engine: LazyEngine,
): AsyncGenerator<Frame> {
  const { source } = query;
  if (source.kind === 'external') return queryFrames(query, engine.get(), externalFrames(source, context, statistics, progress));
  if (source.kind === 'inline') return queryFrames(query, engine.get(), inlineFrames(source.frame));
  return tableFrames(context.readTables({ plan: query.plan, source }), context, statistics, progress);
}

/** The result as a broker gives it: nothing is left to compute. */
async function* tableFrames(
  frames: AsyncIterable<Frame>,
  { signal }: TaskContext,
  statistics: RowStatistics,
  progress: ProgressReporter,
): AsyncGenerator<Frame> {
  for await (const frame of frames) {
    if (signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
    statistics.processed += frame.rowCount;
    progress.tick();
    yield frame;
  }
}

/** Rows of a SELECT: the first ones in the report, or all of them as pages in durable storage. */
async function collectResults(
  query: PlannedQuery,
  frames: AsyncGenerator<Frame>,
  report: QueryReport,
  { selectDestination, rowsPerPage }: QuerySettings,
  { pushResults, workDirectory }: TaskContext,
): Promise<void> {
  if (selectDestination === 'taskReport') {
    for await (const frame of frames) if (!report.addResults(named(frame, query.columns))) break;
    return;
  }
  if (pushResults === null) throw new ServiceError('unsupported', NO_RESULT_STORAGE);
  report.beginPages();
  const rows = frames[Symbol.asyncIterator]();
  try {
    for (let next = await rows.next(); next.done !== true; ) {
      const file = join(workDirectory, `results-${report.pageCount}`);
      const page = await ResultPage.open(file);
      try {
        for (; next.done !== true && page.rowCount < rowsPerPage; next = await rows.next())
          if (next.value.rowCount > 0) await page.add(named(next.value, query.columns));
        await page.finish();
      } finally {
        await page.close();
      }
      failpoint('results.written');
      if (page.rowCount > 0) await pushResults(report.addPage(page), file);
      failpoint('results.pushed');
    }
  } finally {
    await rows.return(undefined);
  }
}

async function exportFiles(
  { settings, context: queryContext }: QueryTask,
  statement: ExportStatement,
  frames: AsyncGenerator<Frame>,
  context: TaskContext,
  report: QueryReport,
): Promise<void> {
  const { exportDirectory, taskId, attempt, signal } = context;
  report.startWriting();
  const { files, rowCount } = await exportRows(frames, statement.query.columns, statement, {
    baseDirectory: exportDirectory,
    taskId,
    attempt,
    rowsPerFile: settings.rowsPerPage,
    timeZone: sqlTimeZone(queryContext),
    failsOnEmpty: settings.failOnEmptyInsert,
    signal,
  });
  report.rowsOut = rowCount;
  report.rowsPushed = rowCount;
  context.log(`exported ${rowCount} rows into ${files.length} files below ${statement.exportPath}`);
}

interface Writing {
  readonly context: TaskContext;
  readonly progress: ProgressReporter;
  readonly report: QueryReport;
  readonly engine: LazyEngine;
}

async function writeTable(
  task: QueryTask,
  statement: WriteStatement,
  frames: AsyncGenerator<Frame>,
  { context, progress, report, engine }: Writing,
): Promise<void> {
  const store = new RowStore({
    dataSource: statement.dataSource,
    dimensions: dimensionsOf(statement, task.settings).map((column) => columnPlan(column.name, storedType(column, task.settings), 'ARRAY')),
    metrics: [],
    rollup: false,
    buckets: bucketsOf(statement.partitionedBy),
    maxRowsInMemory: task.settings.maxRowsInMemory,
    maxBytesInMemory: context.maxBytesInMemory,
    workDirectory: context.workDirectory,
    engine: () => engine.get(),
  });
  try {
    for await (const frame of frames) {
      const output = named(frame, statement.query.columns);
      const times = checkedTimes(output, statement);
      store.input.appendFrame(output, times, allRows(output.rowCount), new Uint8Array(output.rowCount));
      report.rowsOut += output.rowCount;
      await store.relieve();
    }
    progress.phase('building');
    report.startWriting();
    const segments = await buildSegments({
      store,
      partitions: partitionsOf(statement, task.settings),
      maxChunks: null,
      description: { metrics: [], aggregators: null, timestampSpec: null, queryGranularity: null, rollup: false },
      context,
      pushed(rowCount) {
        report.rowsPushed = rowCount;
        progress.tick();
      },
    });
    progress.phase('publishing');
    const mode = publishMode(statement);
    if (segments.length === 0 && task.settings.failOnEmptyInsert)
      throw new ServiceError('input_invalid', 'the SELECT gives no rows, which context.failOnEmptyInsert refuses');
    if (segments.length === 0 && mode.kind === 'append') return context.log('no rows to insert, nothing to publish');
    const request = { taskId: context.taskId, dataSource: statement.dataSource, segments, mode };
    const ids = await context.publish({ ...request, waitsUntilLoaded: task.settings.waitUntilSegmentsLoad });
    context.log(`published ${ids.length} segments`);
  } finally {
    store.close();
  }
}

function storedType({ name, nativeType }: OutputColumn, { arrayIngestMode }: QuerySettings): ColumnType {
  if (arrayIngestMode === 'array' || !isArrayType(nativeType)) return nativeType;
  if (nativeType === 'ARRAY<STRING>') return 'STRING';
  throw new ServiceError('sql_plan_invalid', `context.arrayIngestMode: "mvd" stores no ${nativeType}, which the column "${name}" is`);
}

/** REPLACE divides its chunks by CLUSTERED BY, as far as its columns are strings; INSERT adds to chunks that are divided already, or not. */
function partitionsOf({ query: { columns }, overwrite, clusteredBy }: WriteStatement, { rowsPerSegment }: QuerySettings): PartitionsSpec {
  const isString = (name: string): boolean => columns.some((column) => column.name === name && column.nativeType === 'STRING');
  const others = clusteredBy.findIndex((name) => !isString(name));
  const dimensions = others < 0 ? clusteredBy : clusteredBy.slice(0, others);
  if (overwrite === null || dimensions.length === 0) return { kind: 'dynamic', maxRowsPerSegment: rowsPerSegment };
  return { kind: 'range', dimensions, isSingle: false, rowsPerSegment, isLimit: false, refusesMultiValues: false };
}

/** CLUSTERED BY comes first: rows are sorted by it within a time. */
function dimensionsOf({ query: { columns }, clusteredBy }: WriteStatement, { segmentSortOrder }: QuerySettings): readonly OutputColumn[] {
  const first = (segmentSortOrder ?? clusteredBy).flatMap((name) => columns.filter((column) => column.name === name));
  return [...first, ...columns.filter((column) => !first.includes(column))].filter(({ name }) => name !== TIME_COLUMN);
}

/** Result columns go by position; from here on they have the names of the statement. */
function named(frame: Frame, columns: readonly OutputColumn[]): Frame {
  return {
    rowCount: frame.rowCount,
    columns: frame.columns
      .slice(0, columns.length)
      .map((column, position) => ({ ...column, name: columns[position]?.name ?? column.name })),
  };
}

function checkedTimes(frame: Frame, { overwrite, query }: WriteStatement): Float64Array {
  if (!query.columns.some(({ name }) => name === TIME_COLUMN)) return new Float64Array(frame.rowCount);
  const times = timesOf(frame);
  if (times === undefined) throw new ServiceError('internal', `${TIME_COLUMN} is not a column of longs`);
  let within: Interval | undefined;
  for (const time of times) {
    if (Number.isNaN(time))
      throw new ServiceError('input_invalid', `a row has a null ${TIME_COLUMN}; filter such rows out, or give them a time with COALESCE`);
    if (overwrite === null || overwrite === 'all' || (within !== undefined && within.start <= time && time < within.end)) continue;
    within = overwrite.find(({ start, end }) => start <= time && time < end);
    if (within === undefined)
      throw new ServiceError(
        'input_invalid',
        `a row lies outside of OVERWRITE WHERE ${overwrite.map(formatInterval).join(', ')}; filter such rows out`,
      );
  }
  return times;
}
