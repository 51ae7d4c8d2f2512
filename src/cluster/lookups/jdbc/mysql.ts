// Reads rows of MySQL and MariaDB.

import { createRequire } from 'node:module';
import { onFirstUse } from '../../../base/on-first-use.js';
import { CONNECT_MS, type ConnectOptions, FETCHED_ROWS, type TableReader, tlsOptions } from './table-reader.js';

const library = onFirstUse(() => createRequire(import.meta.url)('mysql2') as typeof import('mysql2'));

/** A connection that sends single statements, in a transaction that cannot write, and no file of this machine. */
export async function connectMysql({ connection, user, password, signal }: ConnectOptions): Promise<TableReader> {
  const tls = tlsOptions(connection);
  signal.throwIfAborted();
  const client = library().createConnection({
    host: connection.host,
    port: connection.port,
    database: connection.databaseName,
    user,
    password,
    ...(tls === undefined ? {} : { ssl: { ...tls, verifyIdentity: connection.tls === 'verified' } }),
    connectTimeout: CONNECT_MS,
    multipleStatements: false,
    flags: ['-LOCAL_FILES'],
    rowsAsArray: true,
    typeCast: (field) => field.string(),
    charset: 'utf8mb4',
  });
  const abort = (): void => client.destroy();
  signal.addEventListener('abort', abort, { once: true });
  let broken: Error | undefined;
  client.on('error', (error: Error) => {
    broken = error;
  });
  const run = (statement: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const aborted = (): void => reject(new Error('aborted'));
      signal.addEventListener('abort', aborted, { once: true });
      client.query(statement, (error: Error | null) => {
        signal.removeEventListener('abort', aborted);
        if (error === null) resolve();
        else reject(error);
      });
    });
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', abort);
    client.destroy();
  };
  try {
    await run('START TRANSACTION READ ONLY');
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async *rows(statement) {
      const stream = client.query(statement).stream({ highWaterMark: FETCHED_ROWS });
      const aborted = (): void => {
        stream.destroy(new Error('aborted'));
      };
      signal.addEventListener('abort', aborted, { once: true });
      try {
        let batch: (string | null)[][] = [];
        for await (const row of stream as AsyncIterable<(string | null)[]>) {
          batch.push(row);
          if (batch.length < FETCHED_ROWS) continue;
          yield batch;
          batch = [];
        }
        if (broken !== undefined) throw broken;
        yield batch;
      } finally {
        signal.removeEventListener('abort', aborted);
      }
    },
    close,
  };
}
