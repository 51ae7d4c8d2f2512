// The request log: a line for every query that was sent, with its text, its user and how it went.

import type { ServiceError } from '../../base/errors.js';
import type { EpochMs } from '../../base/instant.js';
import { isRecord, parseJson, stringifyJson } from '../../base/json.js';
import { formatInstant } from '../../base/time.js';
import { textWithoutSecrets, withoutSecrets } from '../../ingestion/source/secrets.js';
import { NOBODY_CALLER } from '../../model/access/authorizer.js';
import { HTTP_ERRORS } from '../errors.js';
import type { HttpRequest } from '../http.types.js';
import { READ_HERE_BYTES_MAX } from '../planning/plan-thread.js';

/** A query as it was sent: the body of a native one, or a statement. */
export type LoggedRequest = {
  readonly remoteAddress: string;
  /** The request that brought it: once the query has begun it is not logged as refused. */
  readonly request?: object;
} & (
  | { readonly native: Buffer }
  | { readonly sql: string; readonly context: Readonly<Record<string, unknown>>; readonly parameters: readonly unknown[] }
);

export interface RequestOutcome {
  readonly startedAt: EpochMs;
  /** A native query's type, or `sql`; empty for a body that could not be read. */
  readonly queryType: string;
  readonly milliseconds: number;
  readonly planningMs: number;
  readonly bytes: number;
  readonly user: string;
  /** Null: it was refused before it had one. */
  readonly queryId: string | null;
  /** Task that the statement runs as, which goes on when the request has been answered. */
  readonly taskId?: string;
  /** Null: it succeeded. */
  readonly error: Pick<ServiceError, 'code' | 'message'> | null;
}

/** A place that requests are logged to. */
export interface RequestSink {
  write(request: LoggedRequest, outcome: RequestOutcome): void;
  close(): void;
}

/** Logs queries that have ended, statements that were handed over as tasks, and what was refused before it became either. */
export class RequestLog {
  readonly #sink: RequestSink;
  readonly #now: () => EpochMs;
  readonly #begun = new WeakSet<object>();

  constructor(sink: RequestSink, now: () => EpochMs) {
    this.#sink = sink;
    this.#now = now;
  }

  /** The request has become a query, which `write` is told of when it ends. */
  begin({ request }: LoggedRequest): void {
    if (request !== undefined) this.#begun.add(request);
  }

  write(request: LoggedRequest, outcome: RequestOutcome): void {
    this.#sink.write(request, outcome);
  }

  /** A statement that was handed over as a task. */
  handedOver(request: LoggedRequest, user: string, taskId: string, milliseconds: number): void {
    const outcome = { startedAt: this.#now() - Math.round(milliseconds), queryType: 'sql', milliseconds, planningMs: 0, bytes: 0, user };
    this.#sink.write(request, { ...outcome, queryId: taskId, taskId, error: null });
  }

  /** A request that is answered with an error; nothing is written unless it was to bring a query, and none had begun. */
  refused(request: HttpRequest, error: ServiceError): void {
    if (this.#begun.has(request)) return;
    const kind = kindOf(request);
    if (kind !== undefined)
      this.refusedQuery(kind === 'native' ? nativeOf(request) : statementOf(request), request.caller.identity.user, error);
  }

  /** A query that is refused before it begins. */
  refusedQuery(request: LoggedRequest, user: string, error: Pick<ServiceError, 'code' | 'message'>): void {
    const isNative = 'native' in request;
    const body = isNative ? readJson(request.native) : request;
    const context = isRecord(body) && isRecord(body['context']) ? new Map(Object.entries(body['context'])) : new Map<string, unknown>();
    const queryId = context.get(isNative ? 'queryId' : 'sqlQueryId');
    const queryType = isNative && isRecord(body) && typeof body['queryType'] === 'string' ? body['queryType'] : '';
    this.#sink.write(request, {
      startedAt: this.#now(),
      queryType: isNative ? queryType : 'sql',
      milliseconds: 0,
      planningMs: 0,
      bytes: 0,
      user,
      queryId: typeof queryId === 'string' ? queryId : null,
      error,
    });
  }

  close(): void {
    this.#sink.close();
  }
}

/** Paths that queries are sent to; a JDBC request tells of its statements by itself. */
const QUERY_PATHS: ReadonlyMap<string, 'native' | 'sql'> = new Map([
  ['/svc/v2', 'native'],
  ['/svc/v2/sql', 'sql'],
  ['/svc/v2/sql/task', 'sql'],
  ['/svc/v2/sql/statements', 'sql'],
]);

function kindOf(request: HttpRequest): 'native' | 'sql' | undefined {
  if (request.method !== 'POST') return undefined;
  try {
    return QUERY_PATHS.get(request.path);
  } catch {
    // A path that cannot be decoded is none of these.
    return undefined;
  }
}

/** The part of the body that is read here; nothing of strangers', who could fill a disk. */
function bodyOf({ body, caller }: HttpRequest): Buffer {
  return body.subarray(0, caller === NOBODY_CALLER ? 0 : READ_HERE_BYTES_MAX);
}

function nativeOf(request: HttpRequest): LoggedRequest {
  return { remoteAddress: request.remoteAddress, request, native: bodyOf(request) };
}

/** The statement of a body, or as much of the body as is read here. */
function statementOf(request: HttpRequest): LoggedRequest {
  const { remoteAddress, headers } = request;
  const part = bodyOf(request);
  const read = readJson(part);
  const fields = isRecord(read) ? new Map(Object.entries(read)) : new Map<string, unknown>();
  const [query, context, parameters] = [fields.get('query'), fields.get('context'), fields.get('parameters')];
  const isText = /^text\/|^application\/json/i.test(headers['content-type'] ?? '');
  return {
    remoteAddress,
    request,
    sql: typeof query === 'string' ? query : isText ? part.toString('utf8') : '',
    context: isRecord(context) ? context : {},
    parameters: Array.isArray(parameters) ? parameters : [],
  };
}

/** Undefined for what is no JSON. */
function readJson(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Fields of a line: time, address, native query, figures, statement; one of the two queries is empty. */
export function fieldsOf(request: LoggedRequest, outcome: RequestOutcome): readonly string[] {
  const first = [formatInstant(outcome.startedAt), request.remoteAddress];
  if ('native' in request) return [...first, nativeText(request.native), stringifyJson(figuresOf(request, outcome)), ''];
  return [...first, '', stringifyJson(figuresOf(request, outcome)), stringifyJson(statementFields(request))];
}

/** A native query as JSON on one line; a body that is none as a string. */
function nativeText(body: Buffer): string {
  if (body.length === 0) return '';
  return stringifyJson(withoutSecrets(readJson(body) ?? body.toString('utf8')));
}

function statementFields({ sql, context, parameters }: Extract<LoggedRequest, { readonly sql: string }>): object {
  return withoutSecrets({ query: sql, context, ...(parameters.length === 0 ? {} : { parameters }) }) as object;
}

export function figuresOf(request: LoggedRequest, outcome: RequestOutcome): Readonly<Record<string, unknown>> {
  const { milliseconds, planningMs, bytes, user, queryId, taskId, error } = outcome;
  const [time, planning] = [Math.round(milliseconds), Math.round(planningMs)];
  return {
    ...('native' in request
      ? { 'query/time': time, 'query/bytes': bytes }
      : { 'sqlQuery/time': time, 'sqlQuery/planningTimeMs': planning, 'sqlQuery/bytes': bytes }),
    success: error === null,
    identity: user,
    ...(queryId === null ? {} : { ['native' in request ? 'queryId' : 'sqlQueryId']: queryId }),
    ...(taskId === undefined ? {} : { taskId }),
    status: error === null ? 200 : HTTP_ERRORS[error.code].status,
    ...(error === null ? {} : { exception: `${error.code}: ${textWithoutSecrets(error.message)}` }),
  };
}
