import { ServiceError } from '../../base/errors.js';
import type { ExplainedStatement, PlannedStatement } from '../../model/statement.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';
import { RESULT_FORMATS } from '../results/sql/result-format.js';
import { writeKnown, writeResult } from '../results/sql/write-result.js';
import { json } from './exchange.js';
import { profileHeader } from './profile.js';
import type { QueryRun } from './query-log.js';
import { SqlBodies, type SqlBody } from './sql-body.js';
import { isIngestion, type SqlStatements } from './sql-statements.js';

export interface TaskSubmission {
  submit(payload: unknown): Promise<{ readonly taskId: string; readonly state: string }>;
}

/** A body, and where the plan of its statement is found if it was planned before. */
interface PreparedBody extends SqlBody {
  readonly planKey: string | null;
}

const BODIES_BYTES_MAX = 8 * 1024 * 1024;

/** SQL over HTTP: answers to SELECT and EXPLAIN, tasks for INSERT and REPLACE. */
export function sqlRoutes(statements: SqlStatements, tasks: TaskSubmission): Route[] {
  const bodies = new SqlBodies<PreparedBody>(BODIES_BYTES_MAX, (body, viaAlias) => ({
    ...body,
    planKey: statements.planKey(body, viaAlias),
  }));
  return [
    {
      method: 'POST',
      path: '/svc/v2/sql',
      permission: { access: 'datasources' },
      errors: 'query',
      handle(request) {
        const receivedMs = performance.now();
        const body = bodies.read(request);
        const known = statements.plannedBefore(body.planKey);
        if (known !== undefined) return answer(statements, request, { body, statement: known, receivedMs });
        return statements.plan(body, request.viaAlias).then((statement) => answer(statements, request, { body, statement, receivedMs }));
      },
    },
    {
      method: 'POST',
      path: '/svc/v2/sql/task',
      permission: { access: 'datasources' },
      errors: 'query',
      handle: async (request) => {
        const receivedMs = performance.now();
        const body = bodies.read(request);
        const { statement, schema } = statements.planForTask(body, request.viaAlias);
        if (statement.kind === 'explain') return answer(statements, request, { body, statement, receivedMs });
        const { query, context, parameters } = body;
        const id = `query-${body.read.sqlQueryId ?? statements.newQueryId()}`;
        const readsTables = Object.keys(schema.tables).length + schema.lookups.length > 0;
        const spec = { query, context, parameters, ...(readsTables ? { schema } : {}) };
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

function taskDataSource(statement: Exclude<PlannedStatement, ExplainedStatement>): string {
  return statement.kind === 'select' ? SELECT_DATA_SOURCE : statement.dataSource;
}

interface Asked {
  readonly body: SqlBody;
  readonly statement: PlannedStatement;
  /** `performance.now()` when the request came in. */
  readonly receivedMs: number;
}

function answer(statements: SqlStatements, request: HttpRequest, { body, statement, receivedMs }: Asked): HttpResponse {
  if (isIngestion(statement))
    throw new ServiceError(
      'unsupported',
      `${statement.kind.toUpperCase()} is not answered here: send it to /svc/v2/sql/task, which runs it as a task`,
    );
  const { sql, read, result } = body;
  const sqlQueryId = read.sqlQueryId ?? statements.newQueryId();
  const known = statements.answerKnown(statement, { sql, read, sqlQueryId, receivedMs }, (frames, columns) =>
    writeKnown(frames, columns, result),
  );
  if (known !== undefined) return respond(body, { sqlQueryId, logged: known.logged, content: known.text });
  const { columns, frames, logged } = statements.run(statement, { sql, read, sqlQueryId, receivedMs, signal: request.signal });
  return respond(body, { sqlQueryId, logged, content: logged.body(writeResult(frames, columns, result)) });
}

interface Answer {
  readonly sqlQueryId: string;
  readonly logged: QueryRun;
  readonly content: NonNullable<HttpResponse['body']>;
}

function respond(body: SqlBody, { sqlQueryId, logged, content }: Answer): HttpResponse {
  const headers: Record<string, string> = {
    'Content-Type': RESULT_FORMATS[body.result.format].contentType,
    'X-Svc-SQL-Query-Id': sqlQueryId,
  };
  if (body.result.header) headers['X-Svc-SQL-Header-Included'] = 'yes';
  return withWarnings({ status: 200, headers, lateHeaders: profileHeader(logged, body.read.profile), body: content }, body);
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
