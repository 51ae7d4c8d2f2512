// Lookups whose entries are rows of a table of another database.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { connectTo, databaseError, readConnector } from '../../ingestion/source/database/connector.js';
import type { TableReader } from '../../ingestion/source/database/table-reader.js';
import type { Entry, LookupSettings, LookupSource } from './lookup-source.js';
import { readHeapPercentage, readPollMs } from './poll-options.js';

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
  const { connection, user, password, check } = readConnector(config);
  const { jdbcHosts: allowedHosts, sourceLimits, environment } = settings;
  // Variables are bounded as those of input sources are: they would be sent to a host of whoever configures lookups.
  const rules = { allowedHosts, passwordVariables: sourceLimits.http.passwordVariables ?? [], environment };
  check(rules);
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
    goesOn: false,
    pollMs: readPollMs(reader),
    jitterMs: (reader.optionalInteger('jitterSeconds', 0, 86_400) ?? 0) * 1000,
    timeoutMs,
    maxHeapPercentage: readHeapPercentage(reader),
    async read(known, signal) {
      const fail = (error: unknown): ServiceError =>
        databaseError(error, connection, signal.aborted ? 'it took longer than loadTimeoutSeconds' : null);
      let database: TableReader | undefined;
      try {
        database = await connectTo({ connection, user, password: password(rules), timeoutMs, signal });
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
