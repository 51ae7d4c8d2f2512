import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen, waitForTask } from '../../bench/server.js';
import { startKafka } from '../ingestion/stream/kafka.js';

const PORT_OFFSET = 23_400;
const NO_END = '9223372036854775807';

/** A task that reads partition 0 of a topic. */
const task = (servers: string, topic: string, start: number, end: number | string): unknown => ({
  type: 'index_kafka',
  dataSchema: {
    dataSource: 'rows',
    timestampSpec: { column: 't', format: 'millis' },
    dimensionsSpec: { dimensions: ['name', { type: 'long', name: 'n' }] },
    granularitySpec: { segmentGranularity: 'day', rollup: false },
  },
  ioConfig: {
    type: 'kafka',
    baseSequenceName: `${topic}_${start}`,
    startSequenceNumbers: { stream: topic, partitionSequenceNumberMap: { 0: start } },
    endSequenceNumbers: { stream: topic, partitionSequenceNumberMap: { 0: end } },
    consumerProperties: { 'bootstrap.servers': servers },
    inputFormat: { type: 'json' },
  },
  tuningConfig: { type: 'kafka', maxRowsInMemory: 500, maxRowsPerSegment: 2000 },
});

const kafka = await startKafka();
const streams = suite('a task that reads a topic of Kafka');
if (kafka !== undefined)
  streams('its rows are answered at once, and stay, once, when they are published and handed off', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-streaming-'));
    let server: DolmenProcess | undefined;
    let isReading = true;
    let failure: unknown;
    try {
      await kafka.createTopic('rows', 1);
      server = await startDolmen({ dataDir: folder, portOffset: PORT_OFFSET });
      const { url } = server;
      const { task: id } = (await callJson('POST', `${url}/svc/indexer/v1/task`, task(kafka.servers, 'rows', 0, NO_END))) as {
        task: string;
      };
      let sent = 0;
      const send = async (count: number): Promise<void> => {
        const rows = Array.from({ length: count }, () =>
          JSON.stringify({ t: 1000 * 3600 * (sent % 48), name: `name ${sent % 7}`, n: sent++ }),
        );
        await kafka.send(
          'rows',
          rows.map((value) => ({ value })),
        );
      };
      await send(10);
      const count = async (): Promise<readonly number[]> =>
        ((await sqlRows(url, 'SELECT COUNT(*), COUNT(DISTINCT n), SUM(n) FROM rows'))[0] ?? []) as number[];
      // The table is not known before its first row is.
      const known = (): Promise<readonly number[]> => count().catch(() => [0, 0, 0]);
      let seen = 0;
      // A reader beside all that follows: it never sees fewer rows than before, and none twice.
      const reader = (async () => {
        while (isReading) {
          const [rows = 0, different = 0] = await (seen === 0 ? known() : count());
          assert.is(rows, different, 'rows twice');
          assert.ok(rows >= seen, `${rows} rows after ${seen}`);
          seen = rows;
        }
      })().catch((error: unknown) => {
        failure = error;
      });
      const log = async (): Promise<string> => (await fetch(`${url}/svc/indexer/v1/task/${encodeURIComponent(id)}/log`)).text();
      const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
        for (const startMs = Date.now(); !(await isTrue()); await new Promise((done) => setTimeout(done, 50)))
          if (failure !== undefined || Date.now() > startMs + 25_000)
            throw new Error(`did not come true; ${failure}; ${seen} of ${sent} rows are seen\n${server?.output() ?? ''}\n${await log()}`);
      };
      await until(async () => seen === 10);
      assert.equal(
        await sqlRows(url, 'SELECT is_published, is_available, is_realtime, num_replicas, num_rows FROM sys.segments ORDER BY "start"'),
        [[0, 1, 1, 1, 10]],
      );
      assert.equal(await sqlRows(url, "SELECT COUNT(*) FROM sys.servers WHERE server_type = 'peon'"), [[1]]);
      for (let round = 0; round < 6; round++) await send(1000);
      await until(async () => seen === sent);
      // Sequences of 2000 rows a segment end by themselves where no supervisor ends them.
      await until(async () => Number((await sqlRows(url, 'SELECT COUNT(*) FROM sys.segments WHERE is_published = 1'))[0]?.[0]) > 0);
      const chat = (method: string, name: string, body?: unknown): Promise<unknown> =>
        callJson(method, `http://127.0.0.1:${8091 + PORT_OFFSET}/svc/worker/v1/chat/${encodeURIComponent(id)}/${name}`, body);
      await chat('POST', 'pause', {});
      await chat('POST', 'offsets/end?finish=true', { 0: sent });
      await waitForTask(url, id);
      await until(async () => Number((await sqlRows(url, 'SELECT COUNT(*) FROM sys.segments WHERE is_realtime = 1'))[0]?.[0]) === 0);
      isReading = false;
      await reader;
      assert.is(failure, undefined);
      assert.equal(await count(), [sent, sent, (sent * (sent - 1)) / 2]);
      assert.equal(await sqlRows(url, "SELECT COUNT(*) FROM sys.servers WHERE server_type = 'peon'"), [[0]]);
    } finally {
      isReading = false;
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

streams.after(async () => {
  await kafka?.stop();
});
if (kafka === undefined) streams.skip('no broker of Kafka is here', () => undefined);
streams.run();
