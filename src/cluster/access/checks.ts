// Refuses configurations of security that cannot work, or would leave the door open, before anything listens.

import { isIP } from 'node:net';
import type { Configuration } from '../../configuration/configuration.js';
import type { Named } from '../../configuration/named-properties.js';
import { canonicalHost } from '../../configuration/network-names.js';
import { refuseValue } from '../../configuration/property.js';
import { ALLOW_ALL } from '../../model/access/identity.js';

/**
 * @returns a sentence for the first line of the server when everybody may do everything; undefined when it asks who is there
 * @throws ServiceError `input_invalid` naming the property
 */
export function checkSecurity(configuration: Configuration): string | undefined {
  const authorizers = configuration.get('svc.auth.authorizers');
  for (const { name, type } of configuration.named('svc.auth.authorizer'))
    if (name === ALLOW_ALL && type !== ALLOW_ALL) throw refuse(`svc.auth.authorizer.${name}.type`, type, 'allowAll for this name');
  for (const authenticator of configuration.named('svc.auth.authenticator')) {
    const authorizer = authorizerOf(authenticator, configuration);
    if (authenticator.type !== ALLOW_ALL && !authorizers.includes(authorizer))
      throw refuse(`svc.auth.authenticator.${authenticator.name}.authorizerName`, authorizer, 'a name out of svc.auth.authorizers');
    if (authenticator.type === 'basic' && authenticator['credentialsValidator.type'] === 'ldap') checkLdap(authenticator);
  }
  if (configuration.get('svc.escalator.type') === 'basic' && configuration.get('svc.escalator.internalClientPassword') === '')
    throw refuse('svc.escalator.internalClientPassword', '', 'the password of svc.escalator.internalClientUsername');
  return isOpen(configuration) ? checkOpen(configuration) : undefined;
}

/** Settings that have no default. A bind without name or password would be anonymous, and says nothing. */
const REQUIRED = ['url', 'bindUser', 'bindPassword', 'baseDn', 'userSearch', 'userAttribute'] as const;

function checkLdap(authenticator: Named<'svc.auth.authenticator'>): void {
  const name = (property: string): string => `svc.auth.authenticator.${authenticator.name}.credentialsValidator.${property}`;
  for (const property of REQUIRED)
    if (authenticator[`credentialsValidator.${property}`] === '') throw refuse(name(property), '', 'a value: the ldap validator needs it');
  const url = authenticator['credentialsValidator.url'];
  const { protocol, pathname } = URL.canParse(url) ? new URL(url) : { protocol: '', pathname: '' };
  if ((protocol !== 'ldap:' && protocol !== 'ldaps:') || pathname.replace('/', '') !== '')
    throw refuse(name('url'), url, 'ldap://host:port or ldaps://host:port');
  if (protocol === 'ldaps:' && authenticator['credentialsValidator.startTls'])
    throw refuse(name('startTls'), 'true', 'false with ldaps://, which is encrypted from the beginning');
  if (!authenticator['credentialsValidator.userSearch'].includes('%s'))
    throw refuse(name('userSearch'), authenticator['credentialsValidator.userSearch'], 'a filter with %s for the name of the user');
}

function isOpen(configuration: Configuration): boolean {
  const free = new Set(configuration.named('svc.auth.authorizer').flatMap(({ name, type }) => (type === ALLOW_ALL ? [name] : [])));
  return configuration
    .named('svc.auth.authenticator')
    .some((each) => each.type === ALLOW_ALL || (each.type === 'anonymous' && free.has(authorizerOf(each, configuration))));
}

/** Nobody is asked who he is: such a server answers its own machine only, unless somebody has said that this is meant. */
function checkOpen(configuration: Configuration): string {
  const host = configuration.get('svc.host');
  if (isLoopback(host)) return `no authenticator: it listens on ${host} only, and everybody on this machine may do everything`;
  if (!configuration.get('svc.server.insecure'))
    throw refuse(
      'svc.host',
      host,
      'an address of this machine alone, as there is no authenticator: set svc.auth.authenticatorChain (docs/security.md), or svc.server.insecure=true',
    );
  return `no authenticator (svc.server.insecure): everybody who reaches ${host} may do everything`;
}

export function isLoopback(host: string): boolean {
  const name = canonicalHost(host) ?? host;
  if (name === 'localhost' || name.endsWith('.localhost') || name === '[::1]') return true;
  return isIP(name) === 4 && name.startsWith('127.');
}

function refuse(property: string, found: string, accepted: string): Error {
  return refuseValue(property, found, accepted, 'configuration');
}

/** The authorizer that decides for the users of an authenticator. */
export function authorizerOf({ authorizerName }: Named<'svc.auth.authenticator'>, configuration: Configuration): string {
  return authorizerName || (configuration.get('svc.auth.authorizers')[0] ?? ALLOW_ALL);
}
