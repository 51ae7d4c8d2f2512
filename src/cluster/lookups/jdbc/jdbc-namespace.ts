// Lookups whose entries are rows of a table of another database.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { withoutTrailingDot } from '../../../configuration/network-names.js';
import { parsePassword, passwordText } from '../../../ingestion/source/password.js';
import type { Entry, LookupSettings, LookupSource } from '../lookup-source.js';
import { readHeapPercentage, readPollMs } from '../poll-options.js';
import { type Connection, ConnectionRefusal, parseConnectionUri } from './connection-uri.js';
import { connectMysql } from './mysql.js';
import { connectPostgresql } from './postgresql.js';
import type { TableReader } from './table-reader.js';

const LOAD_SECONDS = 120;

/** A name or several with points between them, quoted or not, as it stands in a statement. */
const NAMES = {
  postgresql: /^(?:[a-z_][\w$]*|"[^"\0]+")(?:\.(?:[a-z_][\w$]*|"[^"\0]+"))*$/i,
  mysql: /^(?:[a-z_][\w$]*|`[^`\0]+`)(?:\.(?:[a-z_][\w$]*|`[^`\0]+`))*$/i,
};

/** The namespace `jdbc`: all rows of a table, read again when the newest `tsColumn` has changed or always. */
export function jdbcNamespace(reader: ObjectReader, settings: LookupSettings): LookupSource {
  reader.accept([
    'connectorConfig',
    'table',
    'keyColumn',
    'valueColumn',
    'filter',
    'tsColumn',
    'pollPeriod',
    'jitterSeconds',
    'loadTimeoutSeconds',
    'maxHeapPercentage',
  ]);
  const config = reader.object('connectorConfig');
  const { connection, user, password } = readConnector(config, settings);
  const name = (key: string): string => {
    const written = reader.string(key);
    if (!NAMES[connection.database].test(written)) throw reader.invalid(key, `expected a name, found ${JSON.stringify(written)}`);
    return written;
  };
  const [table, key, value] = [name('table'), name('keyColumn'), name('valueColumn')];
  const time = reader.has('tsColumn') ? name('tsColumn') : null;
  const filter = reader.optionalString('filter') ?? '';
  const condition = filter.trim() === '' ? '' : `(${filter}\n) AND `;
  const timeoutMs = (reader.optionalInteger('loadTimeoutSeconds', 0, 86_400) || LOAD_SECONDS) * 1000;
  const entries = `SELECT ${key}, ${value} FROM ${table} WHERE ${condition}${value} IS NOT NULL`;
  return {
    isInline: false,
    pollMs: readPollMs(reader),
    jitterMs: (reader.optionalInteger('jitterSeconds', 0, 86_400) ?? 0) * 1000,
    timeoutMs,
    maxHeapPercentage: readHeapPercentage(reader),
    async read(known, signal) {
      const fail = failure(connection, signal);
      const connect = connection.database === 'mysql' ? connectMysql : connectPostgresql;
      let database: TableReader | undefined;
      try {
        database = await connect({ connection, user, password: password(), timeoutMs, signal });
        const newest = time === null ? null : await firstValue(database, `SELECT MAX(${time}) FROM ${table}`);
        if (newest !== null && newest === known) {
          await database.close();
          return null;
        }
        const version = newest ?? new Date(settings.now()).toISOString();
        return { version, batches: batchesOf(database, entries, fail) };
      } catch (error) {
        await database?.close();
        throw fail(error);
      }
    },
  };
}

async function firstValue(database: TableReader, statement: string): Promise<string | null> {
  let first: string | null = null;
  for await (const rows of database.rows(statement)) first ??= rows[0]?.[0] ?? null;
  return first;
}

async function* batchesOf(
  database: TableReader,
  statement: string,
  fail: (error: unknown) => ServiceError,
): AsyncGenerator<readonly Entry[]> {
  try {
    for await (const rows of database.rows(statement)) yield rows.map(entryOf);
  } catch (error) {
    throw fail(error);
  } finally {
    await database.close();
  }
}

function entryOf([key = null, value = null]: readonly (string | null)[]): Entry {
  if (key === null || value === null) throw new ServiceError('input_unreadable', 'a row has no key, a null');
  return [key, value];
}

/** The errors of a database, which name no password. */
function failure({ host, port, databaseName }: Connection, signal: AbortSignal): (error: unknown) => ServiceError {
  return (error) => {
    if (error instanceof ServiceError) return error;
    const said = error instanceof Error ? error.message : String(error);
    const reason = signal.aborted ? 'it took longer than loadTimeoutSeconds' : said || 'the connection was refused';
    return new ServiceError('input_unreadable', `the database ${databaseName} of ${host}:${port} cannot be read: ${reason}`, error);
  };
}

interface Connector {
  readonly connection: Connection;
  readonly user: string;
  /** Asked for at each connection. */
  readonly password: () => string;
}

function readConnector(config: ObjectReader, settings: LookupSettings): Connector {
  config.accept(['connectURI', 'user', 'password', 'createTables', 'host', 'port', 'dbcp']);
  if (config.has('dbcp')) throw config.unsupported('dbcp', 'there is one connection for each look at the table');
  // It is for the tables of the original's own metadata.
  config.boolean('createTables', true);
  for (const key of ['host', 'port']) if (config.has(key)) throw config.unsupported(key, 'connectURI has the host and the port');
  const connection = connectionOf(config);
  const host = withoutTrailingDot(connection.host.toLowerCase());
  const { jdbcHosts } = settings;
  const covers = (allowed: string): boolean => (allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed);
  if (jdbcHosts.length > 0 && !jdbcHosts.some(covers))
    throw new ServiceError('forbidden', `${config.at('connectURI')}: the host ${host} is not among svc.access.jdbc.allowedHosts`);
  return { connection, user: config.string('user'), password: passwordOf(config, settings) };
}

function connectionOf(config: ObjectReader): Connection {
  try {
    return parseConnectionUri(config.string('connectURI'));
  } catch (error) {
    if (error instanceof ConnectionRefusal) throw config.invalid('connectURI', error.message);
    throw error;
  }
}

/** Variables of the environment are bounded as those of input sources are: they would be sent to a host of whoever configures lookups. */
function passwordOf(config: ObjectReader, { sourceLimits, environment }: LookupSettings): () => string {
  const password = parsePassword(config, 'password');
  return () => (password === null ? '' : passwordText(password, sourceLimits.http.passwordVariables ?? [], environment));
}
