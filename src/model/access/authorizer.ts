// Decides whether a user may act on a resource.

import { ServiceError } from '../../base/errors.js';
import { ALLOW_ALL, ALLOW_ALL_IDENTITY, type Identity } from './identity.js';
import type { Policy } from './policy.js';
import type { Action, Resource, ResourceAction } from './resource.js';

/** A decision. `policy` restricts what an allowed READ of a datasource sees; null for all of it. */
export interface Access {
  readonly allowed: boolean;
  readonly policy: Policy | null;
}

export const ALLOWED: Access = { allowed: true, policy: null };
export const DENIED: Access = { allowed: false, policy: null };

export interface Authorizer {
  /** Whether it allows everything to everyone: nothing needs to be asked. */
  readonly allowsAll: boolean;
  /** Decides at once, from what this process knows. */
  authorize(identity: Identity, resource: Resource, action: Action): Access;
}

export const allowAllAuthorizer: Authorizer = { allowsAll: true, authorize: () => ALLOWED };

/** The sender of a request, and what it may do. */
export interface Caller {
  readonly identity: Identity;
  /** Everything is allowed, without a policy: checks and filters of lists may be left out. */
  readonly isUnrestricted: boolean;
  /** `svc.auth.enableInputSourceSecurity`: input sources take a right by their types. */
  readonly securesInputSources?: boolean;
  access(resource: Resource, action: Action): Access;
}

export const ALLOW_ALL_CALLER: Caller = { identity: ALLOW_ALL_IDENTITY, isUnrestricted: true, access: () => ALLOWED };

/** Nobody in particular, on paths that answer without credentials: may do nothing. */
export const NOBODY_CALLER: Caller = {
  identity: { user: '', authenticator: '', authorizer: '', groups: [] },
  isUnrestricted: false,
  access: () => DENIED,
};

/** The authorizers of a process by name; an identity of an unknown one may do nothing. */
export class Authorizers {
  readonly #byName: ReadonlyMap<string, Authorizer>;
  readonly #securesInputSources: boolean;

  /** @param securesInputSources  `svc.auth.enableInputSourceSecurity` */
  constructor(byName: ReadonlyMap<string, Authorizer>, securesInputSources = false) {
    this.#byName = byName;
    this.#securesInputSources = securesInputSources;
  }

  callerOf(identity: Identity): Caller {
    const authorizer = this.#byName.get(identity.authorizer);
    if (authorizer === undefined) return { identity, isUnrestricted: false, access: () => DENIED };
    return {
      identity,
      isUnrestricted: authorizer.allowsAll,
      securesInputSources: this.#securesInputSources,
      access: (resource, action) => authorizer.authorize(identity, resource, action),
    };
  }
}

/** Authorizers of a cluster without security. */
export const ALLOW_ALL_AUTHORIZERS = new Authorizers(new Map([[ALLOW_ALL, allowAllAuthorizer]]));

/** Message of every refusal: it names nothing that the caller may not know. */
const REFUSAL = 'Unauthorized';

/** @throws ServiceError `forbidden` */
export function refuseAccess(): never {
  throw new ServiceError('forbidden', REFUSAL);
}

export function permits(caller: Caller, resource: Resource, action: Action): boolean {
  return caller.isUnrestricted || caller.access(resource, action).allowed;
}

/** Whether a caller may read all of a resource: what is told about it as a whole would tell of rows that a policy hides. */
export function permitsWhole(caller: Caller, resource: Resource, action: Action): boolean {
  if (caller.isUnrestricted) return true;
  const { allowed, policy } = caller.access(resource, action);
  return allowed && policy === null;
}

/** @throws ServiceError `forbidden` unless all of them are permitted, each without a policy */
export function demand(caller: Caller, actions: Iterable<ResourceAction>): void {
  if (caller.isUnrestricted) return;
  for (const { resource, action, unlessSecured = resource } of actions) {
    const asked = caller.securesInputSources === true ? resource : unlessSecured;
    if (asked !== null && !permitsWhole(caller, asked, action)) refuseAccess();
  }
}
