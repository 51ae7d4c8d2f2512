// Reads rows of MySQL and MariaDB.

import { createRequire } from 'node:module';
import { onFirstUse } from '../../../base/on-first-use.js';
import { CONNECT_MS, type ConnectOptions, FETCHED_ROWS, type TableColumn, type TableReader, tlsOptions } from './table-reader.js';

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
    await run("SET time_zone = '+00:00'");
    // A statement that commits by itself, such as DROP TABLE, would leave the transaction: what follows must not write either.
    await run('SET SESSION TRANSACTION READ ONLY');
    await run('START TRANSACTION READ ONLY');
  } catch (error) {
    await close();
    throw error;
  }
  return {
    async *rows(statement, described) {
      const query = client.query(statement);
      let fields: readonly Field[] | undefined;
      query.on('fields', (found: readonly Field[] | undefined) => {
        fields = found;
      });
      // Told here, since the client does not get over an error in its own events.
      const describe = (): void => {
        if (fields !== undefined) described?.(fields.map(columnOf));
        fields = undefined;
      };
      const stream = query.stream({ highWaterMark: FETCHED_ROWS });
      const aborted = (): void => {
        stream.destroy(new Error('aborted'));
      };
      signal.addEventListener('abort', aborted, { once: true });
      try {
        let batch: (string | null)[][] = [];
        for await (const row of stream as AsyncIterable<(string | null)[]>) {
          batch.push(row);
          if (batch.length < FETCHED_ROWS) continue;
          describe();
          yield batch;
          batch = [];
        }
        if (broken !== undefined) throw broken;
        describe();
        yield batch;
      } finally {
        signal.removeEventListener('abort', aborted);
      }
    },
    close,
  };
}

/** Description of a column as the server sends it. */
interface Field {
  readonly name: string;
  readonly type?: number;
  readonly columnType?: number;
  readonly columnLength?: number;
  readonly characterSet?: number;
}

const BINARY_CHARACTERS = 63;
const [TINY, BIT] = [1, 16];
const NUMBERS: ReadonlySet<number | undefined> = new Set([0, 1, 2, 3, 4, 5, 8, 9, 13, 246]);
/** Timestamp, date, datetime. */
const TIMES: ReadonlySet<number | undefined> = new Set([7, 10, 12]);
const BLOBS: ReadonlySet<number | undefined> = new Set([249, 250, 251, 252, 253, 254]);

function columnOf({ name, type, columnType = type, columnLength, characterSet }: Field): TableColumn {
  if (columnType === TINY && columnLength === 1) return { name, kind: 'boolean' };
  if (NUMBERS.has(columnType)) return { name, kind: 'number' };
  if (TIMES.has(columnType)) return { name, kind: 'time' };
  if (columnType === BIT || (BLOBS.has(columnType) && characterSet === BINARY_CHARACTERS)) return { name, kind: 'bytes' };
  return { name, kind: 'text' };
}
