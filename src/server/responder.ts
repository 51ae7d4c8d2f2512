// Answers a request: route, permission, handler, error shape.

import type { ServiceError } from '../base/errors.js';
import type { Log } from '../base/log.js';
import { comingTurn } from '../base/loop-turns.js';
import { extended } from '../base/names.js';
import { type Caller, NOBODY_CALLER } from '../model/access/authorizer.js';
import type { Gate } from './access/gate.js';
import { authorizeRoute } from './access/route-access.js';
import { type Alias, rawPathOf } from './alias.js';
import { RouteTable } from './dispatch.js';
import { asServiceError, errorResponse, HTTP_ERRORS } from './errors.js';
import type { HttpRequest, HttpResponse, Route } from './http.types.js';

export interface AnswerOptions {
  readonly routes: Iterable<Route>;
  readonly alias: Alias;
  /** `host:port`, named in query errors. */
  readonly host: string;
  /** Finds out who sends requests. */
  readonly gate: Gate;
  readonly log: Log;
  /** Told of every request that is answered with an error. */
  readonly onRefused?: ((request: HttpRequest, error: ServiceError) => void) | undefined;
}

type Chunk = string | Uint8Array;

/** A request to its response, for any transport: over a socket, or straight from the Router of the same process. */
export interface Answerer {
  /**
   * The sender of a request, which is asked before its body is read.
   * @throws ServiceError `unauthorized`, `capacity_exceeded`, also by a promise
   */
  admit(request: HttpRequest): Caller | Promise<Caller>;
  /**
   * Finds the route, checks access, runs the handler, turns what it throws into the error shape of the route. Neither
   * throws nor rejects. The first chunk of a streamed body is already made, so that what fails before it still has its status.
   */
  answer(request: HttpRequest): HttpResponse | Promise<HttpResponse>;
  /** The response for a request that cannot be read, in the shape its route gives to errors. */
  refuse(request: HttpRequest, error: ServiceError): HttpResponse;
}

export function createAnswerer(options: AnswerOptions): Answerer {
  const { alias, gate, host, log } = options;
  const table = new RouteTable(options.routes);
  const find = (request: HttpRequest) => table.find(request.method, alias.path(rawPathOf(request)).path);

  // A path that nobody answers is not public: who may ask nothing does not learn which there are.
  const isPublic = (request: HttpRequest): boolean => {
    try {
      return find(request).route.permission.access === 'public';
    } catch {
      return false;
    }
  };

  const fail = (request: HttpRequest, errors: Route['errors'], thrown: unknown): HttpResponse => {
    const error = asServiceError(thrown);
    options.onRefused?.(request, error);
    if (HTTP_ERRORS[error.code].status >= 500) {
      log.error('request failed', { method: request.method, url: request.rawUrl, code: error.code, error });
    }
    return errorResponse(error, errors, host, request.viaAlias);
  };
  const later = async (request: HttpRequest, errors: Route['errors'], response: HttpResponse | Promise<HttpResponse>) => {
    try {
      return await withFirstChunk(await response);
    } catch (thrown) {
      return fail(request, errors, thrown);
    }
  };

  return {
    admit: (request) =>
      gate.recall(request) ?? (isPublic(request) ? NOBODY_CALLER : gate.admit(request, alias.path(rawPathOf(request)).path)),

    answer(request) {
      let errors: Route['errors'] = 'map';
      try {
        const { route, parameters } = find(request);
        errors = route.errors;
        if (route.permission.access === 'internal') gate.refuseStrangers(request);
        else if (!request.caller.isUnrestricted) authorizeRoute(route.permission, request.caller, parameters);
        const response = route.handle(request, parameters);
        return response instanceof Promise || isStreamed(response.body) ? later(request, errors, response) : whole(response);
      } catch (thrown) {
        return fail(request, errors, thrown);
      }
    },

    refuse(request, error) {
      options.onRefused?.(request, error);
      try {
        return errorResponse(error, find(request).route.errors, host, request.viaAlias);
      } catch {
        return errorResponse(error, 'map', host);
      }
    },
  };
}

function isStreamed(body: HttpResponse['body']): body is AsyncIterable<Chunk> {
  return body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array);
}

/** The response with all headers, for a body that is complete. */
function whole(response: HttpResponse): HttpResponse {
  const { lateHeaders, ...rest } = response;
  return lateHeaders === undefined ? response : { ...rest, headers: { ...rest.headers, ...lateHeaders() } };
}

async function withFirstChunk(response: HttpResponse): Promise<HttpResponse> {
  const { status, body, lateHeaders, ended } = response;
  if (!isStreamed(body)) return whole(response);
  const iterator = body[Symbol.asyncIterator]();
  const first = await iterator.next();
  const headers = extended(response.headers ?? {}, lateHeaders?.() ?? {});
  if (first.done === true) return { status, headers, body: '' };
  const second = iterator.next();
  // Looked at when it is asked for.
  second.catch(() => undefined);
  // A small answer is whole by now: it leaves in one piece, which costs a third of a stream.
  const soon = await Promise.race([second, comingTurn()]);
  if (soon?.done === true) return { status, headers, body: first.value };
  const streamed = { status, headers, body: resumed([Promise.resolve(first), second], iterator) };
  return ended === undefined ? streamed : { ...streamed, ended };
}

/** Hands out what was asked for already, then the rest; when it is left early, even before the first step, so is the source. */
function resumed(asked: Promise<IteratorResult<Chunk>>[], rest: AsyncIterator<Chunk>): AsyncIterable<Chunk> {
  const iterator: AsyncIterator<Chunk> = {
    next: () => asked.shift() ?? rest.next(),
    async return() {
      await rest.return?.();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
