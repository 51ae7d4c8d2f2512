import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sqlite3 from 'sqlite3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Database, openSqlite } from '../../src/metadata/database.js';

interface Context {
  file: string;
  folder: string;
  database: Database;
}

const databases = suite<Context>('SQLite database');

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

databases('the files of the database are for their owner alone', async ({ file, database }) => {
  const modesOf = (path: string) => ['', '-wal', '-shm'].map((end) => (statSync(path + end).mode & 0o777).toString(8));
  assert.equal(modesOf(file), ['600', '600', '600']);
  // Files of an earlier version, or of a server that was killed, were for everybody; what the group may do is left as it is.
  for (const end of ['', '-wal', '-shm']) chmodSync(file + end, 0o664);
  const second = await openSqlite(file);
  assert.equal(modesOf(file), ['660', '660', '660']);
  await second.close();
  await database.rows(INSERT, [1]);
  assert.equal(await values(database), [1]);
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

databases.run();
