import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';
import { startKafka } from '../ingestion/stream/kafka.js';

/* A stream that loses what its tasks are to read, over a real broker: what was read is stored, and the supervisor says what is wrong. */
const PORT_OFFSET = 5_700;
const kafka = await startKafka();
const tests = suite<{ folder: string; server: DolmenProcess }>('streams that lose messages');

const supervisor = (name: string, tuning: Readonly<Record<string, unknown>> = {}) => ({
  type: 'kafka',
  spec: {
    dataSchema: {
      dataSource: name,
      timestampSpec: { column: 't', format: 'millis' },
      dimensionsSpec: { dimensions: [{ name: 'n', type: 'long' }] },
      granularitySpec: { segmentGranularity: 'day', queryGranularity: 'none', rollup: false },
    },
    ioConfig: {
      topic: name,
      inputFormat: { type: 'json' },
      consumerProperties: { 'bootstrap.servers': kafka?.servers },
      useEarliestOffset: true,
      startDelay: 'PT0S',
      period: 'PT1S',
    },
    tuningConfig: { type: 'kafka', ...tuning },
  },
});

interface Status {
  readonly payload: {
    readonly detailedState: string;
    readonly activeTasks: readonly unknown[];
    readonly publishingTasks: readonly unknown[];
    readonly recentErrors: readonly { readonly message?: string; readonly exceptionMessage?: string }[];
  };
}

const messages = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({ value: JSON.stringify({ t: (from + at) * 1000, n: from + at }) }));

async function until<Value>(what: string, look: () => Promise<Value>, fits: (value: Value) => boolean): Promise<Value> {
  for (let tries = 0; ; tries++) {
    const value = await look();
    if (fits(value)) return value;
    assert.ok(tries < 400, `${what}: ${JSON.stringify(value)}`);
    await sleep(100);
  }
}

const numbers = async ({ url }: DolmenProcess, name: string): Promise<string> =>
  JSON.stringify((await sqlRows(url, `SELECT COUNT(*), COUNT(DISTINCT n), SUM(n) FROM ${name}`).catch(() => [[]]))[0]);
const published = async ({ url }: DolmenProcess, name: string): Promise<number> =>
  Number(
    (
      await sqlRows(url, `SELECT SUM(num_rows) FROM sys.segments WHERE datasource = '${name}' AND is_published = 1`).catch(() => [])
    )[0]?.[0] ?? 0,
  );
const status = ({ url }: DolmenProcess, name: string) =>
  callJson('GET', `${url}/svc/indexer/v1/supervisor/${name}/status`) as Promise<Status>;
const errorsOf = ({ payload: { recentErrors } }: Status): string => JSON.stringify(recentErrors);

if (kafka === undefined) {
  tests.skip('a broker', () => undefined);
} else {
  tests.before(async (context) => {
    context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-losses-'));
    context.server = await startDolmen({
      dataDir: context.folder,
      portOffset: PORT_OFFSET,
      flags: ['--property', 'svc.worker.capacity=6'],
    });
  });
  tests.after(async ({ server, folder }) => {
    await server.kill();
    await kafka.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  for (const isMadeAnew of [false, true])
    tests(
      `a topic that is ${isMadeAnew ? 'made anew' : 'deleted'} under its task: all that was answered is published`,
      async ({ server }) => {
        const name = isMadeAnew ? 'anew' : 'deleted';
        await kafka.createTopic(name, 1);
        await kafka.send(name, messages(0, 100));
        await callJson('POST', `${server.url}/svc/indexer/v1/supervisor`, supervisor(name));
        await until(
          'rows',
          () => numbers(server, name),
          (rows) => rows === '[100,100,4950]',
        );
        assert.is(await published(server, name), 0);
        await kafka.deleteTopic(name);
        if (isMadeAnew) {
          await sleep(500);
          await kafka.createTopic(name, 1);
          await kafka.send(name, messages(1000, 1010));
        }
        await until(
          'published',
          () => published(server, name),
          (rows) => rows === 100,
        );
        const reason = isMadeAnew ? 'offset 100 of partition 0' : `there is no topic ${name}`;
        const told = await until(
          'a stated reason',
          () => status(server, name),
          (found) =>
            errorsOf(found).includes(reason) && found.payload.activeTasks.length === 0 && found.payload.publishingTasks.length === 0,
        );
        assert.match(errorsOf(told), reason);
        assert.is(await numbers(server, name), '[100,100,4950]');
        if (!isMadeAnew) return;
        // A person decides: the topic is read from its beginning.
        await callJson('POST', `${server.url}/svc/indexer/v1/supervisor/${name}/reset`, {});
        await until(
          'rows of the new topic',
          () => numbers(server, name),
          (rows) => rows === '[110,110,14995]',
        );
      },
    );
}

tests.run();
