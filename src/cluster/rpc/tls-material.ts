// Reads the certificates and keys of TLS, of our own ports and of calls to other processes.

import { readFileSync, statSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls';
import { ServiceError } from '../../base/errors.js';
import type { Configuration } from '../../configuration/configuration.js';
import type { ClientTls } from './http-client.js';

type StoreType = 'pem' | 'pkcs12';

/** A certificate with its private key. */
export type KeyStore = Pick<SecureContextOptions, 'cert' | 'key' | 'pfx' | 'passphrase'>;

/**
 * TLS of our ports; undefined: there is none.
 * @throws ServiceError `input_invalid` naming the property whose file cannot be read, or does not fit
 */
export function serverTls(configuration: Configuration): TlsOptions | undefined {
  if (!configuration.get('svc.enableTlsPort')) return undefined;
  const keys = serverKeys(configuration);
  const trust = configuration.get('svc.server.https.trustStorePath');
  const ciphers = configuration.get('svc.server.https.includeCipherSuites').join(':');
  const revoked = configuration.get('svc.server.https.crlPath');
  const requires = configuration.get('svc.server.https.requireClientCertificate');
  const requests = requires || configuration.get('svc.server.https.requestClientCertificate');
  if (requests && trust === null)
    throw new ServiceError(
      'input_invalid',
      'property svc.server.https.trustStorePath: found nothing, expected certificates that sign those of clients',
    );
  const options: TlsOptions = {
    ...keys,
    minVersion: 'TLSv1.2',
    ...(ciphers === '' ? {} : { ciphers }),
    ...(trust === null ? {} : { ca: read('svc.server.https.trustStorePath', trust) }),
    ...(revoked === null ? {} : { crl: read('svc.server.https.crlPath', revoked) }),
    requestCert: requests,
    rejectUnauthorized: requires,
  };
  check('svc.server.https.keyStorePath', options);
  return options;
}

/** TLS of calls to other processes; undefined: they are called without. @throws ServiceError `input_invalid`, as above */
export function clientTls(configuration: Configuration): ClientTls | undefined {
  if (!configuration.get('svc.enableTlsPort')) return undefined;
  const [trust, store] = [configuration.get('svc.client.https.trustStorePath'), configuration.get('svc.client.https.keyStorePath')];
  const type = configuration.get('svc.client.https.keyStoreType');
  const options: ClientTls = {
    ...(trust === null ? {} : { ca: read('svc.client.https.trustStorePath', trust) }),
    ...(store === null
      ? {}
      : keyStore('svc.client.https.keyStorePath', store, type, configuration.get('svc.client.https.keyStorePassword'))),
    ...(configuration.get('svc.client.https.validateHostnames') ? {} : { checkServerIdentity: () => undefined }),
  };
  check('svc.client.https.keyStorePath', options);
  return options;
}

export function serverKeys(configuration: Configuration): KeyStore {
  const name = 'svc.server.https.keyStorePath';
  const path = configuration.get(name);
  if (path === null)
    throw new ServiceError(
      'input_invalid',
      `property ${name}: found nothing, expected a certificate with its key, as svc.enableTlsPort is true`,
    );
  const store = keyStore(
    name,
    path,
    configuration.get('svc.server.https.keyStoreType'),
    configuration.get('svc.server.https.keyStorePassword'),
  );
  const privateKey = configuration.get('svc.server.https.privateKeyPath');
  return privateKey === null ? store : { ...store, key: read('svc.server.https.privateKeyPath', privateKey) };
}

/** Times and sizes of the files of our ports: others after a change. */
export function serverFilesState(configuration: Configuration): string {
  const names = [
    'svc.server.https.keyStorePath',
    'svc.server.https.privateKeyPath',
    'svc.server.https.trustStorePath',
    'svc.server.https.crlPath',
  ] as const;
  return names
    .map((name) => {
      const path = configuration.get(name);
      if (path === null) return '';
      const { mtimeMs, size, ino } = statSync(path);
      return `${mtimeMs} ${size} ${ino}`;
    })
    .join(',');
}

/** A PEM file has certificates and key one after the other. */
function keyStore(property: string, path: string, type: StoreType, passphrase: string): KeyStore {
  const bytes = read(property, path);
  const secret = passphrase === '' ? {} : { passphrase };
  return type === 'pem' ? { cert: bytes, key: bytes, ...secret } : { pfx: bytes, ...secret };
}

function read(property: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ServiceError('input_invalid', `property ${property}: ${path} cannot be read: ${messageOf(error)}`, error);
  }
}

/** Errors of files that do not fit come at the start, and at a renewal before anything is replaced. */
function check(property: string, options: SecureContextOptions): void {
  try {
    createSecureContext(options);
  } catch (error) {
    throw new ServiceError(
      'input_invalid',
      `property ${property}: the file, its password or those beside it do not fit: ${messageOf(error)}`,
      error,
    );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
