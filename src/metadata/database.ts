import knex from 'knex';

/** Statements with `?` placeholders, run in order on one connection. */
export interface Queries {
  /** Rows of a SELECT or of a statement with RETURNING; none for the others. `Row` is what the statement names. */
  rows<Row extends object>(sql: string, bindings?: readonly Binding[]): Promise<readonly Row[]>;
}

export type Binding = string | number | null;

/**
 * The relational store behind metadata: SQLite here, PostgreSQL later. Statements, those of migrations apart, keep to
 * the dialect both share (`ON CONFLICT`, `RETURNING`, no functions of their own); instants are epoch milliseconds,
 * documents JSON text.
 */
export interface Database extends Queries {
  /**
   * Runs `work` in one transaction that holds the write lock from its first statement on; rolls back when it throws.
   * `work` must use the queries it is given: the database itself waits for the transaction to end.
   */
  transaction<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** How long a statement waits for another process to finish writing. */
const BUSY_TIMEOUT_MS = 15_000;

/**
 * SQLite's BEGIN takes no lock, and a transaction that reads first and writes later fails when another process wrote
 * in between. Writing this row first makes every transaction queue for the write lock before it reads anything.
 */
const WRITE_GATE = 'UPDATE write_gate SET turn = turn + 1';

const CONNECTION_SETTINGS = `
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA foreign_keys = ON;
`;

interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
}

/** Opens (and creates) the file; several processes of one machine may share it. */
export async function openSqlite(file: string): Promise<Database> {
  const client = knex({
    client: 'sqlite3',
    connection: { filename: file },
    useNullAsDefault: true,
    pool: {
      min: 1,
      max: 1,
      afterCreate: (connection: SqliteConnection, done: (error: Error | null, connection: SqliteConnection) => void) =>
        connection.exec(CONNECTION_SETTINGS, (error) => done(error, connection)),
    },
  });
  const rows = async <Row extends object>(runner: RawRunner, sql: string, bindings: readonly Binding[]): Promise<readonly Row[]> =>
    (await runner.raw(sql, bindings)) as readonly Row[];

  await client.raw('CREATE TABLE IF NOT EXISTS write_gate (turn INTEGER NOT NULL)');
  await client.raw('INSERT INTO write_gate SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM write_gate)');
  return {
    rows: (sql, bindings = []) => rows(client, sql, bindings),
    transaction: (work) =>
      client.transaction(async (transaction) => {
        await transaction.raw(WRITE_GATE);
        return work({ rows: (sql, bindings = []) => rows(transaction, sql, bindings) });
      }),
    close: () => client.destroy(),
  };
}

interface RawRunner {
  raw(sql: string, bindings: readonly Binding[]): PromiseLike<unknown>;
}
