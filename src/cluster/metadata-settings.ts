// Address and account of the metadata store, by the configuration.

import { ServiceError } from '../base/errors.js';
import type { Configuration } from '../configuration/configuration.js';
import { type Connection, ConnectionRefusal, parseConnectionUri } from '../configuration/connection-uri.js';
import type { MetadataSettings } from '../metadata/open-database.js';
import type { PostgresqlTls } from '../metadata/postgresql/connection.js';
import { applicationName } from './membership/postgresql-store.js';

const CONNECTOR = 'svc.metadata.storage.connector';

/**
 * @param session  of this process: the server lists its connections under it
 * @throws ServiceError `input_invalid` naming the property
 */
export function metadataSettings(configuration: Configuration, session: string): MetadataSettings {
  if (configuration.get('svc.metadata.storage.type') === 'sqlite') return { type: 'sqlite', file: configuration.get('svc.metadata.file') };
  const { host, port, databaseName, tls } = addressOf(configuration);
  const user = configuration.get(`${CONNECTOR}.user`);
  if (user === '') throw new ServiceError('input_invalid', `property ${CONNECTOR}.user: found nothing, expected a user of PostgreSQL`);
  return {
    type: 'postgresql',
    postgresql: {
      host,
      port,
      databaseName,
      user,
      password: configuration.get(`${CONNECTOR}.password`),
      schema: configuration.get('svc.metadata.postgres.dbTableSchema'),
      tls: tlsOf(configuration, tls),
      createsTables: configuration.get(`${CONNECTOR}.createTables`),
      applicationName: applicationName(session),
    },
  };
}

const DEFAULT_DATABASE = 'dolmen';
const DEFAULT_PORT = 5432;

function addressOf(configuration: Configuration): Connection {
  const written = configuration.get(`${CONNECTOR}.connectURI`);
  const host = configuration.get(`${CONNECTOR}.host`);
  const port = configuration.get(`${CONNECTOR}.port`);
  if (written === '') {
    if (host === null)
      throw new ServiceError(
        'input_invalid',
        `property ${CONNECTOR}.connectURI: found nothing, expected jdbc:postgresql://host:port/database`,
      );
    return { database: 'postgresql', host, port: port ?? DEFAULT_PORT, databaseName: DEFAULT_DATABASE, tls: 'off' };
  }
  if (host !== null || port !== null)
    throw new ServiceError(
      'input_invalid',
      `property ${CONNECTOR}.${host === null ? 'port' : 'host'}: ${CONNECTOR}.connectURI has the host and the port; expected one of both`,
    );
  try {
    const connection = parseConnectionUri(written);
    if (connection.database === 'postgresql') return connection;
    throw new ConnectionRefusal('expected jdbc:postgresql://host:port/database');
  } catch (error) {
    if (error instanceof ConnectionRefusal) throw new ServiceError('input_invalid', `property ${CONNECTOR}.connectURI: ${error.message}`);
    throw error;
  }
}

const MODES = { disable: 'off', require: 'encrypted', 'verify-ca': 'trusted', 'verify-full': 'verified' } as const;

/** The URI and the properties may both ask for TLS; they must not disagree. */
function tlsOf(configuration: Configuration, ofUri: Connection['tls']): PostgresqlTls | null {
  const written = configuration.get('svc.metadata.postgres.ssl.sslMode');
  const usesTls = configuration.get('svc.metadata.postgres.ssl.useSSL');
  const ofProperties = written === null ? (usesTls ? 'verified' : null) : MODES[written];
  if (usesTls && ofProperties === 'off')
    throw new ServiceError('input_invalid', "property svc.metadata.postgres.ssl.sslMode: found 'disable', but useSSL is true");
  if (ofProperties !== null && ofUri !== 'off' && ofProperties !== ofUri)
    throw new ServiceError(
      'input_invalid',
      `property ${CONNECTOR}.connectURI: its properties and svc.metadata.postgres.ssl.* disagree on TLS`,
    );
  const mode = ofUri === 'off' ? (ofProperties ?? 'off') : ofUri;
  if (mode === 'off') return null;
  return {
    mode,
    rootCertificate: configuration.get('svc.metadata.postgres.ssl.sslRootCert'),
    certificate: configuration.get('svc.metadata.postgres.ssl.sslCert'),
    key: configuration.get('svc.metadata.postgres.ssl.sslKey'),
    keyPassword: configuration.get('svc.metadata.postgres.ssl.sslPassword'),
  };
}
