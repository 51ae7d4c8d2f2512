// Routes of users, roles and group mappings of authorizers.

import type { AuthorizerRecords } from '../../../cluster/access/directory.js';
import { parseGroupMapping, parsePermissions, permissionBody } from '../../../cluster/access/records.js';
import type { Permission } from '../../../model/access/basic-authorizer.js';
import { readPolicyFilter } from '../../../planner/table-access.js';
import type { Route } from '../../http.types.js';
import { isFlagged, json, readJson } from '../exchange.js';
import { notThere, type Parameters, presentIn, reading, type SecuritySource, writing } from './security-source.js';

const BASE = '/svc-ext/basic-security/authorization';
const STORE = `${BASE}/db/{authorizerName}`;

export function authorizationRoutes(source: SecuritySource): readonly Route[] {
  return [...userRoutes(source), ...mappingRoutes(source), ...roleRoutes(source), ...mapRoutes(source)];
}

/** @throws ServiceError `input_invalid` for an authorizer that keeps no records */
function authorizerOf({ authorizers }: SecuritySource, { authorizerName = '' }: Parameters): string {
  if (!authorizers.includes(authorizerName)) throw notThere('Basic authorizer with name', authorizerName);
  return authorizerName;
}

function recordsOf(source: SecuritySource, parameters: Parameters): AuthorizerRecords {
  return source.directory.authorizer(authorizerOf(source, parameters));
}

function userRoutes(source: SecuritySource): readonly Route[] {
  const { store } = source;
  const path = `${STORE}/users`;
  return [
    reading(source, path, (parameters) => json(200, [...recordsOf(source, parameters).users.keys()])),
    reading(source, `${path}/{userName}`, (parameters, request) => {
      const { userName: name = '' } = parameters;
      const records = recordsOf(source, parameters);
      const roles = presentIn(records.users, 'User', name);
      if (!isFlagged(request, 'full')) return json(200, { name, roles });
      const isSimple = isFlagged(request, 'simplifyPermissions');
      return json(200, { name, roles: rolesInFull(records, roles, isSimple) });
    }),
    writing('POST', `${path}/{userName}`, (parameters, by) =>
      store.createUser(authorizerOf(source, parameters), parameters['userName'] ?? '', by),
    ),
    writing('DELETE', `${path}/{userName}`, (parameters, by) =>
      store.remove('user', authorizerOf(source, parameters), parameters['userName'] ?? '', by),
    ),
    writing('POST', `${path}/{userName}/roles/{roleName}`, (parameters, by) => {
      const { userName = '', roleName = '' } = parameters;
      return store.assignRole('user', authorizerOf(source, parameters), userName, roleName, by);
    }),
    writing('DELETE', `${path}/{userName}/roles/{roleName}`, (parameters, by) => {
      const { userName = '', roleName = '' } = parameters;
      return store.unassignRole('user', authorizerOf(source, parameters), userName, roleName, by);
    }),
  ];
}

function mappingRoutes(source: SecuritySource): readonly Route[] {
  const { store } = source;
  const path = `${STORE}/groupMappings`;
  return [
    reading(source, path, (parameters) => json(200, [...recordsOf(source, parameters).groupMappings.keys()])),
    reading(source, `${path}/{groupMappingName}`, (parameters, request) => {
      const records = recordsOf(source, parameters);
      const mapping = presentIn(records.groupMappings, 'Group mapping', parameters['groupMappingName'] ?? '');
      if (!isFlagged(request, 'full')) return json(200, mapping);
      return json(200, { ...mapping, roles: rolesInFull(records, mapping.roles, isFlagged(request, 'simplifyPermissions')) });
    }),
    writing('POST', `${path}/{groupMappingName}`, (parameters, by, request) =>
      store.createGroupMapping(
        authorizerOf(source, parameters),
        parseGroupMapping(readJson(request), parameters['groupMappingName'] ?? ''),
        by,
      ),
    ),
    writing('DELETE', `${path}/{groupMappingName}`, (parameters, by) =>
      store.remove('groupMapping', authorizerOf(source, parameters), parameters['groupMappingName'] ?? '', by),
    ),
    writing('POST', `${path}/{groupMappingName}/roles/{roleName}`, (parameters, by) => {
      const { groupMappingName = '', roleName = '' } = parameters;
      return store.assignRole('groupMapping', authorizerOf(source, parameters), groupMappingName, roleName, by);
    }),
    writing('DELETE', `${path}/{groupMappingName}/roles/{roleName}`, (parameters, by) => {
      const { groupMappingName = '', roleName = '' } = parameters;
      return store.unassignRole('groupMapping', authorizerOf(source, parameters), groupMappingName, roleName, by);
    }),
  ];
}

function roleRoutes(source: SecuritySource): readonly Route[] {
  const { store } = source;
  const path = `${STORE}/roles`;
  return [
    reading(source, path, (parameters) => json(200, [...recordsOf(source, parameters).roles.keys()])),
    reading(source, `${path}/{roleName}`, (parameters, request) => {
      const { roleName: name = '' } = parameters;
      const { roles, users } = recordsOf(source, parameters);
      const permissions = permissionsBody(presentIn(roles, 'Role', name), isFlagged(request, 'simplifyPermissions'));
      if (!isFlagged(request, 'full')) return json(200, { name, permissions });
      const holders = [...users].flatMap(([user, held]) => (held.includes(name) ? [user] : []));
      return json(200, { name, users: holders, permissions });
    }),
    writing('POST', `${path}/{roleName}`, (parameters, by) =>
      store.createRole(authorizerOf(source, parameters), parameters['roleName'] ?? '', by),
    ),
    writing('DELETE', `${path}/{roleName}`, (parameters, by) =>
      store.remove('role', authorizerOf(source, parameters), parameters['roleName'] ?? '', by),
    ),
    reading(source, `${path}/{roleName}/permissions`, (parameters) =>
      json(200, permissionsBody(presentIn(recordsOf(source, parameters).roles, 'Role', parameters['roleName'] ?? ''), false)),
    ),
    writing('POST', `${path}/{roleName}/permissions`, (parameters, by, request) =>
      store.setPermissions(authorizerOf(source, parameters), parameters['roleName'] ?? '', readPermissions(readJson(request)), by),
    ),
  ];
}

/**
 * The permissions of a role. A policy whose filter could be read over no table is refused: it would refuse its datasources.
 * @throws ServiceError `input_invalid`, `query_invalid` or `unsupported` naming the field
 */
function readPermissions(body: unknown): readonly Permission[] {
  const permissions = parsePermissions(body);
  for (const { policy } of permissions) readPolicyFilter(policy?.rowFilter ?? null, []);
  return permissions;
}

/** All records of an authorizer at once, as processes of the original ask for them. */
function mapRoutes(source: SecuritySource): readonly Route[] {
  const rolesBody = ({ roles }: AuthorizerRecords) =>
    Object.fromEntries([...roles].map(([name, permissions]) => [name, { name, permissions: permissionsBody(permissions, false) }]));
  return [
    reading(source, `${STORE}/cachedSerializedUserMap`, (parameters) => {
      const records = recordsOf(source, parameters);
      const userMap = Object.fromEntries([...records.users].map(([name, roles]) => [name, { name, roles }]));
      return json(200, { userMap, roleMap: rolesBody(records) });
    }),
    reading(source, `${STORE}/cachedSerializedGroupMappingMap`, (parameters) => {
      const records = recordsOf(source, parameters);
      return json(200, { groupMappingMap: Object.fromEntries(records.groupMappings), roleMap: rolesBody(records) });
    }),
  ];
}

function rolesInFull({ roles }: AuthorizerRecords, names: readonly string[], isSimple: boolean): readonly object[] {
  return names.flatMap((name) => {
    const permissions = roles.get(name);
    if (permissions === undefined) return [];
    return [{ name, ...(isSimple ? { users: null } : {}), permissions: permissionsBody(permissions, isSimple) }];
  });
}

/** The longer form repeats the pattern, as the original does. */
function permissionsBody(permissions: readonly Permission[], isSimple: boolean): readonly object[] {
  const bodies = permissions.map(permissionBody);
  if (isSimple) return bodies;
  return bodies.map((resourceAction, at) => ({ resourceAction, resourceNamePattern: permissions[at]?.resource.name ?? '' }));
}
