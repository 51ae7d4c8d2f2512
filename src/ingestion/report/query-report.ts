// Report of an SQL ingestion task.

import { stringifyJson } from '../../base/json.js';
import { formatInstant } from '../../base/time.js';
import type { Frame } from '../../model/frame.js';
import { type OutputColumn, type PlannedQuery, sqlTypeName } from '../../model/statement.js';
import type { ResultPage } from '../../storage/result-storage.js';
import { inputCell } from '../column/text-reading.js';
import type { TaskContext } from '../contract.js';
import { withoutSecrets } from '../source/secrets.js';
import { faultOf } from '../sql/query-fault.js';
import { plannedQuery, type QueryTask } from '../sql/query-task.js';
import type { StageKind, WorkCounts } from '../sql/stages/contract.js';
import type { WorkerRun } from '../sql/stages/workers.js';

/** Rows of a plain SELECT that its report shows. */
const RESULT_ROWS_MAX = 3000;

/** Counts of one worker in a stage; what is left out was not counted. */
export type StageCounts = Pick<WorkCounts, 'rowsIn' | 'rowsOut'> & Partial<WorkCounts>;

interface StageRun {
  readonly kind: StageKind;
  readonly workerCount: number;
  readonly startMs: number;
  endMs: number | null;
  counts: readonly StageCounts[];
}

/** Fills in the public `multiStageQuery` report, stage by stage. */
export class QueryReport {
  /** Runs of worker tasks, failed ones among them. */
  workers: readonly WorkerRun[] = [];
  readonly #context: TaskContext;
  readonly #task: QueryTask;
  readonly #query: PlannedQuery;
  readonly #startMs: number;
  readonly #stages: StageRun[] = [];
  readonly #results: unknown[][] = [];
  #resultsTruncated = false;
  /** Pages in durable storage, which take the place of results; null: there are none. */
  #pages: { readonly id: number; readonly numRows: number; readonly sizeInBytes: number }[] | null = null;

  constructor(task: QueryTask, context: TaskContext) {
    this.#context = context;
    this.#task = task;
    this.#query = plannedQuery(task);
    this.#startMs = context.now();
  }

  beginStage(kind: StageKind, workerCount: number): void {
    this.#stages.push({ kind, workerCount, startMs: this.#context.now(), endMs: null, counts: [] });
  }

  /** Ends the last stage of a kind. */
  endStage(kind: StageKind, counts: readonly StageCounts[]): void {
    const stage = this.#stages.findLast((each) => each.kind === kind);
    if (stage !== undefined) Object.assign(stage, { counts, endMs: this.#context.now() });
  }

  /** Takes in rows of the result; false once no more are shown. */
  addResults(frame: Frame): boolean {
    for (let row = 0; row < frame.rowCount; row++) {
      if (this.#results.length === RESULT_ROWS_MAX) {
        this.#resultsTruncated = true;
        return false;
      }
      this.#results.push(frame.columns.map((column, position) => toJson(inputCell(column, row), this.#query.columns[position])));
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

  /** @param failed  null: the statement succeeded */
  finish(failed: { readonly failure: unknown } | null): Readonly<Record<string, unknown>> {
    const { taskId } = this.#context;
    const endMs = this.#context.now();
    const status = failed === null ? 'SUCCESS' : 'FAILED';
    const stageNumber = failed === null || this.#stages.length === 0 ? null : this.#stages.length - 1;
    const payload: Record<string, unknown> = {
      status: {
        status,
        startTime: formatInstant(this.#startMs),
        durationMs: endMs - this.#startMs,
        workers: this.#workerStatus(),
        pendingTasks: 0,
        runningTasks: 0,
        ...(failed === null ? {} : { errorReport: { taskId, host: null, stageNumber, error: faultOf(failed.failure) } }),
      },
      stages: this.#stages.map((stage, number) => this.#stageBody(stage, number, { nowMs: endMs, failed: failed !== null })),
      counters: Object.fromEntries(this.#stages.map((stage, number) => [number, countersOf(stage)])),
    };
    if (this.#task.statement.kind === 'select' && status === 'SUCCESS') {
      payload['results'] = {
        signature: this.#signature(),
        sqlTypeNames: this.#query.columns.map(({ sqlType }) => sqlTypeName(sqlType)),
        ...(this.#pages === null ? this.#resultsHere() : { pages: this.#pages }),
      };
    }
    return { multiStageQuery: { type: 'multiStageQuery', taskId, payload } };
  }

  /** Runs by the number of the worker; what the controller did itself bears its own id. */
  #workerStatus(): Readonly<Record<string, unknown>> {
    const byWorker = new Map<number, unknown[]>();
    for (const { worker, workerId, state, startMs, endMs } of this.workers) {
      const runs = byWorker.get(worker) ?? [];
      runs.push({ workerId, state, durationMs: endMs - startMs, pendingMs: 0 });
      byWorker.set(worker, runs);
    }
    return Object.fromEntries(byWorker);
  }

  #signature(): readonly unknown[] {
    return this.#query.columns.map(({ name, nativeType }) => ({ name, type: nativeType }));
  }

  /** The rows, as one page. */
  #resultsHere(): Readonly<Record<string, unknown>> {
    const results = this.#results;
    const page = { id: 0, numRows: results.length, sizeInBytes: Buffer.byteLength(stringifyJson(results)) };
    return { results, resultsTruncated: this.#resultsTruncated, pages: [page] };
  }

  #stageBody(
    { kind, workerCount, startMs, endMs }: StageRun,
    stageNumber: number,
    { nowMs, failed }: { readonly nowMs: number; readonly failed: boolean },
  ): Readonly<Record<string, unknown>> {
    const isLast = kind === 'write';
    return {
      stageNumber,
      definition: {
        id: `${this.#context.taskId}_${stageNumber}`,
        input: [kind === 'read' ? this.#input() : { type: 'stage', stage: stageNumber - 1 }],
        processor: this.#processor(kind),
        signature: this.#signature(),
        ...(isLast ? {} : { shuffleSpec: { type: kind === 'read' && this.#query.plan.operator === 'group' ? 'hash' : 'mix' } }),
        maxWorkerCount: this.#task.settings.workers,
        shuffleCheckHasMultipleValues: true,
      },
      phase: endMs === null && failed ? 'FAILED' : 'FINISHED',
      workerCount,
      partitionCount: workerCount,
      startTime: formatInstant(startMs),
      duration: (endMs ?? nowMs) - startMs,
      ...(isLast ? {} : { output: workerCount === 1 ? 'localStorage' : 'durableStorage' }),
      sort: false,
    };
  }

  #input(): Readonly<Record<string, unknown>> {
    const { source } = this.#query;
    if (source.kind !== 'external') return { type: source.kind };
    const { inputSource, inputFormat, signature } = source;
    return { type: 'external', inputSource: withoutSecrets(inputSource), inputFormat, signature };
  }

  #processor(kind: StageKind): Readonly<Record<string, unknown>> {
    const { statement } = this.#task;
    if (kind === 'merge') return { type: 'groupByPostShuffle' };
    if (kind === 'post') return { type: this.#query.plan.post.some(({ step }) => step === 'window') ? 'window' : 'limit' };
    if (kind === 'read' || statement.kind === 'select')
      return { type: this.#query.plan.operator === 'group' ? 'groupByPreShuffle' : 'scan' };
    if (statement.kind !== 'export')
      return { type: 'segmentGenerator', dataSource: statement.dataSource, clusterBy: statement.clusteredBy };
    return { type: 'export', exportStorageProvider: { type: 'local', exportPath: statement.exportPath }, resultFormat: statement.format };
  }
}

/** Counters of a stage by worker. */
function countersOf({ kind, counts }: StageRun): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    counts.map(({ rowsIn, rowsOut, bytesRead, bytesOut, filesRead }, worker) => {
      const files = filesRead === undefined ? {} : { files: [filesRead], totalFiles: [filesRead] };
      const input0 = { type: 'channel', rows: [rowsIn], ...(bytesRead === undefined ? {} : { bytes: [bytesRead] }), ...files };
      if (kind !== 'write') {
        const output = { type: 'channel', rows: [rowsOut], ...(bytesOut === undefined ? {} : { bytes: [bytesOut] }) };
        return [worker, { input0, output }];
      }
      const progress = {
        type: 'segmentGenerationProgress',
        rowsProcessed: rowsIn,
        rowsPersisted: rowsIn,
        rowsMerged: rowsIn,
        rowsPushed: rowsOut,
      };
      return [worker, { input0: { type: 'channel', rows: [rowsIn] }, segmentGenerationProgress: progress }];
    }),
  );
}

/** Longs as JSON numbers where those are exact, times as text. */
function toJson(cell: unknown, column: OutputColumn | undefined): unknown {
  if (typeof cell !== 'bigint') return cell;
  if (column?.sqlType === 'TIMESTAMP' || column?.sqlType === 'DATE') return formatInstant(Number(cell));
  if (column?.sqlType === 'BOOLEAN') return cell !== 0n;
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
}
