// Reads bodies of SQL requests, and finds known ones by their bytes.

import { BoundedCache } from '../../base/bounded-cache.js';
import { dataBytes } from '../../base/data-size.js';
import { ServiceError } from '../../base/errors.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { refuse } from '../../planner/native/reader.js';
import { readSqlContext, type SqlContext } from '../../planner/sql/context.js';
import { SeenLately } from '../../planner/sql/parse/shape/seen-lately.js';
import { readSettings } from '../../planner/sql/set-statements.js';
import { RESULT_FORMATS, type ResultFormatName } from '../../results/result-format.js';
import type { ResultOptions } from '../../results/write-result.js';
import type { HttpRequest } from '../http.types.js';
import { JSON_TYPES, readMediaType } from '../media-type.js';

/** The body of a SQL request, read. */
export interface SqlBody {
  /** The statement as it was sent. */
  readonly sql: string;
  /** Statement without the SET statements it began with, which are in the context. */
  readonly query: string;
  readonly context: Readonly<Record<string, unknown>>;
  readonly read: SqlContext;
  readonly parameters: readonly unknown[];
  readonly result: ResultOptions;
  readonly warnings: readonly string[];
}

const FORMATS = Object.keys(RESULT_FORMATS) as ResultFormatName[];

/** Longer bodies are seldom sent twice. */
const KEPT_BODY_BYTES_MAX = 16 * 1024;

interface KeptBody<Kept> {
  readonly contentType: string | undefined;
  readonly viaAlias: boolean;
  readonly kept: Kept;
}

/**
 * Bodies that came twice, found by their bytes: dashboards send the same ones again and again. Reading depends on
 * nothing but these, the content type and the alias. Those that name the query they are for are read each time: no two
 * of them are the same.
 */
export class SqlBodies<Kept> {
  readonly #known: BoundedCache<string, KeptBody<Kept>>;
  /** Most bodies with a statement of their own come once: keeping them costs more than reading them. */
  readonly #seen = new SeenLately();
  readonly #contexts = new SqlContexts();
  readonly #prepare: (body: SqlBody, viaAlias: boolean) => Kept;

  /** @param prepare  what is kept with a body, which only depends on what the body does */
  constructor(bytesMax: number, prepare: (body: SqlBody, viaAlias: boolean) => Kept) {
    this.#known = new BoundedCache(bytesMax);
    this.#prepare = prepare;
  }

  /** Like `read`, for a body that another thread has read. */
  prepared(body: SqlBody, viaAlias: boolean): Kept {
    return this.#prepare(body, viaAlias);
  }

  /** @throws ServiceError as `readSqlBody`, and as `prepare` does */
  read(request: HttpRequest): Kept {
    const { body, viaAlias } = request;
    if (body.length > KEPT_BODY_BYTES_MAX) return this.#prepare(readSqlBody(textOf(request), this.#contexts), viaAlias);
    const contentType = request.headers['content-type'];
    // Each byte is a character: cheaper than the text, and as good a key.
    const key = body.toString('latin1');
    const found = this.#known.find(key);
    if (found !== undefined && found.contentType === contentType && found.viaAlias === viaAlias) return found.kept;
    const read = readSqlBody(textOf(request), this.#contexts);
    const kept = this.#prepare(read, viaAlias);
    if (read.read.sqlQueryId === null && read.read.queryId === null && this.#seen.add(key))
      this.#known.keep(key, { contentType, viaAlias, kept }, key.length + dataBytes(kept));
    return kept;
  }
}

/** A body before it is read. */
export interface SqlBodyText {
  readonly bytes: Uint8Array;
  readonly contentType: string | undefined;
  readonly lenient: boolean;
}

export function textOf({ body, headers, viaAlias }: HttpRequest): SqlBodyText {
  return { bytes: body, contentType: headers['content-type'], lenient: viaAlias };
}

/** Contexts that are kept. */
const CONTEXTS_MAX = 64;
/** Longer ones are read each time. */
const CONTEXT_LENGTH_MAX = 1024;

/** Contexts that were read before: clients send the same one with every statement, unless it names the query. */
export class SqlContexts {
  readonly #known = new BoundedCache<string, SqlContext>(CONTEXTS_MAX);

  /** @throws ServiceError as `readSqlContext` */
  read(context: Readonly<Record<string, unknown>>): SqlContext {
    if (context['sqlQueryId'] !== undefined || context['queryId'] !== undefined) return readSqlContext(context);
    const key = Object.keys(context).length === 0 ? '{}' : stringifyJson(context);
    const known = this.#known.find(key);
    if (known !== undefined) return known;
    const read = readSqlContext(context);
    if (key.length <= CONTEXT_LENGTH_MAX) this.#known.keep(key, read);
    return read;
  }
}

/** @throws ServiceError `query_invalid`, `unsupported`, `content_type_unsupported`, `sql_invalid` for settings */
export function readSqlBody(body: SqlBodyText, contexts = new SqlContexts()): SqlBody {
  const reader = new ObjectReader(readFields(body), '', readContextOf('query_invalid', 'query', body.lenient));
  const sql = reader.string('query');
  const { query, context } = readSettings(sql, contextFields(reader.raw('context') ?? {}));
  const header = reader.boolean('header', false);
  const format = reader.choice('resultFormat', FORMATS, 'object');
  const typesHeader = reader.boolean('typesHeader', false);
  const sqlTypesHeader = reader.boolean('sqlTypesHeader', false);
  const parameters = reader.list('parameters', (value) => value);
  reader.end();
  if (typesHeader && !header) throw reader.mismatch('typesHeader', 'false, or header to be true');
  if (sqlTypesHeader && !header) throw reader.mismatch('sqlTypesHeader', 'false, or header to be true');
  const read = contexts.read(context);
  return {
    sql,
    query,
    context,
    read,
    parameters,
    result: { format, header, typesHeader, sqlTypesHeader, timeZone: read.timeZone, stringifyArrays: read.stringifyArrays },
    warnings: [...reader.context.ignoredKeys.map((key) => `${key} is not a known key and was ignored`), ...read.warnings],
  };
}

/** JSON, or the text of the statement alone. */
function readFields({ bytes, contentType }: SqlBodyText): unknown {
  const accepted = [...JSON_TYPES, 'text/plain', 'application/x-www-form-urlencoded'];
  const mediaType = readMediaType(contentType, accepted, ', or text/plain or application/x-www-form-urlencoded with the statement alone');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (mediaType === 'text/plain') return { query: text };
  if (mediaType === 'application/x-www-form-urlencoded') return { query: decodeForm(text) };
  return parseJson(text);
}

/** The statement is all of the form, not a field of it. */
function decodeForm(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    throw new ServiceError(
      'query_invalid',
      'the body is not URL-encoded: a % is not followed by two digits of a byte of UTF-8 text',
      error,
    );
  }
}

function contextFields(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse('context', 'an object', value);
  return value as Readonly<Record<string, unknown>>;
}
