import { createServer, connect as dial, type Socket } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { Database } from '../../src/metadata/database.js';
import { migrate } from '../../src/metadata/migrations.js';
import { connectPostgresql, type PostgresqlSettings } from '../../src/metadata/postgresql/connection.js';
import { openPostgresql } from '../../src/metadata/postgresql/database.js';
import { publishSegments } from '../../src/metadata/publish.js';
import { selectSegments } from '../../src/metadata/segments.js';
import type { PublishRequest } from '../../src/model/publication.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { Link } from '../faults/link.js';
import { startService } from '../services.js';
import { day, postgresqlSettings, pushed, runningTask } from './fixture.js';

const service = await startService('postgres');
const tests = suite('PostgreSQL of metadata');
if (service === undefined) tests.skip('no PostgreSQL');
else {
  let stores = 0;
  const settingsOf = (): PostgresqlSettings => postgresqlSettings(service, `faults_${stores++}`);
  const errorOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  const withDatabase = async (settings: PostgresqlSettings, work: (database: Database) => Promise<void>): Promise<void> => {
    const database = await openPostgresql(settings);
    try {
      await database.rows('CREATE TABLE numbers (n BIGINT PRIMARY KEY)');
      await work(database);
    } finally {
      await database.close();
    }
  };
  const numbers = async (database: Database): Promise<readonly number[]> =>
    (await database.rows<{ n: number }>('SELECT n FROM numbers ORDER BY n')).map(({ n }) => n);

  tests('a transaction that goes on after a statement that failed is an error, and nothing of it is there', () =>
    withDatabase(settingsOf(), async (database) => {
      const error = await errorOf(
        database.transaction(async (queries) => {
          await queries.rows('INSERT INTO numbers VALUES (1)');
          await queries.rows('INSERT INTO numbers VALUES (1)').catch(() => undefined);
        }),
      );
      assert.instance(error, ServiceError);
      assert.equal(await numbers(database), []);
      await database.rows('INSERT INTO numbers VALUES (2)');
      assert.equal(await numbers(database), [2]);
    }),
  );

  tests('processes that start at once over a schema that is not there all have it', async () => {
    for (let round = 0; round < 5; round++) {
      const settings = settingsOf();
      const opened = await Promise.allSettled(Array.from({ length: 6 }, () => openPostgresql(settings)));
      for (const each of opened) if (each.status === 'fulfilled') await each.value.close();
      assert.equal(
        opened.map((each) => (each.status === 'rejected' ? String(each.reason) : 'open')),
        opened.map(() => 'open'),
      );
    }
  });

  tests('a connection that is cut off in a transaction leaves nothing of it, and the next one goes on', async () => {
    const settings = settingsOf();
    const sockets = new Set<Socket>();
    const proxy = createServer((client) => {
      const server = dial(service.port, service.host);
      for (const [from, to] of [
        [client, server],
        [server, client],
      ] as const) {
        sockets.add(from);
        from.on('error', () => undefined).on('close', () => to.destroy());
        from.pipe(to);
      }
    });
    const port = await new Promise<number>((resolve) =>
      proxy.listen(0, '127.0.0.1', () => resolve((proxy.address() as { readonly port: number }).port)),
    );
    try {
      await withDatabase({ ...settings, host: '127.0.0.1', port }, async (database) => {
        const error = await errorOf(
          database.transaction(async (queries) => {
            await queries.rows('INSERT INTO numbers VALUES (1)');
            for (const socket of sockets) socket.destroy();
            await queries.rows('INSERT INTO numbers VALUES (2)');
          }),
        );
        assert.is((error as ServiceError).code, 'unavailable');
        await database.rows('INSERT INTO numbers VALUES (3)');
        assert.equal(await numbers(database), [3]);
      });
    } finally {
      proxy.close();
    }
  });

  tests('a publish whose commit nobody answers is there once: the task that asks again is given what there is', async () => {
    const settings = settingsOf();
    const link = await Link.open(service.port);
    const other = await openPostgresql(settings);
    const database = await openPostgresql({ ...settings, host: '127.0.0.1', port: link.port });
    const stored = async () => (await selectSegments(other, { dataSource: 'ds', used: true })).map(({ id }) => segmentIdText(id));
    try {
      await migrate(other);
      await runningTask(other, 'task', 'shared', [day(0)]);
      const request: PublishRequest = {
        taskId: 'task',
        dataSource: 'ds',
        segments: [pushed(day(0)), pushed(day(0))],
        mode: { kind: 'append' },
      };
      const error = errorOf(
        database.transaction(async (queries) => {
          await publishSegments(queries, request, 2000);
          link.cut('received');
        }),
      );
      while ((await stored()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      link.sever();
      link.mend();
      assert.is(((await error) as ServiceError).code, 'unavailable');
      const ids = await database.transaction((queries) => publishSegments(queries, request, 3000));
      assert.is(ids.length, 2);
      assert.equal([...(await stored())].sort(), [...ids].sort());
    } finally {
      await database.close();
      await other.close();
      link.close();
    }
  });

  tests('a database that is closed while it reads connects no more', async () => {
    const settings = settingsOf();
    const database = await openPostgresql(settings);
    const reading = errorOf(database.rows('SELECT pg_sleep(20)'));
    const watcher = await connectPostgresql({ ...settings, applicationName: 'watcher' });
    const connections = async (): Promise<number> =>
      (await watcher.rows('SELECT 1 FROM pg_stat_activity WHERE application_name = ?', [settings.applicationName])).length;
    try {
      while ((await connections()) < 2) await new Promise((resolve) => setTimeout(resolve, 20));
      await database.close();
      assert.instance(await reading, ServiceError);
      assert.instance(await errorOf(database.rows('SELECT 1')), ServiceError);
      // The server needs a while to see that its client has gone.
      await watcher.rows('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ?', [settings.applicationName]);
      for (let left = await connections(); left > 0; left = await connections()) await new Promise((resolve) => setTimeout(resolve, 20));
    } finally {
      await watcher.close();
    }
  });

  tests('a connection that is being made while the database is closed is closed as well', async () => {
    const settings = settingsOf();
    // Each connection waits here for its turn.
    const held: (() => void)[] = [];
    let holds = false;
    const proxy = createServer((client) => {
      const server = dial(service.port, service.host);
      for (const socket of [client, server]) socket.on('error', () => undefined);
      const join = (): void => {
        client.on('close', () => server.destroy()).pipe(server);
        server.on('close', () => client.destroy()).pipe(client);
      };
      if (holds) held.push(join);
      else join();
    });
    const port = await new Promise<number>((resolve) =>
      proxy.listen(0, '127.0.0.1', () => resolve((proxy.address() as { readonly port: number }).port)),
    );
    try {
      const database = await openPostgresql({ ...settings, host: '127.0.0.1', port });
      holds = true;
      const reading = errorOf(database.rows('SELECT pg_sleep(20)'));
      while (held.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      await database.close();
      for (const join of held) join();
      const error = await reading;
      assert.instance(error, ServiceError);
      assert.match((error as ServiceError).message, /the database is closed/);
    } finally {
      proxy.close();
    }
  });
  tests.after(() => service.stop());
}
tests.run();
