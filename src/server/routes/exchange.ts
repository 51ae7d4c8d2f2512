// Helpers of management routes: reading requests and writing answers.

import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { formatInterval, parseInterval } from '../../base/interval.js';
import { parseJson, stringifyJson } from '../../base/json.js';
import { LoopTurns } from '../../base/loop-turns.js';
import { formatInstant } from '../../base/time.js';
import type { AuditEntry, Author } from '../../metadata/settings.js';
import { ALLOW_ALL } from '../../model/access/identity.js';
import { type Action, CONFIG, STATE } from '../../model/access/resource.js';
import type { FoundBy, HttpRequest, HttpResponse, Route, RouteAccess } from '../http.types.js';
import { readMediaType } from '../media-type.js';

/** The words that management routes share: how they read a request and give an answer. */
type Handler = Route['handle'];

/** A management route: errors are `{error}`. */
export function route(method: Route['method'], path: string, permission: RouteAccess, handle: Handler): Route {
  return { method, path, permission, errors: 'map', handle };
}

export const PUBLIC: RouteAccess = { access: 'public' };
export const AUTHENTICATED: RouteAccess = { access: 'authenticated' };
export const STATE_READ: RouteAccess = { access: 'resource', resource: STATE, action: 'READ' };
export const STATE_WRITE: RouteAccess = { access: 'resource', resource: STATE, action: 'WRITE' };
export const CONFIG_READ: RouteAccess = { access: 'resource', resource: CONFIG, action: 'READ' };
export const CONFIG_WRITE: RouteAccess = { access: 'resource', resource: CONFIG, action: 'WRITE' };
export const DATASOURCE_READ: RouteAccess = ofDataSource('READ');
export const DATASOURCE_WRITE: RouteAccess = ofDataSource('WRITE');
/** A list without what its reader may not see. */
export const LISTED: RouteAccess = found('list');

/** The datasource that the placeholder `{dataSource}` of a path names. */
function ofDataSource(action: Action): RouteAccess {
  return { access: 'dataSource', parameter: 'dataSource', action };
}

export function found(finds: FoundBy): RouteAccess {
  return { access: 'found', finds };
}

export function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body: stringifyJson(value) };
}

/** Items of a list that are printed in one piece. */
const PRINTED_AT_ONCE = 500;

/** A list of any length as JSON: a long one is printed as its client reads it, and its items must stay as they are meanwhile. */
export function jsonList<Item>(items: readonly Item[], print: (item: Item) => unknown): HttpResponse {
  if (items.length <= PRINTED_AT_ONCE) return json(200, items.map(print));
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: listText(items, print) };
}

async function* listText<Item>(items: readonly Item[], print: (item: Item) => unknown): AsyncGenerator<string> {
  const turns = new LoopTurns();
  let piece = '[';
  for (let at = 0; at < items.length; at++) {
    if (at > 0) piece += ',';
    piece += stringifyJson(print(items[at] as Item));
    if (!turns.isDue) continue;
    yield piece;
    piece = '';
    await turns.give();
  }
  yield `${piece}]`;
}

export function text(body: string | Uint8Array | AsyncIterable<Uint8Array>): HttpResponse {
  return { status: 200, headers: { 'Content-Type': 'text/plain; charset=UTF-8' }, body };
}

/** @throws ServiceError `content_type_unsupported`, `input_invalid` */
export function readJson(request: HttpRequest): unknown {
  const body = readJsonText(request);
  try {
    return parseJson(body);
  } catch (error) {
    throw new ServiceError('input_invalid', `body: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

/** The bytes of a body of JSON that is yet to be read; throws `content_type_unsupported`. */
export function readJsonBytes(request: HttpRequest): Buffer {
  readMediaType(request.headers['content-type'], ['application/json']);
  return request.body;
}

/** A body of JSON that is yet to be read; throws `content_type_unsupported`. */
export function readJsonText(request: HttpRequest): string {
  readMediaType(request.headers['content-type'], ['application/json']);
  return request.body.toString('utf8');
}

/** A body that must be an object, as its fields. */
export function readObject(request: HttpRequest): ReadonlyMap<string, unknown> {
  const body = readJson(request);
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ServiceError('input_invalid', `body: found ${kindOf(body)}, expected an object`);
  return new Map(Object.entries(body));
}

export function kindOf(value: unknown): string {
  return value === undefined
    ? 'nothing'
    : value === null
      ? 'null'
      : Array.isArray(value)
        ? 'an array'
        : typeof value === 'object'
          ? 'an object'
          : `a ${typeof value}`;
}

/** `?full`, `?full=null` and `?full=true` are all on. */
export function isFlagged(request: HttpRequest, name: string): boolean {
  return request.query.has(name);
}

/** A boolean parameter: on when present, unless it says false. */
export function isTrue(request: HttpRequest, name: string): boolean {
  return request.query.has(name) && request.query.get(name) !== 'false';
}

/** An interval of a path or a parameter, with either delimiter. */
export function readInterval(name: string, written: string): Interval {
  const interval = parseInterval(written);
  if (interval === undefined)
    throw new ServiceError('input_invalid', `${name}: found '${written}', expected an interval such as 2015-09-12/2015-09-13`);
  return interval;
}

/** Absent: null. A whole number within 32 bits, 0 or more. */
export function readCount(request: HttpRequest, name: string): number | null {
  const written = request.query.get(name);
  if (written === null) return null;
  const count = /^\d{1,10}$/.test(written) ? Number(written) : Number.NaN;
  if (!(count <= 2 ** 31 - 1))
    throw new ServiceError('input_invalid', `${name}: found '${written}', expected an integer from 0 to 2147483647`);
  return count;
}

/** Lines of a log to leave out at its beginning; negative: as many of its last lines, no others. Absent: 0. */
export function readOffset(request: HttpRequest): number {
  const written = request.query.get('offset') ?? '0';
  const offset = /^-?\d{1,10}$/.test(written) ? Number(written) : Number.NaN;
  if (!(Math.abs(offset) <= 2 ** 31 - 1))
    throw new ServiceError('input_invalid', `offset: found '${written}', expected an integer from -2147483647 to 2147483647`);
  return offset;
}

/** Reads the author of a change, for the audit trail: the one that the request names, and the user who sent it. */
export function readAuthor({ caller, headers, remoteAddress }: HttpRequest): Author {
  const identity = caller.identity.authenticator === ALLOW_ALL ? {} : { identity: caller.identity.user };
  return { author: headers['x-svc-author'] ?? '', ...identity, comment: headers['x-svc-comment'] ?? '', ip: remoteAddress };
}

/** The stretch of a history to show: `interval`, or so far back from now when neither that nor `count` is given. */
export function readHistorySelection(
  request: HttpRequest,
  nowMs: number,
  defaultMs: number,
): { interval: Interval | null; count: number | null } {
  const count = readCount(request, 'count');
  const written = request.query.get('interval');
  if (written !== null) return { interval: readInterval('interval', written), count };
  return { interval: count === null ? { start: nowMs - defaultMs, end: nowMs + 1 } : null, count };
}

/** An entry of a history; `previousPayload` where it is known. */
export function auditBody({ key, type, auditInfo, payload, previous, timeMs }: AuditEntry): Readonly<Record<string, unknown>> {
  return { key, type, auditInfo, payload, ...(previous === null ? {} : { previousPayload: previous }), auditTime: formatInstant(timeMs) };
}

export { formatInstant, formatInterval };
