import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lookupSettings } from '../../bench/lookup-settings.js';
import { LookupStore } from '../../src/cluster/lookups/lookup-store.js';
import { type Service, startService } from '../services.js';
import { entriesOf } from './lookup-entries.js';

type Run = (statement: string) => Promise<unknown>;

/** Runs statements over a connection of its own. */
const CLIENTS: Readonly<Record<string, (service: Service) => Promise<{ run: Run; end: () => Promise<void> }>>> = {
  async postgres({ host, port, user, password, database }) {
    const client = new pg.Client({ host, port, user, password, database });
    await client.connect();
    return { run: (statement) => client.query(statement), end: () => client.end() };
  },
  async mariadb({ host, port, user, password, database }) {
    const client = await mysql.createConnection({ host, port, user, password, database });
    return { run: (statement) => client.query(statement), end: () => client.end() };
  },
};

async function until(holds: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 1000 && !holds(); attempt++) await sleep(10);
  assert.ok(holds(), 'it never came');
}

// Suites are told of together: those of one file begin when the first is. Services start one after the other.
const services: (Service | undefined)[] = [];
for (const name of Object.keys(CLIENTS)) services.push(await startService(name));
for (const [index, [name, connect]] of Object.entries(CLIENTS).entries()) {
  const service = services[index];
  const jdbc = suite<{ run: Run; end: () => Promise<void>; stores: LookupStore[] }>(`jdbc lookups of ${name}`);
  if (service !== undefined) {
    jdbc.before(async (context) => {
      Object.assign(context, { stores: [] }, await connect(service));
    });
    jdbc.after(async ({ end, stores }) => {
      for (const store of stores ?? []) store.close();
      await end?.();
      await service.stop();
    });
  }

  const test = (title: string, body: (context: { service: Service; run: Run; stores: LookupStore[] }) => Promise<void>): void => {
    if (service === undefined) jdbc.skip(title);
    else jdbc(title, ({ run, stores }) => body({ service, run, stores }));
  };
  const namespaceOf = (service: Service, more: object = {}, connector: object = {}) => ({
    type: 'jdbc',
    connectorConfig: { connectURI: service.uri, user: service.user, password: service.password, ...connector },
    table: 'names',
    keyColumn: 'k',
    valueColumn: 'v',
    ...more,
  });
  const loaded = async (stores: LookupStore[], extractionNamespace: object, more: object = {}): Promise<LookupStore> => {
    const store = new LookupStore(lookupSettings(more));
    stores.push(store);
    await store.replace({ l: { version: 'v', lookupExtractorFactory: { type: 'cachedNamespace', extractionNamespace } } });
    await until(() => store.find('l') !== undefined || store.failed()['l'] !== undefined);
    return store;
  };
  const fill = async (run: Run, rows: readonly (readonly [string, string])[]): Promise<void> => {
    await run('DROP TABLE IF EXISTS names');
    await run('CREATE TABLE names (k VARCHAR(200), v TEXT, kind INT, changed TIMESTAMP NULL)');
    for (const [key, value] of rows) await run(`INSERT INTO names VALUES (${key}, ${value}, 1, '2024-01-01 00:00:00')`);
  };

  test('every row is an entry; a value of null is none, of equal keys one counts', async ({ service, run, stores }) => {
    await fill(run, [
      ["'a'", "'1'"],
      ["'b'", 'NULL'],
      ["''", "''"],
      ["'é€😀'", "'\u{1F600}''\"'"],
      ["'d'", "'x'"],
      ["'d'", "'x'"],
    ]);
    const store = await loaded(stores, namespaceOf(service));
    assert.equal(store.failed(), {});
    assert.equal(entriesOf(store.table('l')), { a: '1', '': '', 'é€😀': '\u{1F600}\'"', d: 'x' });
  });

  test('numbers are their digits', async ({ service, run, stores }) => {
    await run('DROP TABLE IF EXISTS numbers');
    await run('CREATE TABLE numbers (k BIGINT, v DECIMAL(30, 10))');
    await run('INSERT INTO numbers VALUES (9223372036854775807, 12345678901234567890.5)');
    const store = await loaded(stores, namespaceOf(service, { table: 'numbers' }));
    assert.equal(entriesOf(store.table('l')), { '9223372036854775807': '12345678901234567890.5000000000' });
  });

  test('a filter is a condition, whatever stands in it', async ({ service, run, stores }) => {
    await fill(run, [
      ["'a'", "'1'"],
      ["'b'", "'2'"],
      ["'c'", 'NULL'],
    ]);
    const of = async (filter: string) => {
      const store = await loaded(stores, namespaceOf(service, { filter }));
      return store.failed()['l'] ?? entriesOf(store.table('l'));
    };
    assert.equal(await of("k = 'a' OR k = 'c'"), { a: '1' });
    assert.equal(await of("k = 'b' -- no comment"), { b: '2' });
    for (const filter of ['nothing', 'TRUE; DROP TABLE names', "TRUE); DELETE FROM names; SELECT ('x', 'y'"])
      assert.type(await of(filter), 'string');
    assert.equal(await of(''), { a: '1', b: '2' });
  });

  test('rows that are more than one fetch', async ({ service, run, stores }) => {
    await fill(run, []);
    const rows = Array.from({ length: 2001 }, (_, row) => `('k${row}', 'v${row}', 0, NULL)`);
    await run(`INSERT INTO names VALUES ${rows.join(', ')}`);
    const store = await loaded(stores, namespaceOf(service));
    assert.equal(entriesOf(store.table('l')), Object.fromEntries(rows.map((_, row) => [`k${row}`, `v${row}`])));
  });

  test('rows that are more than svc.lookup.maxBytes are refused, and the one before stays', async ({ service, run, stores }) => {
    await fill(run, [["'a'", `'${'x'.repeat(50_000)}'`]]);
    const store = await loaded(stores, namespaceOf(service), { bytesMax: 10_000 });
    assert.match(store.failed()['l'] ?? '', /svc\.lookup\.maxBytes/);
  });

  test('a null among the keys is told', async ({ service, run, stores }) => {
    await fill(run, [['NULL', "'1'"]]);
    const store = await loaded(stores, namespaceOf(service));
    assert.match(store.failed()['l'] ?? '', /a row has no key/);
  });

  test('with tsColumn the table is read again when the newest row is another', async ({ service, run, stores }) => {
    await fill(run, [["'a'", "'1'"]]);
    const store = await loaded(stores, namespaceOf(service, { tsColumn: 'changed', pollPeriod: 20 }));
    const first = store.table('l');
    await run("INSERT INTO names VALUES ('b', '2', 1, '2023-01-01 00:00:00')");
    await sleep(150);
    assert.is(store.table('l'), first, 'nothing is newer');
    await run("UPDATE names SET changed = '2024-06-01 00:00:00' WHERE k = 'b'");
    await until(() => store.table('l') !== first);
    assert.equal(entriesOf(store.table('l')), { a: '1', b: '2' });
  });

  test('a table that is gone leaves the last good copy, with since when', async ({ service, run, stores }) => {
    await fill(run, [["'a'", "'1'"]]);
    const store = await loaded(stores, namespaceOf(service, { pollPeriod: 20 }));
    await run('DROP TABLE names');
    await until(() => store.failed()['l'] !== undefined);
    assert.match(store.failed()['l'] ?? '', /names.*\(since /);
    assert.equal(entriesOf(store.table('l')), { a: '1' });
    await fill(run, [["'a'", "'2'"]]);
    await until(() => store.failed()['l'] === undefined && entriesOf(store.table('l'))['a'] === '2');
  });

  test('a wrong password, user or database is told, and no password', async ({ service, stores }) => {
    const uri = service.uri.replace(/\/test$/, '/nothing');
    for (const connector of [{ password: 'wrong secret' }, { user: 'nobody', password: 'wrong secret' }, { connectURI: uri }]) {
      const store = await loaded(stores, namespaceOf(service, {}, connector));
      const said = store.failed()['l'] ?? '';
      assert.match(said, /the database \w+ of 127\.0\.0\.1:\d+ cannot be read: /);
      assert.not.match(said, /wrong secret|dolmen:/);
    }
  });

  test('providers of passwords', async ({ service, run, stores }) => {
    await fill(run, [["'a'", "'1'"]]);
    const environment = { LOOKUP_PASSWORD: service.password };
    const settings = { environment, passwordVariables: ['LOOKUP_PASSWORD', 'constructor'] };
    for (const password of [
      { type: 'default', password: service.password },
      { type: 'environment', variable: 'LOOKUP_PASSWORD' },
    ]) {
      const store = await loaded(stores, namespaceOf(service, {}, { password }), settings);
      assert.equal(entriesOf(store.table('l')), { a: '1' });
    }
    const none = await loaded(stores, namespaceOf(service, {}, { password: { type: 'environment', variable: 'constructor' } }), settings);
    assert.match(none.failed()['l'] ?? '', /the variable constructor of the environment is not set/);
  });

  test('names that are none are refused before a connection is made', async ({ service, stores }) => {
    for (const [key, value] of [
      ['table', 'names; DROP TABLE names'],
      ['table', 'names WHERE 1=1 --'],
      ['keyColumn', '(SELECT 1)'],
      ['valueColumn', "v'"],
      ['tsColumn', 'pg_sleep(10)'],
    ] as const) {
      const store = await loaded(stores, namespaceOf(service, { [key]: value }));
      assert.match(store.failed()['l'] ?? '', new RegExp(`${key}: expected a name`));
    }
  });

  test('a host that is not among svc.access.jdbc.allowedHosts is refused', async ({ service, run, stores }) => {
    await fill(run, [["'a'", "'1'"]]);
    const refused = await loaded(stores, namespaceOf(service), { jdbcHosts: ['db.example.com', '*.internal'] });
    assert.match(refused.failed()['l'] ?? '', /connectURI: the host 127\.0\.0\.1 is not among svc\.access\.jdbc\.allowedHosts/);
    const store = await loaded(stores, namespaceOf(service), { jdbcHosts: ['127.0.0.1'] });
    assert.equal(entriesOf(store.table('l')), { a: '1' });
  });

  test('a source that is down, or that says nothing, ends within its time', async ({ service, stores }) => {
    const down = await loaded(stores, namespaceOf(service, {}, { connectURI: service.uri.replace(/:\d+\//, ':1/') }));
    assert.match(down.failed()['l'] ?? '', /127\.0\.0\.1:1 cannot be read/);
    const silent = createServer(() => undefined);
    await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
    const { port } = silent.address() as { port: number };
    const connectURI = service.uri.replace(/:\d+\//, `:${port}/`);
    const slow = await loaded(stores, namespaceOf(service, { loadTimeoutSeconds: 1 }, { connectURI }));
    assert.match(slow.failed()['l'] ?? '', /longer than loadTimeoutSeconds/);
    for (const store of stores) store.close();
    silent.close();
  });

  test('a slow statement ends within its time', async ({ service, run, stores }) => {
    await fill(run, [["'a'", "'1'"]]);
    const filter = name === 'postgres' ? 'pg_sleep(20) IS NOT NULL' : 'SLEEP(20) = 0';
    const slow = await loaded(stores, namespaceOf(service, { loadTimeoutSeconds: 1, filter }));
    assert.match(slow.failed()['l'] ?? '', /longer than loadTimeoutSeconds/);
  });

  test('statements cannot write', async ({ service, run, stores }) => {
    if (name !== 'postgres') return;
    await fill(run, [["'a'", "'1'"]]);
    await run(
      "CREATE OR REPLACE FUNCTION writes() RETURNS BOOLEAN LANGUAGE SQL AS $$ INSERT INTO names VALUES ('z', 'z', 1, NULL); SELECT TRUE $$",
    );
    const store = await loaded(stores, namespaceOf(service, { filter: 'writes()' }));
    assert.match(store.failed()['l'] ?? '', /read-only transaction/);
  });

  jdbc.run();
}
