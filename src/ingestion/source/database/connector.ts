// Reads who connects to another database, and how.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { type Connection, ConnectionRefusal, parseConnectionUri } from '../../../configuration/connection-uri.js';
import { withoutTrailingDot } from '../../../configuration/network-names.js';
import { parsePassword, passwordText } from '../password.js';
import { connectMysql } from './mysql.js';
import { connectPostgresql } from './postgresql.js';
import type { ConnectOptions, TableReader } from './table-reader.js';

/** Hosts and variables that the rules of the cluster allow. */
export interface ConnectorRules {
  /** Canonical hosts, `*.` before those whose subdomains are meant; empty: every host. */
  readonly allowedHosts: readonly string[];
  /** Variables of the environment that may hold passwords. */
  readonly passwordVariables: readonly string[];
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A `connectorConfig` with its options read. */
export interface Connector {
  readonly connection: Connection;
  readonly user: string;
  /** Asked for at each connection. Throws `forbidden` by the rules. */
  readonly password: (rules: ConnectorRules) => string;
  /** Throws `forbidden` for a host that the rules leave out. */
  readonly check: (rules: ConnectorRules) => void;
}

/** @throws ServiceError that names the field */
export function readConnector(config: ObjectReader): Connector {
  config.accept(['connectURI', 'user', 'password', 'createTables', 'host', 'port', 'dbcp']);
  if (config.has('dbcp')) throw config.unsupported('dbcp', 'there is one connection for each look at the table');
  // It is for the tables of the original's own metadata.
  config.boolean('createTables', true);
  for (const key of ['host', 'port']) if (config.has(key)) throw config.unsupported(key, 'connectURI has the host and the port');
  const connection = connectionOf(config);
  const password = parsePassword(config, 'password');
  const host = withoutTrailingDot(connection.host.toLowerCase());
  const covers = (allowed: string): boolean => (allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed);
  return {
    connection,
    user: config.string('user'),
    password: ({ passwordVariables, environment }) => (password === null ? '' : passwordText(password, passwordVariables, environment)),
    check({ allowedHosts }) {
      if (allowedHosts.length > 0 && !allowedHosts.some(covers))
        throw new ServiceError('forbidden', `${config.at('connectURI')}: the host ${host} is not among svc.access.jdbc.allowedHosts`);
    },
  };
}

/** A connection to the database of a connector. */
export function connectTo(options: ConnectOptions): Promise<TableReader> {
  return options.connection.database === 'mysql' ? connectMysql(options) : connectPostgresql(options);
}

/** The error of a database, which names no password. */
export function databaseError(error: unknown, { host, port, databaseName }: Connection, aborted: string | null): ServiceError {
  if (error instanceof ServiceError) return error;
  const said = error instanceof Error ? error.message : String(error);
  const reason = aborted ?? (said || 'the connection was refused');
  return new ServiceError('input_unreadable', `the database ${databaseName} of ${host}:${port} cannot be read: ${reason}`, error);
}

function connectionOf(config: ObjectReader): Connection {
  try {
    return parseConnectionUri(config.string('connectURI'));
  } catch (error) {
    if (error instanceof ConnectionRefusal) throw config.invalid('connectURI', error.message);
    throw error;
  }
}
