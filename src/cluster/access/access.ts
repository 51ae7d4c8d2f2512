// Puts together who may call: authenticators, authorizers, and what this process sends to others.

import { highest } from '../../base/lists.js';
import type { Log } from '../../base/log.js';
import type { Configuration } from '../../configuration/configuration.js';
import type { Named } from '../../configuration/named-properties.js';
import type { Database } from '../../metadata/database.js';
import { ALLOWED, type Authorizer, Authorizers, allowAllAuthorizer, DENIED } from '../../model/access/authorizer.js';
import { createBasicAuthorizer } from '../../model/access/basic-authorizer.js';
import { ALLOW_ALL, type Identity } from '../../model/access/identity.js';
import { Authentication, type Authenticator } from './authentication.js';
import { authorizerOf } from './checks.js';
import type { CredentialsValidator } from './credentials.js';
import { AccessDirectory, type AuthorizerRecords } from './directory.js';
import { groupPattern, parseDistinguishedName } from './distinguished-name.js';
import { makeInitialAccess } from './initial-access.js';
import { LdapCredentials } from './ldap-credentials.js';
import { LoginThrottle } from './login-throttle.js';
import { MetadataCredentials } from './metadata-credentials.js';
import { PasswordHasher } from './password-hash.js';
import { compileName } from './records.js';

/** Everything of a process that decides who may call. */
export interface ClusterAccess {
  readonly directory: AccessDirectory;
  readonly hasher: PasswordHasher;
  readonly authentication: Authentication;
  readonly authorizers: Authorizers;
  readonly escalator: Escalator;
}

/** Proof that a call comes from this cluster, beside its key. */
export interface Escalator {
  /** User of calls between roles; null: the key is enough. */
  readonly user: string | null;
  /** Headers to send. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Reads users and roles, and makes the first ones. */
export async function openAccess(configuration: Configuration, database: Database, log: Log): Promise<ClusterAccess> {
  const hasher = new PasswordHasher(configuration.get('svc.auth.login.maxQueued'));
  const [periodMs, delayMs] = [
    configuration.get('svc.auth.basic.common.pollingPeriod'),
    configuration.get('svc.auth.basic.common.maxRandomDelay'),
  ];
  const directory = new AccessDirectory({
    database,
    nextLookMs: () => periodMs + Math.random() * delayMs,
    onError: (error) => log.warn('users and roles could not be read', { error }),
  });
  await makeInitialAccess(configuration, database, hasher);
  await directory.refresh();
  const authenticators = configuration.named('svc.auth.authenticator');
  const authentication = new Authentication({
    chain: authenticators.map((each) => authenticatorOf(each, configuration, directory, hasher, log)),
    throttle: new LoginThrottle({
      failuresMax: configuration.get('svc.auth.login.maxFailures'),
      windowMs: configuration.get('svc.auth.login.failureWindow'),
      now: Date.now,
    }),
    keptMax: Math.max(1, highest(authenticators.map((each) => each['credentialsValidator.credentialCacheSize']))),
    now: Date.now,
    onUndecided: (authenticator) => log.warn('credentials could not be checked', { authenticator }),
  });
  directory.onChange(() => authentication.forget());
  return { directory, hasher, authentication, authorizers: authorizersOf(configuration, directory), escalator: escalatorOf(configuration) };
}

function authenticatorOf(
  settings: Named<'svc.auth.authenticator'>,
  configuration: Configuration,
  directory: AccessDirectory,
  hasher: PasswordHasher,
  log: Log,
): Authenticator {
  const { name, type, skipOnFailure, identity } = settings;
  const authorizer = authorizerOf(settings, configuration);
  if (type === 'allowAll') return { type };
  if (type === 'anonymous') return { type, name, authorizer, identity };
  const validator: CredentialsValidator =
    settings['credentialsValidator.type'] === 'ldap'
      ? ldapCredentials(settings, configuration, log)
      : new MetadataCredentials({ logins: () => directory.logins(name), hasher, iterations: settings.credentialIterations });
  const trust = {
    idleMs: settings['credentialsValidator.credentialVerifyDuration'] * 1000,
    maxMs: settings['credentialsValidator.credentialMaxDuration'] * 1000,
  };
  return { type, name, authorizer, validator, skipOnFailure, trust };
}

function ldapCredentials(settings: Named<'svc.auth.authenticator'>, configuration: Configuration, log: Log): LdapCredentials {
  const protocol = configuration.get('svc.auth.basic.ssl.protocol');
  return new LdapCredentials({
    url: settings['credentialsValidator.url'],
    startTls: settings['credentialsValidator.startTls'],
    bindUser: settings['credentialsValidator.bindUser'],
    bindPassword: settings['credentialsValidator.bindPassword'],
    baseDn: settings['credentialsValidator.baseDn'],
    userSearch: settings['credentialsValidator.userSearch'],
    userAttribute: settings['credentialsValidator.userAttribute'],
    groupBaseDn: settings['credentialsValidator.groupBaseDn'] || settings['credentialsValidator.baseDn'],
    groupSearch: settings['credentialsValidator.groupSearch'],
    timeoutMs: settings['credentialsValidator.timeout'],
    tls: {
      trustStorePath: configuration.get('svc.auth.basic.ssl.trustStorePath'),
      minVersion: protocol === 'TLSv1.3' ? 'TLSv1.3' : 'TLSv1.2',
    },
    queuedMax: configuration.get('svc.auth.login.maxQueued'),
    onFailure: (error) => log.warn('the directory could not be asked', { authenticator: settings.name, error }),
  });
}

/** `allowAll` is always there: it decides for requests to a cluster without authenticators. */
function authorizersOf(configuration: Configuration, directory: AccessDirectory): Authorizers {
  const byName = new Map<string, Authorizer>([[ALLOW_ALL, allowAllAuthorizer]]);
  for (const settings of configuration.named('svc.auth.authorizer')) {
    if (settings.type === 'allowAll') byName.set(settings.name, allowAllAuthorizer);
    if (settings.type === 'readOnly') byName.set(settings.name, READ_ONLY);
    if (settings.type === 'basic') byName.set(settings.name, basicAuthorizer(settings, directory));
  }
  return new Authorizers(byName, configuration.get('svc.auth.enableInputSourceSecurity'));
}

const READ_ONLY: Authorizer = { allowsAll: false, authorize: (_identity, _resource, action) => (action === 'READ' ? ALLOWED : DENIED) };

function basicAuthorizer(settings: Named<'svc.auth.authorizer'>, directory: AccessDirectory): Authorizer {
  const { name } = settings;
  const fromGroups = settings['roleProvider.type'] === 'ldap' ? groupRoles(settings['roleProvider.groupFilters']) : () => [];
  // Roles of an identity, as long as the records are the same.
  const known = new WeakMap<Identity, { readonly records: AuthorizerRecords; readonly roles: readonly string[] }>();
  return createBasicAuthorizer({
    roles: () => directory.authorizer(name).roles,
    rolesOf(identity) {
      const records = directory.authorizer(name);
      const before = known.get(identity);
      if (before?.records === records) return before.roles;
      const roles = [...(records.users.get(identity.user) ?? []), ...fromGroups(identity, records)];
      known.set(identity, { records, roles });
      return roles;
    },
    compile: compileName,
  });
}

/** Roles of the mappings that mean one of the groups of a user. Names and patterns that cannot be read mean nothing. */
function groupRoles(groupFilters: readonly string[]): (identity: Identity, records: AuthorizerRecords) => readonly string[] {
  const filters = groupFilters.flatMap((filter) => groupPattern(filter) ?? []);
  return ({ groups }, { groupMappings }) => {
    const names = groups.flatMap((group) => {
      const name = parseDistinguishedName(group);
      return name !== undefined && (groupFilters.length === 0 || filters.some((means) => means(name))) ? [name] : [];
    });
    return [...groupMappings.values()].flatMap(({ groupPattern: pattern, roles }) => {
      const means = groupPattern(pattern);
      return means !== undefined && names.some(means) ? roles : [];
    });
  };
}

function escalatorOf(configuration: Configuration): Escalator {
  if (configuration.get('svc.escalator.type') === 'noop') return { user: null, headers: {} };
  const user = configuration.get('svc.escalator.internalClientUsername');
  const encoded = Buffer.from(`${user}:${configuration.get('svc.escalator.internalClientPassword')}`).toString('base64');
  return { user, headers: { authorization: `Basic ${encoded}` } };
}
