// State of a statement that runs as a task: what it says of itself while and after it runs.

import { ServiceError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { formatInstant } from '../../base/time.js';
import type { TaskWithDocuments } from '../../cluster/rpc/services.js';
import { mayBeTriedAgain } from '../../ingestion/sql/query-fault.js';
import type { TaskRecord, TaskState } from '../../metadata/tasks.js';
import { type OutputColumn, sqlTypeName } from '../../model/statement.js';
import { columnsOfPayload, resultsOfReport, type StatementResults } from './statement-results.js';

export type StatementState = 'ACCEPTED' | 'RUNNING' | 'SUCCESS' | 'FAILED';

const STATES: Readonly<Record<TaskState, StatementState>> = {
  WAITING: 'ACCEPTED',
  PENDING: 'ACCEPTED',
  RUNNING: 'RUNNING',
  SUCCESS: 'SUCCESS',
  FAILED: 'FAILED',
};

/** A statement by its task's record and documents. */
export interface Statement {
  readonly found: TaskWithDocuments;
  readonly state: StatementState;
  /** Columns of a SELECT; null for statements that write. */
  readonly columns: readonly OutputColumn[] | null;
  readonly resultFormat: string | null;
  /** Query context, as it was sent. */
  readonly context: Readonly<Record<string, unknown>>;
  /** Payload of the report; null while there is none. */
  readonly report: ObjectReader | null;
}

/** @throws ServiceError `internal` for documents that cannot be read */
export function readStatement(found: TaskWithDocuments): Statement {
  const payload = documentOf(found.payload, `payload of task ${found.task.id}`);
  const spec = payload.object('spec');
  const document = found.report === null ? null : documentOf(found.report, `report of task ${found.task.id}`);
  return {
    found,
    state: STATES[found.task.state],
    columns: columnsOfPayload(payload),
    resultFormat: spec.optionalString('resultFormat') ?? null,
    context: spec.optionalObject('context')?.members ?? {},
    report: document === null ? null : payloadOfReport(document),
  };
}

/** A statement that runs, with its report so far. */
export function withReport(statement: Statement, report: Readonly<Record<string, unknown>>): Statement {
  return { ...statement, report: payloadOfReport(readerOf(report, `report of task ${statement.found.task.id}`)) };
}

function payloadOfReport(document: ObjectReader): ObjectReader | null {
  return document.has('multiStageQuery') ? document.object('multiStageQuery').object('payload') : null;
}

/** A reader of JSON that this service wrote. */
export function readerOf(value: unknown, name: string): ObjectReader {
  return new ObjectReader(value, '', readContextOf('internal', name));
}

function documentOf(text: string, name: string): ObjectReader {
  try {
    return readerOf(parseJson(text), name);
  } catch (error) {
    throw new ServiceError('internal', `the ${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

/** The results in the report of a SELECT that is through; null where there are none. */
export function statementResults({ columns, report }: Statement): StatementResults | null {
  return columns === null || report === null ? null : resultsOfReport(report, columns);
}

/** The body of a statement that was accepted just now. */
export function acceptedBody({ id, createdMs }: TaskRecord, columns: readonly OutputColumn[] | null): object {
  return { queryId: id, state: 'ACCEPTED', createdAt: formatInstant(createdMs), ...schemaOf(columns), durationMs: -1 };
}

/** @param detail  whether stages, counters and warnings are shown as well */
export function statementBody(statement: Statement, detail: boolean): object {
  const { found, state, columns, report } = statement;
  const { id, createdMs, startedMs, finishedMs } = found.task;
  return {
    queryId: id,
    state,
    createdAt: formatInstant(createdMs),
    ...(state === 'FAILED' ? {} : schemaOf(columns)),
    durationMs: finishedMs === null ? -1 : finishedMs - (startedMs ?? finishedMs),
    ...(state === 'SUCCESS' ? resultOf(statement) : {}),
    ...(state === 'FAILED' ? { errorDetails: errorDetails(statement) } : {}),
    ...(detail && report !== null
      ? { stages: report.raw('stages') ?? [], counters: report.raw('counters') ?? {}, warnings: warningsOf(statement) }
      : {}),
  };
}

function schemaOf(columns: readonly OutputColumn[] | null): object {
  if (columns === null) return {};
  return { schema: columns.map(({ name, sqlType, nativeType }) => ({ name, type: sqlTypeName(sqlType), nativeType })) };
}

/** Pages of results in durable storage, or the one page of those in the report. */
export function statementPages({ report }: Statement): readonly StatementPage[] {
  const pages = report?.optionalObject('results')?.objects('pages') ?? [];
  return pages.map((page) => ({
    id: page.optionalInteger('id', 0) ?? 0,
    numRows: page.optionalInteger('numRows', 0) ?? 0,
    sizeInBytes: page.optionalInteger('sizeInBytes', 0) ?? 0,
  }));
}

interface StatementPage {
  readonly id: number;
  readonly numRows: number;
  readonly sizeInBytes: number;
}

/** Results, also where clients of the original look for their pages. */
function resultOf(statement: Statement): object {
  const { task } = statement.found;
  if (statement.columns === null) return { result: { numTotalRows: rowsWritten(statement), dataSource: task.dataSource } };
  const results = statementResults(statement);
  const pages = statementPages(statement);
  const result = {
    numTotalRows: pages.reduce((sum, { numRows }) => sum + numRows, 0),
    totalSizeInBytes: pages.reduce((sum, { sizeInBytes }) => sum + sizeInBytes, 0),
    resultsTruncated: results?.isTruncated ?? false,
    dataSource: task.dataSource,
    sampleRecords: results?.rows ?? [],
    pages,
  };
  return { result, pages };
}

/** Rows in the segments or files that a statement has written: those that its last stage gives out. */
function rowsWritten({ report }: Statement): number {
  const counters = report?.optionalObject('counters');
  const last = (report?.objects('stages').length ?? 0) - 1;
  const workers = counters?.optionalObject(`${last}`);
  if (workers === undefined) return 0;
  let rows = 0;
  for (const worker of Object.keys(workers.members)) {
    const counts = workers.object(worker);
    const segments = counts.optionalObject('segmentGenerationProgress');
    rows += segments?.optionalInteger('rowsPushed', 0) ?? 0;
    for (const written of counts.optionalObject('output')?.array('rows') ?? []) rows += Number(written);
  }
  return rows;
}

/** Warnings of a statement: whether rows are missing from its results. */
export function warningsOf(statement: Statement): readonly object[] {
  const results = statementResults(statement);
  return results?.isTruncated === true ? [{ errorCode: 'ResultsTruncated', errorMessage: truncationOf(results) }] : [];
}

export function truncationOf({ rows }: StatementResults): string {
  return `the results end after ${rows.length} rows: the report of a task holds no more; add a LIMIT, or aggregate`;
}

function errorDetails({ found: { task }, report }: Statement): object {
  const error = report?.optionalObject('status')?.optionalObject('errorReport')?.optionalObject('error');
  const errorMessage = error?.optionalString('errorMessage') ?? task.error ?? 'the task failed without a reason';
  const errorCode = error?.optionalString('errorCode') ?? 'UnknownError';
  return {
    error: 'statementFailed',
    errorCode,
    persona: error?.optionalString('persona') ?? 'USER',
    category: error?.optionalString('category') ?? 'UNCATEGORIZED',
    errorMessage,
    context: mayBeTriedAgain({ ...error?.members, errorCode }) ? { canBeTriedAgain: 'true' } : {},
  };
}
