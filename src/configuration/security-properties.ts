// Rows of the table of properties that are about who may call: authentication, calls between roles, TLS.

import { resolve } from 'node:path';
import { choice, DAY_MS, flag, integer, milliseconds, optional, path, secret, text, texts } from './property.js';

const PORT = { min: 1, max: 65535 };
const STORE_TYPES = ['pem', 'pkcs12'] as const;

export const SECURITY_PROPERTIES = {
  'svc.auth.authenticatorChain': texts(
    '["allowAll"]',
    'Names of the authenticators that a request is shown to, in this order; each is set up by svc.auth.authenticator.<name>.*.',
  ),
  'svc.auth.authorizers': texts('["allowAll"]', 'Names of the authorizers; each is set up by svc.auth.authorizer.<name>.*.'),
  'svc.auth.unsecuredPaths': texts('[]', 'Paths that answer without credentials; one that ends with /* stands for all below it.'),
  'svc.auth.authorizeQueryContextParams': flag('false', 'Whether each context key of a query takes WRITE of QUERY_CONTEXT by its name.'),
  'svc.auth.unsecuredContextKeys': texts('[]', 'Context keys that everybody may set nevertheless.'),
  'svc.auth.securedContextKeys': optional(
    texts('', 'Context keys that take the right; nothing: all but those of svc.auth.unsecuredContextKeys.'),
  ),
  'svc.auth.enableInputSourceSecurity': flag(
    'false',
    'Whether input sources of tasks, statements, supervisors and the sampler take READ of EXTERNAL by their types.',
  ),
  'svc.sql.planner.authorizeSystemTablesDirectly': flag('false', 'Whether tables of sys take READ of SYSTEM_TABLE by their names.'),
  'svc.auth.login.maxFailures': integer(
    { min: 1, max: 1_000_000 },
    '20',
    'Wrong passwords in a row, of one user from one address, before further ones are answered with 429; ten times as many of one user or of one address.',
  ),
  'svc.auth.login.failureWindow': milliseconds({ min: 100, max: DAY_MS }, 'PT1M', 'Time in which that many failures are forgiven.'),
  'svc.auth.login.maxQueued': integer({ min: 1, max: 1_000_000 }, '200', 'Passwords that wait to be checked; more are answered with 429.'),
  'svc.auth.basic.common.pollingPeriod': milliseconds(
    { min: 100, max: DAY_MS },
    '60000',
    'Time between two looks of a process for users, roles and passwords that others have changed.',
  ),
  'svc.auth.basic.common.maxRandomDelay': milliseconds({ min: 0, max: DAY_MS }, '6000', 'Longest random time that is added to it.'),
  'svc.auth.basic.ssl.protocol': choice(['TLS', 'tls', 'TLSv1.2', 'TLSv1.3'], 'TLS', 'Protocol of connections to the directory.'),
  'svc.auth.basic.ssl.trustStorePath': optional(path('', 'Certificates that sign those of the directory (LDAP over TLS).', resolve)),
  'svc.auth.basic.ssl.trustStoreType': choice(['pem'], 'pem', 'Format of that file.'),

  'svc.escalator.type': choice(
    ['noop', 'basic'],
    'noop',
    'How calls between roles prove who they are, beside the key of the cluster: basic sends a user name and password.',
  ),
  'svc.escalator.internalClientUsername': text('svc_system', 'User that calls between roles are made as.'),
  'svc.escalator.internalClientPassword': secret('Its password.'),
  'svc.escalator.authorizerName': text('allowAll', 'Authorizer of what a process does by itself.'),

  'svc.server.insecure': flag(
    'false',
    'Whether a server without an authenticator may listen on another address than that of this machine.',
  ),

  'svc.enablePlaintextPort': flag('true', 'Whether roles listen without TLS.'),
  'svc.enableTlsPort': flag('false', 'Whether roles listen with TLS, on svc.<role>.tlsPort; they then call each other with TLS.'),
  'svc.router.tlsPort': integer(PORT, '9088', 'Port of the Router with TLS.'),
  'svc.coordinator.tlsPort': integer(PORT, '8281', 'Port of the Coordinator with TLS.'),
  'svc.overlord.tlsPort': integer(PORT, '8281', 'Port of the Overlord with TLS; in one process the two may share it.'),
  'svc.broker.tlsPort': integer(PORT, '8282', 'Port of the Broker with TLS.'),
  'svc.historical.tlsPort': integer(PORT, '8283', 'Port of the Historical with TLS.'),
  'svc.middleManager.tlsPort': integer(PORT, '8291', 'Port of the MiddleManager with TLS.'),
  'svc.server.https.keyStorePath': optional(path('', 'Certificate of this process and its private key.', resolve)),
  'svc.server.https.keyStoreType': choice(STORE_TYPES, 'pem', 'Format of that file.'),
  'svc.server.https.keyStorePassword': secret('Password of that file, or of the private key in it.'),
  'svc.server.https.privateKeyPath': optional(
    path('', 'File of the private key, in PEM, when the key store has certificates only.', resolve),
  ),
  'svc.server.https.reloadSslContext': flag('false', 'Whether changed certificates and keys are read again while the server runs.'),
  'svc.server.https.reloadSslContextSeconds': integer({ min: 1, max: 86_400 }, '60', 'Seconds between two looks at these files.'),
  'svc.server.https.requestClientCertificate': flag(
    'false',
    'Whether clients are asked for a certificate; one that is not trusted is refused.',
  ),
  'svc.server.https.requireClientCertificate': flag('false', 'Whether clients without a trusted certificate are refused.'),
  'svc.server.https.trustStorePath': optional(path('', 'Certificates that sign those of clients.', resolve)),
  'svc.server.https.trustStoreType': choice(['pem'], 'pem', 'Format of that file.'),
  'svc.server.https.crlPath': optional(path('', 'Certificates of clients that are revoked, in PEM.', resolve)),
  'svc.server.https.includeCipherSuites': texts('[]', 'Cipher suites to accept, by their OpenSSL names; empty: those of Node.'),
  'svc.client.https.trustStorePath': optional(
    path('', 'Certificates that sign those of the other processes; nothing: those that Node knows.', resolve),
  ),
  'svc.client.https.trustStoreType': choice(['pem'], 'pem', 'Format of that file.'),
  'svc.client.https.keyStorePath': optional(path('', 'Certificate with private key that this process shows to others.', resolve)),
  'svc.client.https.keyStoreType': choice(STORE_TYPES, 'pem', 'Format of that file.'),
  'svc.client.https.keyStorePassword': secret('Password of that file, or of the private key in it.'),
  'svc.client.https.validateHostnames': flag('true', 'Whether the certificate of another process must name its host.'),
};
