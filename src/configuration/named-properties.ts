// Tables of the properties of authenticators and authorizers, which have names of their own.

import { choice, DAY_MS, flag, integer, milliseconds, optional, type Property, secret, text, texts } from './property.js';

/** `svc.auth.authenticator.<name>.*`. */
export const AUTHENTICATOR_PROPERTIES = {
  type: text('', 'basic, anonymous or allowAll; nothing: the name itself.'),
  authorizerName: text('', 'Authorizer that decides on what its users may do; nothing: the first of svc.auth.authorizers.'),
  identity: text('defaultUser', 'anonymous: name of the user that everybody is.'),
  initialAdminPassword: optional(secret('basic: password of the user admin, which is made if it is not there.')),
  initialInternalClientPassword: optional(secret('basic: password of the user svc_system, which is made if it is not there.')),
  enableCacheNotifications: flag('true', 'basic: whether the Coordinator tells other processes at once of changed users.'),
  cacheNotificationTimeout: milliseconds({ min: 1, max: DAY_MS }, '5000', 'basic: time that telling them may take.'),
  credentialIterations: integer({ min: 1000, max: 10_000_000 }, '10000', 'basic: rounds of hashing a password.'),
  skipOnFailure: flag('false', 'basic: whether the next of the chain is asked about users that are unknown here.'),
  'credentialsValidator.type': choice(['metadata', 'ldap'], 'metadata', 'basic: where passwords are checked.'),
  'credentialsValidator.url': text('', 'ldap: address of the directory, ldap://host:port or ldaps://host:port.'),
  'credentialsValidator.startTls': flag('false', 'ldap: whether a connection by ldap:// is encrypted before anything is sent (StartTLS).'),
  'credentialsValidator.bindUser': text('', 'ldap: distinguished name under which users are searched for.'),
  'credentialsValidator.bindPassword': secret('ldap: its password.'),
  'credentialsValidator.baseDn': text('', 'ldap: entry below which users are searched for.'),
  'credentialsValidator.userSearch': text('', 'ldap: filter that finds a user; %s stands for the name.'),
  'credentialsValidator.userAttribute': text('', 'ldap: attribute that names the user.'),
  'credentialsValidator.groupBaseDn': text('', 'ldap: entry below which groups are searched for; nothing: baseDn.'),
  'credentialsValidator.groupSearch': text(
    '',
    'ldap: filter that finds the groups of a user, for directories without memberOf; %s stands for the distinguished name of the user.',
  ),
  'credentialsValidator.timeout': milliseconds({ min: 1, max: DAY_MS }, '5000', 'ldap: time for each answer of the directory.'),
  'credentialsValidator.credentialVerifyDuration': integer(
    { min: 0, max: 86_400 },
    '600',
    'Seconds that a checked password is trusted since it was last sent.',
  ),
  'credentialsValidator.credentialMaxDuration': integer(
    { min: 0, max: 86_400 },
    '3600',
    'Seconds that a checked password is trusted at most.',
  ),
  'credentialsValidator.credentialCacheSize': integer(
    { min: 1, max: 1_000_000 },
    '1000',
    'Checked passwords that are kept, as keyed hashes.',
  ),
} as const satisfies Readonly<Record<string, Property<unknown>>>;

/** `svc.auth.authorizer.<name>.*`. */
export const AUTHORIZER_PROPERTIES = {
  type: text('', 'basic, allowAll or readOnly; nothing: the name itself.'),
  enableCacheNotifications: flag('true', 'basic: whether the Coordinator tells other processes at once of changed users and roles.'),
  cacheNotificationTimeout: milliseconds({ min: 1, max: DAY_MS }, '5000', 'basic: time that telling them may take.'),
  initialAdminUser: text('admin', 'basic: user with the role of an administrator, made if it is not there.'),
  initialAdminRole: text('admin', 'basic: role with all permissions, made if it is not there.'),
  initialAdminGroupMapping: text('', 'basic: pattern of the groups of administrators; nothing: none.'),
  'roleProvider.type': choice(['metadata', 'ldap'], 'metadata', 'basic: whether roles come from groups of a directory too.'),
  'roleProvider.groupFilters': texts('[]', 'basic: groups of the directory that count, by name or pattern; empty: all.'),
} as const satisfies Readonly<Record<string, Property<unknown>>>;

export const NAMED_PROPERTIES = {
  'svc.auth.authenticator': {
    names: 'svc.auth.authenticatorChain',
    types: ['basic', 'anonymous', 'allowAll'],
    properties: AUTHENTICATOR_PROPERTIES,
  },
  'svc.auth.authorizer': { names: 'svc.auth.authorizers', types: ['basic', 'allowAll', 'readOnly'], properties: AUTHORIZER_PROPERTIES },
} as const;

export type Family = keyof typeof NAMED_PROPERTIES;
type Values<Table> = { readonly [Name in keyof Table]: Table[Name] extends Property<infer Value> ? Value : never };
/** Settings of one of a family, under the name it has in the configuration. */
export type Named<Of extends Family> = Values<Omit<(typeof NAMED_PROPERTIES)[Of]['properties'], 'type'>> & {
  readonly name: string;
  readonly type: (typeof NAMED_PROPERTIES)[Of]['types'][number];
};

/** Takes apart `svc.auth.authenticator.<name>.<property>`; undefined for other names. */
export function splitNamed(full: string): { readonly family: Family; readonly name: string; readonly property: string } | undefined {
  const [, family, name = '', property = ''] = /^(svc\.auth\.authenticator|svc\.auth\.authorizer)\.([^.]+)\.(.+)$/.exec(full) ?? [];
  if (family !== 'svc.auth.authenticator' && family !== 'svc.auth.authorizer') return undefined;
  return { family, name, property };
}
