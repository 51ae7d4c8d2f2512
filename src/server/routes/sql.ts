// Routes of SQL over HTTP.

import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import { extended } from '../../base/names.js';
import { Coverage } from '../../cluster/broker/coverage.js';
import type { OverlordService } from '../../cluster/rpc/services.js';
import { NO_RESULT_STORAGE } from '../../ingestion/sql/query-settings.js';
import type { Caller } from '../../model/access/authorizer.js';
import type { Frame } from '../../model/frame.js';
import type { ExplainedStatement, OutputColumn, PlannedStatement } from '../../model/statement.js';
import type { PlanWatch } from '../../planner/sql/plan-watch.js';
import { RESULT_FORMATS } from '../../results/result-format.js';
import { writeKnown, writeResult } from '../../results/write-result.js';
import type { ResultStorage } from '../../storage/result-storage.js';
import { SELECT_DATA_SOURCE } from '../access/task-access.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';
import { READ_HERE_BYTES_MAX } from '../planning/plan-thread.js';
import type { LoggedRequest } from '../queries/request-log.js';
import { SqlBodies, type SqlBody, textOf } from '../queries/sql-body.js';
import { isIngestion, type SqlStatements } from '../queries/sql-statements.js';
import { AUTHENTICATED, found, json } from './exchange.js';
import { profileHeader, profileText } from './profile.js';
import { checkExecutionMode, type SubmittedStatement, statementRoutes } from './statements.js';

/** A body, and what came of it before. */
interface PreparedBody extends SqlBody {
  /** Key of the statement's plan in the plan cache. */
  readonly planKey: string | null;
  /** The text of frames that were written for it. */
  readonly written: { frames: readonly Frame[] | null; text: string };
}

/** Characters of a text that is kept beside the frames it was written from. */
const WRITTEN_LENGTH_MAX = 1024;

export interface SqlRoutesOptions {
  overlord(): Pick<OverlordService, 'submit' | 'task' | 'liveReport' | 'shutdownTask'>;
  /** Durable results of statements; null: there are none. */
  readonly results: Pick<ResultStorage, 'read'> | null;
  /** Bytes of bodies that are kept. */
  readonly bodiesBytesMax: number;
}

/** SQL over HTTP: answers to SELECT and EXPLAIN, tasks for INSERT and REPLACE, statements whose results are asked for later. */
export function sqlRoutes(statements: SqlStatements, { overlord, results, bodiesBytesMax }: SqlRoutesOptions): Route[] {
  const bodies = new SqlBodies<PreparedBody>(bodiesBytesMax, (body, viaAlias) =>
    Object.assign(body, { planKey: statements.planKey(body, viaAlias), written: { frames: null, text: '' } }),
  );
  const readLong = async (request: HttpRequest, receivedMs: number): Promise<PreparedBody> =>
    bodies.prepared(await statements.readLong(textOf(request), receivedMs, request.signal), request.viaAlias);
  const answerBody = (request: HttpRequest, body: PreparedBody, receivedMs: number): HttpResponse | Promise<HttpResponse> => {
    const { caller } = request;
    statements.authorizeContext(body.context, caller);
    const known = statements.plannedBefore(body.planKey, caller);
    if (known !== undefined) return answer(statements, request, { body, statement: known, receivedMs });
    const watch = statements.planWatch(body.read, receivedMs);
    const filled = statements.plannedByShape(body, body.planKey, request.viaAlias, { watch, caller });
    if (filled !== undefined) return answer(statements, request, { body, statement: filled, receivedMs, watch });
    return statements
      .plan(body, request.viaAlias, { caller, watch, sqlQueryId: body.read.sqlQueryId, signal: () => request.signal })
      .then((statement) => answer(statements, request, { body, statement, receivedMs, watch }));
  };
  /** Hands a statement over as a task; EXPLAIN is answered. */
  const submit = async (request: HttpRequest, later?: (body: SqlBody) => AskedLater): Promise<SubmittedStatement> => {
    const receivedMs = performance.now();
    const body = request.body.length <= READ_HERE_BYTES_MAX ? bodies.read(request) : await readLong(request, receivedMs);
    statements.authorizeContext(body.context, request.caller);
    const { resultFormat, warnings } = later?.(body) ?? { resultFormat: undefined, warnings: [] };
    const watch = statements.planWatch(body.read, receivedMs);
    const limits = { caller: request.caller, watch, sqlQueryId: body.read.sqlQueryId, signal: () => request.signal };
    const { statement, schema } = await statements.planForTask(body, request.viaAlias, limits);
    if (statement.kind === 'explain') return { answer: answer(statements, request, { body, statement, receivedMs, watch }) };
    const { query, context, parameters } = body;
    const id = `query-${body.read.sqlQueryId ?? statements.newQueryId()}`;
    const readsTables = Object.keys(schema.tables).length + schema.lookups.length > 0;
    const spec = {
      query,
      context,
      parameters,
      ...(readsTables ? { schema } : {}),
      ...columnsOf(statement),
      resultFormat,
      ...ownerOf(request.caller),
    };
    const { taskId } = await overlord().submit(
      stringifyJson({ type: 'query_controller', id, dataSource: taskDataSource(statement), spec }),
    );
    if (statements.logsRequests) statements.handedOver(loggedRequest(request, body), request.caller, taskId, receivedMs);
    const notes = [...body.warnings, ...warnings];
    const headers: Record<string, string> = notes.length === 0 ? {} : { 'X-Svc-Warning': warningText(notes) };
    return { taskId, statement, headers };
  };
  return [
    {
      method: 'POST',
      path: '/svc/v2/sql',
      permission: found('query'),
      errors: 'query',
      handle(request) {
        const receivedMs = performance.now();
        if (request.body.length <= READ_HERE_BYTES_MAX) return answerBody(request, bodies.read(request), receivedMs);
        return readLong(request, receivedMs).then((body) => answerBody(request, body, receivedMs));
      },
    },
    {
      method: 'POST',
      path: '/svc/v2/sql/task',
      permission: found('query'),
      errors: 'query',
      handle: async (request) => {
        const submitted = await submit(request);
        if ('answer' in submitted) return submitted.answer;
        return json(200, { taskId: submitted.taskId, state: 'RUNNING' }, submitted.headers);
      },
    },
    {
      method: 'GET',
      path: '/svc/v2/sql/task/enabled',
      permission: AUTHENTICATED,
      errors: 'map',
      handle: () => json(200, { enabled: true }),
    },
    {
      method: 'GET',
      path: '/svc/v2/sql/engines',
      permission: AUTHENTICATED,
      errors: 'map',
      handle: () => json(200, { engines: [{ name: 'native' }, { name: 'msq-task' }] }),
    },
    ...statementRoutes({
      submit: (request) => submit(request, (body) => readAsync(body, results !== null)),
      overlord,
      results,
    }),
    {
      method: 'DELETE',
      path: '/svc/v2/sql/{sqlQueryId}',
      permission: found('query'),
      errors: 'map',
      handle: async ({ caller }, { sqlQueryId = '' }) => {
        if (!statements.cancel(sqlQueryId, caller)) throw new ServiceError('not_found', `no running query has the id ${sqlQueryId}`);
        return { status: 202 };
      },
    },
  ];
}

/** The user to whom the results of a statement belong; without security, nobody's. */
function ownerOf({ isUnrestricted, identity }: Caller): { readonly user?: string } {
  return isUnrestricted ? {} : { user: identity.user };
}

/** Columns of a SELECT, for who asks before its task is through. */
function columnsOf(statement: PlannedStatement): { readonly columns?: readonly OutputColumn[] } {
  return statement.kind === 'select' ? { columns: statement.columns } : {};
}

/** Results of a statement, as they are asked for later. */
interface AskedLater {
  readonly resultFormat: string;
  readonly warnings: readonly string[];
}

/** @throws ServiceError for a statement that does not run so, or whose results have no place */
function readAsync({ context, result }: SqlBody, hasDurableResults: boolean): AskedLater {
  checkExecutionMode(context);
  const destination = new Map(Object.entries(context)).get('selectDestination');
  if (!hasDurableResults && typeof destination === 'string' && destination.toLowerCase() === 'durablestorage')
    throw new ServiceError('unsupported', NO_RESULT_STORAGE);
  return { resultFormat: result.format, warnings: result.header ? ['header has no effect: results of statements have none'] : [] };
}

function taskDataSource(statement: Exclude<PlannedStatement, ExplainedStatement>): string {
  return statement.kind === 'select' || statement.kind === 'export' ? SELECT_DATA_SOURCE : statement.dataSource;
}

interface Asked {
  readonly body: PreparedBody;
  readonly statement: PlannedStatement;
  /** `performance.now()` when the request came in. */
  readonly receivedMs: number;
  /** Time that planning took; absent when the plan came from the cache. */
  readonly watch?: PlanWatch;
}

function answer(statements: SqlStatements, request: HttpRequest, { body, statement, receivedMs, watch }: Asked): HttpResponse {
  if (isIngestion(statement))
    throw new ServiceError(
      'unsupported',
      `${statement.kind.toUpperCase()} is not answered here: send it to /svc/v2/sql/task, which runs it as a task`,
    );
  const { sql, read, result } = body;
  const sqlQueryId = read.sqlQueryId ?? statements.newQueryId();
  const { caller } = request;
  const sent = statements.logsRequests ? loggedRequest(request, body) : undefined;
  const traceparent = statements.isTraced ? request.headers['traceparent'] : undefined;
  const asked = { sql, read, caller, sqlQueryId, receivedMs, watch, request: sent, traceparent };
  const known = statements.answerKnown(statement, asked, (frames, columns) => textOfKnown(body, frames, columns));
  if (known !== undefined) {
    const headers = {
      'Content-Type': RESULT_FORMATS[result.format].contentType,
      'X-Svc-SQL-Query-Id': sqlQueryId,
      'X-Svc-Profile': profileText(known.logged, read.profile),
    };
    return withNotes({ status: 200, headers, body: known.text }, body);
  }
  const coverage = Coverage.of(read.limits);
  const { columns, frames, logged } = statements.run(statement, extended(asked, { signal: request.signal, coverage }));
  const headers = { 'Content-Type': RESULT_FORMATS[result.format].contentType, 'X-Svc-SQL-Query-Id': sqlQueryId };
  const lateHeaders = profileHeader(logged, read.profile, coverage);
  const chunks = logged.body(writeResult(frames, columns, result));
  return withNotes({ status: 200, headers, lateHeaders, ended: () => logged.ended, body: chunks }, body);
}

function loggedRequest(request: HttpRequest, { sql, context, parameters }: SqlBody): LoggedRequest {
  return { remoteAddress: request.remoteAddress, request, sql, context, parameters };
}

/** Text of a known result, written once for the same frames. */
function textOfKnown({ result, written }: PreparedBody, frames: readonly Frame[], columns: readonly OutputColumn[]): string {
  if (written.frames === frames) return written.text;
  const text = writeKnown(frames, columns, result);
  if (text.length <= WRITTEN_LENGTH_MAX) {
    written.frames = frames;
    written.text = text;
  }
  return text;
}

/** Says whether a header stands before the rows, and what of the request had no effect. */
function withNotes(response: HttpResponse, { result, warnings }: SqlBody): HttpResponse {
  if (!result.header && warnings.length === 0) return response;
  const headers: Record<string, string> = { ...response.headers };
  if (result.header) headers['X-Svc-SQL-Header-Included'] = 'yes';
  if (warnings.length > 0) headers['X-Svc-Warning'] = warningText(warnings);
  return { ...response, headers };
}

function warningText(warnings: readonly string[]): string {
  return warnings
    .join('; ')
    .replace(/[^\x20-\x7e]/g, '?')
    .slice(0, 2000);
}
