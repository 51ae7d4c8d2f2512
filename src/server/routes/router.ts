// Routes of the Router, which forwards to the other roles.

import { createHash } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import { own } from '../../base/names.js';
import type { Coordination, Member } from '../../cluster/membership/coordination.js';
import type { HttpClient } from '../../cluster/rpc/http-client.js';
import type { Tracer } from '../../model/tracing/span.js';
import { AVATICA_CODECS } from '../avatica/codecs.js';
import { asServiceError } from '../errors.js';
import type { HttpRequest, HttpResponse, Route } from '../http.types.js';
import type { Answerer } from '../responder.js';
import { AUTHENTICATED, json, STATE_READ } from './exchange.js';

export interface RouterSource {
  readonly coordination: Pick<Coordination, 'leader' | 'members'>;
  readonly client: Pick<HttpClient, 'send'>;
  /** Told of each query that another process answers; left out: nobody listens. */
  readonly tracer?: Tracer | undefined;
  /** Answerer of an address of this process, which is called without a socket; undefined for other processes. */
  local(role: TargetRole, host: string): Answerer | undefined;
}

type TargetRole = 'broker' | 'coordinator' | 'overlord';

/** Role by path prefix; everything below a prefix is forwarded, with every method. */
const TARGETS: Readonly<Record<string, TargetRole>> = {
  '/svc/v2': 'broker',
  '/svc/listen': 'broker',
  '/svc/v1/lookups': 'broker',
  '/svc/coordinator': 'coordinator',
  '/svc-ext': 'coordinator',
  '/svc/indexer': 'overlord',
};

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;
/** Headers of a connection rather than of the message, and those that the writer sets again. */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'content-length',
  'host',
  'date',
  'expect',
  'x-content-type-options',
  'content-security-policy',
  'strict-transport-security',
  // Looked at here, by the server that the browser talks to (`web-guard.ts`).
  'origin',
  'sec-fetch-site',
]);

/** The front door: forwards to the leading Coordinator or Overlord, or to a Broker. Access is checked over there. */
export function routerRoutes(source: RouterSource): readonly Route[] {
  let turn = 0;
  const nextTurn = () => turn++;
  const forwarding = Object.entries(TARGETS).flatMap(([prefix, role]) =>
    [prefix, `${prefix}/{path*}`].flatMap((path) =>
      METHODS.map(
        (method): Route => ({
          method,
          path,
          permission: FORWARDED,
          errors: role === 'broker' ? 'query' : 'map',
          handle: (request) => forward(source, role, request, nextTurn),
        }),
      ),
    ),
  );
  return [...ownRoutes(source), ...managementRoutes(source), ...forwarding];
}

const FORWARDED = { access: 'forwarded' } as const;

/** Answers of the Router itself; consoles ask for them before they show anything. */
function ownRoutes({ coordination }: RouterSource): readonly Route[] {
  return [
    { method: 'GET', path: '/proxy/enabled', permission: AUTHENTICATED, errors: 'map', handle: () => json(200, { enabled: true }) },
    {
      method: 'GET',
      path: '/svc/router/v1/brokers',
      permission: STATE_READ,
      errors: 'map',
      handle: () => json(200, { 'svc/broker': coordination.members('broker').map(({ host }) => host) }),
    },
  ];
}

/** `/proxy/coordinator/...` is `/...` of the leading Coordinator, also where its paths are those of every process. */
function managementRoutes(source: RouterSource): readonly Route[] {
  return (['coordinator', 'overlord'] as const).flatMap((role) =>
    METHODS.map(
      (method): Route => ({
        method,
        path: `/proxy/${role}/{path*}`,
        permission: FORWARDED,
        errors: 'map',
        handle(request) {
          const host = source.coordination.leader(role)?.host;
          if (host === undefined) throw new ServiceError('unavailable', `no ${role} is known at the moment`);
          return sendAway(source, host, request, request.rawUrl.slice(`/proxy/${role}`.length));
        },
      }),
    ),
  );
}

function forward(
  source: RouterSource,
  role: TargetRole,
  request: HttpRequest,
  nextTurn: () => number,
): HttpResponse | Promise<HttpResponse> {
  const { coordination } = source;
  if (role !== 'broker') return sendTo(source, role, coordination.leader(role)?.host, request);
  const brokers = coordination.members('broker');
  // Only the one that runs a query can end it.
  if (request.method === 'DELETE' && brokers.length > 1) return sendToAll(source, role, brokers, request);
  return sendTo(source, role, brokerFor(brokers, request, nextTurn), request);
}

/** The first answer of one that knows what it is about. */
async function sendToAll(source: RouterSource, role: TargetRole, members: readonly Member[], request: HttpRequest): Promise<HttpResponse> {
  const responses = await Promise.all(members.map(({ host }) => sendTo(source, role, host, request)));
  const chosen = responses.find((response) => response.status !== 404) ?? responses[0];
  if (chosen === undefined) throw new ServiceError('unavailable', `no ${role} is known at the moment`);
  await Promise.all(responses.filter((response) => response !== chosen).map(discard));
  return chosen;
}

/** A connection is free again only once its body is read or left. */
async function discard({ body }: HttpResponse): Promise<void> {
  if (body !== undefined && typeof body !== 'string' && !(body instanceof Uint8Array)) await body[Symbol.asyncIterator]().return?.();
}

/** Brokers in turn; JDBC stays with the one its connection was opened on. */
function brokerFor(brokers: readonly Member[], request: HttpRequest, nextTurn: () => number): string | undefined {
  // The connection of JDBC that a request belongs to.
  const connection = brokers.length > 1 ? own(AVATICA_CODECS, request.path)?.connectionOf(request.body) : undefined;
  if (connection === undefined) return brokers[nextTurn() % Math.max(1, brokers.length)]?.host;
  return stickyHost(
    brokers.map(({ host }) => host),
    connection,
  );
}

/** The same Broker for a connection wherever it is asked, and as few as can be move when Brokers come and go. */
function stickyHost(hosts: readonly string[], connection: string): string | undefined {
  const weight = (host: string) => createHash('sha1').update(`${host} ${connection}`).digest('hex');
  return hosts.toSorted((a, b) => (weight(a) < weight(b) ? 1 : -1))[0];
}

function sendTo(
  source: RouterSource,
  role: TargetRole,
  host: string | undefined,
  request: HttpRequest,
): HttpResponse | Promise<HttpResponse> {
  if (host === undefined) throw new ServiceError('unavailable', `no ${role} is known at the moment`);
  const here = source.local(role, host)?.answer(request);
  if (here !== undefined) return here;
  const { tracer } = source;
  return tracer === undefined || role !== 'broker' || request.method !== 'POST'
    ? sendAway(source, host, request)
    : sendTraced(source, tracer, host, request);
}

/** Sends a query on under a span of its own, which ends with the answer. */
async function sendTraced(source: RouterSource, tracer: Tracer, host: string, request: HttpRequest): Promise<HttpResponse> {
  const span = tracer.begin(`router ${request.path}`, request.headers['traceparent']);
  const end = (errorCode: string | undefined) => span.end({ 'server.address': host }, errorCode);
  try {
    const response = await sendAway(source, host, request, request.rawUrl, { traceparent: span.traceparent });
    const errorCode = response.status < 400 ? undefined : String(response.status);
    return { ...response, body: untilEnd(response.body as AsyncIterable<Uint8Array>, () => end(errorCode)) };
  } catch (error) {
    end(asServiceError(error).code);
    throw error;
  }
}

async function* untilEnd(chunks: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } finally {
    end();
  }
}

async function sendAway(
  { client }: RouterSource,
  host: string,
  request: HttpRequest,
  path = request.rawUrl,
  further: Readonly<Record<string, string>> = {},
): Promise<HttpResponse> {
  const response = await client.send({
    host,
    method: request.method,
    path,
    headers: { ...endToEnd(request.headers), ...further },
    body: request.body.length === 0 ? null : request.body,
    signal: request.signal,
  });
  return { status: response.status, headers: endToEnd(response.headers), body: response.body };
}

function endToEnd(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name.toLowerCase())));
}
