import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { textWithoutSecrets, withoutSecrets } from '../../src/ingestion/source/secrets.js';
import { runTask } from '../../src/ingestion/task.js';
import { type Service, startService } from '../services.js';
import { withLocalChildren } from './local-children.js';
import { run, taskContext } from './run-task.js';

type Run = (statement: string) => Promise<unknown>;

interface Database {
  readonly service: string;
  readonly type: string;
  readonly connect: (service: Service) => Promise<{ run: Run; end: () => Promise<void> }>;
  /** Columns of the table that every type is read from, and its row. */
  readonly columns: string;
  readonly values: string;
}

const DATABASES: readonly Database[] = [
  {
    service: 'postgres',
    type: 'postgresql',
    async connect({ host, port, user, password, database }) {
      const client = new pg.Client({ host, port, user, password, database });
      await client.connect();
      return { run: (statement) => client.query(statement), end: () => client.end() };
    },
    columns: `"Name" text, n integer, big bigint, x double precision, d numeric(10, 2), yes boolean, day date, at timestamp, zoned timestamptz, raw bytea, nothing text`,
    values: `'é "q" \\ 😀', -7, 9007199254740993, 0.1, 12.50, true, '2024-02-29', '2024-01-01 00:00:00.5', '2024-01-01 02:00:00+02', '\\x00ff41', NULL`,
  },
  {
    service: 'mariadb',
    type: 'mysql',
    async connect({ host, port, user, password, database }) {
      const client = await mysql.createConnection({ host, port, user, password, database, timezone: 'Z' });
      return { run: (statement) => client.query(statement), end: () => client.end() };
    },
    columns:
      '`Name` TEXT CHARACTER SET utf8mb4, n INT, big BIGINT, x DOUBLE, d DECIMAL(10, 2), yes TINYINT(1), day DATE, at DATETIME(3), zoned TIMESTAMP NULL, raw VARBINARY(10), nothing TEXT',
    values: `'é "q" \\\\ 😀', -7, 9007199254740993, 0.1, 12.50, 1, '2024-02-29', '2024-01-01 00:00:00.500', '2024-01-01 00:00:00', x'00ff41', NULL`,
  },
];

// Suites are told of together: those of one file begin when the first is. Services start one after the other.
const services: (Service | undefined)[] = [];
for (const { service } of DATABASES) services.push(await startService(service));
for (const [index, { service: name, type, connect, columns, values }] of DATABASES.entries()) {
  const service = services[index];
  const sql = suite<{ run: Run; end: () => Promise<void> }>(`the input source sql, ${name}`);
  if (service !== undefined) {
    sql.before(async (context) => {
      Object.assign(context, await connect(service));
    });
    sql.after(async ({ end }) => {
      await end?.();
      await service.stop();
    });
  }
  const test = (title: string, body: (context: { service: Service; run: Run }) => Promise<void>): void => {
    if (service === undefined) sql.skip(title);
    else sql(title, ({ run: statement }) => body({ service, run: statement }));
  };
  const sourceOf = ({ uri, user, password }: Service, sqls: readonly string[], more: object = {}) => ({
    type: 'sql',
    database: { type, connectorConfig: { connectURI: uri, user, password } },
    sqls,
    ...more,
  });
  const taskOf = (inputSource: object, timestamp = 'at', tuning: object = {}) => ({
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'ds',
        timestampSpec: { column: timestamp, format: 'millis' },
        dimensionsSpec: { useSchemaDiscovery: true },
      },
      ioConfig: { inputSource },
      tuningConfig: { type: 'index_parallel', ...tuning },
    },
  });

  test('values of every kind, as JSON has them; times in UTC', async ({ service: at, run: statement }) => {
    await statement('DROP TABLE IF EXISTS every');
    await statement(`CREATE TABLE every (${columns})`);
    await statement(`INSERT INTO every VALUES (${values})`);
    const { outcome, rows } = await run(taskOf(sourceOf(at, ['SELECT * FROM every'])));
    assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
    const [row = {}] = rows;
    assert.is(rows.length, 1);
    assert.equal(
      { ...row, __time: Number(row['__time']) },
      {
        __time: Date.UTC(2024, 0, 1) + 500,
        Name: 'é "q" \\ 😀',
        n: -7n,
        big: 9007199254740993n,
        x: 0.1,
        d: 12.5,
        // Truth values are numbers in columns.
        yes: 1n,
        day: BigInt(Date.UTC(2024, 1, 29)),
        zoned: BigInt(Date.UTC(2024, 0, 1)),
        raw: 'AP9B',
      },
    );
    const folded = await run(taskOf(sourceOf(at, ['SELECT * FROM every;'], { foldCase: true })));
    assert.is(folded.rows[0]?.['name'], 'é "q" \\ 😀');
  });

  test('rows of several statements, each in a sub-task of its own', async ({ service: at }) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-sql-'));
    try {
      const published: { rowCount: number }[] = [];
      const base = taskContext(folder, []);
      const { context, children } = withLocalChildren(
        { ...base, publish: async ({ segments }) => segments.map((segment) => `${published.push(segment)}`) },
        base.storage,
      );
      const sqls = [1, 2, 3].map((n) => `SELECT ${n} AS t, 'x' AS k UNION ALL SELECT ${n}, 'y'`);
      const outcome = await runTask(taskOf(sourceOf(at, sqls), 't', { maxNumConcurrentSubTasks: 2 }), context);
      assert.ok(outcome.succeeded, outcome.errorMessage ?? '');
      assert.is(children.size, 3);
      assert.is(
        published.reduce((sum, { rowCount }) => sum + rowCount, 0),
        6,
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  const refusals: readonly { readonly title: string; readonly sqls: readonly string[]; readonly says: RegExp; readonly more?: object }[] = [
    { title: 'a statement that writes', sqls: ['DROP TABLE every'], says: /cannot be read: .*(?:READ ONLY|syntax)/ },
    { title: 'two statements', sqls: ['SELECT 1 AS t; SELECT 2 AS t'], says: /cannot be read: / },
    { title: 'a table that is not there', sqls: ['SELECT * FROM missing'], says: /cannot be read: .*missing/ },
    { title: 'a column twice', sqls: ['SELECT 1 AS t, 2 AS a, 3 AS a'], says: /names the column "a" twice/ },
    { title: 'a statement without rows', sqls: [type === 'mysql' ? 'SET @a = 1' : "SET a.b = '1'"], says: /cannot be read|gives rows/ },
    { title: 'no statement', sqls: [], says: /expected at least one statement/ },
  ];
  for (const { title, sqls, says } of refusals)
    test(`refused: ${title}`, async ({ service: at }) => {
      const { outcome } = await run(taskOf(sourceOf(at, sqls), 't'));
      assert.match(outcome.errorMessage ?? '', says);
      assert.not.match(outcome.errorMessage ?? '', new RegExp(`password=|${at.uri.replace(/[?]/g, '\\?')}`));
    });

  test('a host that is not allowed, and the uri of another database', async ({ service: at }) => {
    const forbidden = await run(taskOf(sourceOf(at, ['SELECT 1 AS t'])), { databaseHosts: ['db.example.com'] });
    assert.match(forbidden.outcome.errorMessage ?? '', /not among svc\.access\.jdbc\.allowedHosts/);
    const other = sourceOf(at, ['SELECT 1 AS t'], {
      database: { type: type === 'mysql' ? 'postgresql' : 'mysql', connectorConfig: { connectURI: at.uri, user: 'u' } },
    });
    assert.match((await run(taskOf(other))).outcome.errorMessage ?? '', /expected a connectURI of/);
  });

  sql.run();
}

const secrets = suite('secrets of sources are not shown');
secrets('passwords of databases, and tokens in URLs', () => {
  const source = {
    type: 'sql',
    database: { connectorConfig: { user: 'u', password: 'deep secret' } },
    uris: ['http://h/a?token=abc&b=1', 'https://h/x?a=1&X-Amz-Signature=77'],
  };
  assert.equal(JSON.parse(JSON.stringify(withoutSecrets(source))), {
    type: 'sql',
    database: { connectorConfig: { user: 'u', password: '********' } },
    uris: ['http://h/a?token=********&b=1', 'https://h/x?a=1&X-Amz-Signature=********'],
  });
  assert.is(textWithoutSecrets(`EXTERN('{"uris":["http://h/a?sig=a%2Fb"]}')`), `EXTERN('{"uris":["http://h/a?sig=********"]}')`);
});
secrets.run();
