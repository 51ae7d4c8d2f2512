// Routes of statements that run as tasks and are asked for their results later.

import { ServiceError } from '../../base/errors.js';
import { describeValue } from '../../base/json.js';
import type { OverlordService } from '../../cluster/rpc/services.js';
import type { Caller } from '../../model/access/authorizer.js';
import type { Action } from '../../model/access/resource.js';
import type { Frame } from '../../model/frame.js';
import type { PlannedStatement } from '../../model/statement.js';
import { readSqlContext } from '../../planner/sql/context.js';
import { RESULT_FORMATS, type ResultFormatName } from '../../results/result-format.js';
import { writeResult } from '../../results/write-result.js';
import type { ResultRun, ResultStorage } from '../../storage/result-storage.js';
import { demandOwner } from '../access/readable.js';
import { submitterOf } from '../access/task-access.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';
import { frameOfResults } from '../queries/statement-results.js';
import {
  acceptedBody,
  readerOf,
  readStatement,
  type Statement,
  statementBody,
  statementPages,
  statementResults,
  truncationOf,
  withReport,
} from '../queries/statement-status.js';
import { AUTHENTICATED, found, isTrue, json } from './exchange.js';

/** A statement that was handed over as a task, or the answer of one that is never a task. */
export type SubmittedStatement =
  | { readonly answer: HttpResponse }
  | { readonly taskId: string; readonly statement: PlannedStatement; readonly headers: Readonly<Record<string, string>> };

export interface StatementSource {
  /** Plans the statement of a request, whose mode is checked, and hands it over. */
  submit(request: HttpRequest): Promise<SubmittedStatement>;
  overlord(): Pick<OverlordService, 'task' | 'liveReport' | 'shutdownTask'>;
  /** Durable results; null: there are none. */
  readonly results: Pick<ResultStorage, 'read'> | null;
}

const PATH = '/svc/v2/sql/statements';
const FORMATS = Object.keys(RESULT_FORMATS) as ResultFormatName[];
const QUERY_TASK = 'query_controller';

export function statementRoutes(source: StatementSource): Route[] {
  const find = async (queryId: string, caller: Caller, action: Action = 'READ'): Promise<Statement> => {
    const found = await source.overlord().task(queryId);
    if (found === null || found.task.type !== QUERY_TASK) throw new ServiceError('not_found', `no statement has the id ${queryId}`);
    if (!caller.isUnrestricted) demandOwner(caller, submitterOf(found.payload), action);
    return readStatement(found);
  };
  const later = { permission: found('owner'), errors: 'statementStatus' } as const;
  return [
    {
      method: 'POST',
      path: PATH,
      permission: found('query'),
      errors: 'statement',
      handle: async (request) => {
        const submitted = await source.submit(request);
        if ('answer' in submitted) return submitted.answer;
        const { taskId, statement, headers } = submitted;
        const accepted = await source.overlord().task(taskId);
        if (accepted === null) throw new ServiceError('internal', `the task ${taskId} was accepted and is gone`);
        return json(200, acceptedBody(accepted.task, statement.kind === 'select' ? statement.columns : null), headers);
      },
    },
    { method: 'GET', path: `${PATH}/enabled`, permission: AUTHENTICATED, errors: 'map', handle: () => json(200, { enabled: true }) },
    {
      ...later,
      method: 'GET',
      path: `${PATH}/{queryId}`,
      handle: async (request, { queryId = '' }) => {
        const statement = await find(queryId, request.caller);
        if (!isTrue(request, 'detail')) return json(200, statementBody(statement, false));
        const live = statement.state === 'RUNNING' ? await source.overlord().liveReport(queryId) : null;
        return json(200, statementBody(live === null ? statement : withReport(statement, live), true));
      },
    },
    {
      ...later,
      method: 'GET',
      path: `${PATH}/{queryId}/results`,
      handle: async (request, { queryId = '' }) => resultsAnswer(request, await find(queryId, request.caller), source.results),
    },
    {
      ...later,
      method: 'DELETE',
      path: `${PATH}/{queryId}`,
      handle: async ({ caller }, { queryId = '' }) => {
        const { state } = await find(queryId, caller, 'WRITE');
        if (state === 'SUCCESS' || state === 'FAILED') return { status: 200 };
        return { status: (await isStopped(source, queryId)) ? 202 : 200 };
      },
    },
  ];
}

/** Stops a statement; false when it has ended meanwhile. */
async function isStopped({ overlord }: StatementSource, queryId: string): Promise<boolean> {
  try {
    await overlord().shutdownTask(queryId, 'the statement was cancelled');
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return false;
    throw error;
  }
}

/** @throws ServiceError for anything but ASYNC, which must be said */
export function checkExecutionMode(context: Readonly<Record<string, unknown>>): void {
  const mode = new Map(Object.entries(context)).get('executionMode');
  if (typeof mode === 'string' && mode.toUpperCase() === 'ASYNC') return;
  const found = mode === undefined || mode === null ? 'nothing' : describeValue(mode);
  throw new ServiceError('query_invalid', `context.executionMode: found ${found}, expected "ASYNC"`);
}

function resultsAnswer(request: HttpRequest, statement: Statement, storage: StatementSource['results']): HttpResponse {
  const { queryId, page, format, disposition } = readAsked(request, statement);
  const { state, columns } = statement;
  if (state === 'FAILED') throw new ServiceError('not_found', `statement ${queryId} failed and has no results; its status tells why`);
  if (state !== 'SUCCESS')
    throw new ServiceError('input_invalid', `statement ${queryId} is ${state}: its results can be read once it is through`);
  // Statements that write have no results.
  if (columns === null) return { status: 200, headers: disposition, body: '' };
  const pages = statementPages(statement);
  if (page !== null && page >= Math.max(1, pages.length))
    throw new ServiceError('input_invalid', `page: found ${page}, expected one below ${Math.max(1, pages.length)}, the number of pages`);
  const results = statementResults(statement);
  const warning: Record<string, string> = results?.isTruncated === true ? { 'X-Svc-Warning': truncationOf(results) } : {};
  const headers = { 'Content-Type': RESULT_FORMATS[format].contentType, ...disposition, ...warning };
  const frames =
    results === null
      ? storedFrames(
          storage,
          { taskId: queryId, attempt: statement.found.task.attempts },
          page === null ? pages.map(({ id }) => id) : pages.slice(page, page + 1).map(({ id }) => id),
        )
      : once(frameOfResults(results, (inline) => readerOf(inline, `results of ${queryId}`)));
  const { timeZone, stringifyArrays } = readSqlContext(statement.context);
  const options = { format, header: false, typesHeader: false, sqlTypesHeader: false, timeZone, stringifyArrays };
  return { status: 200, headers, body: writeResult(frames, columns, options) };
}

async function* storedFrames(storage: StatementSource['results'], run: ResultRun, pages: readonly number[]): AsyncGenerator<Frame> {
  for (const page of pages) {
    if (storage === null)
      throw new ServiceError('not_found', `results of ${run.taskId}: svc.msq.intermediate.storage.enable is false by now`);
    yield* storage.read(run, page);
  }
}

interface AskedResults {
  readonly queryId: string;
  /** Null: all pages. */
  readonly page: number | null;
  readonly format: ResultFormatName;
  readonly disposition: Readonly<Record<string, string>>;
}

/** @throws ServiceError `input_invalid` naming the parameter */
function readAsked({ query }: HttpRequest, { found, resultFormat }: Statement): AskedResults {
  const page = query.get('page');
  if (page !== null && !/^\d{1,15}$/.test(page))
    throw new ServiceError('input_invalid', `page: found '${page}', expected a number from 0 on`);
  const asked = query.get('resultFormat') ?? resultFormat ?? 'object';
  const format = FORMATS.find((name) => name.toLowerCase() === asked.toLowerCase());
  if (format === undefined)
    throw new ServiceError('input_invalid', `resultFormat: found '${asked}', expected one of ${FORMATS.join(', ')}`);
  const filename = query.get('filename');
  const disposition: Record<string, string> =
    filename === null ? {} : { 'Content-Disposition': `attachment; filename="${checkedName(filename)}"` };
  return { queryId: found.task.id, page: page === null ? null : Number(page), format, disposition };
}

const NAME_LENGTH_MAX = 255;

function checkedName(name: string): string {
  // Headers have no other characters; those of the second list name places on some system.
  if (name === '' || name.length > NAME_LENGTH_MAX || !/^[\x20-\x7e]+$/.test(name) || /[/\\:*?"<>|]/.test(name))
    throw new ServiceError(
      'input_invalid',
      `filename: found '${name.slice(0, NAME_LENGTH_MAX)}', expected 1 to ${NAME_LENGTH_MAX} printable ASCII characters without / \\ : * ? " < > |`,
    );
  return name;
}

async function* once(frame: Frame): AsyncGenerator<Frame> {
  yield frame;
}
