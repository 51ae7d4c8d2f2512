// Requests and responses as the routes see them.

import type { CancelSignal } from '../base/cancel-signal.js';
import type { Caller } from '../model/access/authorizer.js';
import type { Action, Resource } from '../model/access/resource.js';

/** Requests and responses as the routes see them; `sockets.ts` alone knows uWebSockets.js. */
export interface HttpRequest {
  readonly method: string;
  /** Decoded, without trailing slash (except `/`), under `/svc` even when it came in under an alias. */
  readonly path: string;
  /** The URL as sent, for forwarding. */
  readonly rawUrl: string;
  readonly query: URLSearchParams;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Empty once the response is sent or the client is gone, if nobody asked before. */
  readonly remoteAddress: string;
  /** Aborted when the client goes away or the request's deadline passes. */
  readonly signal: CancelSignal;
  /** Whether the request came in under `svc.server.http.apiName`, so that unknown keys are read leniently. */
  readonly viaAlias: boolean;
  /** Who sent it, and what the sender may do. */
  readonly caller: Caller;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers that are known only when the body begins. */
  readonly lateHeaders?: () => Readonly<Record<string, string>>;
  /** Fired, with the reason, when no more of the body will be made: it is broken off even while its client does not read. */
  readonly ended?: () => CancelSignal;
  /** Text or bytes at once, or chunks that are pulled only as fast as the client reads. */
  readonly body?: string | Uint8Array | AsyncIterable<string | Uint8Array>;
}

/** Rights that a route demands of the sender of a request. */
export type RouteAccess =
  /** Anyone, without credentials. */
  | { readonly access: 'public' }
  /** Whoever is recognised. */
  | { readonly access: 'authenticated' }
  /** Processes of this cluster. */
  | { readonly access: 'internal' }
  /** Checked where the request is forwarded to. */
  | { readonly access: 'forwarded' }
  | { readonly access: 'resource'; readonly resource: Resource; readonly action: Action }
  /** All of the datasource that a placeholder of the path names. */
  | { readonly access: 'dataSource'; readonly parameter: string; readonly action: Action }
  /** The handler finds the resources in the request, or leaves out of a list what its reader may not see. */
  | { readonly access: 'found'; readonly finds: FoundBy };

/** Ways in which handlers find the resources of a request; `docs/security.md` says what each demands. */
export type FoundBy = 'query' | 'task' | 'submittedTask' | 'supervisor' | 'owner' | 'list';

/** One row of a role's route table. `path` has `{name}` placeholders. Not declared means denied. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly permission: RouteAccess;
  /** `query`: the error object of queries; `statement`, `statementStatus`: that of statements, when it is sent and later; `map`: `{error}`. */
  readonly errors: 'query' | 'statement' | 'statementStatus' | 'map';
  /** Answers a request. A response that is not a promise is sent in the turn in which the request arrived. */
  handle(request: HttpRequest, parameters: Readonly<Record<string, string>>): HttpResponse | Promise<HttpResponse>;
}
