// Makes the first users and roles, which the configuration names.

import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import type { Configuration } from '../../configuration/configuration.js';
import type { Named } from '../../configuration/named-properties.js';
import { findAccessRecord, writeAccessRecord } from '../../metadata/access-records.js';
import type { Database, Queries } from '../../metadata/database.js';
import { audit } from '../../metadata/settings.js';
import type { Permission } from '../../model/access/basic-authorizer.js';
import { ACTIONS, RESOURCE_TYPES } from '../../model/access/resource.js';
import type { PasswordHasher } from './password-hash.js';
import { type Credentials, checkName, permissionBody } from './records.js';

const ADMIN = 'admin';
/** The user of calls between roles, as long as nothing else is configured. */
const SYSTEM = 'svc_system';
const ADMIN_GROUP_MAPPING = 'adminGroupMapping';

/** Everything, of every kind. */
const ALL_PERMISSIONS: readonly Permission[] = RESOURCE_TYPES.flatMap((type) =>
  ACTIONS.map((action) => ({ resource: { type, name: '.*' }, action, policy: null })),
);

/** Makes what is not there; what is there stays as it is. */
export async function makeInitialAccess(configuration: Configuration, database: Database, hasher: PasswordHasher): Promise<void> {
  for (const authenticator of configuration.named('svc.auth.authenticator'))
    if (authenticator.type === 'basic') await makeLogins(authenticator, database, hasher);
  const authorizers = configuration.named('svc.auth.authorizer').filter(({ type }) => type === 'basic');
  if (authorizers.length === 0) return;
  await database.transaction(async (queries) => {
    for (const authorizer of authorizers) await makeRoles(authorizer, queries);
  });
}

async function makeLogins(authenticator: Named<'svc.auth.authenticator'>, database: Database, hasher: PasswordHasher): Promise<void> {
  const { name: owner, initialAdminPassword, initialInternalClientPassword, credentialIterations } = authenticator;
  for (const [name, password] of [
    [ADMIN, initialAdminPassword],
    [SYSTEM, initialInternalClientPassword],
  ] as const) {
    if (password === null || (await findAccessRecord(database, { kind: 'login', owner, name })) !== undefined) continue;
    const payload = JSON.stringify({ credentials: await hasher.hash(password, credentialIterations) });
    await database.transaction((queries) => make(queries, 'login', owner, name, payload));
  }
}

async function makeRoles(authorizer: Named<'svc.auth.authorizer'>, queries: Queries): Promise<void> {
  const { name: owner, initialAdminUser, initialAdminRole, initialAdminGroupMapping } = authorizer;
  const permissions = stringifyJson({ permissions: ALL_PERMISSIONS.map(permissionBody) });
  const roles = (role: string): string => JSON.stringify({ roles: [role] });
  const adminRole = initialAdminRole || ADMIN;
  for (const role of new Set([ADMIN, SYSTEM, adminRole])) await make(queries, 'role', owner, role, permissions);
  await make(queries, 'user', owner, ADMIN, roles(ADMIN));
  await make(queries, 'user', owner, SYSTEM, roles(SYSTEM));
  if (initialAdminUser !== '') await make(queries, 'user', owner, initialAdminUser, roles(adminRole));
  if (initialAdminGroupMapping !== '') {
    const mapping = JSON.stringify({ groupPattern: initialAdminGroupMapping, roles: [adminRole] });
    await make(queries, 'groupMapping', owner, ADMIN_GROUP_MAPPING, mapping);
  }
}

async function make(
  queries: Queries,
  kind: 'login' | 'user' | 'role' | 'groupMapping',
  owner: string,
  name: string,
  payload: string,
): Promise<void> {
  if ((await findAccessRecord(queries, { kind, owner, name })) === undefined)
    await writeAccessRecord(queries, { kind, owner, name, payload });
}

export interface NewUser {
  readonly user: string;
  readonly authenticator: string;
  readonly authorizer: string;
  /** Made with all permissions when it is `admin` and is not there. */
  readonly role: string;
  readonly credentials: Credentials;
}

/** Makes a user who can log in and has a role. @throws ServiceError `input_invalid` when it is there, or the role is not */
export async function makeUser(database: Database, { user, authenticator, authorizer, role, credentials }: NewUser): Promise<void> {
  checkName('user', user);
  await database.transaction(async (queries) => {
    if ((await findAccessRecord(queries, { kind: 'login', owner: authenticator, name: user })) !== undefined)
      throw new ServiceError('input_invalid', `user: ${user} is there already`);
    if (role === ADMIN) await make(queries, 'role', authorizer, ADMIN, stringifyJson({ permissions: ALL_PERMISSIONS.map(permissionBody) }));
    else if ((await findAccessRecord(queries, { kind: 'role', owner: authorizer, name: role })) === undefined)
      throw new ServiceError('input_invalid', `role: found ${role}, which ${authorizer} does not have`);
    await writeAccessRecord(queries, { kind: 'login', owner: authenticator, name: user, payload: JSON.stringify({ credentials }) });
    await writeAccessRecord(queries, { kind: 'user', owner: authorizer, name: user, payload: JSON.stringify({ roles: [role] }) });
    const payload = JSON.stringify({ change: `Create user [${user}] by the command line`, role });
    await audit(
      queries,
      { type: 'basic.authorizer', key: authorizer },
      { author: 'dolmen user add', comment: '', ip: '' },
      payload,
      Date.now(),
    );
  });
}
