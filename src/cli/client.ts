// HTTP client of the command line: SQL queries, tasks, and the refusals that a server answers with.

import { randomUUID } from 'node:crypto';
import { ServiceError } from '../base/errors.js';
import { parseJson, parseJsonWithDoubles } from '../base/json.js';

export interface SqlAnswer {
  readonly columns: readonly { readonly name: string; readonly sqlType: string }[];
  /** Longs beyond 2^53 are bigint. */
  readonly rows: readonly (readonly unknown[])[];
  readonly milliseconds: number;
}

export interface QueryFailure {
  readonly error: string;
  readonly message: string;
}

/** A query that the server refused: what it said, and how. */
export class QueryRefused extends Error {
  readonly failure: QueryFailure;
  /** HTTP status. */
  readonly status: number;

  constructor(failure: QueryFailure, status: number) {
    super(`${failure.error}: ${failure.message}`);
    this.failure = failure;
    this.status = status;
  }
}

interface JsonRequest {
  readonly method: string;
  headers?: Readonly<Record<string, string>>;
  body?: string;
  readonly signal?: AbortSignal | null;
}

export type TextFormat = 'csv' | 'objectLines' | 'object';

/** The public HTTP interface, as the commands of this program use it. */
export class DolmenClient {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #ended: AbortSignal | undefined;

  /**
   * @param url  may carry user and password; the password may be in the variable DOLMEN_PASSWORD instead
   * @param headers  of every request
   * @param ended  no request is sent any more once it has fired
   * @throws ServiceError `input_invalid` when `url` is not a URL
   */
  constructor(url: string, headers: Readonly<Record<string, string>> = {}, ended?: AbortSignal) {
    this.#ended = ended;
    try {
      const address = new URL(/^https?:\/\//.test(url) ? url : `http://${url}`);
      this.#headers = { ...headers, ...credentialsOf(address) };
      address.username = '';
      address.password = '';
      this.url = address.href.replace(/\/+$/, '');
    } catch {
      throw new ServiceError('input_invalid', `'${url}' is not a URL; expected one such as http://127.0.0.1:8888`);
    }
  }

  /** @throws QueryRefused; ServiceError `unavailable` when nobody answers, `cancelled` when the signal is aborted */
  async query(sql: string, signal?: AbortSignal): Promise<SqlAnswer> {
    const begin = performance.now();
    const response = await this.#sql({ query: sql, resultFormat: 'array', header: true, sqlTypesHeader: true }, signal);
    const text = await readText(response, signal);
    const milliseconds = performance.now() - begin;
    const [names = [], sqlTypes = [], ...rows] = parseJson(text) as unknown[][];
    return { columns: names.map((name, at) => ({ name: String(name), sqlType: String(sqlTypes[at]) })), rows, milliseconds };
  }

  /** The body in one of the text formats, as it comes. */
  async *queryText(sql: string, format: TextFormat, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const response = await this.#sql({ query: sql, resultFormat: format, header: format === 'csv' }, signal);
    if (response.body !== null) yield* response.body;
  }

  /** INSERT or REPLACE; the id of the task that it becomes. */
  async submitTask(sql: string): Promise<string> {
    const submitted = await this.call('POST', '/svc/v2/sql/task', { query: sql });
    return String((submitted as { readonly taskId: unknown }).taskId);
  }

  /** A JSON value, or `undefined` for an empty body. @throws QueryRefused with the server's own words */
  async call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown> {
    const init: JsonRequest = { method };
    if (body !== undefined) {
      init.body = JSON.stringify(body);
      init.headers = { 'Content-Type': 'application/json' };
    }
    const text = await readText(await this.#fetch(path, init));
    return text === '' ? undefined : parseJson(text);
  }

  /** Aborting the signal also tells the server to stop. */
  async #sql(request: Readonly<Record<string, unknown>>, signal: AbortSignal | undefined): Promise<Response> {
    const sqlQueryId = randomUUID();
    const cancel = (): void => {
      void this.call('DELETE', `/svc/v2/sql/${sqlQueryId}`).catch(() => undefined); // it may have ended by itself
    };
    signal?.addEventListener('abort', cancel, { once: true });
    return this.#fetch('/svc/v2/sql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...request, context: { sqlQueryId } }),
      signal: signal ?? null,
    });
  }

  async #fetch(path: string, init: JsonRequest): Promise<Response> {
    if (this.#ended?.aborted === true) throw new ServiceError('cancelled', 'nothing is asked any more');
    let response: Response;
    try {
      response = await fetch(this.url + path, { ...init, headers: { ...init.headers, ...this.#headers } });
    } catch (error) {
      if (init.signal?.aborted === true) throw new ServiceError('cancelled', 'cancelled', error);
      throw new ServiceError('unavailable', `nothing answers at ${this.url} (${reasonOf(error)}); is 'dolmen start' running?`, error);
    }
    if (!response.ok) throw new QueryRefused(readFailure(response.status, await response.text()), response.status);
    return response;
  }
}

function credentialsOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '') return {};
  const secret = password === '' ? (process.env['DOLMEN_PASSWORD'] ?? '') : decodeURIComponent(password);
  return { Authorization: `Basic ${Buffer.from(`${decodeURIComponent(username)}:${secret}`).toString('base64')}` };
}

async function readText(response: Response, signal?: AbortSignal): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw new ServiceError('cancelled', 'cancelled', error);
    throw new ServiceError('unavailable', 'the server ended its answer early; its log tells why', error);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error instanceof Error ? error.message : String(error);
}

/** Reads both error shapes of the interface, and whatever a proxy in between may have answered instead. */
function readFailure(status: number, text: string): QueryFailure {
  try {
    const body = parseJsonWithDoubles(text) as { error?: unknown; errorMessage?: unknown };
    if (typeof body.errorMessage === 'string') return { error: String(body.error), message: body.errorMessage };
    if (typeof body.error === 'string') return { error: `status ${status}`, message: body.error };
  } catch {
    // Not JSON: shown as it is.
  }
  return { error: `status ${status}`, message: text.slice(0, 500) };
}
