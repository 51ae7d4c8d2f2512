// Interface of a database of metadata, and SQLite: connection, statements, transactions.

import { chmod, open, stat } from 'node:fs/promises';
import sqlite3 from 'sqlite3';
import { ServiceError } from '../base/errors.js';
import { MetadataFaults } from './faults.js';

/** Statements with `?` placeholders, run in order on one connection. */
export interface Queries {
  /** Rows of a SELECT or of a statement with RETURNING; none for the others. `Row` is what the statement names. */
  rows<Row extends object>(sql: string, bindings?: readonly Binding[]): Promise<readonly Row[]>;
  /** Stored documents that could not be read on this connection; one list for the database and its transactions. */
  readonly faults: MetadataFaults;
}

export type Binding = string | number | null;

/** Placeholders of an IN list; an empty list has no value in it. */
export const placeholders = (values: readonly unknown[]): string => (values.length === 0 ? 'NULL' : values.map(() => '?').join(', '));

/** Condition that a column has one of any number of strings, which are one binding: a statement takes some 32,000. */
export const isAmong = (column: string, values: readonly string[]): { readonly condition: string; readonly binding: Binding } => ({
  condition: `${column} IN (SELECT value FROM json_each(?))`,
  binding: JSON.stringify(values),
});

/**
 * The relational store behind metadata: SQLite here, PostgreSQL in `postgresql/`. Statements keep to the dialect both
 * share (`ON CONFLICT`, `RETURNING`, no functions of their own but that of `isAmong`); instants are epoch milliseconds, documents JSON text.
 */
export interface Database extends Queries {
  /** A statement of a migration, which is written for SQLite, in the words of this database. */
  schemaStatement(sql: string): string;
  /** Statement after which a column counts on from its largest number; null: it does so by itself. */
  counterStatement(table: string, column: string): string | null;
  /** False: somebody else makes the tables; a store without them is refused. */
  readonly createsTables: boolean;
  /**
   * Runs `work` in one transaction that holds the write lock from its first statement on; rolls back when it throws.
   * `work` must use the queries it is given: the database itself waits for the transaction to end.
   */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Time a statement waits for another process to finish writing. */
const BUSY_TIMEOUT_MS = 15_000;

const CONNECTION_SETTINGS = `
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
`;

/** Opens (and creates) the file, for its owner alone; several processes of one machine may share it. */
export async function openSqlite(file: string): Promise<Database> {
  await keepPrivate(file);
  const connection = await connect(file);
  const call = <Result>(ask: (done: Done<Result>) => void): Promise<Result> =>
    new Promise((resolve, reject) => ask((error, result) => (error === null ? resolve(result) : reject(error))));
  const rows = <Row extends object>(sql: string, bindings: readonly Binding[] = []): Promise<readonly Row[]> =>
    call<readonly Row[]>((done) => connection.all(sql, bindings, done));
  const close = (): Promise<void> => call<void>((done) => connection.close((error) => done(error, undefined)));
  try {
    await call<void>((done) => connection.exec(CONNECTION_SETTINGS, done));
  } catch (error) {
    await close();
    throw error;
  }

  // There is one connection, so a statement sent during a transaction would become part of it.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  // The same goes for a transaction that failed and could not be rolled back: nothing is asked before it is.
  let mustRollBack = false;
  const rollBack = async (): Promise<void> => {
    mustRollBack = true;
    await rows('ROLLBACK').catch((error: { readonly code?: unknown }) => {
      // Some failures, a full disk for one, have ended the transaction already.
      if (error.code !== NO_TRANSACTION)
        throw new ServiceError('internal', `metadata: a transaction cannot be rolled back: ${error}`, error);
    });
    mustRollBack = false;
  };
  const inOwnTurn = <Result>(work: () => Promise<Result>): Promise<Result> =>
    inTurn(async () => {
      if (mustRollBack) await rollBack();
      return work();
    });
  const faults = new MetadataFaults();
  return {
    faults,
    schemaStatement: (sql) => sql,
    counterStatement: () => null,
    createsTables: true,
    rows: (sql, bindings) => inOwnTurn(() => rows(sql, bindings)),
    transaction: (work) =>
      inOwnTurn(async () => {
        // A transaction that read first and took the write lock later would fail when another process wrote in between.
        await rows('BEGIN IMMEDIATE');
        try {
          const result = await work({ rows, faults });
          await rows('COMMIT');
          return result;
        } catch (error) {
          // When that fails as well, the next statement tries again, and says why it cannot be.
          await rollBack().catch(() => undefined);
          throw error;
        }
      }),
    close: () => inTurn(close),
  };
}

/** SQLite's code for a ROLLBACK without a transaction, its only reason to refuse one. */
const NO_TRANSACTION = 'SQLITE_ERROR';

/** Callback of the driver. */
type Done<Result> = (error: Error | null, result: Result) => void;

/** Rights that users beside the owner and the group have. */
const RIGHTS_OF_OTHERS = 0o007;

/**
 * Makes the file for its owner alone, or takes away what all users may do with one that is there: it holds the key of the cluster, and
 * salted hashes of passwords. SQLite gives the files beside it (`-wal`, `-shm`) the rights of the file itself.
 */
async function keepPrivate(file: string): Promise<void> {
  // Why a file cannot be opened is for SQLite to say.
  await open(file, 'a', 0o600).then(
    (made) => made.close(),
    () => undefined,
  );
  for (const each of [file, `${file}-wal`, `${file}-shm`]) {
    const found = await stat(each).catch(() => null);
    if (found === null || (found.mode & RIGHTS_OF_OTHERS) === 0 || found.uid !== process.getuid?.()) continue;
    await chmod(each, found.mode & 0o777 & ~RIGHTS_OF_OTHERS);
  }
}

function connect(file: string): Promise<sqlite3.Database> {
  return new Promise((resolve, reject) => {
    const connection = new sqlite3.Database(file, (error) => (error === null ? resolve(connection) : reject(error)));
  });
}
