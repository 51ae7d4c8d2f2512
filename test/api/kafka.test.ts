import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen, waitForTask } from '../../bench/server.js';
import { startKafka } from '../ingestion/stream/kafka.js';

const PORT_OFFSET = 5_200;
const kafka = await startKafka();

/** Supervisors of Kafka, end to end: rows at once, published once, with the server killed between. */
const tests = suite<{ folder: string; server: DolmenProcess }>('supervisors of Kafka');

const start = (folder: string): Promise<DolmenProcess> =>
  startDolmen({ dataDir: path.join(folder, 'data'), portOffset: PORT_OFFSET, flags: ['--property', 'svc.worker.capacity=4'] });

const message = (n: number) => ({
  partition: n % 2,
  value: JSON.stringify({ t: Date.UTC(2024, 0, 1) + n * 1000, page: `page ${n % 10}`, n }),
});
const messages = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => message(from + at));

const spec = (io: Readonly<Record<string, unknown>> = {}) => ({
  type: 'kafka',
  spec: {
    dataSchema: {
      dataSource: 'events',
      timestampSpec: { column: 't', format: 'millis' },
      dimensionsSpec: { dimensions: ['page', { name: 'n', type: 'long' }] },
      granularitySpec: { segmentGranularity: 'day', queryGranularity: 'none', rollup: false },
    },
    ioConfig: {
      topic: 'events',
      inputFormat: { type: 'json' },
      consumerProperties: { 'bootstrap.servers': kafka?.servers },
      useEarliestOffset: true,
      startDelay: 'PT0S',
      period: 'PT1S',
      ...io,
    },
    tuningConfig: { type: 'kafka' },
  },
});

const url = ({ server }: { server: DolmenProcess }, rest: string) => `${server.url}/svc/indexer/v1/supervisor${rest}`;

/** Contents of the table: rows, different numbers, and their sum. */
async function stored(server: DolmenProcess): Promise<readonly unknown[]> {
  const rows = await sqlRows(server.url, 'SELECT COUNT(*), COUNT(DISTINCT n), SUM(n) FROM events').catch(() => []);
  return (rows[0] as readonly unknown[] | undefined) ?? [];
}

async function until<Value>(what: string, look: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value> {
  for (let tries = 0; ; tries++) {
    const value = await look();
    if (fits(value)) return value;
    assert.ok(tries < 600, `${what}: ${JSON.stringify(value)}`);
    await sleep(100);
  }
}

const wholeOf = (count: number) => JSON.stringify([count, count, (count * (count - 1)) / 2]);
const untilStored = (server: DolmenProcess, count: number) =>
  until(
    `${count} rows`,
    () => stored(server),
    (row) => JSON.stringify(row.map(Number)) === wholeOf(count),
  );

if (kafka === undefined) {
  tests.skip('a broker', () => undefined);
} else {
  tests.before(async (context) => {
    context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-kafka-'));
    context.server = await start(context.folder);
    await kafka.createTopic('events', 2);
  });
  tests.after(async ({ server, folder }) => {
    await server.kill();
    await kafka.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  tests('rows are answered while they are read, published once, and read on after a kill', async (context) => {
    await kafka.send('events', messages(0, 1000));
    assert.equal(await callJson('POST', url(context, ''), spec()), { id: 'events' });
    await untilStored(context.server, 1000);
    const status = () =>
      callJson('GET', url(context, '/events/status')) as Promise<{
        payload: Record<string, unknown> & { activeTasks: unknown[]; publishingTasks: unknown[] };
      }>;
    const { payload } = await until('a task', status, ({ payload: { activeTasks } }) => activeTasks.length === 1);
    assert.equal([payload['state'], payload['partitions'], payload['stream']], ['RUNNING', 2, 'events']);
    // It publishes, and others read on meanwhile.
    await callJson('POST', url(context, '/events/taskGroups/handoff'), { taskGroupIds: [0] }).catch(() => undefined);
    await kafka.send('events', messages(1000, 1500));
    await untilStored(context.server, 1500);
    await until(
      'a publish',
      () => sqlRows(context.server.url, "SELECT SUM(num_rows) FROM sys.segments WHERE datasource = 'events' AND is_published = 1"),
      (rows) => Number((rows[0] as unknown[] | undefined)?.[0] ?? 0) >= 1000,
    );
    await untilStored(context.server, 1500);
    const counted = async () => {
      const lines = (await fetch(`${context.server.url}/metrics`).then((answer) => answer.text())).split('\n');
      const valueOf = (name: string) =>
        Number(
          lines
            .find((line) => line.startsWith(name))
            ?.split(' ')
            .at(-1),
        );
      const labels = '{dataSource="events",taskType="index_kafka"}';
      const ofTasks = ['events_processed_total', 'events_thrownaway_total', 'events_unparseable_total'];
      return [
        ...ofTasks.map((name) => valueOf(`druid_ingest_${name}${labels}`)),
        valueOf('druid_ingest_kafka_lag{dataSource="events",stream="events",supervisorId="events"}'),
      ];
    };
    await until('metrics', counted, (values) => JSON.stringify(values) === '[1500,0,0,0]');
    await context.server.kill();
    await kafka.send('events', messages(1500, 2000));
    context.server = await start(context.folder);
    await untilStored(context.server, 2000);
    const stats = await until(
      'stats',
      () => callJson('GET', url(context, '/events/stats')) as Promise<Record<string, Record<string, unknown>>>,
      (told) => Object.keys(told).length > 0,
    );
    assert.equal(Object.keys(stats), ['0']);
  });

  tests('older time is written and replaced while its task reads', async (context) => {
    const { server } = context;
    const run = async (query: string): Promise<void> => {
      const { taskId } = (await callJson('POST', `${server.url}/svc/v2/sql/task`, { query })) as { taskId: string };
      await waitForTask(server.url, taskId);
    };
    const row = (n: number) => `SELECT TIME_PARSE('2023-06-01') AS __time, 'old' AS page, ${n} AS n`;
    await run(`INSERT INTO events ${row(1)} PARTITIONED BY DAY`);
    await run(`REPLACE INTO events OVERWRITE WHERE __time < TIMESTAMP '2023-07-01' ${row(2)} PARTITIONED BY DAY`);
    const old = () => sqlRows(server.url, "SELECT SUM(n) FROM events WHERE page = 'old'");
    await until('what replaced', old, (rows) => JSON.stringify(rows) === '[[2]]');
    await run("REPLACE INTO events OVERWRITE WHERE __time < TIMESTAMP '2023-07-01' SELECT * FROM events WHERE n < 0 PARTITIONED BY DAY");
    await until('nothing', old, (rows) => JSON.stringify(rows) === '[[null]]');
    const reading = await sqlRows(server.url, "SELECT COUNT(*) FROM sys.tasks WHERE type = 'index_kafka' AND status = 'RUNNING'");
    assert.ok(Number(reading[0]?.[0]) > 0);
    await untilStored(server, 2000);
  });

  tests('another spec reads on where the one before ended; suspended, all is published', async (context) => {
    await callJson('POST', url(context, ''), spec({ taskCount: 2 }));
    await kafka.send('events', messages(2000, 2500));
    await untilStored(context.server, 2500);
    const suspended = (await callJson('POST', url(context, '/events/suspend'))) as { suspended: boolean };
    assert.is(suspended.suspended, true);
    const published = () =>
      sqlRows(context.server.url, "SELECT SUM(num_rows) FROM sys.segments WHERE datasource = 'events' AND is_published = 1");
    await until('all published', published, (rows) => Number((rows[0] as unknown[] | undefined)?.[0] ?? 0) === 2500);
    await untilStored(context.server, 2500);
    assert.equal(await callJson('POST', url(context, '/events/terminate')), { id: 'events' });
    assert.equal(await callJson('GET', url(context, '')), []);
  });
}

tests.run();
