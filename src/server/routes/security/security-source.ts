// Interface that the routes of users, roles and group mappings answer from.

import { ServiceError } from '../../../base/errors.js';
import type { AccessDirectory } from '../../../cluster/access/directory.js';
import type { PasswordHasher } from '../../../cluster/access/password-hash.js';
import type { AccessStore, Changer } from '../../../cluster/access/store.js';
import { SECURITY } from '../../../model/access/resource.js';
import type { HttpRequest, HttpResponse, Route, RouteAccess } from '../../http.types.js';
import { readAuthor, route } from '../exchange.js';

export interface SecuritySource {
  readonly directory: AccessDirectory;
  readonly store: AccessStore;
  readonly hasher: PasswordHasher;
  /** Rounds of hashing by authenticator that keeps its users in the metadata store. */
  readonly iterations: ReadonlyMap<string, number>;
  /** Names of authorizers that keep their users and roles there. */
  readonly authorizers: readonly string[];
  /** Makes every process of the cluster read what has changed. */
  refreshAll(): Promise<void>;
}

export const SECURITY_READ: RouteAccess = { access: 'resource', resource: SECURITY, action: 'READ' };
export const SECURITY_WRITE: RouteAccess = { access: 'resource', resource: SECURITY, action: 'WRITE' };

export type Parameters = Readonly<Record<string, string>>;

/** A path below a base. Reads see what has been changed by anybody before. */
export function reading(
  { directory }: Pick<SecuritySource, 'directory'>,
  path: string,
  answer: (parameters: Parameters, request: HttpRequest) => HttpResponse,
): Route {
  return route('GET', path, SECURITY_READ, async (request, parameters) => {
    await directory.refresh();
    return answer(parameters, request);
  });
}

export function writing(
  method: 'POST' | 'DELETE',
  path: string,
  change: (parameters: Parameters, by: Changer, request: HttpRequest) => Promise<void>,
): Route {
  return route(method, path, SECURITY_WRITE, async (request, parameters) => {
    const { user } = request.caller.identity;
    const author = readAuthor(request);
    await change(parameters, { ...author, author: author.author || user, identity: user }, request);
    return { status: 200 };
  });
}

export function notThere(kind: string, name: string): ServiceError {
  return new ServiceError('input_invalid', `${kind} [${name}] does not exist.`);
}

/** @throws ServiceError `input_invalid` when a map has no such name */
export function presentIn<Value>(map: ReadonlyMap<string, Value>, kind: string, name: string): Value {
  const value = map.get(name);
  if (value === undefined) throw notThere(kind, name);
  return value;
}
