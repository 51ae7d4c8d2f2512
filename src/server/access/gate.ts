// Lets requests in: who sends them, and what they may ask without saying so.

import { timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import type { Authentication } from '../../cluster/access/authentication.js';
import { CLUSTER_KEY_HEADER } from '../../cluster/rpc/message.js';
import { ALLOW_ALL_CALLER, type Authorizers, type Caller, NOBODY_CALLER } from '../../model/access/authorizer.js';
import type { Identity } from '../../model/access/identity.js';
import type { HttpRequest } from '../http.types.js';

export interface GateOptions {
  readonly authentication: Pick<Authentication, 'identify' | 'recall'>;
  readonly authorizers: Authorizers;
  /** Shared secret of the cluster's processes. */
  readonly clusterKey: string;
  /** User that calls between roles are made as; null: the key is enough. */
  readonly internalUser: string | null;
  /** `svc.auth.unsecuredPaths`. */
  readonly unsecuredPaths: readonly string[];
  /** Paths whose requests bring credentials in their bodies. */
  readonly loginPaths: readonly string[];
}

/** Finds out who sends a request. */
export interface Gate {
  /** The sender of a request, when that is known without looking at its path; undefined: `admit` finds out. */
  recall(request: HttpRequest): Caller | undefined;
  /**
   * The sender of a request to a path that is not public.
   * @param path  percent-encoded, under `/svc`, as the route is found by
   * @throws ServiceError `unauthorized`, `capacity_exceeded`
   */
  admit(request: HttpRequest, path: string): Caller | Promise<Caller>;
  /** @throws ServiceError `forbidden` unless an admitted request comes from a process of this cluster */
  refuseStrangers(request: HttpRequest): void;
}

export function createGate(options: GateOptions): Gate {
  const { authentication, authorizers, internalUser } = options;
  const key = Buffer.from(options.clusterKey);
  const unsecured = pathMatcher(options.unsecuredPaths);
  const loginPaths = new Set(options.loginPaths);
  // Identities are kept as long as their credentials are: so are the callers made of them.
  const callers = new WeakMap<Identity, Caller>();
  const hasKey = ({ headers }: HttpRequest): boolean => {
    const given = headers[CLUSTER_KEY_HEADER];
    if (given === undefined || key.length === 0) return false;
    const bytes = Buffer.from(given);
    return bytes.length === key.length && timingSafeEqual(bytes, key);
  };
  const callerOf = (identity: Identity): Caller => {
    const known = callers.get(identity);
    if (known !== undefined) return known;
    const caller = authorizers.callerOf(identity);
    callers.set(identity, caller);
    return caller;
  };
  const looksAtPath = options.unsecuredPaths.length > 0;
  return {
    recall(request) {
      const identity = looksAtPath ? undefined : authentication.recall(request);
      return identity && callerOf(identity);
    },
    admit(request, path) {
      if (unsecured(path)) return ALLOW_ALL_CALLER;
      if (request.headers['authorization'] === undefined) {
        if (internalUser === null && hasKey(request)) return ALLOW_ALL_CALLER;
        if (loginPaths.has(withoutSlash(path))) return NOBODY_CALLER;
      }
      const identity = authentication.identify(request);
      return identity instanceof Promise ? identity.then(callerOf) : callerOf(identity);
    },
    refuseStrangers(request) {
      if (hasKey(request) && (internalUser === null || request.caller.identity.user === internalUser)) return;
      throw new ServiceError(
        'forbidden',
        `internal paths answer processes of this cluster, which send its key as ${CLUSTER_KEY_HEADER}${internalUser === null ? '' : `, as the user ${internalUser}`}`,
      );
    },
  };
}

/** `/a/b` is that path alone, `/a/*` every one below. */
function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const exact = new Set(patterns.filter((each) => !each.endsWith('/*')).map(withoutSlash));
  const prefixes = patterns.filter((each) => each.endsWith('/*')).map((each) => each.slice(0, -1));
  if (patterns.length === 0) return () => false;
  return (path) => exact.has(withoutSlash(path)) || prefixes.some((prefix) => path.startsWith(prefix));
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
