// The PostgreSQL database of metadata: transactions one after the other, reads beside them, lost connections made again.

import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../../base/errors.js';
import type { Binding, Database, Queries } from '../database.js';
import { MetadataFaults } from '../faults.js';
import { connectPostgresql, type PostgresqlConnection, type PostgresqlSettings, quoteName } from './connection.js';
import { counterStatement, isRead, schemaStatement } from './dialect.js';

/** Number of the advisory lock that every transaction holds, beside one for the schema. */
export const WRITE_LOCK = 1_146_047_557;

/** Time that a lost connection is tried to be made again before a statement fails. */
const RETRY_MS = 5000;
const PAUSE_MS = 100;
/** Time that a transaction waits for those of other processes. */
const LOCK_MS = 15_000;
const READERS_MAX = 4;

/** A place for one connection, which is made when it is first needed and again when it was lost. */
class Seat {
  readonly #connect: () => Promise<PostgresqlConnection>;
  #connection: PostgresqlConnection | undefined;

  constructor(connect: () => Promise<PostgresqlConnection>) {
    this.#connect = connect;
  }

  async connection(): Promise<PostgresqlConnection> {
    if (this.#connection?.isLost === false) return this.#connection;
    await this.#connection?.close();
    this.#connection = undefined;
    this.#connection = await this.#connect();
    return this.#connection;
  }

  /** A failed transaction that cannot be rolled back ends with its connection. */
  async close(): Promise<void> {
    await this.#connection?.close();
    this.#connection = undefined;
  }
}

/**
 * Runs what can be repeated until it succeeds, fails for good, or the server is away for too long.
 * @throws ServiceError `unavailable`
 */
async function persist<Result>(work: () => Promise<Result>): Promise<Result> {
  const untilMs = performance.now() + RETRY_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'unavailable' || performance.now() > untilMs) throw error;
      await sleep(PAUSE_MS);
    }
  }
}

/** Opens the database and makes its schema when there is none; any number of processes on any machines may share it. */
export async function openPostgresql(settings: PostgresqlSettings): Promise<Database> {
  let isClosed = false;
  const connect = async (): Promise<PostgresqlConnection> => {
    const refuse = (): never => {
      throw new ServiceError('internal', 'metadata: the database is closed');
    };
    if (isClosed) refuse();
    const connection = await connectPostgresql(settings);
    // Closed meanwhile: nobody would close this one any more.
    if (isClosed) await connection.close().then(refuse);
    return connection;
  };
  const faults = new MetadataFaults();
  const writer = new Seat(connect);
  const readers = Array.from({ length: READERS_MAX }, () => new Seat(connect));
  const free = [...readers];
  const waiting: ((seat: Seat) => void)[] = [];

  const read = async <Row extends object>(sql: string, bindings: readonly Binding[]): Promise<readonly Row[]> => {
    const seat = free.pop() ?? (await new Promise<Seat>((resolve) => waiting.push(resolve)));
    try {
      return await persist(async () => (await seat.connection()).rows<Row>(sql, bindings));
    } finally {
      const next = waiting.shift();
      if (next === undefined) free.push(seat);
      else next(seat);
    }
  };

  // There is one connection for transactions, so they follow one another.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };

  /** A transaction that holds the write lock. Only its beginning is repeated: work may have done more than ask the database. */
  const begin = (): Promise<PostgresqlConnection> =>
    persist(async () => {
      const connection = await writer.connection();
      try {
        // Each statement sees what was committed before it: after the lock, all that others have written.
        await connection.rows('BEGIN ISOLATION LEVEL READ COMMITTED');
        await connection.rows(`SET LOCAL lock_timeout = ${LOCK_MS}`);
        await connection.rows('SELECT pg_advisory_xact_lock(?, hashtext(?))', [WRITE_LOCK, settings.schema]);
        await connection.rows('SET LOCAL lock_timeout = 0');
        return connection;
      } catch (error) {
        await writer.close();
        throw error;
      }
    });

  const transact = <Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> =>
    inTurn(async () => {
      const connection = await begin();
      try {
        const result = await work({ rows: (sql, bindings) => connection.rows(sql, bindings), faults });
        await connection.commit();
        return result;
      } catch (error) {
        // A connection that cannot say that it has rolled back is given up, at once, as others wait for its lock; the server rolls back.
        if (connection.isLost) await writer.close();
        else await connection.rows('ROLLBACK').catch(() => writer.close());
        throw error;
      }
    });

  const database: Database = {
    faults,
    schemaStatement,
    counterStatement,
    createsTables: settings.createsTables,
    rows: (sql, bindings = []) => (isRead(sql) ? read(sql, bindings) : transact((queries) => queries.rows(sql, bindings))),
    transaction: transact,
    close: () =>
      inTurn(async () => {
        if (isClosed) return;
        isClosed = true;
        await Promise.all([writer, ...readers].map((seat) => seat.close()));
      }),
  };
  try {
    const connection = await persist(() => writer.connection());
    const present = await connection.rows('SELECT 1 AS present FROM pg_namespace WHERE nspname = ?', [settings.schema]);
    if (present.length === 0 && !settings.createsTables)
      throw new ServiceError('unsupported', `metadata: there is no schema ${settings.schema} in the database ${settings.databaseName}`);
    // In a transaction, for its lock: two processes that make it at once would both find none, and one of them fail.
    if (present.length === 0) await database.rows(`CREATE SCHEMA IF NOT EXISTS ${quoteName(settings.schema)}`);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}
