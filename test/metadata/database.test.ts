import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Database, openSqlite } from '../../src/metadata/database.js';
import { migrate } from '../../src/metadata/migrations.js';

interface Context {
  file: string;
  folder: string;
  database: Database;
}

const databases = suite<Context>('database');

databases.before.each(async (context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-database-'));
  context.file = join(context.folder, 'metadata.sqlite');
  context.database = await openSqlite(context.file);
  await context.database.rows('CREATE TABLE numbers (value INTEGER NOT NULL)');
});
databases.after.each(async ({ database, folder }) => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

const INSERT = 'INSERT INTO numbers VALUES (?) RETURNING value';
const values = async (database: Pick<Database, 'rows'>): Promise<number[]> =>
  (await database.rows<{ value: number }>('SELECT value FROM numbers ORDER BY value')).map(({ value }) => value);

databases('rows come back of SELECT and RETURNING, none of the others', async ({ database }) => {
  assert.equal(await database.rows(INSERT, [7]), [{ value: 7 }]);
  assert.equal(await database.rows('UPDATE numbers SET value = 8'), []);
  assert.equal(await values(database), [8]);
});

databases('a transaction whose work throws leaves nothing behind, and the next begins', async ({ database }) => {
  const failure = new Error('changed our mind');
  const ended: unknown = await database
    .transaction(async (queries) => {
      await queries.rows(INSERT, [1]);
      throw failure;
    })
    .catch((error: unknown) => error);
  assert.is(ended, failure);
  assert.is(await database.transaction(async (queries) => (await queries.rows(INSERT, [2])).length), 1);
  assert.equal(await values(database), [2]);
});

databases('a statement that fails says what SQLite says, and undoes its transaction', async ({ database }) => {
  const ended: unknown = await database
    .transaction(async (queries) => {
      await queries.rows(INSERT, [1]);
      await queries.rows('INSERT INTO nowhere VALUES (1)');
    })
    .catch((error: unknown) => error);
  assert.match(String(ended), /no such table: nowhere/);
  assert.equal(await values(database), []);
});

databases('statements sent during a transaction wait for its end', async ({ database }) => {
  const order: string[] = [];
  const transaction = database.transaction(async (queries) => {
    await queries.rows(INSERT, [1]);
    await new Promise((done) => setTimeout(done, 20));
    assert.equal(await values(queries), [1]);
    order.push('transaction');
  });
  const after = database.rows(INSERT, [2]).then(() => order.push('statement'));
  await Promise.all([transaction, after]);
  assert.equal(order, ['transaction', 'statement']);
  assert.equal(await values(database), [1, 2]);
});

databases('transactions of two processes that read and then write do not lose each other', async ({ database, file }) => {
  await database.rows(INSERT, [0]);
  const other = await openSqlite(file);
  const addOne = (of: Database): Promise<void> =>
    of.transaction(async (queries) => {
      const [value = 0] = await values(queries);
      await queries.rows('UPDATE numbers SET value = ?', [value + 1]);
    });
  await Promise.all(Array.from({ length: 20 }, (_, turn) => addOne(turn % 2 === 0 ? database : other)));
  assert.equal(await values(other), [20]);
  await other.close();
});

databases('a file in a folder that is not there cannot be opened', async ({ folder }) => {
  const refusal: unknown = await openSqlite(join(folder, 'nowhere', 'metadata.sqlite')).catch((error: unknown) => error);
  assert.match(String(refusal), /unable to open database file/);
});

databases('a file that is no database is closed again', async ({ folder }) => {
  const file = join(folder, 'letter.txt');
  writeFileSync(file, 'Dear reader, '.repeat(1000));
  const { close } = sqlite3.Database.prototype;
  let closed = 0;
  sqlite3.Database.prototype.close = function (this: sqlite3.Database, done) {
    close.call(this, (error) => {
      closed++;
      done?.call(this, error);
    });
  };
  try {
    assert.match(String(await openSqlite(file).catch((error: unknown) => error)), /not a database/);
  } finally {
    sqlite3.Database.prototype.close = close;
  }
  assert.is(closed, 1);
});

databases('a failure that has ended its transaction already is told as it is', async ({ database }) => {
  const ended: unknown = await database
    .transaction(async (queries) => {
      await queries.rows(INSERT, [1]);
      await queries.rows('INSERT OR ROLLBACK INTO numbers VALUES (NULL)');
    })
    .catch((error: unknown) => error);
  assert.match(String(ended), /NOT NULL constraint failed/);
  assert.equal(await database.rows(INSERT, [2]), [{ value: 2 }]);
  assert.equal(await values(database), [2]);
});

databases('a transaction that cannot be rolled back is by the next statement, or nothing is asked', async ({ database }) => {
  const { all } = sqlite3.Database.prototype;
  let failing = 2;
  sqlite3.Database.prototype.all = function (this: sqlite3.Database, ...args: unknown[]) {
    if (args[0] !== 'ROLLBACK' || failing-- <= 0) return Reflect.apply(all, this, args) as sqlite3.Database;
    (args.at(-1) as (error: Error) => void)(Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR' }));
    return this;
  };
  try {
    const failed = database.transaction(async (queries) => {
      await queries.rows(INSERT, [1]);
      throw new Error('changed our mind');
    });
    assert.match(String(await failed.catch((error: unknown) => error)), /changed our mind/);
    const refused: unknown = await database.rows(INSERT, [2]).catch((error: unknown) => error);
    assert.match(String(refused), /a transaction cannot be rolled back: .*disk I\/O error/);
    assert.equal(await database.rows(INSERT, [3]), [{ value: 3 }]);
  } finally {
    sqlite3.Database.prototype.all = all;
  }
  assert.equal(await values(database), [3]);
});

databases('a store of a newer version is left as it is', async ({ database }) => {
  await migrate(database);
  await migrate(database);
  await database.rows('UPDATE schema_version SET version = version + 1');
  const [newer] = await database.rows('SELECT version FROM schema_version');
  const refused: unknown = await migrate(database).catch((error: unknown) => error);
  assert.match(String(refused), /the metadata store is of a newer version of this program: its schema is \d+, this one knows \d+/);
  assert.equal(await database.rows('SELECT version FROM schema_version'), [newer]);
});

databases.run();
