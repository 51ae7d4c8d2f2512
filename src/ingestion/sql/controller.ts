// Runs a `query_controller` task: divides the work of a statement over workers, stage by stage, and publishes or shows the result.

import { join } from 'node:path';
import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { formatInstant } from '../../base/time.js';
import { failpoint } from '../../configuration/failpoint.js';
import type { Frame } from '../../model/frame.js';
import { type PushedSegment, TOMBSTONES_MAX } from '../../model/publication.js';
import { ResultPage } from '../../storage/result-storage.js';
import { granularityText } from '../compaction/compaction-state.js';
import type { ChatRequest, TaskContext, TaskOutcome } from '../contract.js';
import { QueryReport } from '../report/query-report.js';
import { failureOf } from '../report/task-failure.js';
import { exportInto } from './export-files.js';
import { type ExportStatement, named, type WriteStatement } from './output-rows.js';
import { QueryFault } from './query-fault.js';
import { NO_RESULT_STORAGE } from './query-settings.js';
import { plannedQuery, publishMode, type QueryTask } from './query-task.js';
import { StagedRun } from './stages/staged-run.js';

/** Path of the report of a statement that runs, below that of its task. */
export const LIVE_REPORTS = 'liveReports';
/** Longest time that a statement waits for its segments to be served. */
const LOAD_WAIT_MS = 15 * 60_000;

/** Runs a statement over external rows or datasources to its end. Never throws. */
export async function runQueryTask(given: QueryTask, context: TaskContext): Promise<TaskOutcome> {
  const report = new QueryReport(given, context);
  context.serveChat((request) => answerChat(request, report));
  try {
    const run = await StagedRun.open(given, context, report);
    try {
      const { task } = run;
      const { statement } = task;
      if (statement.kind === 'select') await collectResults(task, await run.rows(), report, context);
      else if (statement.kind === 'export') await exportFiles(task, statement, context, run);
      else await publish(task, statement, await run.segments(statement), { context, run, report });
      run.completed();
    } finally {
      await run.close();
    }
    return { succeeded: true, errorMessage: null, report: report.finish(null) };
  } catch (error) {
    const { failure, errorMessage } = failureOf(error, context);
    return { succeeded: false, errorMessage, report: report.finish({ failure }) };
  }
}

/** Requests to a statement while it runs: its report so far. */
async function answerChat({ method, path }: ChatRequest, report: QueryReport): Promise<unknown> {
  if (path.join('/') !== LIVE_REPORTS)
    throw new ServiceError('not_found', `a statement has no path ${path.join('/')}, only ${LIVE_REPORTS}`);
  if (method !== 'GET') throw new ServiceError('method_not_allowed', `${LIVE_REPORTS} answers GET only`);
  return report.soFar();
}

/** Rows of a SELECT: the first ones in the report, or all of them as pages in durable storage. */
async function collectResults(
  task: QueryTask,
  frames: AsyncGenerator<Frame>,
  report: QueryReport,
  { pushResults, workDirectory }: TaskContext,
): Promise<void> {
  const { columns } = plannedQuery(task);
  const { selectDestination, rowsPerPage } = task.settings;
  if (selectDestination === 'taskReport') {
    for await (const frame of frames) if (!report.addResults(named(frame, columns))) break;
    return;
  }
  if (pushResults === null)
    throw new QueryFault('unsupported', NO_RESULT_STORAGE, { errorCode: 'DurableStorageConfiguration', message: NO_RESULT_STORAGE });
  report.beginPages();
  const rows = frames[Symbol.asyncIterator]();
  try {
    for (let next = await rows.next(); next.done !== true; ) {
      const file = join(workDirectory, `results-${report.pageCount}`);
      const page = await ResultPage.open(file);
      try {
        for (; next.done !== true && page.rowCount < rowsPerPage; next = await rows.next())
          if (next.value.rowCount > 0) await page.add(named(next.value, columns));
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
  { settings, dataSource }: QueryTask,
  statement: ExportStatement,
  context: TaskContext,
  run: StagedRun,
): Promise<void> {
  const { exportDirectory, taskId, attempt } = context;
  const options = {
    baseDirectory: exportDirectory,
    taskId,
    attempt,
    refuseEmpty: settings.failOnEmptyInsert ? () => refuseEmpty(dataSource) : null,
    now: context.now,
  };
  const { files, rowCount } = await exportInto(statement, options, (folder) => run.exported(statement, folder));
  context.log(`exported ${rowCount} rows into ${files.length} files below ${statement.exportPath}`);
}

async function publish(
  { settings, dataSource }: QueryTask,
  statement: WriteStatement,
  segments: readonly PushedSegment[],
  { context, run, report }: { readonly context: TaskContext; readonly run: StagedRun; readonly report: QueryReport },
): Promise<void> {
  run.publishing();
  const mode = publishMode(statement);
  if (segments.length === 0 && settings.failOnEmptyInsert) refuseEmpty(dataSource);
  if (segments.length === 0 && mode.kind === 'append') return context.log('no rows to insert, nothing to publish');
  if (segments.length > settings.maxPartitions)
    throw new QueryFault(
      'resource_limit',
      `the statement makes ${segments.length} segments, more than context.maxPartitions (${settings.maxPartitions}) allows`,
      { errorCode: 'TooManyPartitions', maxPartitions: settings.maxPartitions },
    );
  checkChunks(segments, settings.maxNumSegments, statement);
  const request = { taskId: context.taskId, dataSource, segments, mode };
  const ids = await context.publish(request).catch(async (error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    // Another task has taken the lock, or what the statement has read.
    if (error.code === 'conflict') {
      const interval = mode.kind === 'append' ? await unfitInterval(dataSource, segments, context) : undefined;
      if (interval === undefined) throw new QueryFault(error.code, error.message, { errorCode: 'InsertLockPreempted' });
      throw new QueryFault(error.code, error.message, {
        errorCode: 'InsertCannotAllocateSegment',
        dataSource,
        interval: formatInterval(interval),
        allocatedInterval: null,
      });
    }
    // A publish has one limit.
    if (error.code !== 'resource_limit') throw error;
    throw new QueryFault(error.code, error.message, { errorCode: 'TooManyBuckets', maxBuckets: TOMBSTONES_MAX });
  });
  context.log(`published ${ids.length} segments`);
  if (!settings.waitUntilSegmentsLoad) return;
  report.beginLoadWait(ids.length);
  const isServed = await context.segments.served(ids, LOAD_WAIT_MS);
  report.endLoadWait(isServed);
  if (!isServed) context.log(`not all of them are served after ${LOAD_WAIT_MS / 60_000} minutes`);
}

/** The time chunk of a segment that reaches over one that is there, so that rows cannot be added to it. */
async function unfitInterval(
  dataSource: string,
  segments: readonly PushedSegment[],
  { visibleSegments }: TaskContext,
): Promise<Interval | undefined> {
  const intervals = segments.map(({ interval }) => interval);
  const there = (await visibleSegments(dataSource, intervals)).map(({ segment }) => segment.id.interval);
  return intervals.find(({ start, end }) =>
    there.some((chunk) => chunk.start < end && start < chunk.end && (start < chunk.start || chunk.end < end)),
  );
}

function checkChunks(segments: readonly PushedSegment[], maxNumSegments: number | null, { partitionedBy }: WriteStatement): void {
  if (maxNumSegments === null) return;
  const counts = new Map<number, number>();
  for (const { interval } of segments) {
    const numSegments = (counts.get(interval.start) ?? 0) + 1;
    counts.set(interval.start, numSegments);
    if (numSegments <= maxNumSegments) continue;
    const all = segments.filter((segment) => segment.interval.start === interval.start).length;
    throw new QueryFault(
      'resource_limit',
      `the statement makes ${all} segments in ${formatInterval(interval)}, more than context.maxNumSegments (${maxNumSegments}) allows`,
      {
        errorCode: 'TooManySegmentsInTimeChunk',
        timeChunk: formatInstant(interval.start),
        numSegments: all,
        maxNumSegments,
        segmentGranularity: granularityText(partitionedBy),
      },
    );
  }
}

function refuseEmpty(dataSource: string): never {
  throw new QueryFault('input_invalid', 'the SELECT gives no rows, which context.failOnEmptyInsert refuses', {
    errorCode: 'InsertCannotBeEmpty',
    dataSource,
  });
}
