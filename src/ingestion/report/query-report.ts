// Report of an SQL ingestion task.

import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import { formatInstant } from '../../base/time.js';
import type { Frame } from '../../model/frame.js';
import { type OutputColumn, type PlannedQuery, type PlannedStatement, sqlTypeName } from '../../model/statement.js';
import type { ResultPage } from '../../storage/result-storage.js';
import { inputCell } from '../column/text-reading.js';
import type { TaskContext } from '../contract.js';
import type { RowStatistics } from './row-statistics.js';

/** Rows of a plain SELECT that its report shows. */
const RESULT_ROWS_MAX = 3000;

type WriteStatement = Extract<PlannedStatement, { readonly kind: 'insert' | 'replace' | 'export' }>;

/** Fills in the public `multiStageQuery` report: one stage that reads and computes, and one that writes segments. */
export class QueryReport {
  rowsOut = 0;
  rowsPushed = 0;
  readonly #context: TaskContext;
  readonly #query: PlannedQuery;
  readonly #write: WriteStatement | null;
  readonly #startMs: number;
  #writingMs: number | null = null;
  readonly #results: unknown[][] = [];
  #resultsTruncated = false;
  /** Pages in durable storage, which take the place of results; null: there are none. */
  #pages: { readonly id: number; readonly numRows: number; readonly sizeInBytes: number }[] | null = null;

  constructor(context: TaskContext, query: PlannedQuery, write: WriteStatement | null) {
    this.#context = context;
    this.#query = query;
    this.#write = write;
    this.#startMs = context.now();
  }

  startWriting(): void {
    this.#writingMs = this.#context.now();
  }

  /** Takes in rows of the result; false once no more are shown. */
  addResults(frame: Frame): boolean {
    for (let row = 0; row < frame.rowCount; row++) {
      if (this.#results.length === RESULT_ROWS_MAX) {
        this.#resultsTruncated = true;
        return false;
      }
      this.#results.push(frame.columns.map((column, position) => toJson(inputCell(column, row), this.#query.columns[position])));
      this.rowsOut++;
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
    this.rowsOut += rowCount;
    return id;
  }

  finish(status: 'SUCCESS' | 'FAILED', statistics: RowStatistics, failure: unknown): Readonly<Record<string, unknown>> {
    const { taskId } = this.#context;
    const endMs = this.#context.now();
    const payload: Record<string, unknown> = {
      status: {
        status,
        startTime: formatInstant(this.#startMs),
        durationMs: endMs - this.#startMs,
        pendingTasks: 0,
        runningTasks: 0,
        ...(failure === null ? {} : { errorReport: { taskId, host: null, stageNumber: null, error: errorOf(failure) } }),
      },
      stages: this.#stages(status, endMs),
      counters: this.#counters(statistics),
    };
    if (this.#write === null && status === 'SUCCESS') {
      payload['results'] = {
        signature: this.#query.columns.map(({ name, nativeType }) => ({ name, type: nativeType })),
        sqlTypeNames: this.#query.columns.map(({ sqlType }) => sqlTypeName(sqlType)),
        ...(this.#pages === null ? this.#resultsHere() : { pages: this.#pages }),
      };
    }
    return { multiStageQuery: { type: 'multiStageQuery', taskId, payload } };
  }

  /** The rows, as one page. */
  #resultsHere(): Readonly<Record<string, unknown>> {
    const results = this.#results;
    const page = { id: 0, numRows: results.length, sizeInBytes: Buffer.byteLength(stringifyJson(results)) };
    return { results, resultsTruncated: this.#resultsTruncated, pages: [page] };
  }

  #stages(status: 'SUCCESS' | 'FAILED', endMs: number): readonly unknown[] {
    const signature = this.#query.columns.map(({ name, nativeType }) => ({ name, type: nativeType }));
    const phase = (isDone: boolean): string => (isDone || status === 'SUCCESS' ? 'FINISHED' : 'FAILED');
    const { source, plan } = this.#query;
    const input =
      source.kind === 'external'
        ? { type: 'external', inputSource: source.inputSource, inputFormat: source.inputFormat, signature: source.signature }
        : { type: source.kind };
    const shape = { maxWorkerCount: 1, shuffleCheckHasMultipleValues: true };
    const readEnd = this.#writingMs ?? endMs;
    const reading = {
      stageNumber: 0,
      definition: {
        id: `${this.#context.taskId}_0`,
        input: [input],
        processor: { type: plan.operator === 'group' ? 'groupByPreShuffle' : 'scan' },
        signature,
        shuffleSpec: { type: 'mix' },
        ...shape,
      },
      phase: phase(this.#writingMs !== null),
      workerCount: 1,
      partitionCount: 1,
      startTime: formatInstant(this.#startMs),
      duration: readEnd - this.#startMs,
      output: 'localStorage',
      sort: false,
    };
    if (this.#write === null || this.#writingMs === null) return [reading];
    const writing = {
      stageNumber: 1,
      definition: {
        id: `${this.#context.taskId}_1`,
        input: [{ type: 'stage', stage: 0 }],
        processor: processorOf(this.#write),
        signature,
        ...shape,
      },
      phase: phase(false),
      workerCount: 1,
      startTime: formatInstant(this.#writingMs),
      duration: endMs - this.#writingMs,
      sort: false,
    };
    return [reading, writing];
  }

  #counters({ rows, bytesRead }: RowStatistics): Readonly<Record<string, unknown>> {
    const input = { type: 'channel', rows: [rows], bytes: [bytesRead], files: [1], totalFiles: [1] };
    const output = { type: 'channel', rows: [this.rowsOut] };
    const reading = { '0': { input0: input, output } };
    if (this.#write === null || this.#writingMs === null) return { '0': reading };
    const progress = {
      type: 'segmentGenerationProgress',
      rowsProcessed: this.rowsOut,
      rowsPersisted: this.rowsOut,
      rowsMerged: this.rowsOut,
      rowsPushed: this.rowsPushed,
    };
    return { '0': reading, '1': { '0': { input0: output, segmentGenerationProgress: progress } } };
  }
}

function processorOf(write: WriteStatement): Readonly<Record<string, unknown>> {
  if (write.kind !== 'export') return { type: 'segmentGenerator', dataSource: write.dataSource, clusterBy: write.clusteredBy };
  return { type: 'export', exportStorageProvider: { type: 'local', exportPath: write.exportPath }, resultFormat: write.format };
}

function errorOf(failure: unknown): Readonly<Record<string, string>> {
  const errorMessage = failure instanceof Error ? failure.message : String(failure);
  return { errorCode: failure instanceof ServiceError ? (ERROR_CODES[failure.code] ?? 'UnknownError') : 'UnknownError', errorMessage };
}

const ERROR_CODES: Readonly<Record<string, string>> = {
  input_unreadable: 'CannotParseExternalData',
  cancelled: 'Canceled',
  resource_limit: 'NotEnoughMemory',
  input_invalid: 'QueryRuntimeError',
};

/** Longs as JSON numbers where those are exact, times as text. */
function toJson(cell: unknown, column: OutputColumn | undefined): unknown {
  if (typeof cell !== 'bigint') return cell;
  if (column?.sqlType === 'TIMESTAMP' || column?.sqlType === 'DATE') return formatInstant(Number(cell));
  if (column?.sqlType === 'BOOLEAN') return cell !== 0n;
  return Number.isSafeInteger(Number(cell)) ? Number(cell) : cell;
}
