// The authorizer whose roles and permissions stand in the metadata store.

import { BoundedCache } from '../../base/bounded-cache.js';
import { type Access, ALLOWED, type Authorizer, DENIED } from './authorizer.js';
import type { Identity } from './identity.js';
import { type Policy, unionOfPolicies } from './policy.js';
import type { Action, Resource, ResourceAction } from './resource.js';

/** A permission of a role. The name of its resource is a regular expression that must match the whole name. */
export interface Permission extends ResourceAction {
  /** READ of DATASOURCE only; null for no restriction. */
  readonly policy: Policy | null;
}

export interface BasicAuthorizerOptions {
  /** Permissions by role, as they are now. A change is another map; its lists are never altered. */
  roles(): ReadonlyMap<string, readonly Permission[]>;
  /** Roles of a user, assigned directly or by groups. */
  rolesOf(identity: Identity): Iterable<string>;
  /** Compiles a pattern of names, which the whole of a name must match. Throws for one that cannot be read. */
  compile(pattern: string): (name: string) => boolean;
}

interface CompiledPermission {
  readonly permission: Permission;
  readonly matches: (name: string) => boolean;
}

/** Decisions that are kept, until roles change. */
const DECISIONS_KEPT_MAX = 10_000;

/** Allows what any permission of any role of the user allows. */
export function createBasicAuthorizer({ roles, rolesOf, compile }: BasicAuthorizerOptions): Authorizer {
  const compiled = new WeakMap<readonly Permission[], readonly CompiledPermission[]>();
  let decisions = new BoundedCache<string, Access>(DECISIONS_KEPT_MAX);
  let current = roles();

  const permissionsOf = (permissions: readonly Permission[]): readonly CompiledPermission[] => {
    const known = compiled.get(permissions);
    if (known !== undefined) return known;
    const made = permissions.map((permission) => ({ permission, matches: matcherOf(permission.resource.name, compile) }));
    compiled.set(permissions, made);
    return made;
  };

  const decide = (names: readonly string[], resource: Resource, action: Action): Access => {
    const policies: Policy[] = [];
    for (const name of names) {
      for (const { permission, matches } of permissionsOf(current.get(name) ?? [])) {
        if (permission.action !== action || permission.resource.type !== resource.type || !matches(resource.name)) continue;
        if (permission.policy === null) return ALLOWED;
        policies.push(permission.policy);
      }
    }
    if (policies.length === 0) return DENIED;
    const policy = unionOfPolicies(policies);
    return policy === null ? ALLOWED : { allowed: true, policy };
  };

  return {
    allowsAll: false,
    authorize(identity, resource, action) {
      const now = roles();
      if (now !== current) {
        current = now;
        decisions = new BoundedCache(DECISIONS_KEPT_MAX);
      }
      const names = [...new Set(rolesOf(identity))].sort();
      if (names.length === 0) return DENIED;
      const key = JSON.stringify([names, resource.type, resource.name, action]);
      const known = decisions.find(key);
      if (known !== undefined) return known;
      const access = decide(names, resource, action);
      decisions.keep(key, access);
      return access;
    },
  };
}

/** A pattern that cannot be read matches nothing: the role is refused what it would have been given. */
function matcherOf(pattern: string, compile: BasicAuthorizerOptions['compile']): (name: string) => boolean {
  try {
    return compile(pattern);
  } catch {
    return () => false;
  }
}
