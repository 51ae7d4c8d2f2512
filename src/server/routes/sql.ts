import { ServiceError } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import type { PlannedStatement } from '../../model/statement.js';
import { ObjectReader, refuse } from '../../planner/native/reader.js';
import { readSqlContext, type SqlContext } from '../../planner/sql/context.js';
import { tablesOf } from '../../planner/sql/explain.js';
import { readSettings } from '../../planner/sql/settings.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';
import { RESULT_FORMATS, type ResultFormatName } from '../results/sql/result-format.js';
import { type ResultOptions, writeResult } from '../results/sql/write-result.js';
import { json } from './exchange.js';
import { profileHeader } from './profile.js';
import { type Answerable, isIngestion, type SqlStatements } from './sql-statements.js';

export interface TaskSubmission {
  submit(payload: unknown): Promise<{ readonly taskId: string; readonly state: string }>;
}

const FORMATS = Object.keys(RESULT_FORMATS) as ResultFormatName[];

/** SQL over HTTP: answers to SELECT and EXPLAIN, tasks for INSERT and REPLACE. */
export function sqlRoutes(statements: SqlStatements, tasks: TaskSubmission): Route[] {
  return [
    {
      method: 'POST',
      path: '/svc/v2/sql',
      permission: { access: 'datasources' },
      errors: 'query',
      handle: async (request) => {
        const receivedMs = performance.now();
        const body = readBody(request);
        const statement = await statements.plan(body, request.viaAlias);
        if (isIngestion(statement))
          throw new ServiceError(
            'unsupported',
            `${statement.kind.toUpperCase()} is not answered here: send it to /svc/v2/sql/task, which runs it as a task`,
          );
        return answer(statements, request, { body, statement, receivedMs });
      },
    },
    {
      method: 'POST',
      path: '/svc/v2/sql/task',
      permission: { access: 'datasources' },
      errors: 'query',
      handle: async (request) => {
        const body = readBody(request);
        const statement = await statements.plan(body, request.viaAlias);
        const { query, context, parameters } = body;
        const id = `query-${body.read.sqlQueryId ?? statements.newQueryId()}`;
        const spec = { query, context, parameters };
        const submitted = await tasks.submit({ type: 'query_controller', id, dataSource: taskDataSource(statement), spec });
        return withWarnings(json(200, { taskId: submitted.taskId, state: submitted.state }), body);
      },
    },
    {
      method: 'DELETE',
      path: '/svc/v2/sql/{sqlQueryId}',
      permission: { access: 'datasources' },
      errors: 'map',
      handle: async (_request, { sqlQueryId = '' }) => {
        if (!statements.cancel(sqlQueryId)) throw new ServiceError('not_found', `no running query has the id ${sqlQueryId}`);
        return { status: 202 };
      },
    },
  ];
}

/** What public clients see as the datasource of a SELECT that runs as a task. */
const SELECT_DATA_SOURCE = '__query_select';

/** A task reads what it brings along: it has no broker to ask for the rows of a datasource. */
function taskDataSource(statement: PlannedStatement): string {
  if (statement.kind === 'explain')
    throw new ServiceError('unsupported', 'EXPLAIN PLAN FOR as a task is not supported: send it to /svc/v2/sql');
  const { source } = statement.kind === 'select' ? statement : statement.query;
  if (source.kind !== 'external' && source.kind !== 'inline') {
    const other = statement.kind === 'select' ? 'send it to /svc/v2/sql' : 'select from TABLE(EXTERN(...)) or VALUES';
    const [table] = tablesOf(source);
    const from = table === undefined ? 'joins, unions and subqueries' : `the datasource ${table}`;
    throw new ServiceError('unsupported', `${statement.kind.toUpperCase()} from ${from} as a task is not supported: ${other}`);
  }
  return statement.kind === 'select' ? SELECT_DATA_SOURCE : statement.dataSource;
}

/** The body of a request, read. */
interface SqlBody {
  /** As it was sent. */
  readonly sql: string;
  /** Without the settings it began with, which the context has. */
  readonly query: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly read: SqlContext;
  readonly parameters: readonly unknown[];
  readonly result: Omit<ResultOptions, 'timeZone'>;
  readonly warnings: readonly string[];
}

function readBody(request: HttpRequest): SqlBody {
  const notes = { lenient: request.viaAlias, ignoredKeys: [] as string[] };
  const reader = new ObjectReader(readFields(request), '', notes);
  const sql = reader.string('query');
  const { query, context } = readSettings(sql, contextFields(reader.raw('context') ?? {}));
  const header = reader.boolean('header', false);
  const result = {
    format: reader.choice('resultFormat', FORMATS, 'object'),
    header,
    typesHeader: reader.boolean('typesHeader', false),
    sqlTypesHeader: reader.boolean('sqlTypesHeader', false),
  };
  const parameters = reader.list('parameters', (value) => value);
  reader.end();
  for (const key of ['typesHeader', 'sqlTypesHeader'] as const)
    if (result[key] && !header) refuse(key, 'false, or header to be true', true);
  const read = readSqlContext(context);
  return {
    sql,
    query,
    context,
    read,
    parameters,
    result,
    warnings: [...notes.ignoredKeys.map((key) => `${key} is not a known key and was ignored`), ...read.warnings],
  };
}

/** JSON, or the text of the statement alone. */
function readFields(request: HttpRequest): unknown {
  const mediaType = (request.headers['content-type'] ?? 'application/json').split(';')[0]?.trim().toLowerCase();
  const text = request.body.toString('utf8');
  if (mediaType === 'text/plain') return { query: text };
  if (mediaType !== 'application/json' && mediaType !== 'text/json')
    throw new ServiceError(
      'content_type_unsupported',
      `Content-Type: found ${mediaType}, expected application/json, or text/plain with the statement alone`,
    );
  return parseJson(text);
}

function contextFields(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse('context', 'an object', value);
  return value as Readonly<Record<string, unknown>>;
}

function answer(
  statements: SqlStatements,
  request: HttpRequest,
  { body, statement, receivedMs }: { readonly body: SqlBody; readonly statement: Answerable; readonly receivedMs: number },
): HttpResponse {
  const sqlQueryId = body.read.sqlQueryId ?? statements.newQueryId();
  const { sql, read } = body;
  const { columns, frames, logged } = statements.run(statement, { sql, read, sqlQueryId, receivedMs, signal: request.signal });
  const headers = {
    'Content-Type': RESULT_FORMATS[body.result.format].contentType,
    'X-Svc-SQL-Query-Id': sqlQueryId,
    ...(body.result.header ? { 'X-Svc-SQL-Header-Included': 'yes' } : {}),
  };
  const chunks = writeResult(frames, columns, {
    ...body.result,
    timeZone: body.read.timeZone,
    stringifyArrays: body.read.stringifyArrays,
  });
  const lateHeaders = profileHeader(logged, body.read.profile);
  return withWarnings({ status: 200, headers, lateHeaders, body: logged.body(chunks) }, body);
}

/** What the request said that had no effect, in one header. */
function withWarnings(response: HttpResponse, { warnings }: SqlBody): HttpResponse {
  if (warnings.length === 0) return response;
  return {
    ...response,
    headers: {
      ...response.headers,
      'X-Svc-Warning': warnings
        .join('; ')
        .replace(/[^\x20-\x7e]/g, '?')
        .slice(0, 2000),
    },
  };
}
