// Report of an SQL ingestion task.

import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import { formatInstant } from '../../base/time.js';
import type { Frame } from '../../model/frame.js';
import { type OutputColumn, type PlannedQuery, sqlTypeName } from '../../model/statement.js';
import type { ResultPage } from '../../storage/result-storage.js';
import { inputCell } from '../column/text-reading.js';
import type { TaskContext } from '../contract.js';
import { faultOf, QueryFault } from '../sql/query-fault.js';
import { plannedQuery, type QueryTask } from '../sql/query-task.js';
import type { StageKind } from '../sql/stages/contract.js';
import type { WorkerRun } from '../sql/stages/workers.js';
import { partitionsOf } from '../sql/write-segments.js';
import { countersOf, type StageCounts, type StageRun, stageBody } from './stage-report.js';

/** Rows of a plain SELECT that its report shows, and their bytes as JSON: a report has to fit into a request, and into memory. */
const RESULT_ROWS_MAX = 3000;
const RESULT_BYTES_MAX = 16 * 2 ** 20;

/** Wait of a statement for its segments to be served. */
interface LoadWait {
  readonly state: 'WAITING' | 'SUCCESS' | 'TIMED_OUT';
  readonly startMs: number;
  readonly durationMs: number;
  readonly segments: number;
}

/** Fills in the public `multiStageQuery` report, stage by stage. */
export class QueryReport {
  /** Runs of worker tasks, failed ones among them. */
  workers: () => readonly WorkerRun[] = () => [];
  readonly #context: TaskContext;
  readonly #task: QueryTask;
  readonly #query: PlannedQuery;
  readonly #startMs: number;
  readonly #stages: StageRun[] = [];
  readonly #results: unknown[][] = [];
  /** Bytes of them as JSON, with a separator before each. */
  #resultBytes = 0;
  #resultsTruncated = false;
  /** null: segments are not waited for, or there are none yet. */
  #loadWait: LoadWait | null = null;
  /** Pages in durable storage, which take the place of results; null: there are none. */
  #pages: { readonly id: number; readonly numRows: number; readonly sizeInBytes: number }[] | null = null;

  constructor(task: QueryTask, context: TaskContext) {
    this.#context = context;
    this.#task = task;
    this.#query = plannedQuery(task);
    this.#startMs = context.now();
  }

  /**
   * @param soFar  counts of its workers while it goes on
   * @param level  subquery that it is a part of
   */
  beginStage(kind: StageKind, workerCount: number, soFar: StageRun['soFar'], level = 0): void {
    this.#stages.push({ kind, level, workerCount, startMs: this.#context.now(), endMs: null, counts: [], soFar });
  }

  /** Ends the last stage of a kind. */
  endStage(kind: StageKind, counts: readonly StageCounts[]): void {
    const stage = this.#stages.findLast((each) => each.kind === kind);
    if (stage !== undefined) Object.assign(stage, { counts, endMs: this.#context.now() });
  }

  /** Segments are published, and the statement waits until they are served. */
  beginLoadWait(segments: number): void {
    this.#loadWait = { state: 'WAITING', startMs: this.#context.now(), durationMs: 0, segments };
  }

  endLoadWait(isServed: boolean): void {
    if (this.#loadWait === null) return;
    const durationMs = this.#context.now() - this.#loadWait.startMs;
    this.#loadWait = { ...this.#loadWait, state: isServed ? 'SUCCESS' : 'TIMED_OUT', durationMs };
  }

  /** Takes in rows of the result; false once no more are shown. */
  addResults(frame: Frame): boolean {
    for (let row = 0; row < frame.rowCount; row++) {
      const isFull = this.#results.length === RESULT_ROWS_MAX;
      const cells = isFull ? [] : frame.columns.map((column, position) => toJson(inputCell(column, row), this.#query.columns[position]));
      const bytes = isFull ? 0 : Buffer.byteLength(stringifyJson(cells)) + 1;
      if (isFull || this.#resultBytes + bytes > RESULT_BYTES_MAX) {
        this.#resultsTruncated = true;
        return false;
      }
      this.#results.push(cells);
      this.#resultBytes += bytes;
    }
    return true;
  }

  beginPages(): void {
    this.#pages = [];
  }

  get pageCount(): number {
    return this.#pages?.length ?? 0;
  }

  /** Notes a page of results in durable storage; returns its number. */
  addPage({ rowCount, bytes }: Pick<ResultPage, 'rowCount' | 'bytes'>): number {
    const id = this.pageCount;
    this.#pages?.push({ id, numRows: rowCount, sizeInBytes: bytes });
    return id;
  }

  /**
   * The report of the statement while it runs.
   * @throws ServiceError `unavailable` before its first stage
   */
  async soFar(): Promise<Readonly<Record<string, unknown>>> {
    if (this.#stages.length === 0) throw new ServiceError('unavailable', 'the statement has not begun to read yet');
    const stages = this.#stages.map((stage) => ({ ...stage }));
    const counts = await Promise.all(stages.map((stage) => (stage.endMs === null ? stage.soFar() : stage.counts)));
    return this.#body('RUNNING', { stages: stages.map((stage, at) => ({ ...stage, counts: counts[at] ?? [] })) });
  }

  /** @param failed  null: the statement succeeded */
  finish(failed: { readonly failure: unknown } | null): Readonly<Record<string, unknown>> {
    const stages = this.#stages;
    if (failed === null) return this.#body('SUCCESS', { stages });
    const stageNumber = stages.length === 0 ? null : stages.length - 1;
    const { failure } = failed;
    const taskId = failure instanceof QueryFault && failure.taskId !== null ? failure.taskId : this.#context.taskId;
    return this.#body('FAILED', { stages, errorReport: { taskId, host: null, stageNumber, error: faultOf(failure, this.#context) } });
  }

  #body(
    status: 'RUNNING' | 'SUCCESS' | 'FAILED',
    { stages, errorReport }: { readonly stages: readonly StageRun[]; readonly errorReport?: object },
  ): Readonly<Record<string, unknown>> {
    const { taskId } = this.#context;
    const task = this.#task;
    const nowMs = this.#context.now();
    const runs = this.workers();
    const tasksThat = (state: WorkerRun['state']): number => runs.filter((run) => run.state === state && run.workerId !== taskId).length;
    const unended = status === 'RUNNING' ? 'READING_INPUT' : 'FAILED';
    const payload: Record<string, unknown> = {
      status: {
        status,
        startTime: formatInstant(this.#startMs),
        durationMs: nowMs - this.#startMs,
        workers: this.#workerStatus(runs),
        pendingTasks: tasksThat('PENDING'),
        // The controller is one of them.
        runningTasks: 1 + tasksThat('RUNNING'),
        ...this.#loadStatus(nowMs),
        ...segmentReport(task),
        ...(errorReport === undefined ? {} : { errorReport }),
      },
      stages: stages.map((stage, number) => stageBody(stage, number, { task, taskId, nowMs, unended })),
      counters: Object.fromEntries(stages.map(({ kind, counts }, number) => [number, countersOf(kind, counts, task)])),
    };
    if (task.statement.kind === 'select' && status === 'SUCCESS') {
      payload['results'] = {
        signature: this.#query.columns.map(({ name, nativeType }) => ({ name, type: nativeType })),
        sqlTypeNames: this.#query.columns.map(({ sqlType }) => sqlTypeName(sqlType)),
        ...(this.#pages === null ? this.#resultsHere() : { pages: this.#pages }),
      };
    }
    return { multiStageQuery: { type: 'multiStageQuery', taskId, payload } };
  }

  #loadStatus(nowMs: number): Readonly<Record<string, unknown>> {
    const wait = this.#loadWait;
    if (wait === null) return {};
    const { state, startMs, durationMs, segments } = wait;
    const served = state === 'SUCCESS' ? segments : 0;
    const segmentLoadStatus = {
      state,
      startTime: formatInstant(startMs),
      duration: state === 'WAITING' ? nowMs - startMs : durationMs,
      totalSegments: segments,
      usedSegments: segments,
      precachedSegments: served,
      onDemandSegments: 0,
      pendingSegments: state === 'WAITING' ? segments : 0,
      unknownSegments: state === 'TIMED_OUT' ? segments : 0,
    };
    return { segmentLoadStatus };
  }

  /** Runs by the number of the worker; what the controller did itself bears its own id. */
  #workerStatus(runs: readonly WorkerRun[]): Readonly<Record<string, unknown>> {
    const byWorker = new Map<number, unknown[]>();
    for (const { worker, ...run } of runs) {
      const ofWorker = byWorker.get(worker) ?? [];
      ofWorker.push(run);
      byWorker.set(worker, ofWorker);
    }
    return Object.fromEntries(byWorker);
  }

  /** The rows, as one page. */
  #resultsHere(): Readonly<Record<string, unknown>> {
    const results = this.#results;
    const page = { id: 0, numRows: results.length, sizeInBytes: Math.max(2, this.#resultBytes + 1) };
    return { results, resultsTruncated: this.#resultsTruncated, pages: [page] };
  }
}

/** Division of the rows of a time chunk, and its reason. */
function segmentReport({ statement, settings }: QueryTask): Readonly<Record<string, unknown>> {
  if (statement.kind !== 'insert' && statement.kind !== 'replace') return {};
  const partitions = partitionsOf(statement, settings);
  if (partitions.kind === 'range') {
    const details = `chunks are divided by ranges of ${partitions.dimensions.join(', ')}, the strings that CLUSTERED BY begins with`;
    return { segmentReport: { shardSpec: 'DimensionRangeShardSpec', details } };
  }
  const details =
    statement.overwrite === null
      ? 'rows are added to chunks, whatever these are divided by'
      : `CLUSTERED BY ${statement.clusteredBy.length === 0 ? 'is left out' : 'begins with a column that is not a string'}`;
  return { segmentReport: { shardSpec: 'NumberedShardSpec', details } };
}

/** Longs as JSON numbers where those are exact, times as text. */
function toJson(cell: unknown, column: OutputColumn | undefined): unknown {
  if (typeof cell !== 'bigint') return cell;
  if (column?.sqlType === 'TIMESTAMP' || column?.sqlType === 'DATE') return formatInstant(Number(cell));
  if (column?.sqlType === 'BOOLEAN') return cell !== 0n;
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
}
