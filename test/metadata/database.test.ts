import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Database, isAmong } from '../../src/metadata/database.js';
import { migrate } from '../../src/metadata/migrations.js';
import { openStore, type TestStore } from './fixture.js';

/** Behaviour of every database of metadata. */
const databases = suite<TestStore>('database');

databases.before.each(async (context) => {
  Object.assign(context, await openStore());
  await context.database.rows('CREATE TABLE numbers (value INTEGER NOT NULL)');
});
databases.after.each((context) => context.close());

const INSERT = 'INSERT INTO numbers VALUES (?) RETURNING value';
const values = async (database: Pick<Database, 'rows'>): Promise<number[]> =>
  (await database.rows<{ value: number }>('SELECT value FROM numbers ORDER BY value')).map(({ value }) => value);

databases('rows come back of SELECT and RETURNING, none of the others', async ({ database }) => {
  assert.equal(await database.rows(INSERT, [7]), [{ value: 7 }]);
  assert.equal(await database.rows('UPDATE numbers SET value = 8'), []);
  assert.equal(await values(database), [8]);
});

for (const [name, among, found] of [
  ['none', [], []],
  ['some, and what is not there', ['b', 'nobody', "it's"], ['b', "it's"]],
  ['characters of JSON, and of statements', ['"q"', '\\', '?', 'é😀', ''], ['', '"q"', '?', '\\', 'é😀']],
  ['more than a statement has placeholders', Array.from({ length: 100_000 }, (_, at) => (at === 77_777 ? 'a' : `x${at}`)), ['a']],
] as const)
  databases(`strings among ${name}`, async ({ database }) => {
    await database.rows(database.schemaStatement('CREATE TABLE strings (value TEXT NOT NULL)'));
    for (const value of ['a', 'b', "it's", '"q"', '\\', '?', 'é😀', '']) await database.rows('INSERT INTO strings VALUES (?)', [value]);
    const { condition, binding } = isAmong('strings.value', among);
    const sql = `SELECT strings.value FROM strings WHERE ${condition} AND '?' <> ? ORDER BY value`;
    const rows = await database.rows<{ value: string }>(sql, [binding, 'other']);
    assert.equal(
      rows.map(({ value }) => value),
      found,
    );
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

databases('a statement that fails says what the database says, and undoes its transaction', async ({ database }) => {
  const ended: unknown = await database
    .transaction(async (queries) => {
      await queries.rows(INSERT, [1]);
      await queries.rows('INSERT INTO nowhere VALUES (1)');
    })
    .catch((error: unknown) => error);
  assert.match(String(ended), /no such table: nowhere|relation "nowhere" does not exist/);
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

databases('transactions of two processes that read and then write do not lose each other', async ({ database, open }) => {
  await database.rows(INSERT, [0]);
  const other = await open();
  const addOne = (of: Database): Promise<void> =>
    of.transaction(async (queries) => {
      const [value = 0] = await values(queries);
      await queries.rows('UPDATE numbers SET value = ?', [value + 1]);
    });
  await Promise.all(Array.from({ length: 20 }, (_, turn) => addOne(turn % 2 === 0 ? database : other)));
  assert.equal(await values(other), [20]);
  await other.close();
});

databases('integers have 64 bits, strings are ordered by their bytes, and a question mark in quotes is one', async ({ database }) => {
  const schema = 'CREATE TABLE kinds (id INTEGER PRIMARY KEY AUTOINCREMENT, big INTEGER NOT NULL, name TEXT)';
  await database.rows(database.schemaStatement(schema));
  const rows = [
    [-(2 ** 62), 'b'],
    [2 ** 53 - 1, 'B'],
    [0, 'é'],
    [1, "?'"],
    [2, null],
  ] as const;
  for (const row of rows) await database.rows('INSERT INTO kinds (big, name) VALUES (?, ?)', row);
  assert.equal(
    (await database.rows<{ big: number; name: string }>('SELECT big, name FROM kinds WHERE name IS NOT NULL ORDER BY name')).map(
      ({ big, name }) => [big, name],
    ),
    [rows[3], rows[1], rows[0], rows[2]],
  );
  assert.equal(await database.rows("SELECT id, '?' AS mark FROM kinds WHERE name = ?", ["?'"]), [{ id: 4, mark: '?' }]);
  assert.equal(await database.rows('SELECT COUNT(*) AS count, MAX(big) AS big FROM kinds'), [{ count: 5, big: 2 ** 53 - 1 }]);
});

databases('a failed statement outside of a transaction spoils nothing', async ({ database }) => {
  for (const statement of ['SELECT nothing FROM numbers', 'INSERT INTO numbers VALUES (NULL)'])
    assert.instance(await database.rows(statement).catch((error: unknown) => error), Error);
  assert.equal(await database.rows(INSERT, [1]), [{ value: 1 }]);
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
