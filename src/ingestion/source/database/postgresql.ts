// Reads rows of PostgreSQL.

import { Socket } from 'node:net';
import { postgresqlDriver } from '../../../metadata/postgresql/driver.js';
import { CONNECT_MS, type ConnectOptions, FETCHED_ROWS, type TableColumn, type TableReader, tlsOptions } from './table-reader.js';

const LATER_MS = 1000;

/** Kinds by the numbers of types (`pg_type`). */
const KINDS: ReadonlyMap<number, TableColumn['kind']> = new Map([
  [16, 'boolean'],
  [17, 'bytes'],
  [20, 'number'],
  [21, 'number'],
  [23, 'number'],
  [26, 'number'],
  [700, 'number'],
  [701, 'number'],
  [1082, 'time'],
  [1114, 'time'],
  [1184, 'time'],
  [1700, 'number'],
]);

/** A connection whose statements run in one transaction that cannot write. */
export async function connectPostgresql({ connection, user, password, timeoutMs, signal }: ConnectOptions): Promise<TableReader> {
  const { Client } = postgresqlDriver();
  const socket = new Socket();
  // Every option is given: what is left out comes from the environment of the process.
  const client = new Client({
    host: connection.host,
    port: connection.port,
    database: connection.databaseName,
    user,
    password: () => password,
    ssl: tlsOptions(connection) ?? false,
    stream: () => socket,
    connectionTimeoutMillis: CONNECT_MS,
    // A backend whose client is gone runs on, and holds its locks.
    statement_timeout: timeoutMs + LATER_MS,
    application_name: 'dolmen',
    options: '',
    types: { getTypeParser: () => (text: string) => text },
  });
  const abort = (): void => {
    socket.destroy(new Error('aborted'));
  };
  signal.addEventListener('abort', abort, { once: true });
  // A connection that breaks between two statements is told by the next one.
  client.on('error', () => undefined);
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', abort);
    await client.end().catch(() => undefined);
    socket.destroy();
  };
  try {
    signal.throwIfAborted();
    await client.connect();
    await client.query('BEGIN READ ONLY');
    // The text of times is the same, whatever the settings of the server.
    await client.query("SET LOCAL datestyle = 'ISO'");
    await client.query("SET LOCAL timezone = 'UTC'");
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async *rows(statement, described) {
      // One statement alone can follow this.
      await client.query({ text: `DECLARE lookup NO SCROLL CURSOR FOR ${statement}`, values: [], queryMode: 'extended' } as {
        text: string;
      });
      let isFirst = true;
      for (;;) {
        const { rows, fields } = await client.query<(string | null)[]>({ text: `FETCH ${FETCHED_ROWS} FROM lookup`, rowMode: 'array' });
        if (isFirst) described?.(fields.map(({ name, dataTypeID }) => ({ name, kind: KINDS.get(dataTypeID) ?? 'text' })));
        isFirst = false;
        if (rows.length > 0) yield rows;
        if (rows.length < FETCHED_ROWS) break;
      }
      await client.query('CLOSE lookup');
    },
    close,
  };
}
